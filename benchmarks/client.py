"""Measure calls to a server, 1, 16 and 64 at once: raw, ``mnemos.open(url)`` and ``mnemos.AsyncClient``.

All ask for ``notebook_show`` of an empty home, so that nearly all of it is the request. The server is a
process of its own, without its limit of calls per token. ``CPU`` is that of this process per call.
"""

from __future__ import annotations

import asyncio
import http.client
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mnemos
from benchmarks.measure import median, percentile
from benchmarks.peers import working_folder
from benchmarks.report import Options, Result, Table

CALLS, QUICK_CALLS = 2_000, 300
AT_ONCE = (1, 16, 64)
OPERATION = "notebook_show"
_PROGRAM = (
    "from mnemos.faces.http import limits; limits.PER_SECOND = limits.BURST = 1e9; "
    "from mnemos.faces.cli import main; main()"
)


def run(options: Options) -> Result:
    calls = QUICK_CALLS if options.quick else CALLS
    with working_folder() as folder, _serving(folder / "home") as (url, token):
        figures = {
            f"{name}, {many} at once": measure(url, token, many, calls)
            for many in AT_ONCE
            for name, measure in (("raw", _raw), ("open(url)", _threads), ("AsyncClient", _async))
        }
    rows = [
        [name, *(f"{one[key]:.2f}" for key in ("median_ms", "p99_ms", "cpu_ms")), f"{one['per_second']:,.0f}"]
        for name, one in figures.items()
    ]
    head = ("", "median", "p99", "CPU", "per second")
    return Result("client", [Table(f"A call of {OPERATION}, ms", head, rows)], {"calls": calls, **figures})


@contextmanager
def _serving(home: Path) -> Iterator[tuple[str, str]]:
    command = [sys.executable, "-c", _PROGRAM, "serve", "--port", "0", "--home", str(home)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            found = next(match for line in process.stderr if (match := re.search(r"http://[\d.]+:\d+", line)))
            # A pipe that nobody reads would stop the server when it is full.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield found[0], (home / "token").read_text().strip()
        finally:
            process.terminate()


def _raw(url: str, token: str, many: int, calls: int) -> dict[str, float]:
    """The floor of the standard library: a connection per thread, nothing decoded."""
    local = threading.local()
    host = url.removeprefix("http://")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call() -> None:
        if not hasattr(local, "connection"):
            local.connection = http.client.HTTPConnection(host)
        local.connection.request("POST", f"/v1/{OPERATION}", b"{}", headers)
        answer = local.connection.getresponse()
        assert answer.status == 200
        answer.read()

    return _in_threads(call, many, calls)


def _threads(url: str, token: str, many: int, calls: int) -> dict[str, float]:
    with mnemos.open(url, token=token) as memory:
        return _in_threads(lambda: memory.call(OPERATION), many, calls)


def _in_threads(call: Callable[[], Any], many: int, calls: int) -> dict[str, float]:
    def timed(_: int) -> float:
        begun = time.perf_counter()
        call()
        return time.perf_counter() - begun

    with ThreadPoolExecutor(many) as pool:
        list(pool.map(timed, range(many)))
        begun, used = time.perf_counter(), time.process_time()
        taken = list(pool.map(timed, range(calls)))
    return _summarise(taken, time.perf_counter() - begun, time.process_time() - used)


def _async(url: str, token: str, many: int, calls: int) -> dict[str, float]:
    async def main() -> dict[str, float]:
        taken: list[float] = []
        async with mnemos.AsyncClient(url, token) as client:

            async def work(times: int) -> None:
                for _ in range(times):
                    begun = time.perf_counter()
                    await client.call(OPERATION)
                    taken.append(time.perf_counter() - begun)

            await asyncio.gather(*(work(1) for _ in range(many)))
            taken.clear()
            begun, used = time.perf_counter(), time.process_time()
            await asyncio.gather(*(work(calls // many) for _ in range(many)))
            return _summarise(taken, time.perf_counter() - begun, time.process_time() - used)

    return asyncio.run(main())


def _summarise(taken: list[float], seconds: float, cpu: float) -> dict[str, float]:
    return {
        "median_ms": median(taken) * 1e3,
        "p99_ms": percentile(taken, 0.99) * 1e3,
        "cpu_ms": cpu / len(taken) * 1e3,
        "per_second": len(taken) / seconds,
    }

"""Measure the HTTP server: CPU per request, quick calls during slow work, events, half-sent requests, start.

Each figure is a ratio of two that were taken in turn on the same machine, or has a bar of its own:

- ``cpu``: (a bare starlette server with a hop to a thread + the direct call) ÷ the served call;
  the bare server with the parser that comes with it, and with ours;
- ``beside``: the p99 of ``memory_status`` while messages are imported and four clients recall ÷ its idle p99;
- ``events``: from a commit in another process to its event; CPU of ten idle listeners;
- ``slow``: the p99 of ``memory_status`` while 200 requests are half-sent ÷ its p99 without them;
- ``stop`` and ``start``: seconds from SIGTERM to the end with streams open, and to the first ``/health``.
"""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mnemos
from benchmarks.corpus import Corpus
from benchmarks.http_clients import PROGRAM, TOKENS, Client, Served, bare, listen, served
from benchmarks.measure import median, percentile
from benchmarks.peers import working_folder
from benchmarks.report import Options, Result, Table

MESSAGES, QUICK_MESSAGES = 10_000, 1_000
IMPORTED, QUICK_IMPORTED = 100_000, 5_000
SEED = 11
QUICK_CALLS = {"memory_status": 600, "notebook_show": 600, "log": 600}
RECALLS = 60
PROBES, QUICK_PROBES = 600, 150
EVENTS, QUICK_EVENTS = 60, 15
IDLE_SECONDS, QUICK_IDLE_SECONDS = 20.0, 5.0
HALF_SENT = 200
BARS = {"memory_status": 0.75, "notebook_show": 0.75, "log": 0.75, "recall": 0.95}

WRITER = """
import sys, time
from mnemos.memory import Memory
with Memory.at(sys.argv[1]) as memory:
    memory.sessions.create_session("written", "bench")
    for _ in range(int(sys.argv[2])):
        sys.stdin.readline()
        memory.sessions.append_message("written", "user", "committed")
        print(time.time(), flush=True)
"""


def run(options: Options) -> Result:
    size = options.sizes[0] if options.sizes else QUICK_MESSAGES if options.quick else MESSAGES
    with working_folder() as folder:
        home = folder / "home"
        with mnemos.open(home) as memory:
            questions = _fill(memory, size)
            calls = {name: [dict[str, Any]()] for name in QUICK_CALLS} | {
                "recall": [{"query": question} for question in questions[:50]]
            }
            direct = {name: _time_direct(memory, name, given) for name, given in calls.items()}
        figures: dict[str, Any] = {"messages": size, "start": _measure_start(home, options)}
        with served(home) as ours:
            _settle(ours, calls)
            figures["cpu"] = {
                name: _compare_cpu(ours, name, given, *direct[name], options) for name, given in calls.items()
            }
            figures["slow"] = _measure_half_sent(ours, options)
            figures["events"] = _measure_events(ours, home, options)
            figures["beside"] = _measure_beside(ours, folder, calls["recall"], options)
        # Alone: one that has just imported a lot also merges its index when it ends.
        with served(home) as ours:
            _settle(ours, calls)
            figures["stop_seconds"] = _measure_stop(ours)
    return Result("http", _tables(figures), figures)


def _fill(memory: mnemos.Memory, size: int) -> list[str]:
    questions: list[str] = []
    for session in Corpus(size, SEED).sessions():
        memory.sessions.create_session(session.id, session.source, started_at=session.started_at)
        memory.sessions.append_messages(session.id, session.messages)
        questions += [" ".join(str(one["content"]).split()[:8]) for one in session.messages[:1]]
    for number in range(30):
        memory.facts.write(f"V[srv.n{number}]: api.example.com:{number}")
    memory.notebook.add("Tests run with make test")
    memory.notebook.add("Likes short answers", target="user")
    memory.embedding.catch_up()
    return questions


def _settle(ours: Served, calls: dict[str, list[dict[str, Any]]]) -> None:
    """Wait until the server has loaded what it needs: that is the cost of its start, not of a request.

    It also stores the first use of each token, once a day.
    """
    client = Client(ours)
    for name, given in calls.items():
        for _ in range(TOKENS):
            _check(client.post(name, given[0]))
    client.close()
    for _ in range(30):
        before = ours.cpu
        time.sleep(0.5)
        if ours.cpu - before < 0.02:
            return


def _count(name: str) -> int:
    return QUICK_CALLS.get(name, RECALLS)


def _time_direct(memory: mnemos.Memory, name: str, given: list[dict[str, Any]]) -> tuple[float, int]:
    """Return the CPU seconds of a call, and the bytes of an answer."""
    size = len(json.dumps(memory.call(name, given[0])))
    times = []
    for _ in range(3):
        before = time.process_time()
        for turn in range(_count(name)):
            memory.call(name, given[turn % len(given)])
        times.append((time.process_time() - before) / _count(name))
    return median(times), size


def _compare_cpu(
    ours: Served, name: str, given: list[dict[str, Any]], direct: float, size: int, options: Options
) -> dict[str, float]:
    plains, parsed, serveds = [], [], []
    with bare(size, "h11") as plain, bare(size, "httptools") as fast:
        for _ in range(options.repeat):
            plains.append(_cpu_of(plain, name, given, 600))
            parsed.append(_cpu_of(fast, name, given, 600))
            serveds.append(_cpu_of(ours, name, given, _count(name)))
    return {
        "direct_us": direct * 1e6,
        "bare_us": median(plains) * 1e6,
        "bare_httptools_us": median(parsed) * 1e6,
        "served_us": median(serveds) * 1e6,
        "ratio": median([(one + direct) / served for one, served in zip(plains, serveds, strict=True)]),
        "ratio_httptools": median(
            [(one + direct) / served for one, served in zip(parsed, serveds, strict=True)]
        ),
        "bar": BARS[name],
    }


def _cpu_of(one: Served, name: str, given: list[dict[str, Any]], times: int) -> float:
    client = Client(one)
    for turn in range(20):
        _check(client.post(name, given[turn % len(given)]))
    before = one.cpu
    for turn in range(times):
        _check(client.post(name, given[turn % len(given)]))
    used = one.cpu - before
    client.close()
    return used / times


def _check(answer: tuple[int, bytes]) -> bytes:
    if answer[0] != 200:
        raise RuntimeError(f"{answer[0]}: {answer[1][:200]!r}")
    return answer[1]


@dataclass(slots=True)
class Probes:
    """Milliseconds of quick calls, one after the other."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """Of CPU time that the server used meanwhile, for any call. Other programs don't count."""

    def ask(self, one: Served, times: int) -> None:
        client = Client(one)
        for _ in range(times):
            before, used = time.perf_counter(), one.cpu
            _check(client.post("memory_status", {}))
            self.wall.append((time.perf_counter() - before) * 1e3)
            self.cpu.append((one.cpu - used) * 1e3)
        client.close()


def _compare_p99(idle: Probes, loaded: Probes) -> dict[str, float]:
    both = percentile(idle.wall, 0.99), percentile(loaded.wall, 0.99)
    return {
        "idle_p50_ms": median(idle.wall),
        "loaded_p50_ms": median(loaded.wall),
        "idle_p99_ms": both[0],
        "loaded_p99_ms": both[1],
        "ratio": both[1] / both[0],
        "idle_p99_cpu_ms": percentile(idle.cpu, 0.99),
        "loaded_p99_cpu_ms": percentile(loaded.cpu, 0.99),
    }


def _measure_half_sent(ours: Served, options: Options) -> dict[str, float]:
    """Measure with half heads and half bodies, which are closed after seconds, so sent anew each round."""
    probes = QUICK_PROBES if options.quick else PROBES
    head = f"POST /v1/memory_status HTTP/1.1\r\nHost: 127.0.0.1:{ours.port}\r\n"
    body = (
        f"Authorization: Bearer {next(ours.tokens)}\r\nContent-Type: application/json\r\n"
        "Content-Length: 9\r\n\r\n{"
    )
    idle, loaded = Probes(), Probes()
    for _ in range(options.repeat):
        idle.ask(ours, probes)
        with ExitStack() as opened:
            for number in range(HALF_SENT):
                slow = opened.enter_context(socket.create_connection(("127.0.0.1", ours.port)))
                slow.sendall((head + (body if number % 10 == 0 else "")).encode())
            loaded.ask(ours, probes)
    return _compare_p99(idle, loaded) | {"bar": 2.0}


def _measure_events(ours: Served, home: Path, options: Options) -> dict[str, float]:
    events = QUICK_EVENTS if options.quick else EVENTS
    late = []
    with (
        listen(ours) as lines,
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(home), str(events)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer,
    ):
        assert writer.stdin is not None
        assert writer.stdout is not None
        for number in range(events):
            # Spread over the time between two looks at the database.
            time.sleep(0.3 + (number * 0.37) % 0.25)
            writer.stdin.write("\n")
            writer.stdin.flush()
            while b'"kind":"message"' not in next(lines):
                pass
            seen = time.time()
            late.append((seen - float(writer.stdout.readline())) * 1e3)
    idle = _cpu_share(ours, options)
    with ExitStack() as opened:
        for _ in range(10):
            next(opened.enter_context(listen(ours)))
        listening = _cpu_share(ours, options)
    return {
        "median_ms": median(late),
        "p95_ms": percentile(late, 0.95),
        "bar_ms": 400.0,
        "ten_listeners_cpu_percent": (listening - idle) * 100,
        "bar_percent": 1.0,
    }


def _cpu_share(ours: Served, options: Options) -> float:
    seconds = QUICK_IDLE_SECONDS if options.quick else IDLE_SECONDS
    time.sleep(0.5)
    before = ours.cpu
    time.sleep(seconds)
    return (ours.cpu - before) / seconds


def _measure_beside(
    ours: Served, folder: Path, recalls: list[dict[str, Any]], options: Options
) -> dict[str, float]:
    size = QUICK_IMPORTED if options.quick else IMPORTED
    file = folder / "import.jsonl"
    with file.open("w") as lines:
        for session in Corpus(size, SEED + 1).sessions():
            said = [{"role": one["role"], "content": one["content"]} for one in session.messages]
            lines.write(json.dumps({"messages": said}) + "\n")
    idle, loaded = Probes(), Probes()
    idle.ask(ours, QUICK_PROBES if options.quick else PROBES * 2)
    ended = threading.Event()
    failures: list[str] = []

    def work(call: Callable[[Client], object], *, once: bool = False) -> None:
        client = Client(ours)
        try:
            while not ended.is_set():
                call(client)
                if once:
                    ended.set()
        except (RuntimeError, OSError) as exc:
            failures.append(str(exc))
            ended.set()
        finally:
            client.close()

    def bring_in(client: Client) -> None:
        last = client.upload("import_jsonl", file.read_bytes(), "application/x-ndjson")
        if last != "result":
            raise RuntimeError(f"the import ended with {last}")

    turns = iter(range(10**9))
    began = time.perf_counter()
    threads = [threading.Thread(target=work, args=(bring_in,), kwargs={"once": True})] + [
        threading.Thread(
            target=work,
            args=(lambda client: _check(client.post("recall", recalls[next(turns) % len(recalls)])),),
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    while not ended.is_set():
        loaded.ask(ours, 20)
    for thread in threads:
        thread.join()
    if failures:
        raise RuntimeError(failures[0])
    return _compare_p99(idle, loaded) | {
        "imported": size,
        "seconds": time.perf_counter() - began,
        "probes": len(loaded.wall),
        "bar": 5.0,
    }


def _measure_stop(ours: Served) -> float:
    """Return the seconds from SIGTERM to the end, with ten streams open."""
    with ExitStack() as opened:
        for _ in range(10):
            next(opened.enter_context(listen(ours)))
        before = time.perf_counter()
        ours.process.terminate()
        ours.process.wait()
        return time.perf_counter() - before


def _measure_start(home: Path, options: Options) -> dict[str, float]:
    """Return the seconds to the first answer, and those that the imports alone take; also of the CPU."""
    imports, ours = [], []
    for _ in range(options.repeat):
        before, used = time.perf_counter(), _children_cpu()
        subprocess.run([sys.executable, "-c", "import starlette.applications, uvicorn"], check=True)
        imports.append((time.perf_counter() - before, _children_cpu() - used))
        ours.append(_time_start(home))
    return {
        "imports_seconds": median([wall for wall, _ in imports]),
        "health_seconds": median([wall for wall, _ in ours]),
        "imports_cpu_seconds": median([cpu for _, cpu in imports]),
        "health_cpu_seconds": median([cpu for _, cpu in ours]),
        "bar_over_seconds": 0.2,
    }


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _time_start(home: Path) -> tuple[float, float]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    before = time.perf_counter()
    command = [*PROGRAM, "serve", "--home", str(home), "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            while True:
                try:
                    with socket.create_connection(("127.0.0.1", port)) as asking:
                        asking.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                        if asking.recv(12).endswith(b"200"):
                            return time.perf_counter() - before, Served(process, port).cpu
                except ConnectionRefusedError:
                    time.sleep(0.002)
        finally:
            process.terminate()


def _tables(figures: dict[str, Any]) -> list[Table]:
    cpu = [
        [
            name,
            *(f"{one[key]:.0f}" for key in ("bare_us", "bare_httptools_us", "direct_us", "served_us")),
            f"{one['ratio']:.2f}",
            f"{one['ratio_httptools']:.2f}",
            f"{one['bar']:.2f}",
        ]
        for name, one in figures["cpu"].items()
    ]
    beside = [
        [
            name,
            *(
                f"{one[key]:.2f}"
                for key in ("idle_p50_ms", "loaded_p50_ms", "idle_p99_ms", "loaded_p99_ms", "ratio", "bar")
            ),
            *(f"{one[key]:.2f}" for key in ("idle_p99_cpu_ms", "loaded_p99_cpu_ms")),
        ]
        for name, one in (("import and recalls", figures["beside"]), ("200 half-sent", figures["slow"]))
    ]
    events, start = figures["events"], figures["start"]
    rest = [
        ["event, median ms", f"{events['median_ms']:.0f}", ""],
        ["event, p95 ms", f"{events['p95_ms']:.0f}", f"{events['bar_ms']:.0f}"],
        [
            "ten idle listeners, % of a core",
            f"{events['ten_listeners_cpu_percent']:.2f}",
            f"{events['bar_percent']:.0f}",
        ],
        ["stop with ten streams, s", f"{figures['stop_seconds']:.2f}", "1"],
        *(
            [
                f"first /health, s{of}",
                f"{start[f'health_{key}']:.2f}",
                f"{start[f'imports_{key}'] + start['bar_over_seconds']:.2f}",
            ]
            for of, key in (("", "seconds"), (" of the CPU", "cpu_seconds"))
        ),
    ]
    size = f"{figures['messages']:,} messages"
    return [
        Table(
            f"CPU of a request, {size}, µs",
            ("", "bare", "with httptools", "direct", "served", "ratio", "with httptools", "at least"),
            cpu,
        ),
        Table(
            "memory_status beside other work, ms",
            (
                "",
                "idle p50",
                "p50",
                "idle p99",
                "p99",
                "ratio",
                "at most",
                "idle p99, its CPU",
                "p99, its CPU",
            ),
            beside,
        ),
        Table("Events, end and start", ("", "measured", "at most"), rest),
    ]

"""Load ``fastapi_service.py`` with people of several tenants at once, and look for what they should not see.

    python examples/fastapi_load.py --tenants 3 --people 4 --turns 20

Everybody tells the service their own number and asks for it later. It fails if a request fails, a number
is not found again, or somebody gets the number of another person or tenant.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

os.environ.setdefault("CHAT_SECRET", "only for this test")


class Seen(NamedTuple):
    """The experience of one person: seconds per request, and problems."""

    seconds: list[float]
    problems: list[str]


@contextmanager
def serving(home: str) -> Iterator[str]:
    """Start the service on a free port; give its host and port."""
    command = [
        *(sys.executable, "-m", "uvicorn", "--app-dir", str(Path(__file__).parent)),
        *("--port", "0", "--log-level", "info", "--no-access-log", "fastapi_service:app"),
    ]
    environment = os.environ | {"CHAT_HOME": home}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
        lines: list[str] = []
        try:
            for line in process.stderr or ():
                lines.append(line)
                if found := re.search(r"running on http://([\d.:]+)", line):
                    threading.Thread(target=process.stderr.read, daemon=True).start()  # type: ignore[union-attr]
                    yield found[1]
                    return
            raise SystemExit("The service did not start:\n" + "".join(lines))
        finally:
            process.terminate()


def converse(host: str, key: str, own: str, others: frozenset[str], turns: int) -> Seen:
    """Talk for some turns as one person."""
    seen = Seen([], [])
    person = key.split(".")[1]
    with closing(http.client.HTTPConnection(host, timeout=120)) as connection:
        for turn in range(turns):
            is_question = turn % 2 == 1
            text = "Which number does my locker have?" if is_question else f"My locker has the number {own}."
            begun = time.perf_counter()
            connection.request(
                "POST",
                f"/sessions/{person}-{turn // 10}/messages",
                json.dumps({"text": text}),
                {"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
            )
            answer = connection.getresponse()
            body = answer.read().decode()
            seen.seconds.append(time.perf_counter() - begun)
            if answer.status != 200:
                seen.problems.append(f"status {answer.status}: {body[:200]}")
            elif is_question and own not in body:
                seen.problems.append(f"{person} does not get {own}: {body[:200]}")
            elif leaked := others & set(re.findall(r"\d{6}", body)):
                seen.problems.append(f"{person} sees {sorted(leaked)} of others")
    return seen


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("tenants", 3), ("people", 4), ("turns", 20)):
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = parser.parse_args(arguments)
    from fastapi_service import sign

    # The same names in every tenant: only the space tells them apart.
    people = [(f"tenant{t}", f"person{p}") for t in range(chosen.tenants) for p in range(chosen.people)]
    numbers = {one: str(100_000 + number) for number, one in enumerate(people)}
    with (
        tempfile.TemporaryDirectory() as home,
        serving(home) as host,
        ThreadPoolExecutor(len(people)) as pool,
    ):
        begun = time.perf_counter()
        talks = [
            pool.submit(converse, host, sign(*one), own, frozenset(numbers.values()) - {own}, chosen.turns)
            for one, own in numbers.items()
        ]
        seen = [talk.result() for talk in talks]
        taken = time.perf_counter() - begun
    seconds = sorted(one for person in seen for one in person.seconds)
    problems = [problem for person in seen for problem in person.problems]
    middle, slow = median(seconds) * 1e3, seconds[int(len(seconds) * 0.99)] * 1e3
    print(f"{len(people)} people of {chosen.tenants} tenants, {len(seconds)} turns: {len(problems)} problems")
    print(f"{len(seconds) / taken:.0f} turns per second, median {middle:.0f} ms, p99 {slow:.0f} ms")
    print("\n".join(problems[:10]), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    raise SystemExit(main())

"""Speed of the local backend with many users and many entries: ``python -m benchmarks.entries``.

Fills a throw-away database, then times single calls of a process that only just opened it: each on a user
chosen at random, so that nothing of the last call helps the next.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mnemos.memory.backends import LocalBackend
from mnemos.storage.base import Writes

_SYLLABLES = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er")]
_TOPICS = ("pref", "habit", "profile", "project", "team", "place", "tool", "food", "music", "health")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--entries", type=int, default=10_000, help="for each user")
    parser.add_argument("--calls", type=int, default=1_000)
    asked = parser.parse_args()
    rng = random.Random(7)
    words = ["".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4))) for _ in range(4_000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "entries.db"
        begun = time.perf_counter()
        _fill(path, asked.users, asked.entries, words, rng)
        filled = time.perf_counter() - begun
        figures = _timed(path, asked.users, asked.calls, words, rng)
        size = path.stat().st_size
    print(json.dumps({"users": asked.users, "entries": asked.entries, "fill_seconds": round(filled, 1),
                      "file_bytes": size, "milliseconds": figures}, indent=1))  # fmt: skip


def _fill(path: Path, users: int, entries: int, words: list[str], rng: random.Random) -> None:
    backend = _opened(path)
    for user in range(users):
        made = [_made(number, words, rng) for number in range(entries)]
        for start in range(0, entries, 500):
            some = made[start : start + 500]

            def work(tx: Writes, some: list[tuple[str, str]] = some, name: str = f"user{user}") -> None:
                for key, value in some:
                    tx.entries.put(name, key, value, None, time.time())

            backend.entries._storage.write(work)
        backend.entries.settle()
        print(f"\r{user + 1} of {users} users", end="", file=sys.stderr)
    print(file=sys.stderr)
    backend.close()


def _opened(path: Path) -> LocalBackend:
    backend = LocalBackend(path)
    # Background work of recall in quiet moments would be measured, too: here there are none.
    backend.entries._storage.when_idle(lambda: False)
    return backend


def _made(number: int, words: list[str], rng: random.Random) -> tuple[str, str]:
    key = f"{rng.choice(_TOPICS)}_{rng.choice(words)}_{number}"
    return key, " ".join(rng.choices(words, k=rng.randint(2, 12)))


def _timed(
    path: Path, users: int, calls: int, words: list[str], rng: random.Random
) -> dict[str, dict[str, float]]:
    backend = _opened(path)
    keys = {f"user{n}": backend.list_keys(f"user{n}") for n in rng.sample(range(users), min(20, users))}
    every = list(keys)
    backend.query(every[0], "warm up")

    def user() -> str:
        return f"user{rng.randrange(users)}"

    def known() -> tuple[str, str]:
        name = rng.choice(every)
        return name, rng.choice(keys[name])

    trials: dict[str, Callable[[], object]] = {
        "retrieve": lambda: backend.retrieve(*known()),
        "store (new)": lambda: backend.store(
            user(), f"new_{rng.random()}", " ".join(rng.choices(words, k=6))
        ),
        "store (update)": lambda: backend.store(*known(), " ".join(rng.choices(words, k=6))),
        "query, one word": lambda: backend.query(user(), rng.choice(words)),
        "query, a part of a word": lambda: backend.query(user(), rng.choice(words)[1:5]),
        "query, a topic that a tenth has": lambda: backend.query(user(), rng.choice(_TOPICS)),
        "query, a question": lambda: backend.query(
            user(), f"what does she {' '.join(rng.choices(words, k=5))} with it?"
        ),
    }
    figures = {name: _figures(_times(trial, calls, backend)) for name, trial in trials.items()}
    backend.close()
    return figures


def _times(trial: Callable[[], object], calls: int, backend: LocalBackend) -> list[float]:
    backend.entries.settle()
    times: list[float] = []
    for _ in range(calls):
        begun = time.perf_counter()
        trial()
        times.append(time.perf_counter() - begun)
    return sorted(times)


def _figures(times: list[float]) -> dict[str, float]:
    return {
        f"p{share}": round(1000 * times[min(len(times) - 1, len(times) * share // 100)], 3)
        for share in (50, 95, 99)
    }


if __name__ == "__main__":
    main()

"""Sixteen mixed clients of one server: does anything fail, get slower, grow or leak?

``python -m benchmarks http_soak`` runs for ten minutes. Some clients follow the changes, the others append,
search, recall, remember, list and query, at a pace that leaves the machine some room.
"""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import mnemos
from benchmarks.corpus import Corpus
from benchmarks.http_clients import Client, Served, listen, served
from benchmarks.measure import median, percentile
from benchmarks.peers import working_folder
from benchmarks.report import Options, Result, Table

CLIENTS, LISTENERS = 13, 3
SECONDS, QUICK_SECONDS = 600.0, 15.0
MESSAGES, QUICK_MESSAGES = 10_000, 1_000
PAUSE = 0.25
SEED = 13
PROBES = 300


def run(options: Options) -> Result:
    seconds = QUICK_SECONDS if options.quick else SECONDS
    size = options.sizes[0] if options.sizes else QUICK_MESSAGES if options.quick else MESSAGES
    with working_folder() as folder:
        with mnemos.open(folder / "home") as memory:
            words = _fill(memory, size)
        with served(folder / "home") as one:
            figures = _soak(one, words, seconds)
        with mnemos.open(folder / "home") as memory:
            figures["problems"] = [check.name for check in memory.doctor() if not check.ok]
    return Result("http_soak", _tables(figures), {"messages": size, "seconds": seconds, **figures})


def _fill(memory: mnemos.Memory, size: int) -> list[str]:
    words: list[str] = []
    for session in Corpus(size, SEED).sessions():
        memory.sessions.create_session(session.id, session.source, started_at=session.started_at)
        memory.sessions.append_messages(session.id, session.messages)
        words += [" ".join(str(one["content"]).split()[:6]) for one in session.messages[:1]]
    for number in range(CLIENTS):
        memory.sessions.create_session(f"client-{number}", "bench")
    memory.workspace.query("CREATE TABLE visits (client INTEGER, at REAL)")
    memory.embedding.catch_up()
    return words


def _soak(one: Served, words: list[str], seconds: float) -> dict[str, Any]:
    _probe(one)
    idle = _probe(one)
    taken: list[tuple[float, str, float]] = []
    errors: list[str] = []
    sizes = [(one.kilobytes, one.handles)]
    ended = threading.Event()
    threads = [
        threading.Thread(target=_work, args=(one, number, words, taken, errors, ended))
        for number in range(CLIENTS)
    ] + [threading.Thread(target=_follow, args=(one, errors, ended)) for _ in range(LISTENERS)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    while not ended.wait(seconds / 20):
        sizes.append((one.kilobytes, one.handles))
        if time.monotonic() - began > seconds:
            ended.set()
    for thread in threads:
        thread.join(60)
    calls = [(at - began, name, spent) for at, name, spent in taken]
    early = [spent for at, _, spent in calls if seconds * 0.05 < at < seconds * 0.3]
    late = [spent for at, _, spent in calls if at > seconds * 0.75]
    quick = [spent for _, name, spent in calls if name == "memory_status"]
    quarter = max(1, len(sizes) // 4)
    return {
        "requests": len(calls),
        "samples_kb_and_handles": sizes,
        "errors": len(errors),
        "first_errors": errors[:5],
        "idle_status_ms": {"p50": median(idle), "p99": percentile(idle, 0.99)},
        "status_ms": {"p50": median(quick), "p99": percentile(quick, 0.99)},
        "all_ms": {"early_p50": median(early), "late_p50": median(late)},
        "megabytes": {
            "early": _mean(sizes[1 : quarter + 1], 0) / 1000,
            "late": _mean(sizes[-quarter:], 0) / 1000,
        },
        "handles": {"early": _mean(sizes[1 : quarter + 1], 1), "late": _mean(sizes[-quarter:], 1)},
    }


def _mean(sizes: list[tuple[int, int]], which: int) -> float:
    return sum(size[which] for size in sizes) / len(sizes)


def _probe(one: Served) -> list[float]:
    client = Client(one)
    taken = []
    for _ in range(PROBES):
        before = time.perf_counter()
        client.post("memory_status", {})
        taken.append((time.perf_counter() - before) * 1e3)
    client.close()
    return taken


def _work(
    one: Served,
    number: int,
    words: list[str],
    taken: list[tuple[float, str, float]],
    errors: list[str],
    ended: threading.Event,
) -> None:
    chance = random.Random(number)
    client = Client(one)
    try:
        while not ended.wait(PAUSE * chance.random() * 2):
            name, arguments = _choose(chance, number, words)
            before = time.perf_counter()
            status, body = client.post(name, arguments)
            taken.append((time.monotonic(), name, (time.perf_counter() - before) * 1e3))
            if status != 200:
                errors.append(f"{name}: {status} {body[:200]!r}")
    except OSError as exc:
        errors.append(f"client {number}: {exc!r}")
    finally:
        client.close()


def _choose(chance: random.Random, number: int, words: list[str]) -> tuple[str, dict[str, Any]]:
    said = {"session_id": f"client-{number}", "role": "user", "content": chance.choice(words)}
    calls: list[tuple[float, str, dict[str, Any]]] = [
        (6, "sessions_append", said),
        (3, "memory_status", {}),
        (2, "recall", {"query": chance.choice(words)}),
        (2, "sessions_search", {"query": chance.choice(words).split()[0]}),
        (1, "remember", {"text": f"Client {number} uses port {chance.randrange(1000, 9999)}"}),
        (1, "log", {}),
        (1, "sessions_list", {}),
        (1, "sqlite_query", {"query": "INSERT INTO visits VALUES (?, ?)", "params": [number, time.time()]}),
        (1, "sqlite_query", {"query": "SELECT client, count(*) FROM visits GROUP BY client"}),
        (1, "changes", {"limit": 20}),
    ]  # fmt: skip
    _, name, arguments = chance.choices(calls, [weight for weight, _, _ in calls])[0]
    return name, arguments


def _follow(one: Served, errors: list[str], ended: threading.Event) -> None:
    """Follow the changes, and begin again now and then."""
    try:
        while not ended.is_set():
            with listen(one) as lines:
                for count, line in enumerate(lines):
                    if ended.is_set() or count > 5_000:
                        break
                    if line.startswith(b"event: end"):
                        errors.append("a stream ended")
    except OSError as exc:
        errors.append(f"listener: {exc!r}")


def _tables(figures: dict[str, Any]) -> list[Table]:
    idle, loaded = figures["idle_status_ms"], figures["status_ms"]
    rows = [
        ["requests", f"{figures['requests']:,}", ""],
        ["errors", f"{figures['errors']:,}", ""],
        ["memory_status p50, ms: idle, then", f"{idle['p50']:.2f}", f"{loaded['p50']:.2f}"],
        ["memory_status p99, ms: idle, then", f"{idle['p99']:.2f}", f"{loaded['p99']:.2f}"],
        ["all calls p50, ms: early, late", *(f"{one:.2f}" for one in figures["all_ms"].values())],
        ["memory, MB: early, late", *(f"{one:.1f}" for one in figures["megabytes"].values())],
        ["file handles: early, late", *(f"{one:.1f}" for one in figures["handles"].values())],
        ["failed checks of the doctor", str(len(figures["problems"])), ""],
    ]
    return [Table("Sixteen mixed clients", ("", "", ""), rows, figures["first_errors"])]

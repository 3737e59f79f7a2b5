"""Four processes of mixed work on one home: does anything get slower, grow or leak?

``python -m benchmarks soak`` runs for five minutes. Each process appends, searches, recalls, remembers,
edits a note, queries its tables, and forgets, at a pace that leaves the machine some room. Compared are the
first and the last quarter, after the caches of the first seconds are filled.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import mnemos
from benchmarks.corpus import Corpus, Message
from benchmarks.measure import median, percentile
from benchmarks.report import Options, Result, Table

PROCESSES = 4
SECONDS, QUICK_SECONDS = 300.0, 20.0
SEEDED_MESSAGES = 20_000
PAUSE = 0.03
WARM_UP = 0.05
SHARE = 0.25
WEIGHTS = {
    "append": 6, "search": 3, "recall": 3, "remember": 2, "status": 1, "note": 1,
    "write table": 2, "read table": 2, "read session": 1, "forget": 0.3,
}  # fmt: skip


@dataclass(slots=True)
class Observed:
    """The figures of one process: latencies in seconds by operation, and its memory early and at the end."""

    latencies: list[tuple[float, str, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)


def run(options: Options) -> Result:
    seconds = QUICK_SECONDS if options.quick else SECONDS
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with mnemos.open(home) as memory:
            for session in Corpus(SEEDED_MESSAGES // 10 if options.quick else SEEDED_MESSAGES).sessions():
                memory.sessions.create_session(session.id, session.source, started_at=session.started_at)
                memory.sessions.append_messages(session.id, session.messages)
            memory.embedding.catch_up()
        with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as pool:
            jobs = [pool.submit(work, str(home), number, seconds) for number in range(PROCESSES)]
            seen = [job.result() for job in jobs]
        with mnemos.open(home) as memory:
            problems = [check.name for check in memory.doctor() if not check.ok]
            messages = memory.sessions.stats()["messages"]
    return _report(seen, seconds, problems, messages)


def work(home: str, number: int, seconds: float) -> Observed:
    """Work on the home until the time is over."""
    seen = Observed()
    with mnemos.open(home) as memory:
        worker = _Worker(memory, number)
        calls = {name: getattr(worker, name.replace(" ", "_")) for name in WEIGHTS}
        for call in calls.values():
            call()
        chance = random.Random(number)
        started = time.monotonic()
        samples = [WARM_UP + SHARE * step for step in range(4)] + [1.0]
        while (elapsed := time.monotonic() - started) < seconds:
            name = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            before = time.perf_counter()
            try:
                calls[name]()
            except mnemos.MnemosError as error:
                seen.errors.append(f"{name}: {error}")
            seen.latencies.append((elapsed / seconds, name, time.perf_counter() - before))
            if elapsed / seconds >= samples[0]:
                samples.pop(0)
                _sample(seen)
            time.sleep(PAUSE)
        _sample(seen)
    return seen


class _Worker:
    def __init__(self, memory: mnemos.Memory, number: int) -> None:
        self._memory, self._number = memory, number
        self._chance = random.Random(1_000 + number)
        self._texts: list[Message] = [
            message
            for session in Corpus(2_000, seed=number + 1).sessions()
            for message in session.messages
            if isinstance(message.get("content"), str) and message["role"] in ("user", "assistant")
        ]
        self._turn = 0
        self._last: list[int] = []
        self._note = ""
        memory.sessions.ensure_session(self._session, "cli")
        memory.workspace.query(
            f"CREATE TABLE IF NOT EXISTS t{number} (n INTEGER, word TEXT)", database=f"soak{number}"
        )

    @property
    def _session(self) -> str:
        return f"soak-{self._number}-{self._turn // 40}"

    def _text(self) -> str:
        return str(self._chance.choice(self._texts)["content"])

    def _words(self, count: int) -> str:
        return " ".join(self._text().split()[:count])

    def append(self) -> None:
        self._turn += 1
        self._memory.sessions.ensure_session(self._session, "cli")
        turn = [{"role": "user", "content": self._text()}, {"role": "assistant", "content": self._text()}]
        self._last = self._memory.sessions.append_messages(self._session, turn)

    def search(self) -> None:
        self._memory.sessions.search_messages(self._words(2), limit=10)

    def recall(self) -> None:
        self._memory.recall(f"what did we say about {self._words(4)}?")

    def remember(self) -> None:
        # A few hundred subjects, whose values change: memory of a machine, not an ever longer list.
        place = self._chance.randrange(300)
        value = self._chance.randrange(10_000)
        self._memory.call("remember", {"text": f"The queue of service {place} is number {value}"})

    def status(self) -> None:
        self._memory.call("memory_status", {})

    def note(self) -> None:
        text = f"Process {self._number} is at step {self._chance.randrange(10_000)}"
        if self._note:
            self._memory.notebook.replace(self._note, text)
        else:
            self._memory.notebook.add(text)
        self._note = text

    def write_table(self) -> None:
        self._memory.workspace.query(
            f"INSERT INTO t{self._number} VALUES (?, ?)",
            [self._chance.randrange(1_000), self._words(1)],
            database=f"soak{self._number}",
        )

    def read_table(self) -> None:
        self._memory.workspace.query(
            f"SELECT n, count(*) FROM t{self._number} GROUP BY n ORDER BY n LIMIT 20",
            database=f"soak{self._number}",
        )

    def read_session(self) -> None:
        self._memory.call("sessions_read", {"session": self._session})

    def forget(self) -> None:
        if self._last:
            self._memory.forget(f"message:{self._last.pop()}")


def _sample(seen: Observed) -> None:
    """Note the memory and open files of this process, in pages and counts of the kernel."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    seen.memory.append(pages * os.sysconf("SC_PAGESIZE"))
    seen.handles.append(len(list(Path("/proc/self/fd").iterdir())))


def _report(seen: list[Observed], seconds: float, problems: list[str], messages: int) -> Result:
    rows = []
    figures: dict[str, object] = {"seconds": seconds, "messages": messages, "problems": problems}
    for name in WEIGHTS:
        early = _latencies(seen, name, lambda at: WARM_UP <= at < WARM_UP + SHARE)
        late = _latencies(seen, name, lambda at: at >= 1 - SHARE)
        if not early or not late:
            continue
        ratio = median(late) / median(early)
        figures[name] = {
            "early_ms": median(early), "late_ms": median(late), "ratio": ratio,
            "early_p95_ms": percentile(early, 0.95), "late_p95_ms": percentile(late, 0.95),
            "calls": sum(1 for one in seen for _, each, _ in one.latencies if each == name),
        }  # fmt: skip
        rows.append(
            (name, f"{len(early)}+{len(late)}", f"{median(early):.2f}", f"{median(late):.2f}", f"{ratio:.2f}",
             f"{percentile(early, 0.95):.1f}", f"{percentile(late, 0.95):.1f}")
        )  # fmt: skip
    memory = [[round(pages / 1e6, 1) for pages in one.memory] for one in seen]
    handles = [one.handles for one in seen]
    errors = [error for one in seen for error in one.errors]
    figures |= {"memory_mb": memory, "handles": handles, "errors": errors[:20], "error_count": len(errors)}
    notes = [
        f"calls: {sum(len(one.latencies) for one in seen):,}, errors: {len(errors)}, messages: {messages:,}",
        *(f"error: {error}" for error in errors[:5]),
        *(f"memory of process {n}, MB: {mine}; open files: {handles[n]}" for n, mine in enumerate(memory)),
        f"doctor: {', '.join(problems) or 'nothing found'}",
    ]
    table = Table(
        f"soak: {PROCESSES} processes for {seconds:.0f} s, ms per call in the first and last quarter",
        ("operation", "calls", "first p50", "last p50", "ratio", "first p95", "last p95"),
        rows,
        notes,
    )
    return Result("soak", [table], figures)


def _latencies(seen: list[Observed], name: str, within: Callable[[float], bool]) -> list[float]:
    return [took * 1e3 for one in seen for at, each, took in one.latencies if each == name and within(at)]

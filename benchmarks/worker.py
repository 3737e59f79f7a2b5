"""The child process in which one engine is measured, driven by JSON lines on its standard input.

Every engine, ours included, runs this same loop in a process of its own: calls are timed around
the call itself, a background thread of one engine never disturbs another, and the CPU time of the
process is the engine's alone. Only the standard library, because peers run it in their own
environment.
"""

from __future__ import annotations

import json
import os
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from benchmarks.corpus import Corpus, Message, text_bytes
from benchmarks.measure import time_calls

Reply = dict[str, Any]
LIMIT = 20
SHARED = "shared"
SESSION_MESSAGES = 50
SHARED_EVERY = 10


class Engine(Protocol):
    """One store of conversations, as the benchmarks see it.

    ``append_many`` is only ever called once per session, because a peer's only batch call
    replaces the messages of a session. Sessions and messages are those of the corpus.
    """

    def versions(self) -> dict[str, str]: ...

    def open(self, path: str, durability: str) -> None: ...

    def create_session(self, session_id: str, source: str, started_at: float) -> None: ...

    def append(self, session_id: str, message: Message) -> object: ...

    def append_many(self, session_id: str, messages: list[Message]) -> object: ...

    def load(self, session_id: str, messages: list[Message]) -> list[int]:
        """Append in bulk, as fast as the engine can; the ids of the messages in order."""
        ...

    def finish_load(self) -> None:
        """Bring the index into its best state, as the engine's own upkeep would."""
        ...

    def search(self, query: str, limit: int) -> list[Any]: ...

    def hit(self, row: Any) -> tuple[int, bool]:
        """The id of a result, and whether the engine marks it as matching only in part."""
        ...

    def counts(self, session_id: str) -> tuple[int, int]:
        """The session's counter of messages, and the messages that are really there."""
        ...

    def close(self) -> None: ...


class Worker:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._calls: list[tuple[str, Any]] = []
        self._batch = 1
        self._sessions: list[str] = []
        self._ids = array("q")

    def versions(self) -> Reply:
        return {"versions": self._engine.versions()}

    def prepare_append(
        self, path: str, durability: str, seed: int, count: int, batch: int, *, shared: bool
    ) -> Reply:
        """Open the store, create the sessions and write down all calls; none is made yet."""
        self._engine.open(path, durability)
        messages = [m for session in Corpus(count, seed).sessions() for m in session.messages]
        self._batch = batch
        self._sessions = []
        self._calls = []
        for start in range(0, count, SESSION_MESSAGES):
            name = f"append-{seed}-{start:07d}"
            self._engine.create_session(name, "cli", messages[start]["timestamp"])
            self._sessions.append(name)
            self._plan(name, messages[start : start + SESSION_MESSAGES], shared=shared)
        return {}

    def append(self) -> Reply:
        call = self._engine.append if self._batch == 1 else self._engine.append_many
        return asdict(time_calls(call, self._calls))

    def finish_append(self) -> Reply:
        """Close the store; what closing cost is indexing that the appends left for later."""
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        self._engine.close()
        closed = time.perf_counter_ns() - wall
        return {"close_cpu": time.process_time_ns() - cpu, "close_wall": closed}

    def create_shared(self, path: str, durability: str) -> Reply:
        self._engine.open(path, durability)
        self._engine.create_session(SHARED, "cli", 1_700_000_000.0)
        self._engine.close()
        return {}

    def counts(self) -> Reply:
        names = [*self._sessions, SHARED]
        return {"counts": {name: self._engine.counts(name) for name in names}}

    def load(self, path: str, size: int, seed: int) -> Reply:
        """Stream the corpus in, close, measure the file, and open again for searching."""
        engine = self._engine
        engine.open(path, "normal")
        self._ids = array("q")
        spent = size_of_text = 0
        cpu = time.process_time_ns()
        generating = 0
        # Generating runs on this thread, an engine's indexing perhaps on another.
        mark = time.thread_time_ns()
        for session in Corpus(size, seed).sessions():
            size_of_text += sum(text_bytes(message) for message in session.messages)
            generating += time.thread_time_ns() - mark
            before = time.perf_counter_ns()
            engine.create_session(session.id, session.source, session.started_at)
            self._ids.extend(engine.load(session.id, session.messages))
            spent += time.perf_counter_ns() - before
            mark = time.thread_time_ns()
        before = time.perf_counter_ns()
        engine.finish_load()
        engine.close()
        spent += time.perf_counter_ns() - before
        used = time.process_time_ns() - cpu - generating
        size_of_file = _bytes_on_disk(path)
        engine.open(path, "normal")
        return {
            "build_wall": spent,
            "build_cpu": used,
            "text_bytes": size_of_text,
            "file_bytes": size_of_file,
        }

    def search(self, queries: list[str], budget: float) -> Reply:
        """Time each query once, in order, until the budget of seconds is spent (ten at least)."""
        search = self._engine.search
        return self._timed(lambda query: search(query, LIMIT), queries, budget, self._place)

    def _timed(
        self,
        ask: Callable[[str], list[Any]],
        queries: list[str],
        budget: float,
        place: Callable[[Any], Any],
    ) -> Reply:
        wall, cpu, hits = [], [], []
        clock, cpu_clock = time.perf_counter_ns, time.process_time_ns
        deadline = time.monotonic() + budget
        for query in queries:
            cpu_before, before = cpu_clock(), clock()
            rows = ask(query)
            after, cpu_after = clock(), cpu_clock()
            wall.append(after - before)
            cpu.append(cpu_after - cpu_before)
            hits.append([place(row) for row in rows])
            if time.monotonic() > deadline and len(wall) >= 10:
                break
        return {"wall": wall, "cpu": cpu, "hits": hits}

    def embed(self) -> Reply:
        """Make the vectors of everything that was loaded."""
        cpu = time.process_time_ns()
        count = self._recaller().embed()
        return {"count": count, "cpu": time.process_time_ns() - cpu}

    def recall(self, queries: list[str], budget: float, *, words_only: bool) -> Reply:
        """As ``search``, for questions."""
        recall = self._recaller().recall
        return self._timed(lambda query: recall(query, words_only), queries, budget, lambda _: 1)

    def _recaller(self) -> Any:
        """The engine, where it recalls: only ours does."""
        return self._engine

    def close(self) -> Reply:
        self._engine.close()
        return {"peak_memory": _peak_memory()}

    def _plan(self, name: str, messages: list[Message], *, shared: bool) -> None:
        if self._batch > 1:
            self._calls.append((name, messages))
            return
        for position, message in enumerate(messages):
            everybodys = shared and position % SHARED_EVERY == 0
            self._calls.append((SHARED if everybodys else name, message))

    def _place(self, row: Any) -> tuple[int, bool]:
        """The position of a result in the corpus; -1 for a message that was never loaded."""
        message_id, partial = self._engine.hit(row)
        # Ids are handed out in ascending order by every engine here, mostly without gaps.
        low, high = 0, len(self._ids)
        while low < high:
            middle = (low + high) // 2
            if self._ids[middle] < message_id:
                low = middle + 1
            else:
                high = middle
        known = low < len(self._ids) and self._ids[low] == message_id
        return (low if known else -1, partial)


def serve(engine: Engine) -> None:
    """Answer requests to one store of conversations until the input ends."""
    verbs = (
        "versions", "prepare_append", "append", "finish_append", "create_shared", "counts",
        "load", "search", "embed", "recall", "close",
    )  # fmt: skip
    answer(Worker(engine), verbs)


def answer(worker: object, names: Sequence[str]) -> None:
    """Answer requests with the methods named. A failure is answered too, and ends nothing."""
    # Answers go to the real standard output; what an engine prints goes to the error stream.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    verbs: dict[str, Callable[..., Reply]] = {verb: getattr(worker, verb) for verb in names}
    for line in sys.stdin:
        request = json.loads(line)
        verb = request.pop("do")
        try:
            reply = verbs[verb](**request)
        except Exception as error:  # noqa: BLE001  the outermost loop: the driver decides
            reply = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()


def _bytes_on_disk(path: str) -> int:
    store = Path(path)
    return sum(file.stat().st_size for file in store.parent.glob(store.name + "*"))


def _peak_memory() -> int | None:
    """Bytes; None where the kernel does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return None

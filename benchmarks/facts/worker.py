"""The child process in which one memory of facts is measured; driven as ``benchmarks.worker`` is.

Only the standard library, because the peer runs it in its own environment.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from benchmarks import worker
from benchmarks.facts import made
from benchmarks.facts.made import MadeScope

Reply = dict[str, Any]
# The handling of one fact by a store: its type, target, scope (empty: none) and content.
Found = tuple[str, str, str, str]
LIMIT = 5
# Turns that are taken but not counted: statements are prepared and pages read in them.
WARM_UP = 10
VERBS = ("tick", "write", "search", "status")


class Engine(Protocol):
    """One memory of facts, as the benchmark sees it. ``folder`` holds all its files."""

    def versions(self) -> dict[str, str]: ...

    def open(self, folder: str) -> None: ...

    def fill(self, scopes: Iterable[MadeScope]) -> None:
        """Store every fact, most of them cold, as pressure and ended work leave them."""
        ...

    def write(self, line: str, scope: str) -> object:
        """``scope`` may be empty: the caller names none."""
        ...

    def search(self, query: str, limit: int) -> list[Any]: ...

    def tick(self, turn: int, message: str) -> object: ...

    def status(self) -> object: ...

    def found(self, row: Any) -> Found: ...

    def findable(self) -> int:
        """Return the number of facts that a search can find."""
        ...

    def bring_back(self) -> None:
        """Make findable again what the engine put out of reach by itself."""
        ...

    def close(self) -> None: ...


class Worker:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def versions(self) -> Reply:
        return {"versions": self._engine.versions()}

    def fill(self, folder: str, size: int, seed: int) -> Reply:
        scopes = list(made.scopes(size, seed))
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        self._engine.open(folder)
        self._engine.fill(scopes)
        self._engine.close()
        return {
            "wall": time.perf_counter_ns() - wall,
            "cpu": time.process_time_ns() - cpu,
            "file_bytes": sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()),
        }

    def tell(self, folder: str, lines: list[tuple[str, str]]) -> Reply:
        """Write each line to its scope, one per call, and keep the store open."""
        self._engine.open(folder)
        for line, scope in lines:
            self._engine.write(line, scope)
        found = self._engine.findable()
        self._engine.bring_back()
        return {"findable": found}

    def ask(self, queries: list[str]) -> Reply:
        wall, cpu, answers = [], [], []
        for query in queries:
            took, used, rows = _timed(self._engine.search, query, LIMIT)
            wall.append(took)
            cpu.append(used)
            answers.append([self._engine.found(row) for row in rows])
        return {"wall": wall, "cpu": cpu, "answers": answers}

    def work(self, folder: str, size: int, seed: int, round_number: int, turns: int) -> Reply:
        """Open a store and take turns in it: a tick, two writes, a search and the status each."""
        self._engine.open(folder)
        wall: dict[str, list[int]] = {verb: [] for verb in VERBS}
        cpu: dict[str, list[int]] = {verb: [] for verb in VERBS}
        planned = made.turns(size, seed, round_number, WARM_UP + turns)
        gc.collect()
        for turn in planned:
            calls: list[tuple[str, Callable[..., Any], tuple[Any, ...]]] = [
                ("tick", self._engine.tick, (turn.number, turn.message)),
                *(("write", self._engine.write, write) for write in turn.writes),
                ("search", self._engine.search, (turn.query, LIMIT)),
                ("status", self._engine.status, ()),
            ]
            for verb, call, arguments in calls:
                took, used, _ = _timed(call, *arguments)
                if turn.number > WARM_UP:
                    wall[verb].append(took)
                    cpu[verb].append(used)
        return {"wall": wall, "cpu": cpu}

    def search(self, kind: str, size: int, seed: int, count: int) -> Reply:
        """Queries of one kind on the store that is open."""
        reply = self.ask(made.queries(kind, size, seed, count))
        answered = sum(map(bool, reply.pop("answers")))
        return {**reply, "answered": answered / count}

    def press(self, seed: int, count: int) -> Reply:
        """Writes without a tick between them, into scopes not yet known: what pressure costs."""
        before = self._engine.findable()
        first = made.NEW_SCOPES // 2
        wall = []
        for number in range(first, first + count // made.FACTS_PER_SCOPE):
            scope = made.scope(number, seed)
            for fact in scope.facts:
                took, _, _ = _timed(self._engine.write, fact.line, scope.label)
                wall.append(took)
        return {"wall": wall, "written": len(wall), "before": before, "after": self._engine.findable()}

    def close(self) -> Reply:
        self._engine.close()
        return {}


def serve(engine: Engine) -> None:
    """Answer requests to one memory of facts until the input ends."""
    verbs = ("versions", "fill", "tell", "ask", "work", "search", "press", "close")
    worker.answer(Worker(engine), verbs)


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[int, int, Any]:
    cpu, wall = time.process_time_ns(), time.perf_counter_ns()
    result = call(*arguments)
    took = time.perf_counter_ns() - wall
    return took, time.process_time_ns() - cpu, result

"""The path of one request: files, functions, SQL statements and transactions. ``-s`` prints the table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import apsw
import pytest

import mnemos
from mnemos.memory import Memory
from mnemos.storage.sqlite.engine import SqliteStorage

SOURCE = str(Path(mnemos.__file__).parent)
CONTROL = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA")


@dataclass
class Walk:
    """The path of one request."""

    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    statements: list[str] = field(default_factory=list)
    reads: int = 0
    writes: int = 0

    def __str__(self) -> str:
        return (
            f"{len(self.files)} files, {len(self.functions)} functions, {len(self.statements)} SQL "
            f"statements, {self.reads} read and {self.writes} write transactions"
        )


class Tracer:
    """Traces this thread, and every connection opened while it exists."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._walk: Walk | None = None
        monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, self._listen])
        for kind in ("read", "write"):
            monkeypatch.setattr(SqliteStorage, kind, self._counted(kind, getattr(SqliteStorage, kind)))

    @contextmanager
    def walk(self) -> Iterator[Walk]:
        self._walk = walk = Walk()
        sys.setprofile(self._see)
        try:
            yield walk
        finally:
            sys.setprofile(None)
            self._walk = None

    def _see(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and self._walk is not None and code.co_filename.startswith(SOURCE):
            self._walk.files.add(code.co_filename[len(SOURCE) + 1 :])
            self._walk.functions.add((code.co_filename, code.co_qualname))

    def _listen(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_STMT, self._note)

    def _note(self, event: dict[str, Any]) -> None:
        if self._walk is not None and not event["sql"].lstrip().upper().startswith(CONTROL):
            self._walk.statements.append(event["sql"])

    def _counted(self, kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(storage: SqliteStorage, *args: Any, **kwargs: Any) -> Any:
            if self._walk is not None:
                setattr(self._walk, f"{kind}s", getattr(self._walk, f"{kind}s") + 1)
            return original(storage, *args, **kwargs)

        return call


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch) -> Tracer:
    return Tracer(monkeypatch)


@pytest.fixture
def memory(tracer: Tracer, home: Path) -> Iterator[Memory]:
    """A memory with something in it, used once before: the work is traced, not the imports."""
    with mnemos.open(home) as opened:
        opened.sessions.create_session("s1", "cli")
        for number in range(20):
            text = f"The staging server number {number} listens on 80{number}."
            opened.sessions.append_message("s1", "user", text)
        opened.facts.write("V[srv.prod]: api.example.com:3005")
        opened.notebook.add("The staging server is in Frankfurt.")
        opened.embedding.catch_up()
        opened.recall("which port does the staging server use?")
        yield opened


def test_an_append_stays_short(tracer: Tracer, memory: Memory) -> None:
    with tracer.walk() as walk:
        memory.sessions.append_message("s1", "user", "We moved the database on Tuesday.")
    print(f"\nappend: {walk}")
    assert len(walk.files) <= 11
    assert len(walk.functions) <= 23
    assert len(walk.statements) <= 3
    assert (walk.reads, walk.writes) == (0, 1)


def test_a_fact_is_written_in_one_transaction(tracer: Tracer, memory: Memory) -> None:
    with tracer.walk() as walk:
        memory.facts.write("D[db]: PostgreSQL 18")
    print(f"\nfact: {walk}")
    assert len(walk.files) <= 37
    assert walk.writes == 1


def test_a_question_only_reads(tracer: Tracer, memory: Memory) -> None:
    with tracer.walk() as walk:
        found = memory.recall("which port does the staging server use?")
    print(f"\nrecall: {walk}")
    assert found.hits
    assert len(walk.files) <= 62
    assert walk.reads <= 2
    assert walk.writes == 0

"""The targets of the attacks, and checks for harm."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from mnemos.errors import MnemosError
from mnemos.workspace import functions
from mnemos.workspace.answers import Answer
from mnemos.workspace.workspace import Workspace

# A call that is over its time is ended by the worker, or killed some tenths of a second later. The slack is
# for machines that are busy with other things: this finds calls that hang, it does not measure.
SLACK_SECONDS = 15.0
CANARY = [(number, f"canary {number}", bytes([number])) for number in range(1, 21)]
_CANARY_SQL = "SELECT id, song, egg FROM canary ORDER BY id"

REFUSED = frozenset({"refused"})
SQL_ERROR = frozenset({"sql_error"})
BOUNCED = REFUSED | SQL_ERROR
TOO_LARGE = frozenset({"too_large"})
TIMED_OUT = frozenset({"timed_out"})
INVALID = frozenset({"invalid_input"})
# A bomb of memory may run out of time first, on a slow machine.
EXHAUSTED = TOO_LARGE | TIMED_OUT
# Calls that are done, and do no harm.
DONE = frozenset({None})
ANY = BOUNCED | EXHAUSTED | INVALID | DONE


@dataclass(frozen=True, slots=True)
class Case:
    """One attack: SQL, or what makes it, and the codes of the errors that are right answers to it."""

    name: str
    sql: str | Callable[[], str]
    codes: frozenset[str | None]
    before: str = ""
    """SQL of an earlier call, which must succeed."""
    given: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the call."""

    def text(self) -> str:
        return self.sql if isinstance(self.sql, str) else self.sql()


@dataclass(frozen=True, slots=True)
class Outcome:
    code: str | None
    """None: it succeeded."""
    answer: Answer | None
    message: str
    seconds: float


def attempt(call: Callable[[], Any]) -> Outcome:
    """The outcome of a call. Any exception that is not ours passes, and fails the test."""
    began = time.monotonic()
    answer, code, message = None, None, ""
    try:
        answer = call()
    except MnemosError as exc:
        code, message = exc.code, str(exc)
    return Outcome(code, answer, message, time.monotonic() - began)


class Prey:
    """A workspace with a database in which a canary sits, and files beside it that nobody may touch."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.root = root
        self.folder = root / "databases"
        self.outside = root / "outside"
        self.cwd = root / "cwd"
        self.temporary = root / "tmp"
        self.workspace = Workspace(self.folder, **options)
        self._numbers = itertools.count(1)
        self.database = ""
        self._template = root / "template.db"
        self._lay_out()
        self._before = self._elsewhere()

    def next_database(self) -> None:
        """A fresh database with a canary, for one attack; the worker stays."""
        if self.database:
            self._clear()
        self.database = f"c{next(self._numbers)}"
        shutil.copyfile(self._template, self.path)

    @property
    def path(self) -> Path:
        return self.folder / f"{self.database}.db"

    def query(self, sql: str, *arguments: Any, **given: Any) -> Answer:
        return self.workspace.query(sql, *arguments, database=self.database, **given)

    def attack(self, sql: str, *arguments: Any, **given: Any) -> Outcome:
        return attempt(lambda: self.query(sql, *arguments, **given))

    def assert_unharmed(self) -> None:
        """The host, the database, and the next query."""
        assert self._elsewhere() == self._before
        self.assert_nothing_new_in_the_folder()
        answer = self.query(_CANARY_SQL)
        assert [tuple(row) for row in answer.rows] == CANARY
        assert self.sound() == CANARY

    def sound(self) -> list[tuple[Any, ...]]:
        """The canary as another program sees it, once SQLite found nothing wrong with the file."""
        with closing(apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READWRITE)) as raw:
            register_functions(raw)
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return raw.execute(_CANARY_SQL).fetchall()

    def assert_nothing_new_in_the_folder(self) -> None:
        known = {f"{self.database}{ending}" for ending in (".db", ".db-wal", ".db-shm")} | {
            "snapshots",
            "files",
            "exports.json",
        }
        for path in self.folder.iterdir():
            # Which tables were used last is noted when a database is closed: of earlier ones, now.
            assert path.name in known or path.suffix == ".recent", path
            assert not path.is_symlink()

    def worker(self) -> int:
        process = self.workspace._worker.process_id()
        assert process is not None
        return process

    def close(self) -> None:
        self.workspace.close()

    def _lay_out(self) -> None:
        self.folder.mkdir(parents=True)
        self.cwd.mkdir()
        self.temporary.mkdir()
        (self.outside / "deeper").mkdir(parents=True)
        (self.outside / "precious.txt").write_text("precious")
        (self.outside / "deeper" / "notes.csv").write_text("a,b\n1,2\n")
        with closing(apsw.Connection(str(self.outside / "other.db"))) as other:
            _hatch(other)
        with closing(apsw.Connection(str(self._template))) as template:
            _hatch(template)
            template.execute("PRAGMA journal_mode = WAL")

    def _elsewhere(self) -> dict[str, bytes]:
        """Everything outside of the databases' folder, where the host works, and where temporary files go."""
        found = {}
        for top in (self.outside, self.cwd, self.temporary):
            for path in sorted(top.rglob("*")):
                found[str(path)] = path.read_bytes() if path.is_file() else b""
        return found

    def _clear(self) -> None:
        for path in self.folder.glob(f"{self.database}.*"):
            path.unlink()
        shutil.rmtree(self.folder / "snapshots" / self.database, ignore_errors=True)


def register_functions(raw: apsw.Connection) -> None:
    """Ours: indexes and constraints of an attack may call them."""
    functions.register(raw)


def _hatch(connection: apsw.Connection) -> None:
    connection.execute("PRAGMA synchronous = OFF")
    with connection:
        connection.execute("CREATE TABLE canary(id INTEGER PRIMARY KEY, song TEXT NOT NULL, egg BLOB)")
        connection.executemany("INSERT INTO canary VALUES(?, ?, ?)", CANARY)


def workers() -> list[int]:
    """Worker processes whose parent is this process."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and is_worker(int(entry.name)) and _parent(int(entry.name)) == os.getpid():
            found.append(int(entry.name))
    return found


def is_worker(process: int) -> bool:
    """True if a process is alive and a worker of the workspace."""
    try:
        command = Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return b"mnemos.workspace.sandbox" in command


def _parent(process: int) -> int:
    return int(status(process).get("PPid", "0"))


def status(process: int) -> dict[str, str]:
    """Return the kernel's status of a process; empty if it is gone."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def peak_bytes(prey: Prey) -> int:
    """The most memory that the worker held at a time; that of one that was killed had its limit too."""
    prey.query("SELECT 1")
    return int(status(prey.worker())["VmHWM"].split()[0]) * 1024

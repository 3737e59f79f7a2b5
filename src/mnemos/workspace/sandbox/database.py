"""One open database of the workspace: guarded, limited, and looked at again when its file was replaced."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import msgspec

from mnemos.files import scratch_folder
from mnemos.workspace import functions, limits
from mnemos.workspace.identifiers import recent_of
from mnemos.workspace.limits import Quota
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.guard import Guard
from mnemos.workspace.sandbox.history import History
from mnemos.workspace.usage import find_limit

_CACHE_KIB = 8 * 1024
# Instructions between two looks at the clock: some tens of microseconds.
_LOOK_EVERY = 2_000
_PARENT_EVERY = 0.25
_FEWEST_PAGES = 16
_LOG_BYTES = 4_000_000
_CONFIGURED = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE: 0,
    # "text" is a name and nothing else: taken for a string, a misspelled column goes unnoticed.
    apsw.SQLITE_DBCONFIG_DQS_DML: 0,
    apsw.SQLITE_DBCONFIG_DQS_DDL: 0,
}


@dataclass(frozen=True, slots=True)
class Place:
    """The file of a database and how much its space may keep."""

    path: Path
    quota: Quota
    read_only: bool = False
    history: History | None = None
    """The part of the agent's memory it can read next to its own tables."""
    is_foreign: bool = False
    """Read the file alone: its journal is not part of it, and nothing may be written next to it."""


class Clockwork:
    """The deadline of the call at work; SQLite asks it while a statement runs."""

    def __init__(self) -> None:
        self.now = 0.0
        """The time of the call by the host's clock."""
        self.seconds = 0.0
        self.deadline = 0.0
        self.passed = False
        self._parent = os.getppid()
        self._next_look = 0.0

    def wind(self, seconds: float, now: float = 0.0) -> None:
        self.now, self.seconds = now, seconds
        self.deadline = time.monotonic() + seconds
        self.passed = False

    def left(self) -> float:
        return self.deadline - time.monotonic()

    def __call__(self) -> bool:
        now = time.monotonic()
        if now > self.deadline:
            self.passed = True
            return True
        if now > self._next_look:
            self._next_look = now + _PARENT_EVERY
            if os.getppid() != self._parent:
                # Nobody is left to answer to. The journal undoes what was begun.
                os._exit(0)
        return False


class Database:
    """A connection with its guard. ``own`` is for our statements, the agent's run outside of it."""

    def __init__(self, place: Place, clock: Clockwork) -> None:
        self.place = place
        self.guard = Guard()
        self.connection = _open(place)
        self._clock = clock
        self._most_pages = 0
        try:
            self._prepare(clock)
        except BaseException:
            self.connection.close()
            raise
        self._file = _identity(place.path)
        self.used = RecentUse(recent_of(place.path))
        self.cache: dict[str, Any] = {}
        """Results computed from the contents; emptied when they change."""
        self._cached_at: tuple[int, ...] = ()
        self._reading_only = place.read_only
        self._log = place.path.with_name(f"{place.path.name}-wal")

    def is_current(self) -> bool:
        """True if the file is still the one that was opened."""
        return _identity(self.place.path) == self._file

    @property
    def recent(self) -> dict[str, float]:
        """The time each table was last used."""
        return self.used.at

    def close(self) -> None:
        if not self.place.read_only:
            self.used.save()
        self.connection.close()
        if self.place.read_only:
            # Needed here alone.
            from mnemos.storage import sweep_log

            sweep_log(self.place.path)

    @contextmanager
    def own(self) -> Iterator[apsw.Connection]:
        """The connection for statements of ours, about which the guard is not asked."""
        before, self.guard.trusted = self.guard.trusted, True
        try:
            yield self.connection
        finally:
            self.guard.trusted = before

    @contextmanager
    def agents(self, *, read_only: bool) -> Iterator[apsw.Connection]:
        """The connection for the agent's statements; with ``read_only`` SQLite refuses every change.

        It stays so until the next time: whatever writes goes through here, never through ``own`` alone.
        """
        self._set_query_only(read_only or self.place.read_only)
        if not self._reading_only:
            self._limit_growth()
        self.guard.trusted = False
        try:
            yield self.connection
        finally:
            self.guard.trusted = True
            if not self._reading_only:
                self._shorten_log()

    def value(self, sql: str) -> Any:
        """Return the one value of a statement of ours."""
        with self.own() as connection:
            return connection.execute(sql).get

    def run(self, sql: str) -> None:
        """Run a statement of ours that returns nothing."""
        with self.own() as connection:
            connection.execute(sql)

    def size(self) -> int:
        return int(self.value("PRAGMA page_count")) * self._page

    def state(self) -> tuple[int, ...]:
        """Return a value that differs whenever the contents may have changed."""
        return (
            self.value("PRAGMA schema_version"),
            self.value("PRAGMA data_version"),
            self.connection.total_changes(),
        )

    def current_cache(self) -> dict[str, Any]:
        """Return the cache for the contents as they are now."""
        state = self.state()
        if state != self._cached_at:
            self.cache.clear()
            self._cached_at = state
        return self.cache

    def note_use(self) -> None:
        self.used.note(self.guard.tables, may_save=not self.place.read_only)

    def patience(self, tries: int) -> bool:
        """Wait for another process's lock as long as the call has time."""
        pause = min(0.001 * 2**tries, 0.05)
        if self._clock.left() < pause:
            return False
        time.sleep(pause)
        return True

    def _set_query_only(self, wanted: bool) -> None:  # noqa: FBT001
        if wanted != self._reading_only:
            self.run(f"PRAGMA query_only = {int(wanted)}")
            self._reading_only = wanted

    def _limit_growth(self) -> None:
        """Let the database become as large as its own limit and the total of the space allow."""
        path = self.place.path
        most = find_limit(path.parent, path.stem, self.place.quota)
        pages = max(most // self._page, _FEWEST_PAGES)
        if pages != self._most_pages:
            # SQLite takes the present number of pages if that is larger.
            self.run(f"PRAGMA max_page_count = {pages}")
            self._most_pages = pages

    def _shorten_log(self) -> None:
        """Free the disk space of a log that one large call made long, unless somebody reads from it."""
        try:
            if self._log.stat().st_size <= _LOG_BYTES:
                return
            self.connection.set_busy_handler(None)
            self.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except (FileNotFoundError, apsw.Error):
            # The next call tries again.
            return
        finally:
            self.connection.set_busy_handler(self.patience)

    def _prepare(self, clock: Clockwork) -> None:
        connection = self.connection
        for option, value in _CONFIGURED.items():
            connection.config(option, value)
        for limit in limits.OF_SQLITE:
            connection.limit(getattr(apsw, f"SQLITE_LIMIT_{limit.name}"), limit.value)
        connection.set_busy_handler(self.patience)
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA mmap_size = 0")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA foreign_keys = ON")
        # A row that REPLACE deletes does not run triggers.
        connection.execute("PRAGMA recursive_triggers = OFF")
        self._page = int(connection.execute("PRAGMA page_size").get)
        if self.place.read_only:
            connection.execute("PRAGMA query_only = 1")
        else:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA wal_autocheckpoint = 500")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
            self._limit_growth()
        connection.convert_binding = _to_json
        functions.register(connection)
        if self.place.history is not None:
            self.place.history.register(connection)
        connection.authorizer = self.guard
        connection.set_progress_handler(clock, _LOOK_EVERY)


def _open(place: Place) -> apsw.Connection:
    if place.is_foreign:
        return _open_immutable(place.path)
    if place.read_only:
        return open_reader(place.path)
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_NOFOLLOW
    return apsw.Connection(str(place.path), flags=flags)


def _to_json(_cursor: apsw.Cursor, _number: int, value: Any) -> str:
    """Return the JSON of a list or object bound to a parameter; a moment as its own text."""
    plain = msgspec.to_builtins(value)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


# --- read-only opening --------------------------------------------------------------------------

_READING = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW


def open_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=_READING)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # The log needs a file next to it, which cannot be made here; so nobody writes either.
        connection.close()
        return _open_unchanging(path)
    except apsw.Error:
        connection.close()
        raise
    return connection


def _open_unchanging(path: Path) -> apsw.Connection:
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Failure(
            "unavailable",
            f"{log} has rows that can only be read in a writable folder. Copy the home to one.",
        )
    return _open_immutable(path)


def _open_immutable(path: Path) -> apsw.Connection:
    uri = f"{path.absolute().as_uri()}?immutable=1"
    return apsw.Connection(uri, flags=_READING | apsw.SQLITE_OPEN_URI)


# --- recent use ---------------------------------------------------------------------------------

_SAVE_EVERY = 5.0
_MOST_NOTED = 200
_MOST_NOTES_BYTES = 1_000_000


class RecentUse:
    """The time of last use by table. If it cannot be read or written, only the order suffers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.at = _read_notes(path)
        self._saved_at = time.monotonic()
        self._is_saved = True

    def note(self, tables: Iterable[str], *, may_save: bool) -> None:
        now = time.time()
        for table in tables:
            self.at[table] = now
            self._is_saved = False
        if may_save and time.monotonic() - self._saved_at > _SAVE_EVERY:
            self.save()

    def save(self) -> None:
        if self._is_saved:
            return
        newest = sorted(self.at.items(), key=lambda item: -item[1])[:_MOST_NOTED]
        with suppress(OSError), scratch_folder(self._path.parent) as folder:
            (folder / "recent").write_bytes(msgspec.json.encode(dict(newest)))
            (folder / "recent").replace(self._path)
        self._is_saved = True
        self._saved_at = time.monotonic()


def _read_notes(path: Path) -> dict[str, float]:
    try:
        if path.stat().st_size > _MOST_NOTES_BYTES:
            return {}
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.MsgspecError):
        return {}

"""Open SQLite connections with our settings and translate their errors."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from mnemos import errors
from mnemos.setting_values import Durability

MEMORY = ":memory:"
APPLICATION_ID = 0x4D6E656D  # "Mnem"

# Before 3.51.3, several processes on one write-ahead log could corrupt the file.
OLDEST_SQLITE = 3_051_003

_CACHE_KIB = 32 * 1024
_LOG_SECONDS = 30.0


def rows(connection: apsw.Connection, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a query."""
    return connection.execute(sql, bindings).fetchall()


def value(connection: apsw.Connection, sql: str, bindings: Any = ()) -> Any:
    """Return the only value of a query's row; None if there is no row."""
    return connection.execute(sql, bindings).get


class SqliteTransaction:
    """A connection as the stores see it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, bindings: Any = ()) -> list[tuple[Any, ...]]:
        return self.connection.execute(sql, bindings).fetchall()

    def value(self, sql: str, bindings: Any = ()) -> Any:
        return self.connection.execute(sql, bindings).get

    def change(self, sql: str, bindings: Any = ()) -> int:
        self.connection.execute(sql, bindings)
        return self.connection.changes()

    def change_many(self, sql: str, bindings: Iterable[Any]) -> None:
        self.connection.executemany(sql, bindings)


def check_sqlite(version: int) -> None:
    if version < OLDEST_SQLITE:
        raise errors.EngineTooOld(
            f"apsw includes SQLite {version // 1_000_000}.{version // 1000 % 1000}.{version % 1000}, "
            "which can corrupt a database used by several processes. Install apsw 3.51.3 or newer."
        )


def connect(path: str, *, read_only: bool, durability: Durability, busy_seconds: float) -> apsw.Connection:
    """Open an existing database file. Raises apsw's errors; ``translate_error`` turns them into ours."""
    check_sqlite(apsw.SQLITE_VERSION_NUMBER)
    if path == MEMORY:
        connection = apsw.Connection(MEMORY)
    elif read_only:
        connection = _open_for_reading(path)
    else:
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    try:
        if not read_only and connection.readonly("main"):
            # SQLite opens a file that can't be written for reading, and only fails at the first change.
            raise apsw.ReadOnlyError("no permission to write this file")
        _prepare(connection, read_only=read_only, durability=durability, busy_seconds=busy_seconds)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(
    connection: apsw.Connection, *, read_only: bool, durability: Durability, busy_seconds: float
) -> None:
    connection.set_busy_handler(patience(busy_seconds))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    # Otherwise, SQLite replans a statement whenever different values are bound, which takes several times as
    # long as running it. None of our queries needs different plans.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = MEMORY")
    if not read_only:
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        if durability is Durability.FULL:
            connection.execute("PRAGMA synchronous = FULL")
        else:
            connection.execute("PRAGMA synchronous = NORMAL")


def _open_for_reading(path: str) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW
    connection = apsw.Connection(path, flags=flags)
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # Read-only media: the log's shared-memory file cannot be created, and nobody can write.
        connection.close()
        log = Path(path + "-wal")
        if log.exists() and log.stat().st_size:
            raise errors.Unavailable(
                f"{log} contains messages that can't be read in a read-only folder. "
                "Copy the home to a writable one."
            ) from None
        uri = Path(path).absolute().as_uri() + "?immutable=1"
        connection = apsw.Connection(uri, flags=flags | apsw.SQLITE_OPEN_URI)
    return connection


def sweep_log(path: Path) -> None:
    """Delete the empty log that readers left next to a file. Raises nothing.

    SQLite makes one for reading too, and only a connection that may write deletes it, if it is the last.
    """
    log = path.with_name(f"{path.name}-wal")
    with suppress(OSError, apsw.Error):
        if log.stat().st_size == 0:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            connection.close()


def create_private(path: Path) -> None:
    """Create a file with mode 0600; SQLite gives its log and index the same mode. Raises OSError."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def use_log(connection: apsw.Connection) -> None:
    """Switch a file to the write-ahead log, if it does not have one.

    SQLite itself does not wait if another process is using the file at this moment.
    """
    if not connection.filename or connection.pragma("journal_mode") == "wal":
        return
    wait = patience(_LOG_SECONDS)
    tries = 0
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if not wait(tries):
                raise
            tries += 1
        else:
            return


def patience(seconds: float) -> Callable[[int], bool]:
    """Return a busy handler that retries after random short naps, so no process starves."""
    started = 0.0

    def wait(times_before: int) -> bool:
        nonlocal started
        if times_before == 0:
            started = time.monotonic()
        if time.monotonic() - started > seconds:
            return False
        # Naps are short, because a bulk writer only releases the lock for a few milliseconds at a time.
        time.sleep(random.uniform(0.0002, min(0.003, 0.0005 * 2 ** min(times_before, 6))))  # noqa: S311
        return True

    return wait


# Errors of the driver. Text that is not UTF-8 comes from a damaged page.
DRIVER_ERRORS = (apsw.Error, UnicodeDecodeError)


def translate_error(exc: apsw.Error | OSError | UnicodeDecodeError, location: str) -> errors.MnemosError:
    """Return our error for the driver's; the caller raises it ``from`` the original."""
    for kinds, make in _TRANSLATIONS:
        if isinstance(exc, kinds):
            return make(exc, location)
    return errors.StorageError(f"{location}: SQLite says: {exc}")


def _busy(_: Exception, location: str) -> errors.MnemosError:
    return errors.Busy(
        f"{location} was locked by another process for too long. Try again, or look for a stuck process."
    )


def _full(_: Exception, location: str) -> errors.MnemosError:
    return errors.DiskFull(
        f"No disk space left for {location}. This call stored nothing. Free some space and repeat it."
    )


def _read_only(exc: Exception, location: str) -> errors.MnemosError:
    return errors.ReadOnly(f"{location} cannot be written: {exc}")


def _not_ours(_: Exception, location: str) -> errors.MnemosError:
    return errors.NotADatabase(
        f"{location} is not a Mnemos database. Point MNEMOS_HOME to another folder, or move the file."
    )


def _corrupt(exc: Exception, location: str) -> errors.MnemosError:
    return errors.Corrupt(
        f"{location} is damaged ({exc}). Run `mnemos doctor --repair`, which keeps the old file."
    )


def _cannot_open(_: Exception, location: str) -> errors.MnemosError:
    return errors.PermissionDenied(
        f"{location} cannot be opened: it must be a plain file that you own, in a folder you can write"
    )


def _input_output(exc: Exception, location: str) -> errors.MnemosError:
    log = Path(f"{location}-wal")
    if log.exists() and not log.stat().st_size:
        # The shared index says that the log has entries, so others use another file with its name.
        return log_gone(str(log))
    return errors.Unavailable(f"The disk under {location} failed: {exc}")


def log_gone(log: str) -> errors.DatabaseGone:
    return errors.DatabaseGone(
        f"{log} was deleted while another program was using it. End that program, then try again."
    )


_TRANSLATIONS: tuple[
    tuple[
        type[Exception] | tuple[type[Exception], ...],
        Callable[[Exception, str], errors.MnemosError],
    ],
    ...,
] = (
    ((apsw.BusyError, apsw.LockedError, apsw.ProtocolError), _busy),
    (apsw.FullError, _full),
    (apsw.ReadOnlyError, _read_only),
    (apsw.NotADBError, _not_ours),
    # Our SQL is tested and our values are bounded, so a missing column or an oversized value means damage.
    ((apsw.CorruptError, apsw.SQLError, apsw.TooBigError, UnicodeDecodeError), _corrupt),
    ((apsw.CantOpenError, apsw.AuthError, apsw.PermissionsError, PermissionError), _cannot_open),
    (apsw.IOError, _input_output),
    (OSError, _cannot_open),
)

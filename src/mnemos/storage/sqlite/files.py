"""The database as a file: copies, sizes, the log."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import apsw

from mnemos.errors import Corrupt, NotADatabase, NotFound
from mnemos.files import write_copy
from mnemos.storage.base import Usage
from mnemos.storage.queries import Queries
from mnemos.storage.space import Space
from mnemos.storage.sqlite import schema
from mnemos.storage.sqlite.connection import patience, rows, translate_error, use_log
from mnemos.storage.sqlite.index import state_of

SQL = Queries(Path(__file__).parent / "sql" / "files.sql")

RESCUED = "rescued"
"""The label of a file with data saved from a database that was gone."""

_PAGES_A_STEP = 2_000
_ONLY_LOCK = 0
_LOG_SECONDS = 1.0


def back_up(source: apsw.Connection, target: Path, progress: Callable[[float], None] | None) -> None:
    """Copy the view of the source's transaction, verify the copy, then give it its name."""
    try:
        with write_copy(target) as unfinished:
            copy = apsw.Connection(str(unfinished))
            try:
                _copy(source, copy, progress)
                # A backup is a single file, without a log next to it.
                copy.execute("PRAGMA journal_mode = DELETE")
                _verify(copy, str(target))
            finally:
                copy.close()
    except (apsw.Error, OSError) as exc:
        raise translate_error(exc, str(target)) from exc


def check_backup(path: Path) -> None:
    """Refuse a file that is not an intact Mnemos database."""
    if not path.is_file():
        raise NotFound(f"There is no file {path}.")
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            if schema.check_known(connection) == 0:
                raise NotADatabase(f"{path} is empty, so it is not a backup.")
            _verify(connection, str(path))
        finally:
            connection.close()
    except apsw.NotADBError as exc:
        raise NotADatabase(
            f"{path} is not a backup of a home. Choose a file that `mnemos backup` wrote for one. "
            "A backup of a server can only be restored into a server."
        ) from exc
    except apsw.Error as exc:
        raise translate_error(exc, str(path)) from exc


def copy_over(backup: Path, target: apsw.Connection, keep: Callable[[], None]) -> None:
    """Replace the contents of an open database, atomically for other processes.

    ``keep`` saves the old contents once nobody else can write. If it fails, nothing is replaced.
    """
    source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        with target.backup("main", source, "main") as copying:
            copying.step(_ONLY_LOCK)
            keep()
            _finish_copy(copying, None)
    finally:
        source.close()
    use_log(target)
    schema.migrate(target)


def truncate_log(connection: apsw.Connection, busy_seconds: float) -> bool:
    """Move the write-ahead log into the database; False if a reader holds it for too long."""
    connection.set_busy_handler(patience(_LOG_SECONDS))
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    finally:
        connection.set_busy_handler(patience(busy_seconds))
    return True


def is_log_empty(path: Path) -> bool:
    return is_empty(path.with_name(path.name + "-wal"))


def is_empty(file: Path) -> bool:
    return not file.exists() or file.stat().st_size == 0


def has_data(path: Path) -> bool:
    """True if the file has data. Raises FileExistsError for what is not a regular file."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(found.st_mode):
        raise FileExistsError(f"{path} is not a regular file")
    return found.st_size > 0


def find_rescued(path: Path) -> list[Path]:
    """Find the files that were saved when the database was gone, oldest first."""
    return sorted(path.parent.glob(f"{path.stem}.{RESCUED}-*{path.suffix}"))


def check_remains(path: Path) -> None:
    """Raise Corrupt for a file without data, or a missing one with leftovers next to it."""
    log = path.with_name(path.name + "-wal")
    rescued = find_rescued(path)
    left = [str(file) for file in (log, *rescued) if not is_empty(file)]
    if path.exists():
        if has_data(path):
            return
        what, left = (
            f"{path} is an empty file: its data was deleted, or a copy of it failed",
            [str(path), *left],
        )
    elif left:
        what = f"{path} is missing, but {left[-1]} is there: the database was moved or deleted"
    else:
        return
    copy = rescued[-1] if rescued else "BACKUP"
    raise Corrupt(
        f"{what}. Put the database back, or run `mnemos restore {copy}`. To start with an empty memory, move "
        f"{' and '.join(left)} to another folder"
    )


def move_all(path: Path, target: Path) -> None:
    """Move a database, its log first, because it must never be next to another database."""
    for suffix in ("-wal", "-shm", ""):
        old = path.with_name(path.name + suffix)
        if old.exists():
            old.rename(target.with_name(target.name + suffix))


def usage(connection: apsw.Connection, path: Path | None, space: Space) -> Usage:
    page_size = connection.pragma("page_size")
    parts = dict(rows(connection, SQL.sizes))
    log = None if path is None else path.with_name(path.name + "-wal")
    return Usage(
        file_bytes=connection.pragma("page_count") * page_size,
        wal_bytes=log.stat().st_size if log is not None and log.exists() else 0,
        free_bytes=connection.pragma("freelist_count") * page_size,
        parts=parts,
        pending=state_of(connection, space).pending,
    )


def list_spaces(connection: apsw.Connection) -> list[tuple[str, int, int]]:
    """Return the name of each space with its numbers of sessions and messages."""
    return rows(connection, SQL.spaces)


def _copy(source: apsw.Connection, target: apsw.Connection, progress: Callable[[float], None] | None) -> None:
    with target.backup("main", source, "main") as copying:
        _finish_copy(copying, progress)


def _finish_copy(copying: apsw.Backup, progress: Callable[[float], None] | None) -> None:
    while not copying.done:
        copying.step(_PAGES_A_STEP)
        if progress and copying.page_count:
            progress(1 - copying.remaining / copying.page_count)


def _verify(connection: apsw.Connection, name: str) -> None:
    complaint = connection.execute("PRAGMA integrity_check(1)").get
    if complaint != "ok":
        raise Corrupt(f"{name} did not pass its check: {complaint}")

"""The place of a database: its files, their identity, and their rescue.

SQLite continues with the files it opened, even if they were moved, replaced or deleted. Without a check,
later writes would be acknowledged and lost.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw

from mnemos.errors import Corrupt, DatabaseGone, MnemosError
from mnemos.files import name_beside
from mnemos.setting_values import Durability
from mnemos.storage.sqlite import files, schema
from mnemos.storage.sqlite.connection import MEMORY, connect, create_private, log_gone
from mnemos.storage.sqlite.doctor import copy_rows
from mnemos.storage.upkeep import only_one

_SECONDS = 10.0


class Place:
    """The files of a database when it was opened. Without a path, it is in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path or Path(MEMORY)
        self._database, self._log = str(path), f"{path}-wal"
        self._known: dict[str, tuple[int, int]] = {}
        self.lost: str | None = None

    def note_database(self) -> None:
        """Remember the file, unless one is remembered. Call it before opening, so that an exchange is
        noticed.
        """
        if self._database not in self._known:
            self._note(self._database)

    def note_log(self) -> None:
        """Remember the log of a connection that has read: SQLite removes it with the last connection only."""
        self._note(self._log)

    def check_log(self, connection: apsw.Connection) -> None:
        """Raise DatabaseGone if others write to a log that is not the one with its name."""
        if not files.is_log_empty(self._path):
            return
        entries, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        # Another process may have written to it or emptied it between two checks.
        if entries > 0 and files.is_log_empty(self._path):
            raise log_gone(self._log)

    def forget(self) -> None:
        """Forget the files, so that the next ones found are accepted."""
        self._known.clear()

    def forget_log(self) -> None:
        """Accept another log: a process without a connection does not keep others from removing it."""
        self._known.pop(self._log, None)

    def find_loss(self) -> str | None:
        """Describe what happened to the files, or return None if they are in place."""
        for file, known in self._known.items():
            try:
                found = os.stat(file)  # noqa: PTH116 - every write waits for it; Path.stat takes longer
            except OSError:
                return f"{file} was moved or deleted while it was in use"
            if (found.st_dev, found.st_ino) != known:
                return f"{file} was replaced by another file while it was in use"
            if not found.st_size and file == self._database:
                return f"{file} was emptied while it was in use"
        return None

    def lose(self, loss: str, connection: apsw.Connection | None) -> DatabaseGone:
        """Return the error for a loss, after saving what a connection still reads.

        Once that is done, the loss is final: every later call gets the same error.
        """
        if self.lost is not None:
            return DatabaseGone(self.lost)
        if connection is None:
            return DatabaseGone(f"{loss}. Nothing was stored. Put it back and restart this program")
        try:
            what, saved = self._rescue(connection)
        except (MnemosError, apsw.Error, OSError) as exc:
            return DatabaseGone(f"{loss}. Nothing was stored, and what it held could not be saved: {exc}")
        self._part_from_log()
        self.lost = (
            f"{loss}. Nothing more is stored. {what} is saved in {saved}: run `mnemos restore` with that "
            "file, then restart this program"
        )
        return DatabaseGone(self.lost)

    def _rescue(self, connection: apsw.Connection) -> tuple[str, Path]:
        """Copy what the connection reads to a new file, as near to where the database was as possible.

        Returns the content in words, and the file.
        """
        import tempfile  # rarely needed

        stamp = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(4).hex()}"
        name = f"{self._path.stem}.{files.RESCUED}-{stamp}{self._path.suffix}"
        failure: Exception
        for folder in (self._path.parent, self._path.parent.parent, Path(tempfile.gettempdir())):
            try:
                return _save(connection, folder / name), folder / name
            except (MnemosError, apsw.Error, OSError) as exc:
                failure = exc
        raise failure

    def _part_from_log(self) -> None:
        """Delete the log if another database is next to it, which would take it for its own."""
        database, log = self._identify(self._database), self._identify(self._log)
        if database in (None, self._known[self._database]) or log != self._known.get(self._log):
            return
        for file in (self._log, f"{self._database}-shm"):
            Path(file).unlink(missing_ok=True)

    def _note(self, file: str) -> None:
        found = self._identify(file)
        if found is not None:
            self._known[file] = found

    @staticmethod
    def _identify(file: str) -> tuple[int, int] | None:
        try:
            found = Path(file).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


def make(path: Path, durability: Durability) -> None:
    """Create a missing database atomically, so an empty file is never one of ours.

    Raises Corrupt where a database was, as ``check_remains`` does.
    """
    if files.has_data(path):
        # A process that was killed at the end of this left two names for the file.
        _new_name(path).unlink(missing_ok=True)
        return
    with only_one(lock_of(path), wait=True):
        if files.has_data(path):
            return
        files.check_remains(path)
        fresh = _clear_way(path)
        create_private(fresh)
        connection = connect(str(fresh), read_only=False, durability=durability, busy_seconds=_SECONDS)
        try:
            schema.migrate(connection)
        finally:
            connection.close()
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        _give_name(fresh, path)


def replace_damaged(path: Path, backup: Path) -> Path:
    """Replace a database that can't be opened with a backup; return its new path."""
    files.check_backup(backup)
    with only_one(lock_of(path), wait=True):
        fresh = _clear_way(path)
        source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            files.back_up(source, fresh, None)
        finally:
            source.close()
        kept = name_beside(path, "damaged")
        files.move_all(path, kept)
        fresh.rename(path)
    return kept


def _save(connection: apsw.Connection, target: Path) -> str:
    """Copy all that a connection reads to a file, atomically; describe the content."""
    try:
        files.back_up(connection, target, None)
    except Corrupt:
        # Of a file that was emptied, the connection remembers pages.
        fresh = _clear_way(target)
        try:
            copy_rows(connection, fresh)
            fresh.rename(target)
        finally:
            _clear_way(target)
        return "What could still be read"
    return "Everything that was stored before"


def lock_of(path: Path) -> Path:
    """Return the lock file for creating a database and working on its index."""
    return path.with_name(path.name + "-upkeep")


def _give_name(fresh: Path, path: Path) -> None:
    """Give a new file its name, unless another file has it by now."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links.
        fresh.rename(path)
    fresh.unlink(missing_ok=True)


def _new_name(path: Path) -> Path:
    return path.with_name(path.name + ".new")


def _clear_way(path: Path) -> Path:
    """Return an unused name for a file in the making, without leftovers of a killed process."""
    fresh = _new_name(path)
    for suffix in ("", "-wal", "-shm", "-journal"):
        fresh.with_name(fresh.name + suffix).unlink(missing_ok=True)
    return fresh

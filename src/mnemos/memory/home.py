"""A home: where the data of one installation is, opened, backed up, examined, mended, closed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mnemos.errors import Corrupt, Disabled, InvalidInput, PermissionDenied, Unavailable
from mnemos.sessions.model import document_of
from mnemos.sessions.recording import Clock
from mnemos.settings import Settings
from mnemos.storage.base import Check, Storage, Writes, failed, passed
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.sqlite.salvage import salvage

DATABASE = "mnemos.db"
IN_MEMORY = ":memory:"

if TYPE_CHECKING:
    part = cached_property
else:

    class part(cached_property):  # noqa: N801 - it reads as a decorator
        """A part that is made once, also when two threads ask for it at the same time."""

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            with instance._making:
                return super().__get__(instance, owner)


class Home:
    """The storage of one home in one space, and what concerns it as a whole.

    Parts are added by who inherits; what they want to do when the storage opens, closes or was mended goes
    into the methods below that do nothing here.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        clock: Clock = time.time,
        database: Path | None = None,
        in_memory: bool = False,
    ) -> None:
        """Nothing is opened until a part is used. ``database``: a file outside the home."""
        self.settings = settings
        self.clock = clock
        self._read_only = read_only
        self._in_memory = in_memory
        self._making = threading.RLock()
        self.database = database or settings.home / DATABASE
        # A folder that was there before us keeps its mode when it is not a home of ours.
        self._owns_folder = database is None

    @classmethod
    def at(
        cls,
        home_or_url: str | os.PathLike[str] | None = None,
        *,
        space: str | None = None,
        read_only: bool = False,
        clock: Clock = time.time,
        **flags: Any,
    ) -> Self:
        """As ``open``, but nothing is touched until a part is used."""
        where = None if home_or_url is None else os.fspath(home_or_url)
        if where is not None and where.startswith(("postgresql://", "postgres://")):
            raise Unavailable("this version has no PostgreSQL engine yet; open a home folder instead")
        in_memory = where == IN_MEMORY
        settings = Settings.load(None if in_memory else where, space=space, **flags)
        return cls(settings, read_only=read_only, clock=clock, in_memory=in_memory)

    @part
    def storage(self) -> Storage:
        if not self._in_memory and not self._read_only:
            self._make_home()
        storage = SqliteStorage(
            None if self._in_memory else self.database,
            space=self.settings.space,
            documents=document_of,
            read_only=self._read_only,
            durability=self.settings.durability,
            busy_seconds=self.settings.busy_seconds,
        )
        self._opened(storage)
        return storage

    # --- the database as a whole ------------------------------------------------------------

    def backup(self, target: str | os.PathLike[str], progress: Callable[[float], None] | None = None) -> Path:
        """Write a verified copy of the database while it is in use; where it is."""
        path = path_of(target)
        self.storage.backup(path, progress)
        if not self.storage.read_only:
            self.storage.write(lambda tx: tx.audit.note_backup(str(path), self.clock()))
        return path

    def backups(self) -> list[str]:
        """The backups made so far that are still where they were written."""
        known = [path for path, _ in self.storage.read(lambda tx: tx.audit.backups())]
        folder, name = self.database.parent, self.database
        beside = [*folder.glob(f"{name.stem}.*-*{name.suffix}"), *folder.glob("*.unfinished")]
        everything = dict.fromkeys([*known, *sorted(map(str, beside))])
        return [path for path in everything if Path(path).exists()]

    def restore(self, backup: str | os.PathLike[str]) -> Path | None:
        """Replace all data by a backup; where the former data was put."""
        self._check_enabled()
        path = path_of(backup)
        known = self.storage.read(lambda tx: tx.audit.backups())
        former = self.storage.restore(path)

        def work(tx: Writes) -> None:
            for copy, made_at in [*known, (str(path), self.clock())]:
                tx.audit.note_backup(copy, made_at)

        self.storage.write(work)
        return former

    def doctor(self, *, repair: bool = False) -> Iterator[Check]:
        """Check the data; with ``repair``, mend what can be mended and keep what cannot."""
        try:
            checks = list(self.storage.examine(repair=repair))
        except Corrupt as exc:
            yield failed("integrity", str(exc))
            if repair:
                yield from self._salvage()
            return
        yield from checks
        yield from self._checks()
        if repair and any(check.name == "integrity" and not check.ok for check in checks):
            yield from self._salvage()

    def close(self) -> None:
        if "storage" in self.__dict__:
            self._settle()
            self.storage.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # --- what parts add ---------------------------------------------------------------------

    def _opened(self, storage: Storage) -> None:
        """The storage was opened."""

    def _settle(self) -> None:
        """The storage is about to be closed."""

    def _checks(self) -> Iterator[Check]:
        """Further checks of the data."""
        yield from ()

    def _mended(self) -> Iterator[Check]:
        """The file is a new one, with what could be read of the old."""
        yield from ()

    # --- inside -----------------------------------------------------------------------------

    def _check_enabled(self) -> None:
        if self.settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")

    def _make_home(self) -> None:
        home = self.database.parent
        try:
            home.mkdir(parents=True, mode=0o700, exist_ok=True)
            found = home.stat()
            if self._owns_folder and found.st_uid == os.geteuid():
                # What its owner may not do stays so: the home may be meant to be read only.
                home.chmod(found.st_mode & 0o700)
        except FileExistsError as exc:
            raise InvalidInput(f"{home} is a file; the home must be a folder") from exc
        except OSError as exc:
            if not home.is_dir():
                raise PermissionDenied(
                    f"the home {home} cannot be created: {exc.strerror}; set MNEMOS_HOME to a folder "
                    "that you can write"
                ) from exc

    def _salvage(self) -> Iterator[Check]:
        self.close()
        for made in [name for name in self.__dict__ if isinstance(getattr(type(self), name, None), part)]:
            del self.__dict__[made]
        result = salvage(self.database.parent.resolve() / self.database.name)
        brought = ", ".join(f"{count} {table}" for table, count in result.rows.items() if count)
        yield passed("salvage", f"saved {brought}; the damaged file is {result.damaged}")
        self.storage.catch_up()
        yield from self._mended()
        yield from self.storage.examine(repair=True)


def path_of(name: str | os.PathLike[str]) -> Path:
    """An absolute path; a name that no file system takes raises InvalidInput."""
    try:
        path = Path(name).expanduser().absolute()
        path.lstat()
    except FileNotFoundError:
        return path
    except (ValueError, TypeError, RuntimeError, OSError) as exc:
        raise InvalidInput(f"{str(name)[:200]!r} is no name for a file: {exc}") from exc
    return path

"""A home: the folder of one installation, and its database in one space."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from mnemos.errors import Corrupt, InvalidInput, PermissionDenied, how_to_install
from mnemos.inputs import check_path, hide_password
from mnemos.sessions.lookups import Clock
from mnemos.sessions.message_text import document_of
from mnemos.settings import Settings
from mnemos.storage.base import Check, Storage, Writes, report_ok
from mnemos.storage.sqlite.doctor import salvage
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.sqlite.files import check_remains
from mnemos.storage.sqlite.place import replace_damaged

DATABASE = "mnemos.db"
IN_MEMORY = ":memory:"
DEFAULT_SPACE = "default"
TEMPLATES = "session-templates"

if TYPE_CHECKING:
    from mnemos.notebook.note_files import Shelf

    part = cached_property
else:

    class part(cached_property):  # noqa: N801 - it reads as a decorator
        """A part that is made once, even if two threads ask for it at the same time."""

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            with instance._making:
                return super().__get__(instance, owner)


class Resource:
    """An object that a ``with`` statement closes at its end."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Home(Resource):
    """The database of one home in one space: opened, backed up, restored, examined, repaired.

    Nothing is opened until ``storage`` is first used. It is a context manager, and closing twice is harmless.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        read_only: bool = False,
        clock: Clock = time.time,
        database: Path | None = None,
        in_memory: bool = False,
        on_open: Callable[[Storage], None] | None = None,
    ) -> None:
        """``database``: a file outside the home. ``on_open``: called with the storage when it is opened."""
        self.settings = settings
        self.clock = clock
        self.read_only = read_only
        self.in_memory = in_memory
        self._on_open = on_open
        self._making = threading.RLock()
        self.database = database or settings.home / DATABASE
        # The folder of a database outside the home isn't ours, so its mode is kept.
        self._owns_folder = database is None

    @property
    def is_server(self) -> bool:
        """True if the memory is in a database server named by a URL, not in a file."""
        return bool(self.settings.database) and self._owns_folder and not self.in_memory

    @property
    def exists(self) -> bool:
        """True if there is a memory to open. A server is only contacted when it is opened."""
        return self.is_server or self.database.exists()

    @property
    def location(self) -> str:
        """The home, or the URL of the database without its password."""
        return hide_password(self.settings.database) if self.is_server else str(self.settings.home)

    @part
    def storage(self) -> Storage:
        storage = self._open_server() if self.is_server else self._open_file()
        if self._on_open is not None:
            self._on_open(storage)
        return storage

    def _open_server(self) -> Storage:
        try:
            # Loads the driver, which only a URL needs.
            from mnemos.storage.postgres.engine import PostgresStorage
        except ImportError as exc:
            # A driver without its C library raises ImportError too.
            raise InvalidInput(f"The PostgreSQL driver is missing. {how_to_install('postgres')}") from exc
        if not self.read_only and not self.settings.disabled:
            self._make_home()
        return PostgresStorage(
            self.settings.database,
            space=self.settings.space,
            documents=document_of,
            read_only=self.read_only or self.settings.disabled,
            durability=self.settings.durability,
            busy_seconds=self.settings.busy_seconds,
        )

    def _open_file(self) -> Storage:
        # With memory disabled, an existing home can be read, but a missing one is not created.
        is_off = self.settings.disabled and not self.in_memory and not self.read_only
        in_memory = self.in_memory or (is_off and not self.database.exists())
        if not in_memory and not self.read_only and not is_off:
            self._make_home()
        return SqliteStorage(
            None if in_memory else self.database,
            space=self.settings.space,
            documents=document_of,
            read_only=self.read_only or (is_off and not in_memory),
            durability=self.settings.durability,
            busy_seconds=self.settings.busy_seconds,
        )

    def make_shelf(self) -> Shelf:
        """Return the files of the notebook: in the home, in the database, or in memory."""
        # Imported here, because hooks that only search don't need the notebook.
        from mnemos.notebook.note_files import FOLDER, DatabaseShelf, FolderShelf, MemoryShelf

        if self.in_memory:
            return MemoryShelf()
        if self.is_server and self.storage.texts is not None:
            return DatabaseShelf(self.storage.texts, self.clock)
        folder = folder_of(self.settings) / FOLDER
        return FolderShelf(folder, busy_seconds=self.settings.busy_seconds)

    def find_history(self) -> Path | Callable[..., Any] | None:
        """Return the workspace's source of sessions, messages and facts: a file, or a function for pages."""
        if self.in_memory:
            return None
        if self.is_server:
            # The sandbox never gets the password, and the server is only asked when a query needs it.
            return lambda *asked: cast(Any, self.storage).read_history(*asked)
        return self.database

    def backup(self, target: str | os.PathLike[str], progress: Callable[[float], None] | None = None) -> Path:
        """Write a verified copy of the database while it is in use; return its path."""
        self.settings.check_enabled("no file was written")
        path = path_of(target)
        self.storage.backup(path, progress)
        if not self.storage.read_only:
            self.storage.write(lambda tx: tx.audit.note_backup(str(path), self.clock()))
        return path

    def backups(self) -> list[str]:
        """Return the recorded backups whose files still exist."""
        known = [path for path, _ in self.storage.read(lambda tx: tx.audit.backups())]
        folder, name = self.database.parent, self.database
        beside = [*folder.glob(f"{name.stem}.*-*{name.suffix}"), *folder.glob("*.unfinished")]
        everything = dict.fromkeys([*known, *sorted(map(str, beside))])
        return [path for path in everything if Path(path).exists()]

    def restore(self, backup: str | os.PathLike[str]) -> Path | None:
        """Replace all data with a backup; return the file with the former data."""
        self.settings.check_enabled()
        path = path_of(backup)
        former: Path | None
        try:
            known = self.storage.read(lambda tx: tx.audit.backups())
        except Corrupt:
            if self.is_server:
                raise
            # The damaged file can't be overwritten in place, so it is moved aside and the backup replaces it.
            self._drop_storage()
            known, former = [], replace_damaged(self._resolve(), path)
        else:
            former = self.storage.restore(path)

        def work(tx: Writes) -> None:
            # A server's former data is written next to the backup, where people wouldn't look for it.
            copies = [path, former] if self.is_server and former else [path]
            for copy, made_at in [*known, *((str(one), self.clock()) for one in copies)]:
                tx.audit.note_backup(copy, made_at)

        self.storage.write(work)
        return former

    def salvage(self) -> Iterator[Check]:
        """Copy the readable part of a damaged file to a new file, which replaces it."""
        if self.is_server:
            raise Corrupt(f"{self.location} is damaged. Restore a backup of the server.")
        self._drop_storage()
        result = salvage(self._resolve())
        saved = ", ".join(f"{count} {table}" for table, count in result.rows.items() if count)
        yield report_ok("salvage", f"saved {saved}; the damaged file is {result.damaged}")
        self.storage.catch_up()

    def close(self) -> None:
        if self.is_open:
            self.storage.close()
        shutil.rmtree(self.__dict__.pop("_temporary", ""), ignore_errors=True)

    def check_remains(self) -> None:
        """Raise Corrupt if an existing database is now missing or empty."""
        if not self.is_server:
            check_remains(self.database)

    @property
    def folder(self) -> Path:
        """The home, or for a memory without one, a temporary folder that is deleted on closing."""
        return Path(self._temporary) if self.in_memory else self.settings.home

    @part
    def _temporary(self) -> str:
        import tempfile  # imports random and more, and few memories need it

        return tempfile.mkdtemp(prefix="mnemos-")

    @property
    def is_open(self) -> bool:
        return "storage" in self.__dict__

    def _drop_storage(self) -> None:
        self.close()
        self.__dict__.pop("storage", None)

    def _resolve(self) -> Path:
        """Return the path of the database with all linked folders resolved."""
        return self.database.parent.resolve() / self.database.name

    def _make_home(self) -> None:
        home = self.database.parent
        try:
            home.mkdir(parents=True, mode=0o700, exist_ok=True)
            found = home.stat()
            if self._owns_folder and found.st_uid == os.geteuid():
                # Missing rights of the owner are not added, because the home may be read-only on purpose.
                home.chmod(found.st_mode & 0o700)
        except FileExistsError as exc:
            raise InvalidInput(f"{home} is a file. The home must be a folder.") from exc
        except OSError as exc:
            if not home.is_dir():
                raise PermissionDenied(
                    f"The home {home} cannot be created: {exc.strerror}. Set MNEMOS_HOME to a folder "
                    "that you can write."
                ) from exc


def folder_of(settings: Settings) -> Path:
    """Return the folder with a space's files. For the default space, it is the home itself."""
    if settings.space == DEFAULT_SPACE:
        return settings.home
    # Each space has its own folder, even if its name has slashes, so none is inside another.
    return settings.home / "spaces" / settings.space.replace("/", "+")


def path_of(name: str | os.PathLike[str]) -> Path:
    """Return an absolute path. A name that no file system accepts raises InvalidInput."""
    check_path(name)
    try:
        path = Path(name).expanduser().absolute()
        path.lstat()
    except FileNotFoundError:
        return path
    except (ValueError, TypeError, RuntimeError, OSError) as exc:
        raise InvalidInput(f"{str(name)[:200]!r} is not a valid file name: {exc}") from exc
    return path

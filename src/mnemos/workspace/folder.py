"""The folder of a space's databases: which there are, and what can be done to their files."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from mnemos import files
from mnemos.errors import AlreadyExists, NotFound, PermissionDenied, Refused, TooLarge
from mnemos.workspace import limits, names
from mnemos.workspace.model import DatabaseInfo, Snapshot

_JOURNALS = ("-wal", "-shm", "-journal")


class Folder:
    """Names become paths here, checked before. Files that are links count as nothing."""

    def __init__(self, path: Path, most_bytes: int) -> None:
        self.path = path
        self._most_bytes = most_bytes

    def make(self) -> None:
        try:
            files.make_private(self.path)
        except OSError as exc:
            raise PermissionDenied(f"{self.path} cannot be created: {exc.strerror}") from exc

    def file(self, name: str) -> Path:
        """Where a database is or would be; a link there raises PermissionDenied."""
        path = names.file_of(self.path, name)
        self._look(path)
        return path

    def has(self, name: str) -> bool:
        """Whether there is such a database, with one look: it is asked before every call."""
        return self._look(f"{self.path}/{names.check_name(name)}{names.SUFFIX}")

    def existing(self, name: str) -> Path:
        path = self.file(name)
        if not path.is_file():
            known = ", ".join(info.name for info in self.databases()) or "none yet"
            raise NotFound(f"there is no database {name!r}; there are {known}")
        return path

    def check_free(self, name: str) -> Path:
        """Where a new database may be made."""
        path = self.file(name)
        if path.exists():
            raise AlreadyExists(f"there is a database {name!r} already; choose another name")
        if sum(1 for _ in self._files()) >= limits.DATABASES.value:
            raise TooLarge(
                f"there are {limits.DATABASES.value} databases already; delete one that is not needed"
            )
        return path

    def databases(self) -> list[DatabaseInfo]:
        """Every database, the last used first."""
        found = [self.info(path) for path in self._files()]
        return sorted(found, key=lambda info: (-info.used_at, info.name))

    def info(self, path: Path) -> DatabaseInfo:
        size, used_at = 0, 0.0
        for file in (path, Path(f"{path}-wal")):
            found = _plain(file)
            if found is not None:
                size += found.st_size
                used_at = max(used_at, found.st_mtime)
        return DatabaseInfo(
            name=path.stem,
            size_bytes=size,
            limit_bytes=self._most_bytes,
            used_at=used_at,
            snapshots=len(self.snapshots(path.stem)),
        )

    def snapshots(self, name: str) -> list[Snapshot]:
        """What can be restored, newest first."""
        folder = self._kept(name)
        kept = [] if folder is None else sorted(folder.glob(f"*{names.SUFFIX}"), reverse=True)
        seen = ((path, _plain(path)) for path in kept)
        return [Snapshot(path.stem, found.st_size, found.st_mtime) for path, found in seen if found]

    def rename(self, name: str, to: str) -> None:
        """Nobody may have the database open."""
        source, target = self.existing(name), self.check_free(to)
        for journal in _JOURNALS:
            # A file that is renamed without its journal loses what the journal holds.
            if Path(f"{source}{journal}").exists():
                raise Refused(f"another program has {name!r} open; close it there first")
        kept = self._kept(name)
        try:
            # First what can fail: there may be snapshots of that name, of a database whose file is gone.
            if kept is not None:
                kept.rename(names.snapshots_of(self.path, to))
            source.rename(target)
            if names.recent_of(source).exists():
                names.recent_of(source).rename(names.recent_of(target))
        except OSError as exc:
            raise files.unwritten(exc, Path(exc.filename2 or exc.filename or target)) from exc

    def delete(self, name: str) -> None:
        """For good: the file, its journals, its snapshots."""
        source, kept = self.existing(name), self._kept(name)
        try:
            for journal in _JOURNALS:
                Path(f"{source}{journal}").unlink(missing_ok=True)
            source.unlink()
            names.recent_of(source).unlink(missing_ok=True)
            if kept is not None:
                shutil.rmtree(kept)
        except OSError as exc:
            raise files.unwritten(exc, Path(exc.filename or source)) from exc

    def adopt(self, file: Path, name: str, snapshots: Mapping[str, Path]) -> None:
        """Copy a file that nobody has open into the folder, under a name that is free; last of all."""
        self.make()
        target = self.check_free(name)
        kept = names.snapshots_of(self.path, name)
        if kept.is_symlink() or kept.parent.is_symlink():
            raise PermissionDenied(f"{kept} is a link; snapshots are kept in a folder of their own")
        for journal in _JOURNALS:
            # Of a database that is gone: SQLite would take it for this one's.
            Path(f"{target}{journal}").unlink(missing_ok=True)
        for stamp, snapshot in snapshots.items():
            files.make_private(kept)
            _copy(snapshot, kept / f"{stamp}{names.SUFFIX}")
        _copy(file, target)

    def _look(self, path: str | Path) -> bool:
        """Whether a file is there; a link, or a folder that is closed to us, raises PermissionDenied."""
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be looked at: {exc.strerror}") from exc
        if stat.S_ISLNK(found.st_mode):
            raise PermissionDenied(f"{path} is a link; a database must be a file of its own")
        return True

    def _kept(self, name: str) -> Path | None:
        """The folder of a database's snapshots; None where there is none, or a link."""
        folder = names.snapshots_of(self.path, name)
        is_ours = folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink()
        return folder if is_ours else None

    def _files(self) -> Iterator[Path]:
        for path in self.path.glob(f"*{names.SUFFIX}"):
            if _plain(path) is not None:
                yield path


def _plain(path: Path) -> os.stat_result | None:
    """How a plain file is; None for a link, and for what another process took away since it was listed."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _copy(source: Path, target: Path) -> None:
    """The target is there whole or not at all. What a kill leaves is tidied up with the next snapshot."""
    unfinished = target.with_name(f"{target.name}.{os.getpid()}.unfinished")
    try:
        with source.open("rb") as from_, unfinished.open("wb") as to:
            unfinished.chmod(0o600)
            shutil.copyfileobj(from_, to, 1 << 20)
            to.flush()
            os.fsync(to.fileno())
        unfinished.replace(target)
    except OSError as exc:
        raise files.unwritten(exc, target) from exc
    finally:
        unfinished.unlink(missing_ok=True)

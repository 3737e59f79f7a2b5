"""The folder that holds the databases of a space, and operations on their files."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from mnemos import files
from mnemos.errors import AlreadyExists, NotFound, PermissionDenied, Refused, TooLarge
from mnemos.inputs import suggest
from mnemos.workspace import identifiers
from mnemos.workspace.answers import DatabaseInfo, Snapshot
from mnemos.workspace.limits import Quota
from mnemos.workspace.usage import (
    choose_kept,
    describe_full,
    find_room,
    list_snapshots,
    measure_databases,
    parse_moment,
    total_bytes,
)

_JOURNALS = ("-wal", "-shm", "-journal")
# A database with one small table.
_SMALLEST = 8_192


class Folder:
    """Turns checked names into paths. Symbolic links are never followed or listed."""

    def __init__(self, path: Path, quota: Quota) -> None:
        self.path = path
        self._quota = quota

    def make(self) -> None:
        try:
            files.make_private(self.path)
        except OSError as exc:
            raise PermissionDenied(f"{self.path} cannot be created: {exc.strerror}") from exc

    def file(self, name: str) -> Path:
        """Return the path of a database, existing or not. A link there raises PermissionDenied."""
        path = identifiers.file_of(self.path, name)
        self._exists(path)
        return path

    def has(self, name: str) -> bool:
        """True if the database exists. One system call, because every query asks."""
        return self._exists(f"{self.path}/{identifiers.check_name(name)}{identifiers.SUFFIX}")

    def find(self, name: str) -> Path:
        path = self.file(name)
        if not path.is_file():
            known = [info.name for info in self.databases()]
            there = ", ".join(known) or "none yet"
            raise NotFound(f"There is no database {name!r}.{suggest(name, known)} Databases: {there}.")
        return path

    def check_free(self, name: str) -> Path:
        """Return the path of a name that no database has, or raise AlreadyExists."""
        path = self.file(name)
        if path.exists():
            raise AlreadyExists(f"The database {name!r} already exists. Choose another name.")
        return path

    def check_new(self, name: str, size: int = _SMALLEST) -> Path:
        """Return the path for a new database of a size. AlreadyExists or TooLarge if it can't be made."""
        path = self.check_free(name)
        if len(measure_databases(self.path)) >= self._quota.databases:
            raise TooLarge(
                f"There are {self._quota.databases} databases already. Delete one that is not needed, or "
                "raise max_databases in config.toml."
            )
        if size > find_room(self.path, name, self._quota):
            full = describe_full(self.path, self._quota)
            raise TooLarge(f"There is no room for the database {name!r}: {full}.")
        return path

    def databases(self) -> list[DatabaseInfo]:
        """Return every database, the last used first."""
        found = [self.info(path) for path in self._files()]
        return sorted(found, key=lambda info: (-info.used_at, info.name))

    def info(self, path: Path) -> DatabaseInfo:
        size, used_at = 0, 0.0
        for file in (path, Path(f"{path}-wal")):
            found = _stat_plain(file)
            if found is not None:
                size += found.st_size
                used_at = max(used_at, found.st_mtime)
        return DatabaseInfo(
            name=path.stem,
            size_bytes=size,
            limit_bytes=self._quota.database_bytes,
            used_at=used_at,
            snapshots=len(self.snapshots(path.stem)),
        )

    def snapshots(self, name: str) -> list[Snapshot]:
        """Return the snapshots of a database, newest first."""
        kept = list_snapshots(self.path, name)
        return [Snapshot(one.path.stem, one.size, one.moment / 1_000_000) for one in kept]

    def rename(self, name: str, to: str) -> None:
        """Rename a database that nobody has open."""
        source, target = self.find(name), self.check_free(to)
        for journal in _JOURNALS:
            # A file that is renamed without its journal loses what the journal holds.
            if Path(f"{source}{journal}").exists():
                raise Refused(f"Another program has {name!r} open. Close it there first.")
        kept = self._snapshot_folder(name)
        try:
            # First the step that can fail: a lost database of the new name may have left snapshots.
            if kept is not None:
                kept.rename(identifiers.snapshots_of(self.path, to))
            source.rename(target)
            if identifiers.recent_of(source).exists():
                identifiers.recent_of(source).rename(identifiers.recent_of(target))
        except OSError as exc:
            raise files.write_error(exc, Path(exc.filename2 or exc.filename or target)) from exc

    def delete(self, name: str) -> None:
        """Permanently delete a database with its journals and snapshots."""
        source, kept = self.find(name), self._snapshot_folder(name)
        try:
            for journal in _JOURNALS:
                Path(f"{source}{journal}").unlink(missing_ok=True)
            source.unlink()
            identifiers.recent_of(source).unlink(missing_ok=True)
            if kept is not None:
                shutil.rmtree(kept)
        except OSError as exc:
            raise files.write_error(exc, Path(exc.filename or source)) from exc

    def adopt(self, file: Path, name: str, snapshots: Mapping[str, Path]) -> None:
        """Copy a file that nobody has open into the folder under a free name, after its snapshots."""
        self.make()
        target = self.check_new(name, file.stat().st_size)
        kept = identifiers.snapshots_of(self.path, name)
        if kept.is_symlink() or kept.parent.is_symlink():
            raise PermissionDenied(f"{kept} is a link. Snapshots need their own folder.")
        for journal in _JOURNALS:
            # Left by a deleted database: SQLite would apply it to this one.
            Path(f"{target}{journal}").unlink(missing_ok=True)
        for stamp in self._choose_adopted(snapshots):
            files.make_private(kept)
            _copy(snapshots[stamp], kept / f"{stamp}{identifiers.SUFFIX}")
        _copy(file, target)

    def _choose_adopted(self, snapshots: Mapping[str, Path]) -> list[str]:
        """Return the snapshots to take: those that the rule keeps, or only always keeps, if they fit."""
        moments = {moment: stamp for stamp in snapshots if (moment := parse_moment(stamp)) is not None}
        used = total_bytes(self.path)
        for least in (False, True):
            chosen = [moments[moment] for moment in choose_kept(moments, least=least)]
            if used + sum(snapshots[stamp].stat().st_size for stamp in chosen) <= self._quota.snapshots_bytes:
                return chosen
        raise TooLarge(
            f"There is no room for its snapshots: the snapshots of this space use {used:,} of "
            f"{self._quota.snapshots_bytes:,} bytes. Delete a database that is not needed, or raise "
            "snapshots_bytes in config.toml."
        )

    def _exists(self, path: str | Path) -> bool:
        """True if the file exists. PermissionDenied for a link or an inaccessible folder."""
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return False
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc
        if stat.S_ISLNK(found.st_mode):
            raise PermissionDenied(f"{path} is a link. A database must be a file, not a link.")
        return True

    def _snapshot_folder(self, name: str) -> Path | None:
        """Return the folder of a database's snapshots. None if it is missing or a link."""
        folder = identifiers.snapshots_of(self.path, name)
        is_ours = folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink()
        return folder if is_ours else None

    def _files(self) -> Iterator[Path]:
        for path in self.path.glob(f"*{identifiers.SUFFIX}"):
            if _stat_plain(path) is not None:
                yield path


def _stat_plain(path: Path) -> os.stat_result | None:
    """Return the status of a plain file. None for a link, or if another process deleted it."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _copy(source: Path, target: Path) -> None:
    """Copy a file completely or not at all."""
    try:
        with files.scratch_folder(target.parent) as folder:
            unfinished = folder / target.name
            with source.open("rb") as from_, unfinished.open("xb") as to:
                unfinished.chmod(0o600)
                shutil.copyfileobj(from_, to, 1 << 20)
                to.flush()
                os.fsync(to.fileno())
            unfinished.replace(target)
    except OSError as exc:
        raise files.write_error(exc, target) from exc

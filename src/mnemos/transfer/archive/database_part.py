"""Databases of the workspace in an archive, each a file, with their snapshots.

No database is opened here: the sandbox makes copies and examines foreign files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos.errors import InvalidInput, MnemosError
from mnemos.files import scratch_folder
from mnemos.transfer.archive.manifest import PartComparison, PartReport, number_names
from mnemos.workspace.identifiers import SUFFIX, check_name
from mnemos.workspace.usage import hash_contents, parse_moment

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

NAME: Final = "databases"
_FOLDER: Final = "databases"
_SNAPSHOTS: Final = ".snapshots"
_MAGIC: Final = b"SQLite format 3\0"
_MAX_NAME: Final = 64
# Progress counts a megabyte as this many rows.
_ROWS_PER_MB: Final = 1_000


@dataclass(slots=True)
class _Incoming:
    name: str
    file: str = ""
    snapshots: dict[str, str] = field(default_factory=dict)
    problem: str = ""


class DatabasePart:
    name = NAME

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._workspace = memory.workspace
        self._incoming: list[_Incoming] = []

    def size(self) -> int:
        return sum(_size_in_rows(info.size_bytes) for info in self._workspace.databases())

    def write(self, out: ArchiveFolder) -> None:
        for info in sorted(self._workspace.databases(), key=lambda info: info.name):
            file = f"{_FOLDER}/{info.name}{SUFFIX}"
            try:
                self._workspace.save(info.name, out.path(file))
                out.note(NAME, file)
            except MnemosError as exc:
                out.left_out.append(f"database {info.name}: {exc}")
                continue
            out.count("databases", 1)
            self._write_snapshots(out, info.name)
            out.advance(_size_in_rows(info.size_bytes))

    def _write_snapshots(self, out: ArchiveFolder, database: str) -> None:
        for snapshot in sorted(self._workspace.snapshots(database), key=lambda snapshot: snapshot.name):
            file = f"{_FOLDER}/{database}{_SNAPSHOTS}/{snapshot.name}{SUFFIX}"
            try:
                self._workspace.save(database, out.path(file), snapshot=snapshot.name)
                out.note(NAME, file)
            except MnemosError as exc:
                # The snapshot may have been deleted to make room for a new one.
                out.left_out.append(f"snapshot {snapshot.name} of {database}: {exc}")
            else:
                out.count("snapshots", 1)

    def check(self, archive: Archive) -> None:
        self._incoming = _group_files(archive.list_files(NAME))
        for one in self._incoming if archive.is_imported else ():
            problems = [self._examine(archive.path(file)) for file in (one.file, *one.snapshots.values())]
            one.problem = next(filter(None, problems), "")

    def _examine(self, path: Path) -> str:
        """Return why a file is not a database; empty if it is one."""
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return f"{path.name} is not a SQLite database"
        try:
            return "; ".join(self._workspace.examine(path)[:3])
        except MnemosError as exc:
            return str(exc)

    def import_part(self, archive: Archive, report: PartReport) -> None:
        for one in self._incoming:
            if one.problem:
                report.refuse(f"database {one.name}: {one.problem}")
                continue
            try:
                self._import_database(one, archive, report)
            except MnemosError as exc:
                report.refuse(f"database {one.name}: {exc}")
            archive.advance(archive.path(one.file).stat().st_size)

    def _import_database(self, one: _Incoming, archive: Archive, report: PartReport) -> None:
        wanted = hash_contents(archive.path(one.file))
        for name in number_names(one.name, _MAX_NAME):
            if not self._workspace.has(name):
                snapshots = {stamp: archive.path(file) for stamp, file in one.snapshots.items()}
                self._workspace.adopt(archive.path(one.file), name, snapshots)
                report.imported += 1
                if name != one.name:
                    report.explain(f"database {one.name} was renamed {name}: another one has its name")
                return
            if self._contents(name) == wanted:
                report.there += 1
                return
        report.refuse(f"database {one.name}: too many databases have that name")

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        for one in self._incoming:
            wanted = hash_contents(archive.path(one.file))
            there = list(takewhile(self._workspace.has, number_names(one.name, _MAX_NAME)))
            is_same = any(self._contents(name) == wanted for name in there)
            compared.add(f"database {one.name}", is_same if there else None)

    def _contents(self, database: str) -> str:
        with scratch_folder(self._memory.folder) as folder:
            copy = folder / f"copy{SUFFIX}"
            self._workspace.save(database, copy)
            return hash_contents(copy)


def _group_files(files: list[str]) -> list[_Incoming]:
    """Return databases with their snapshots. InvalidInput for any other file."""
    found: dict[str, _Incoming] = {}
    for file in files:
        folder, _, rest = file.partition("/")
        name, _, snapshot = rest.partition("/")
        if folder != _FOLDER or not file.endswith(SUFFIX):
            raise InvalidInput(f"{file} is not a database of the workspace")
        database = check_name(name.removesuffix(_SNAPSHOTS if snapshot else SUFFIX))
        one = found.setdefault(database, _Incoming(database))
        if snapshot:
            one.snapshots[_parse_snapshot(snapshot, file)] = file
        else:
            one.file = file
    for one in found.values():
        if not one.file:
            raise InvalidInput(f"The archive has snapshots of {one.name} but not the database.")
    return list(found.values())


def _parse_snapshot(name: str, file: str) -> str:
    stamp = name.removesuffix(SUFFIX)
    if parse_moment(stamp) is None:
        raise InvalidInput(f"{file} is not a snapshot of a database")
    return stamp


def _size_in_rows(size: int) -> int:
    return 1 + size * _ROWS_PER_MB // 1_000_000

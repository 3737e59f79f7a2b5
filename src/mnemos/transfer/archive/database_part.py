"""The databases of the workspace, each a file of its own, with the snapshots that are kept of it.

No file is opened here: copies are made, and foreign files looked at, in the sandbox.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos.errors import InvalidInput, MnemosError
from mnemos.transfer.archive.archive_reader import temporary_folder
from mnemos.transfer.archive.manifest import File, PartComparison, PartReport
from mnemos.workspace.identifiers import SUFFIX, check_name

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_reader import Archive
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

NAME: Final = "databases"
_FOLDER: Final = "databases"
_SNAPSHOTS: Final = ".snapshots"
_MAGIC: Final = b"SQLite format 3\0"
# How the file is written to and by whom, counted with every write: the same contents have others.
_BOOKKEEPING: Final = ((18, 20), (24, 28), (40, 44), (92, 100))
_HEADER: Final = 100
_LONGEST_NAME: Final = 64
_MOST_NUMBERED: Final = 1_000
# A megabyte counts as so many rows.
_ROWS: Final = 1_000


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

    # --- out --------------------------------------------------------------------------------

    def size(self) -> int:
        return sum(_rows(info.size_bytes) for info in self._workspace.databases())

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
            out.advance(_rows(info.size_bytes))

    def _write_snapshots(self, out: ArchiveFolder, database: str) -> None:
        for snapshot in sorted(self._workspace.snapshots(database), key=lambda snapshot: snapshot.name):
            file = f"{_FOLDER}/{database}{_SNAPSHOTS}/{snapshot.name}{SUFFIX}"
            try:
                self._workspace.save(database, out.path(file), snapshot=snapshot.name)
                out.note(NAME, file)
            except MnemosError as exc:
                # The oldest goes when a new one comes.
                out.left_out.append(f"snapshot {snapshot.name} of {database}: {exc}")
            else:
                out.count("snapshots", 1)

    # --- in ---------------------------------------------------------------------------------

    def check(self, source: Archive) -> dict[str, int]:
        self._incoming = _sorted(source.manifest.of(NAME))
        for one in self._incoming if source.is_coming_in else ():
            problems = [self._problem(source.path(file)) for file in (one.file, *one.snapshots.values())]
            one.problem = next(filter(None, problems), "")
        return {}

    def _problem(self, path: Path) -> str:
        """Why a file is no database; empty for one that is."""
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return f"{path.name} is no SQLite database"
        try:
            return "; ".join(self._workspace.examine(path)[:3])
        except MnemosError as exc:
            return str(exc)

    def import_part(self, source: Archive, brought: PartReport) -> None:
        for one in self._incoming:
            if one.problem:
                brought.refuse(f"database {one.name}: {one.problem}")
                continue
            try:
                self._bring(one, source, brought)
            except MnemosError as exc:
                brought.refuse(f"database {one.name}: {exc}")
            source.advance(source.path(one.file).stat().st_size)

    def _bring(self, one: _Incoming, source: Archive, brought: PartReport) -> None:
        wanted = contents_of(source.path(one.file))
        for name in _names(one.name):
            if not self._workspace.has(name):
                snapshots = {stamp: source.path(file) for stamp, file in one.snapshots.items()}
                self._workspace.adopt(source.path(one.file), name, snapshots)
                brought.imported += 1
                if name != one.name:
                    brought.tell(f"database {one.name} is {name} here: another one has its name")
                return
            if self._contents(name) == wanted:
                brought.there += 1
                return
        brought.refuse(f"database {one.name}: there are too many of that name")

    # --- beside -----------------------------------------------------------------------------

    def compare(self, source: Archive, compared: PartComparison) -> None:
        for one in self._incoming:
            wanted = contents_of(source.path(one.file))
            there = list(takewhile(self._workspace.has, _names(one.name)))
            if any(self._contents(name) == wanted for name in there):
                compared.same += 1
            elif there:
                compared.differ(f"database {one.name}")
            else:
                compared.miss(f"database {one.name}")

    def _contents(self, database: str) -> str:
        with temporary_folder(self._memory.folder, "compared") as folder:
            copy = folder / f"copy{SUFFIX}"
            self._workspace.save(database, copy)
            return contents_of(copy)


def contents_of(path: Path) -> str:
    """A checksum of what a copy of a database holds, the same for every copy of the same contents."""
    with path.open("rb") as file:
        header = bytearray(file.read(_HEADER))
        for first, last in _BOOKKEEPING:
            header[first:last] = bytes(last - first)
        digest = hashlib.sha256(header)
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _sorted(files: list[File]) -> list[_Incoming]:
    """Databases with their snapshots; a file that is neither raises InvalidInput."""
    found: dict[str, _Incoming] = {}
    for file in files:
        folder, _, rest = file.file.partition("/")
        name, _, snapshot = rest.partition("/")
        if folder != _FOLDER or not file.file.endswith(SUFFIX):
            raise InvalidInput(f"{file.file} is no database of the workspace")
        database = check_name(name.removesuffix(_SNAPSHOTS if snapshot else SUFFIX))
        one = found.setdefault(database, _Incoming(database))
        if snapshot:
            one.snapshots[_stamp(snapshot, file.file)] = file.file
        else:
            one.file = file.file
    for one in found.values():
        if not one.file:
            raise InvalidInput(f"there are snapshots of {one.name} without the database itself")
    return list(found.values())


def _stamp(name: str, file: str) -> str:
    stamp = name.removesuffix(SUFFIX)
    if "/" in stamp or not stamp.replace(".", "").isalnum():
        raise InvalidInput(f"{file} is no snapshot of a database")
    return stamp


def _names(name: str) -> Iterator[str]:
    """The name itself, and those that stand in for it where it is taken."""
    yield name
    for number in range(2, _MOST_NUMBERED):
        ending = f"-{number}"
        yield f"{name[: _LONGEST_NAME - len(ending)]}{ending}"


def _rows(size: int) -> int:
    return 1 + size * _ROWS // 1_000_000

"""``memory.imports``: imports of other programs' files, resuming each one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Final

from mnemos import __version__
from mnemos.errors import DiskFull, InvalidInput, NotFound
from mnemos.files import open_regular
from mnemos.inputs import Moment
from mnemos.language.moments import read_moment
from mnemos.sessions import session_upkeep
from mnemos.sessions.lookups import Clock
from mnemos.sessions.records import dump_json
from mnemos.settings import Settings
from mnemos.storage.base import Storage
from mnemos.storage.imports import ImportedFile
from mnemos.transfer.foreign_files import path_exists
from mnemos.transfer.import_writer import ImportWriter
from mnemos.transfer.reader import BEGINNING, ImportReport, Mark, Reader, SourceFile, Stop

# Bytes to hash at the beginning of a file and before the position it was read to.
_SAMPLE: Final = 4_096
# The size noted for a file that was not read to its end, so that it counts as changed.
_UNFINISHED: Final = -1
# Files to look up in the ledger per read.
_LOOKED_UP: Final = 500
# Separates a file's hash from the version that did not understand a part of it.
_UNREAD: Final = " unread by "

Progress = Callable[[float], None]
Changed = tuple[SourceFile, ImportedFile | None]


class Imports:
    """Imports of other programs' files into one space. The files are only read."""

    def __init__(self, storage: Storage, settings: Settings, clock: Clock) -> None:
        self._storage = storage
        self._settings = settings
        self._clock = clock

    def import_files(
        self,
        reader: Reader,
        path: Path,
        *,
        since: Moment | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
        stop: Stop | None = None,
        indexes: bool = True,
        undoable: bool = True,
    ) -> ImportReport:
        """Store what is new in the files below a path. Unchanged files are not opened.

        ``since`` leaves out files, or conversations in one file, that ended before. ``stop`` ends the import
        after its current step; the next call resumes there. A path with nothing to read raises NotFound,
        unreadable files are in the report.
        """
        if not dry_run:
            self._settings.check_enabled()
        report = ImportReport(reader.kind, str(path), dry_run=dry_run)
        now = self._clock()
        start = read_moment("since", since, now)
        total = self._count_changed(reader, path, start, report)
        # A conversation that spans several marks is judged by its file's age.
        writer_since = start if reader.holds_many or not reader.resumes else None
        writer = ImportWriter(
            self._storage, self._settings, now, reader.kind, report, since=writer_since, indexes=indexes
        )
        # A later import must find the conversations left out now.
        remembers = writer_since is None
        # Searched again, because a list of all files would take more memory than everything else.
        wanted = self._find_changed(reader, path, start, ImportReport(reader.kind, "")) if total else ()
        try:
            with self._storage.without_background():
                try:
                    for done in self._import_all(reader, wanted, writer, report, remembers=remembers):
                        if progress is not None:
                            progress(min(1.0, done / total) if total else 1.0)
                        if stop is not None and done < total and stop():
                            report.finished = False
                            break
                finally:
                    if undoable and not dry_run:
                        self._record_undo(writer.created)
                writer.index()
            if report.messages and not dry_run:
                # For vectors, which the background thread computes.
                self._storage.wake()
        except DiskFull as exc:
            if not report.messages:
                raise
            where, _, _ = str(exc).partition(". ")
            raise DiskFull(
                f"{where}. Messages stored so far are kept. Free some disk space and import again."
            ) from exc
        return report

    def _count_changed(self, reader: Reader, path: Path, since: float | None, report: ImportReport) -> int:
        """Return the size of each file to read, at least 1. Reports the others."""
        if not path_exists(path):
            raise NotFound(f"{path} does not exist. Pass the path of {reader.title} conversations.")
        total = sum(max(1, source.size) for source, _ in self._find_changed(reader, path, since, report))
        if not (total or report.unchanged or report.left_out or report.problems):
            raise NotFound(f"Found no {reader.title} conversations in {path}. Choose another file or folder.")
        return total

    def _find_changed(
        self, reader: Reader, path: Path, since: float | None, report: ImportReport
    ) -> Iterator[Changed]:
        """Yield the files to read, with what the ledger noted of each."""
        sources = reader.find(path, lambda file, why: report.add_problem(str(file), 0, why))
        while some := list(islice(sources, _LOOKED_UP)):
            names = [_path_text(source.path) for source in some]
            noted = self._storage.read(
                lambda tx: [tx.imports.file(reader.kind, name) for name in names]  # noqa: B023
            )
            for source, file in zip(some, noted, strict=True):
                same = (source.size, source.changed_ns)
                if file is not None and (file.size, file.changed_ns) == same and not _may_know_more(file):
                    report.unchanged += 1
                elif since is not None and source.changed_ns < since * 1e9:
                    report.skip("older files")
                else:
                    yield source, file

    def _import_all(
        self,
        reader: Reader,
        wanted: Iterable[Changed],
        writer: ImportWriter,
        report: ImportReport,
        *,
        remembers: bool,
    ) -> Iterator[int]:
        """Import the files. Yields the bytes read whenever the import may stop."""
        done = 0
        for source, file in wanted:
            yield done
            for mark in self._import_file(reader, source, file, writer, report, remembers=remembers):
                if mark.position < source.size:
                    yield done + mark.position
            done += max(1, source.size)
        yield done

    def _import_file(
        self,
        reader: Reader,
        source: SourceFile,
        file: ImportedFile | None,
        writer: ImportWriter,
        report: ImportReport,
        *,
        remembers: bool,
    ) -> Iterator[Mark]:
        name = _path_text(source.path)
        try:
            beginning = _read_beginning(source.path) if reader.resumes else (0, b"")
            start = BEGINNING
            if reader.resumes and file is not None and not _may_know_more(file):
                start = _find_start(source, file)
            unread = _Unread(report, start is not BEGINNING and file is not None and _UNREAD in file.digest)
            place = partial(_note_file, reader, source, beginning, unread) if remembers else None
            yield from writer.store(name, reader.read(source, start), place)
            report.files += 1
        except InvalidInput as exc:
            report.add_problem(name, 0, _strip_name(str(exc), source.path))
        except OSError as exc:
            report.add_problem(name, 0, f"it can't be read: {exc.strerror or exc}")

    def _record_undo(self, created: set[str]) -> None:
        """Record the new sessions, so that the import can be undone."""
        if not created:
            return
        counts = self._storage.read(
            lambda tx: {one: tx.sessions.message_count(one) for one in sorted(created)}
        )
        self._storage.write(
            lambda tx: tx.audit.record(
                at=self._clock(),
                actor=self._settings.current_actor,
                operation=session_upkeep.IMPORT,
                ref="",
                after=dump_json(counts),
            )
        )


class _Unread:
    """True if this or an earlier import did not understand a part of a file."""

    def __init__(self, report: ImportReport, before: bool) -> None:  # noqa: FBT001
        self._report = report
        self._before = before
        self._count = report.count_unread()

    def __bool__(self) -> bool:
        return self._before or self._report.count_unread() > self._count


def _may_know_more(file: ImportedFile) -> bool:
    """True if this version may understand what an earlier one did not."""
    _, unread, version = file.digest.partition(_UNREAD)
    return bool(unread) and version != __version__


def _find_start(source: SourceFile, file: ImportedFile) -> Mark:
    """Return where to resume; the beginning if the file was replaced."""
    digest = file.digest.partition(_UNREAD)[0]
    if source.size < file.position or _hash_before(source.path, file.position) != digest:
        return BEGINNING
    return Mark(file.position, file.line, None if file.state is None else json.loads(file.state))


def _note_file(
    reader: Reader,
    source: SourceFile,
    beginning: tuple[int, bytes],
    unread: _Unread,
    mark: Mark,
    is_all: bool,  # noqa: FBT001
) -> ImportedFile:
    digest = ""
    if reader.resumes and _is_still(source.path, beginning):
        digest = _hash_before(source.path, mark.position)
    return ImportedFile(
        reader.kind,
        _path_text(source.path),
        source.size if is_all else _UNFINISHED,
        source.changed_ns,
        mark.position,
        mark.line,
        f"{digest}{_UNREAD}{__version__}" if unread else digest,
        None if mark.state is None else json.dumps(mark.state),
    )


def _read_beginning(path: Path) -> tuple[int, bytes]:
    """Return the inode and the first bytes of a file."""
    with open_regular(path) as file:
        return os.fstat(file.fileno()).st_ino, file.read(_SAMPLE)


def _is_still(path: Path, beginning: tuple[int, bytes]) -> bool:
    """True if the file was not replaced since reading began."""
    inode, head = _read_beginning(path)
    return inode == beginning[0] and head.startswith(beginning[1])


def _hash_before(path: Path, position: int) -> str:
    """Hash a file before a position, to recognise a file with the same content."""
    digest = blake2b(str(position).encode(), digest_size=16)
    with open_regular(path) as file:
        digest.update(file.read(min(_SAMPLE, position)))
        file.seek(max(0, position - _SAMPLE))
        digest.update(file.read(min(_SAMPLE, position)))
    return digest.hexdigest()


def _strip_name(why: str, path: Path) -> str:
    """Return a reason without the path, which the report already names."""
    if why.startswith(f"{path} "):
        return f"it {why.removeprefix(f'{path} ')}"
    return why.replace(f" in {path} ", " in it ")


def _path_text(path: Path) -> str:
    """Return a path as text, with bytes that are not UTF-8 escaped."""
    return os.fsencode(path.absolute()).decode("utf-8", "backslashreplace")

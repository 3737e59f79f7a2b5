"""Bringing in the files of another program: which are there, which are new, and how far each was read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Final

from mnemos.errors import Disabled, DiskFull, InvalidInput, NotFound
from mnemos.sessions import session_upkeep
from mnemos.sessions.records import dump_json, new_message, new_session
from mnemos.sessions.sessions import Clock
from mnemos.settings import Settings
from mnemos.storage.base import Storage
from mnemos.storage.imports import ImportedFile
from mnemos.text.secrets import redact
from mnemos.transfer.foreign_files import is_there
from mnemos.transfer.import_writer import Border, ImportWriter, state_of
from mnemos.transfer.reader import BEGINNING, Mark, Reader, Report, Source, Stop

# Of the beginning, and of what stands before the place up to which a file was read.
_SAMPLE: Final = 4_096
_BYTES_A_CHARACTER: Final = 4
# Of a file that was not read to its end: no file has this size, so it counts as changed.
_UNFINISHED: Final = -1

Progress = Callable[[float], None]


class Imports:
    """What other programs keep, brought into one space. Their files are only read."""

    def __init__(self, storage: Storage, settings: Settings, clock: Clock) -> None:
        self._storage = storage
        self._settings = settings
        self._clock = clock

    def import_files(
        self,
        reader: Reader,
        path: Path,
        *,
        since: float | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
        stop: Stop | None = None,
        indexes: bool = True,
        undoable: bool = True,
    ) -> Report:
        """Store what is new in the files below a path; unchanged files are not opened.

        ``since``: files, or conversations in one file, that ended before are left out. ``stop`` ends it after
        the step it is at; the next call goes on from there. A path with nothing to read raises NotFound, what
        cannot be read is told in the report.
        """
        if self._settings.disabled and not dry_run:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was imported")
        report = Report(reader.kind, str(path), dry_run=dry_run)
        sources = self._sources(reader, path, report)
        known = self._known(reader, since, report, sources)
        writer = self._writer(reader, report, since=since, indexes=indexes)
        try:
            with self._storage.without_background():
                try:
                    self._import_all(reader, known, writer, report, since, progress, stop)
                finally:
                    if undoable and not dry_run:
                        self._note(writer.created)
                writer.index()
        except DiskFull as exc:
            if not report.messages:
                raise
            where, _, _ = str(exc).partition(";")
            raise DiskFull(f"{where}; what was stored so far stays; free some disk and import again") from exc
        return report

    # --- inside -----------------------------------------------------------------------------

    def _sources(self, reader: Reader, path: Path, report: Report) -> list[Source]:
        if not is_there(path):
            raise NotFound(f"there is no {path}; name the file or folder that {reader.title} keeps")
        sources = list(reader.find(path, lambda file, why: report.miss(str(file), 0, why)))
        if not sources and not report.problems:
            raise NotFound(f"there is nothing of {reader.title} in {path}; name another file or folder")
        return sources

    def _known(
        self, reader: Reader, since: float | None, report: Report, sources: list[Source]
    ) -> list[tuple[Source, ImportedFile | None]]:
        """The files to read, each with what is known of it."""
        files = self._storage.read(lambda tx: tx.imports.files(reader.kind))
        noted = {file.path: file for file in files}
        wanted: list[tuple[Source, ImportedFile | None]] = []
        for source in sources:
            file = noted.get(_name(source.path))
            if file is not None and (file.size, file.changed_ns) == (source.size, source.changed_ns):
                report.unchanged += 1
            elif since is not None and source.changed_ns < since * 1e9:
                report.leave("older files")
            else:
                wanted.append((source, file))
        return wanted

    def _import_all(
        self,
        reader: Reader,
        wanted: list[tuple[Source, ImportedFile | None]],
        writer: ImportWriter,
        report: Report,
        since: float | None,
        progress: Progress | None,
        stop: Stop | None,
    ) -> None:
        total = sum(source.size for source, _ in wanted) or 1
        done = 0
        for source, file in wanted:
            if stop is not None and stop():
                report.finished = False
                return
            # What is left out now must be found by an import that wants it.
            remembers = reader.resumes or since is None
            for mark in self._import_file(reader, source, file, writer, report, remembers=remembers):
                if progress is not None:
                    progress((done + mark.position) / total)
                if stop is not None and stop() and mark.position < source.size:
                    report.finished = False
                    return
            done += source.size

    def _import_file(
        self,
        reader: Reader,
        source: Source,
        file: ImportedFile | None,
        writer: ImportWriter,
        report: Report,
        *,
        remembers: bool,
    ) -> Iterator[Mark]:
        name = _name(source.path)
        try:
            beginning = _beginning(source.path) if reader.resumes else (0, b"")
            start = _start(source, file) if reader.resumes and file is not None else BEGINNING
            place = partial(_place, reader, source, beginning) if remembers else None
            yield from writer.store(name, reader.read(source, start), place)
            report.files += 1
        except InvalidInput as exc:
            report.miss(name, 0, _without_name(str(exc), source.path))
        except OSError as exc:
            report.miss(name, 0, f"it cannot be read: {exc.strerror or exc}")

    def _writer(self, reader: Reader, report: Report, *, since: float | None, indexes: bool) -> ImportWriter:
        most = self._settings.max_message_bytes
        secrets = redact if self._settings.redact else _unchanged
        border = Border(
            partial(new_session, started=self._clock(), redact=secrets, max_bytes=most),
            partial(new_message, now=self._clock(), redact=secrets, max_bytes=most),
            most // _BYTES_A_CHARACTER // 2,
        )
        # Where conversations go on over several marks, the age of their file tells.
        return ImportWriter(
            self._storage,
            reader.kind,
            border,
            report,
            since=None if reader.resumes else since,
            indexes=indexes,
        )

    def _note(self, created: set[str]) -> None:
        """Let the import be undone."""
        if not created:
            return
        counts = self._storage.read(
            lambda tx: {one: tx.sessions.message_count(one) for one in sorted(created)}
        )
        self._storage.write(
            lambda tx: tx.audit.record(
                at=self._clock(),
                actor=self._settings.actor,
                operation=session_upkeep.IMPORT,
                ref="",
                after=dump_json(counts),
            )
        )


def _start(source: Source, file: ImportedFile) -> Mark:
    """Where to go on; at the beginning when the file is no longer what it was."""
    if source.size < file.position or _digest(source.path, file.position) != file.digest:
        return BEGINNING
    return Mark(file.position, file.line, state_of(file))


def _place(
    reader: Reader,
    source: Source,
    beginning: tuple[int, bytes],
    mark: Mark,
    is_all: bool,  # noqa: FBT001
) -> ImportedFile:
    return ImportedFile(
        reader.kind,
        _name(source.path),
        source.size if is_all else _UNFINISHED,
        source.changed_ns,
        mark.position,
        mark.line,
        _digest(source.path, mark.position) if reader.resumes and _is_still(source.path, beginning) else "",
        None if mark.state is None else json.dumps(mark.state),
    )


def _beginning(path: Path) -> tuple[int, bytes]:
    """Which file has the name now, and how it begins."""
    with path.open("rb") as file:
        return os.fstat(file.fileno()).st_ino, file.read(_SAMPLE)


def _is_still(path: Path, beginning: tuple[int, bytes]) -> bool:
    """Whether it is the file that reading began with: another may have taken its name meanwhile, of which
    nothing was read."""
    inode, head = _beginning(path)
    return inode == beginning[0] and head.startswith(beginning[1])


def _digest(path: Path, position: int) -> str:
    """Tells by its beginning and its end whether a file still has the same before a position."""
    told = blake2b(str(position).encode(), digest_size=16)
    with path.open("rb") as file:
        told.update(file.read(min(_SAMPLE, position)))
        file.seek(max(0, position - _SAMPLE))
        told.update(file.read(min(_SAMPLE, position)))
    return told.hexdigest()


def _without_name(why: str, path: Path) -> str:
    """What is wrong with a file, for a report that names it already."""
    if why.startswith(f"{path} "):
        return f"it {why.removeprefix(f'{path} ')}"
    return why.replace(f" in {path} ", " in it ")


def _name(path: Path) -> str:
    """A path as text; one that is no UTF-8 with its odd bytes written out."""
    return os.fsencode(path.absolute()).decode("utf-8", "backslashreplace")


def _unchanged(text: str) -> str:
    return text

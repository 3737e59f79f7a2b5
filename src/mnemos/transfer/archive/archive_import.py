"""Bringing an archive in: all of it is checked before any of it is stored."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from mnemos import files
from mnemos.errors import Corrupt, DiskFull, ReadOnly
from mnemos.sessions.records import dump_json
from mnemos.transfer.archive.archive_reader import Archive, open_archive
from mnemos.transfer.archive.database_part import DatabasePart
from mnemos.transfer.archive.fact_part import FactPart
from mnemos.transfer.archive.manifest import PartComparison, PartReport, Places
from mnemos.transfer.archive.record_parts import EntryPart, LedgerPart, NotePart, TemplatePart
from mnemos.transfer.archive.session_part import SessionPart

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_writer import ArchiveFolder
    from mnemos.transfer.archive.manifest import PartComparison, PartReport

Progress = Callable[[float], None]
OPERATION: Final = "archive.import"
_LOCK: Final = ".import.lock"
_UNPACKED: Final = 0.15
_CHECKED: Final = 0.3


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What an import did, part by part. ``space``: whose memory it was when it was written."""

    space: str
    made_at: str
    parts: tuple[PartReport, ...]
    unknown: tuple[str, ...] = ()
    """Files that only a later version knows what to do with."""
    left_out: tuple[str, ...] = ()
    """What the export could not read, by its own words."""

    @property
    def is_new(self) -> bool:
        """Whether anything was stored."""
        return any(part.imported or part.updated for part in self.parts)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How much of an archive is here."""

    space: str
    made_at: str
    parts: tuple[PartComparison, ...]

    @property
    def holds_all(self) -> bool:
        return not any(part.missing or part.different for part in self.parts)


def import_archive(memory: Memory, path: Path, progress: Progress) -> ArchiveReport:
    """Store what an archive holds and the space that is open does not.

    Verified as a whole first. In short transactions: an import that was interrupted is done again and ends
    the same. A second time it stores nothing.
    """
    if memory.storage.read_only:
        raise ReadOnly(f"{memory.storage.location} is open for reading only; nothing was changed")
    beside = memory.folder
    with _alone(memory, beside):
        # A session that is being deleted is in the way of one that comes back.
        memory.storage.finish_deletes()
        with open_archive(path, beside, lambda share: progress(_UNPACKED * share)) as source:
            parts = list_parts(memory)
            source.is_coming_in = True
            _check(parts, source, progress)
            brought = _store(parts, source, progress)
        report = ArchiveReport(
            source.manifest.space,
            source.manifest.made_at,
            tuple(brought),
            tuple(file.file for file in source.manifest.files if file.file not in source.known),
            tuple(source.manifest.left_out),
        )
        if report.is_new:
            _note(memory, report)
    progress(1.0)
    return report


def compare_archive(memory: Memory, path: Path, progress: Progress) -> Comparison:
    """Whether the space that is open holds all that an archive does; nothing is changed."""
    # A home that is only read may be where nothing can be written.
    beside = memory.folder if os.access(memory.folder, os.W_OK) else Path(tempfile.gettempdir())
    with open_archive(path, beside, lambda share: progress(_UNPACKED * share)) as source:
        parts = list_parts(memory)
        _check(parts, source, progress)
        advance = _Advance(source, progress, _CHECKED, 1.0)
        compared = []
        for part in parts:
            result = PartComparison(part.name)
            part.compare(source, result)
            compared.append(result)
        advance.done()
    return Comparison(source.manifest.space, source.manifest.made_at, tuple(compared))


# --- inside ---------------------------------------------------------------------------------


@contextmanager
def _alone(memory: Memory, beside: Path) -> Iterator[None]:
    """One import at a time: two of the same session would both find the same messages missing."""
    lock = files.lock(beside, _LOCK, memory.settings.busy_seconds)
    with nullcontext() if memory.is_in_memory else lock:
        yield


def _check(parts: list[Part], source: Archive, progress: Progress) -> None:
    advance = _Advance(source, progress, _UNPACKED, _CHECKED)
    for part in parts:
        found = part.check(source)
        expected = {file.file: file.rows for file in source.manifest.of(part.name)}
        for name, rows in found.items():
            if expected.get(name, rows) != rows:
                raise Corrupt(
                    f"{name} has {rows:,} rows, and {expected[name]:,} in the manifest; nothing was imported"
                )
    advance.done()


def _store(parts: list[Part], source: Archive, progress: Progress) -> list[PartReport]:
    advance = _Advance(source, progress, _CHECKED, 1.0)
    done = []
    for part in parts:
        brought = PartReport(part.name)
        try:
            part.import_part(source, brought)
        except DiskFull as exc:
            raise DiskFull(
                "there is no room for all of the archive; what came in so far is kept. Free some disk and "
                "import it again: it goes on"
            ) from exc
        done.append(brought)
    advance.done()
    return done


def _note(memory: Memory, report: ArchiveReport) -> None:
    what = dump_json({part.part: part.imported + part.updated for part in report.parts})
    at = memory.clock()
    memory.storage.write(
        lambda tx: tx.audit.record(
            at=at, actor=memory.settings.actor, operation=OPERATION, ref=report.space, after=what
        )
    )


class _Advance:
    """Tells how far reading through an archive is, as a share of one stretch of the work."""

    def __init__(self, source: Archive, progress: Progress, first: float, last: float) -> None:
        self._whole = max(1, source.manifest.size())
        self._progress = progress
        self._first, self._last = first, last
        self._read = 0
        source.advance = self._more

    def done(self) -> None:
        self._progress(self._last)

    def _more(self, size: int) -> None:
        self._read += size
        share = min(1.0, self._read / self._whole)
        self._progress(self._first + (self._last - self._first) * share)


class Part(Protocol):
    """One part of one memory on its way out of or into an archive."""

    @property
    def name(self) -> str: ...

    def size(self) -> int:
        """About how much there is to write, in rows: for telling how far an export is."""
        ...

    def write(self, out: ArchiveFolder) -> None:
        """Write everything, in short reads, in an order that depends on nothing but the contents."""
        ...

    def check(self, source: Archive) -> dict[str, int]:
        """Look at all of it, before anything of any part is stored; how many rows each file has.

        What cannot have been written by us raises. What is only not to be had here, such as a database
        that is too large, is told by ``import_part``.
        """
        ...

    def import_part(self, source: Archive, brought: PartReport) -> None:
        """Store what is not there yet, in short transactions; done again, it stores nothing more."""
        ...

    def compare(self, source: Archive, compared: PartComparison) -> None:
        """Find out what is here as it is in the archive; change nothing."""
        ...


def list_parts(memory: Memory) -> list[Part]:
    """In the order in which they are brought in: what others point at comes first."""

    places = Places()
    facts = FactPart(memory, places)
    return [
        SessionPart(memory, places, facts.pointed_at),
        LedgerPart(memory),
        facts,
        EntryPart(memory),
        NotePart(memory),
        TemplatePart(memory),
        DatabasePart(memory),
    ]

"""Import of an archive, checked as a whole first, and comparison with one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from mnemos import files
from mnemos.errors import DiskFull, ReadOnly
from mnemos.sessions.records import dump_json
from mnemos.transfer.archive.archive_reader import Archive, open_archive
from mnemos.transfer.archive.database_part import DatabasePart
from mnemos.transfer.archive.fact_part import FactPart
from mnemos.transfer.archive.manifest import MessagePlaces, PartComparison, PartReport, Progress, track
from mnemos.transfer.archive.record_parts import EntryPart, LedgerPart, NotePart, TemplatePart
from mnemos.transfer.archive.session_part import SessionPart

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.archive_writer import ArchiveFolder

OPERATION: Final = "archive.import"
_LOCK: Final = ".import.lock"
_UNPACKED: Final = 0.15
_CHECKED: Final = 0.3


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """The result of an import by part; ``space`` is the exported one."""

    space: str
    made_at: str
    parts: tuple[PartReport, ...]
    unknown: tuple[str, ...] = ()
    """Files of parts that this version doesn't know."""
    left_out: tuple[str, ...] = ()
    """Items that the export could not read."""

    @property
    def is_new(self) -> bool:
        """True if anything was stored."""
        return any(part.imported or part.updated for part in self.parts)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The share of an archive that is in this space, by part."""

    space: str
    made_at: str
    parts: tuple[PartComparison, ...]

    @property
    def holds_all(self) -> bool:
        return not any(part.missing or part.different for part in self.parts)


def import_archive(memory: Memory, path: Path, progress: Progress, *, allow: bool = False) -> ArchiveReport:
    """Store the items of an archive that the open space lacks.

    The archive is verified as a whole first. Transactions are short; repeating an interrupted import
    completes it, and repeating a complete one stores nothing.
    """
    memory.settings.check_enabled()
    if memory.storage.read_only:
        raise ReadOnly(f"{memory.storage.location} is open read-only. Nothing was changed.")
    beside = memory.folder
    with lock_imports(memory):
        # A session that is still being deleted would block its own import.
        memory.storage.finish_deletes()
        with open_archive(path, beside, lambda share: progress(_UNPACKED * share)) as archive:
            parts = list_parts(memory)
            archive.is_imported, archive.allow = True, allow
            _check(parts, archive, progress)
            reports = _store(parts, archive, progress)
        report = ArchiveReport(
            archive.manifest.space,
            archive.manifest.made_at,
            tuple(reports),
            archive.list_unknown(),
            tuple(archive.manifest.left_out),
        )
        if report.is_new:
            _record_import(memory, report)
    progress(1.0)
    return report


def compare_archive(memory: Memory, path: Path, progress: Progress) -> Comparison:
    """Compare the open space with an archive. Nothing is changed."""
    memory.settings.check_enabled("no archive was unpacked")
    # Unpack elsewhere, because a read-only home may be on a read-only disk.
    beside = memory.folder if os.access(memory.folder, os.W_OK) else Path(tempfile.gettempdir())
    with open_archive(path, beside, lambda share: progress(_UNPACKED * share)) as archive:
        parts = list_parts(memory)
        _check(parts, archive, progress)
        archive.advance = track(progress, _CHECKED, 1.0, archive.manifest.size())
        compared = [PartComparison(part.name) for part in parts]
        for part, result in zip(parts, compared, strict=True):
            part.compare(archive, result)
    progress(1.0)
    return Comparison(archive.manifest.space, archive.manifest.made_at, tuple(compared))


@contextmanager
def lock_imports(memory: Memory) -> Iterator[None]:
    """Allow one import at a time: two would both find the same messages missing."""
    lock = files.lock(memory.folder, _LOCK, memory.settings.busy_seconds)
    with nullcontext() if memory.is_in_memory else lock:
        yield


def _check(parts: list[Part], archive: Archive, progress: Progress) -> None:
    archive.advance = track(progress, _UNPACKED, _CHECKED, archive.manifest.size())
    for part in parts:
        part.check(archive)


def _store(parts: list[Part], archive: Archive, progress: Progress) -> list[PartReport]:
    archive.advance = track(progress, _CHECKED, 1.0, archive.manifest.size())
    done = [PartReport(part.name) for part in parts]
    try:
        for part, report in zip(parts, done, strict=True):
            part.import_part(archive, report)
    except DiskFull as exc:
        raise DiskFull(
            "The disk is too full for the archive. Items imported so far are kept. "
            "Free some space and import it again."
        ) from exc
    return done


def _record_import(memory: Memory, report: ArchiveReport) -> None:
    what = dump_json({part.part: part.imported + part.updated for part in report.parts})
    at = memory.clock()
    memory.storage.write(
        lambda tx: tx.audit.record(
            at=at, actor=memory.settings.current_actor, operation=OPERATION, ref=report.space, after=what
        )
    )


class Part(Protocol):
    """One part of a memory, which is exported, imported and compared.

    A new part is a class and a line in ``list_parts``; its files name it in the manifest. Parts may differ
    between versions of one format: files of unknown parts are ignored and reported.
    """

    @property
    def name(self) -> str: ...

    def size(self) -> int:
        """Estimate the number of rows to write, for progress."""
        ...

    def write(self, out: ArchiveFolder) -> None:
        """Write everything in short reads, in an order that only depends on the content."""
        ...

    def check(self, archive: Archive) -> None:
        """Check all of it before anything of any part is stored.

        Raises for content that we can't have written. Items that are merely refused here, such as a database
        that is too large, are reported by ``import_part``.
        """
        ...

    def import_part(self, archive: Archive, report: PartReport) -> None:
        """Store missing items in short transactions. Repeating it stores nothing more."""
        ...

    def compare(self, archive: Archive, compared: PartComparison) -> None:
        """Compare with this space, without changing it."""
        ...


def list_parts(memory: Memory) -> list[Part]:
    """Return the parts in import order: those that others point at come first."""
    places = MessagePlaces()
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

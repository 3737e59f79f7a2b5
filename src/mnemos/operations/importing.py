"""Bringing in what other programs keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.operations.base import Operation, Progress, Result, Traits
from mnemos.operations.border import file_named
from mnemos.operations.wording import counted

if TYPE_CHECKING:
    from mnemos.memory import Memory

_REFUSED_SHOWN = 10


class ImportHermesMemory(Operation, frozen=True, kw_only=True):
    """Bring in the facts of a hermes-memory database. It is only read; what it archived is found again, and a
    second import adds only what is new."""

    traits: ClassVar[Traits] = Traits(
        title="Import hermes-memory",
        idempotent=True,
        local=True,
        begins=True,
        positional=("path",),
        example=("~/.hermes/memory.db",),
    )

    path: Annotated[
        str | None, Meta(description="The database; default $HERMES_MEMORY_DB or ~/.hermes/memory.db")
    ] = None

    def run(self, memory: Memory, progress: Progress) -> Imported:
        path = None if self.path is None else file_named(self.path)
        report = memory.import_hermes_memory(path, progress)
        return Imported(
            live=report.live, history=report.history, skipped=report.skipped, refused=report.refused
        )


class Imported(Result, frozen=True, kw_only=True):
    live: int
    history: int
    skipped: int
    refused: list[str]

    def as_text(self) -> str:
        lines = [
            f"{counted(self.live, 'fact')} imported, {self.history:,} more as history, "
            f"{self.skipped:,} known already."
        ]
        if self.refused:
            lines.append(f"{len(self.refused):,} not understood:")
            lines += [f"  {one}" for one in self.refused[:_REFUSED_SHOWN]]
        return "\n".join(lines)

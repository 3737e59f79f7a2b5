"""The parts of an archive: one module each, all behind one protocol.

A new part is a class here and a line in ``parts_of``; its files name it in the manifest. Which parts there
are may differ from version to version within one format: files of an unknown part are left alone, and told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mnemos.transfer.archive.places import Places

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.transfer.archive.model import Brought, Compared
    from mnemos.transfer.archive.reading import Source
    from mnemos.transfer.archive.writing import Out


class Part(Protocol):
    """One part of one memory on its way out of or into an archive."""

    @property
    def name(self) -> str: ...

    def size(self) -> int:
        """About how much there is to write, in rows: for telling how far an export is."""
        ...

    def write(self, out: Out) -> None:
        """Write everything, in short reads, in an order that depends on nothing but the contents."""
        ...

    def check(self, source: Source) -> dict[str, int]:
        """Look at all of it, before anything of any part is stored; how many rows each file has.

        What cannot have been written by us raises. What is only not to be had here, such as a database
        that is too large, is told by ``bring_in``.
        """
        ...

    def bring_in(self, source: Source, brought: Brought) -> None:
        """Store what is not there yet, in short transactions; done again, it stores nothing more."""
        ...

    def compare(self, source: Source, compared: Compared) -> None:
        """Find out what is here as it is in the archive; change nothing."""
        ...


def parts_of(memory: Memory) -> list[Part]:
    """In the order in which they are brought in: what others point at comes first."""
    from mnemos.transfer.archive.parts.entries import EntryPart
    from mnemos.transfer.archive.parts.facts import FactPart
    from mnemos.transfer.archive.parts.ledger import LedgerPart
    from mnemos.transfer.archive.parts.notes import NotePart
    from mnemos.transfer.archive.parts.sessions import SessionPart
    from mnemos.transfer.archive.parts.tables import TablePart
    from mnemos.transfer.archive.parts.templates import TemplatePart

    places = Places()
    facts = FactPart(memory, places)
    return [
        SessionPart(memory, places, facts.pointed_at),
        LedgerPart(memory),
        facts,
        EntryPart(memory),
        NotePart(memory),
        TemplatePart(memory),
        TablePart(memory),
    ]

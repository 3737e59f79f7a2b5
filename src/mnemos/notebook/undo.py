"""What the audit log says of the notebook: every version of a file, one after the other."""

from __future__ import annotations

from mnemos.notebook.model import Book
from mnemos.storage.base import AuditRow

CHANGE = "notebook.change"
UNDO = "undo notebook.change"
FORGET = "forget"

BY_HAND = "by hand"
"""Who changed a file while nobody of us looked."""


def ref(book: Book) -> str:
    return f"notebook:{book}"


def book_in(entry: AuditRow) -> Book:
    return Book(entry.ref.partition(":")[2])


def can_be_undone(entry: AuditRow) -> bool:
    """Whether the file can be brought back to what it was before."""
    return entry.operation in (CHANGE, UNDO) and entry.undone_by is None and entry.before is not None

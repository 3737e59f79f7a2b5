"""What the audit log says of the notebook, and how to take it back."""

from __future__ import annotations

from mnemos.errors import Refused
from mnemos.notebook.model import Book
from mnemos.notebook.shelf import Shelf
from mnemos.storage.base import AuditRow

CHANGE = "notebook.change"


def ref(book: Book) -> str:
    return f"notebook:{book}"


def can_be_undone(entry: AuditRow) -> bool:
    return entry.operation == CHANGE and entry.undone_by is None and entry.before is not None


def take_back(shelf: Shelf, entry: AuditRow) -> str:
    """Bring back the file as it was before a change. Refused when it was changed again since."""
    book = Book(entry.ref.partition(":")[2])

    def back(text: str) -> str:
        if text != entry.after:
            raise Refused(f"{book.filename} was changed again since; undo that first, or edit it by hand")
        return entry.before or ""

    shelf.change(book, back)
    return f"{book.filename} is as it was before entry {entry.id}"

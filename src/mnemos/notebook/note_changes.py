"""Changes of entries, all or nothing, and their names in the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemos.errors import Ambiguous, InvalidInput, NotFound, TooLarge
from mnemos.inputs import suggest
from mnemos.notebook.note_block import render_entry
from mnemos.notebook.notes import Book, check_entry, join_entries, quote
from mnemos.storage.audit import AuditRow

CHANGE: Final = "notebook.change"
UNDO: Final = "undo notebook.change"
FORGET: Final = "forget"
BY_HAND: Final = "by hand"
"""The actor of changes that people made by editing the files."""

ACTIONS: Final = ("add", "replace", "remove")
_PREVIEW: Final = 60
_READ: Final = 1_000
_MOST_OPERATIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a file."""

    action: str
    content: str = ""
    old_text: str = ""


def check_change(action: Any, content: Any, old_text: Any) -> Change:
    """Check the arguments of a change. An invalid one raises InvalidInput."""
    if action not in ACTIONS:
        raise InvalidInput(
            f"action must be add, replace or remove, not {quote(action)}.{suggest(action, ACTIONS)}"
        )
    if action != "add" and (not isinstance(old_text, str) or not old_text.strip()):
        raise InvalidInput(f"{action} needs old_text: a part of the entry that no other entry contains")
    return Change(
        action,
        "" if action == "remove" else check_entry(content),
        "" if action == "add" else old_text.strip(),
    )


def check_operations(operations: Any) -> list[Change]:
    if not isinstance(operations, Sequence) or isinstance(operations, str) or not operations:
        raise InvalidInput(
            "operations must be a list of objects with action, content and old_text, not "
            f"{quote(operations)}."
        )
    if len(operations) > _MOST_OPERATIONS:
        raise TooLarge(
            f"The call has {len(operations)} operations. The limit is {_MOST_OPERATIONS}. Use several calls."
        )
    changes = []
    for number, one in enumerate(operations, start=1):
        if not isinstance(one, Mapping):
            raise InvalidInput(
                f"operation {number} must be an object with action, content and old_text, not {quote(one)}."
            )
        unknown = one.keys() - {"action", "content", "old_text"}
        if unknown:
            names = ", ".join(map(quote, sorted(unknown, key=str)))
            raise InvalidInput(f"operation {number} has {names}. Use action, content and old_text.")
        try:
            changes.append(check_change(one.get("action"), one.get("content"), one.get("old_text")))
        except InvalidInput as exc:
            where = f"operation {number}: " if len(operations) > 1 else ""
            raise type(exc)(f"{where}{exc}") from None
    return changes


def apply_changes(entries: Sequence[str], changes: Sequence[Change], book: Book, limit: int) -> list[str]:
    """Return the entries after all changes. Only the final state must keep the limit.

    No match raises NotFound, several matches raise Ambiguous with previews, and too much text raises
    TooLarge.
    """
    now = list(entries)
    for change in changes:
        if change.action == "add":
            if change.content not in now:
                now.append(change.content)
        else:
            place = _find(now, change.old_text, book)
            if change.action == "remove":
                del now[place]
            elif change.content in now and now[place] != change.content:
                # Another entry already says the same.
                del now[place]
            else:
                now[place] = change.content
    check_limit(entries, now, book, limit)
    return now


def _find(entries: Sequence[str], old_text: str, book: Book) -> int:
    if not entries:
        raise NotFound(f"{book.filename} has no entries. Add one instead.")
    found = [place for place, entry in enumerate(entries) if old_text in entry]
    exact = [place for place in found if entries[place] == old_text]
    if exact or len({entries[place] for place in found}) == 1:
        # Equal entries count as one.
        return (exact or found)[0]
    if not found:
        raise NotFound(
            f"No entry of {book.filename} contains {_preview(old_text)!r}. Copy part of an entry exactly: "
            + "; ".join(map(_preview, entries))
        )
    if len(found) > 1:
        raise Ambiguous(
            f"{len(found)} entries of {book.filename} contain {_preview(old_text)!r}. Pass a longer part: "
            + "; ".join(_preview(entries[place]) for place in found)
        )
    return found[0]


def check_limit(before: Sequence[str], after: list[str], book: Book, limit: int) -> None:
    """Raise TooLarge for entries that exceed the limit and take more than before."""
    size, former = len(join_entries(after)), len(join_entries(list(before)))
    if size <= limit or size < former:
        return
    too_many = f"would have {size:,} characters, {size - limit:,} more than its limit of {limit:,}"
    if not before:
        raise TooLarge(f"{book.filename} {too_many}. Shorten the entry.")
    raise TooLarge(
        f"{book.filename} {too_many}; it has {former:,} now. Shorten the entry, replace or remove "
        "another in the same call (operations), or move facts out with the tool memory_optimize. "
        "Entries: " + "; ".join(map(_preview, before))
    )


def _preview(entry: str) -> str:
    line = " ".join(render_entry(entry[:_READ]).split())
    return line if len(line) <= _PREVIEW else line[: _PREVIEW - 1] + "…"


def ref(book: Book) -> str:
    return f"notebook:{book}"


def book_in(entry: AuditRow) -> Book:
    return Book(entry.ref.partition(":")[2])


def can_be_undone(entry: AuditRow) -> bool:
    """True if the file can be restored to its state before the entry."""
    return entry.operation in (CHANGE, UNDO) and entry.undone_by is None and entry.before is not None

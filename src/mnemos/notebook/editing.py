"""Changes of a list of entries: pure, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from mnemos.errors import Ambiguous, InvalidInput, NotFound, TooLarge
from mnemos.notebook.block import shown
from mnemos.notebook.model import Book, checked_entry, given, joined

ACTIONS: Final = ("add", "replace", "remove")
_PREVIEW: Final = 60
_READ: Final = 1_000
_MOST_OPERATIONS: Final = 100


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do to a file."""

    action: str
    content: str = ""
    old_text: str = ""


def checked(action: Any, content: Any, old_text: Any) -> Change:
    """A change whose parts are there and make sense; else InvalidInput."""
    if action not in ACTIONS:
        raise InvalidInput(f"action is {given(action)}; use add, replace or remove")
    if action != "add" and (not isinstance(old_text, str) or not old_text.strip()):
        raise InvalidInput(f"{action} needs old_text: a part of the entry that no other entry has")
    return Change(
        action,
        "" if action == "remove" else checked_entry(content),
        "" if action == "add" else old_text.strip(),
    )


def checked_operations(operations: Any) -> list[Change]:
    if not isinstance(operations, Sequence) or isinstance(operations, str) or not operations:
        raise InvalidInput(
            f"operations is {given(operations)}; use a list of objects with action, content, old_text"
        )
    if len(operations) > _MOST_OPERATIONS:
        raise TooLarge(f"there are {len(operations)} operations; at most {_MOST_OPERATIONS} in one call")
    changes = []
    for number, one in enumerate(operations, start=1):
        if not isinstance(one, Mapping):
            raise InvalidInput(
                f"operation {number} is {given(one)}; use an object with action, content, old_text"
            )
        unknown = one.keys() - {"action", "content", "old_text"}
        if unknown:
            names = ", ".join(map(given, sorted(unknown, key=str)))
            raise InvalidInput(f"operation {number} has {names}; use action, content, old_text")
        try:
            changes.append(checked(one.get("action"), one.get("content"), one.get("old_text")))
        except InvalidInput as exc:
            where = f"operation {number}: " if len(operations) > 1 else ""
            raise type(exc)(f"{where}{exc}") from None
    return changes


def applied(entries: Sequence[str], changes: Sequence[Change], book: Book, limit: int) -> list[str]:
    """The entries after all changes; the limit counts for the final state alone.

    No match raises NotFound, several matches Ambiguous with previews, too much text TooLarge.
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
                # It says what another entry says already.
                del now[place]
            else:
                now[place] = change.content
    check_limit(entries, now, book, limit)
    return now


def _find(entries: Sequence[str], old_text: str, book: Book) -> int:
    if not entries:
        raise NotFound(f"{book.filename} has no entries; add one instead")
    found = [place for place, entry in enumerate(entries) if old_text in entry]
    exact = [place for place in found if entries[place] == old_text]
    if exact or len({entries[place] for place in found}) == 1:
        # Entries that say the same are one.
        return (exact or found)[0]
    if not found:
        raise NotFound(
            f"no entry of {book.filename} contains {_preview(old_text)!r}; copy a part of one as it stands: "
            + "; ".join(map(_preview, entries))
        )
    if len(found) > 1:
        raise Ambiguous(
            f"{len(found)} entries of {book.filename} contain {_preview(old_text)!r}; use more of one: "
            + "; ".join(_preview(entries[place]) for place in found)
        )
    return found[0]


def check_limit(before: Sequence[str], after: list[str], book: Book, limit: int) -> None:
    """Entries that take more than the limit, and more than before, raise TooLarge."""
    size, former = len(joined(after)), len(joined(list(before)))
    if size <= limit or size < former:
        return
    too_many = f"would hold {size:,}, {size - limit:,} too many"
    if not before:
        raise TooLarge(f"{book.filename} has room for {limit:,} characters and {too_many}; shorten it")
    raise TooLarge(
        f"{book.filename} holds {former:,} of {limit:,} characters and {too_many}. "
        "Shorten it, replace or remove an entry in the same call (operations), or move facts out with "
        "the tool memory_optimize. Entries: " + "; ".join(map(_preview, before))
    )


def _preview(entry: str) -> str:
    line = " ".join(shown(entry[:_READ]).split())
    return line if len(line) <= _PREVIEW else line[: _PREVIEW - 1] + "…"

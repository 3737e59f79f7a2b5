"""Withdrawal in words: "forget where I live" finds the matching fact or note and retires it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.errors import InvalidInput, NotFound
from mnemos.facts.fact import Fact, fact_of
from mnemos.facts.fact_judge import find_similar
from mnemos.facts.hot_set import quote
from mnemos.facts.keywords import find_counterparts, name_kinds
from mnemos.language.request_match import choose, parse_request
from mnemos.notebook.note_changes import ref
from mnemos.notebook.notebook import KIND as NOTE_KIND
from mnemos.notebook.notebook import digest
from mnemos.notebook.notes import Book

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory

# The number of facts that are compared with a request.
_COMPARED: Final = 32
# "Forget facts f3 and f7".
_BESIDE_IDS: Final = frozenset("forget withdraw please the fact facts note and".split())
_ID: Final = re.compile(r"f\d{1,17}|(?:memory|user):[0-9a-f]{12}")


@dataclass(frozen=True, slots=True)
class Item:
    """A fact or note that was withdrawn, or that a request may refer to."""

    id: str
    kind: str
    text: str
    """Quoted as prompts show it."""
    at: float | None
    """When the fact was learned or the note was removed."""
    message_id: int | None
    """The message that stated it. It is kept."""


@dataclass(frozen=True, slots=True)
class Withdrawal:
    items: tuple[Item, ...]
    entry: int | None
    """The log entry that undoes it, or None if nothing was withdrawn."""
    candidates: tuple[Item, ...] = ()
    """The items that an ambiguous request may refer to. Nothing was withdrawn then.

    A note that was already removed has, as its id, the reference that erases it from the log.
    """


@dataclass(frozen=True, slots=True)
class _Note:
    book: Book
    entry: str
    removed_at: float | None = None

    @property
    def id(self) -> str:
        kind = "" if self.removed_at is None else f"{NOTE_KIND}:"
        return f"{kind}{self.book}:{digest(self.entry)}"


def withdraw(memory: Memory, request: str, *, user_id: str | None = None) -> Withdrawal:
    """Withdraw a fact or note by its id or by words. Several ids must be of facts.

    Raises NotFound if nothing matches. If the request is ambiguous, nothing is withdrawn.
    """
    words = request.lower().replace(",", " ").split()
    ids = [word for word in words if word not in _BESIDE_IDS]
    if ids and all(map(_ID.fullmatch, ids)):
        return _withdraw_ids(memory, ids, user_id)
    asked = parse_request(request)
    rows = memory.storage.read(lambda tx: find_similar(tx, asked.claim.text, _COMPARED, user_id))
    found: list[Fact | _Note] = [*map(fact_of, rows), *_list_notes(memory)]
    choice = choose(asked, [_describe(one) for one in found])
    if choice.meant is not None:
        return _withdraw_one(memory, found[choice.meant], user_id)
    places = choice.candidates
    if not places:
        found = [*_list_removed(memory)]
        choice = choose(asked, [_describe(one) for one in found])
        places = choice.candidates if choice.meant is None else (choice.meant,)
    if not places:
        name = request.strip()[:80]
        erase = (
            f"To erase the session permanently, forget session:{name}."
            if memory.sessions.get_session(name) is not None
            else "To erase a message permanently, forget message:ID; recall returns the ids."
        )
        raise NotFound(f"No fact or note matches {name!r}. Try other words, or an id such as f12. {erase}")
    return Withdrawal((), None, tuple(_make_item(memory, found[place]) for place in places))


def _withdraw_ids(memory: Memory, ids: Sequence[str], user_id: str | None) -> Withdrawal:
    if ":" not in "".join(ids):
        done = memory.facts.withdraw(ids, user_id=user_id)
        return Withdrawal(tuple(_make_item(memory, fact) for fact in done.facts), done.entry)
    if len(ids) > 1:
        raise InvalidInput("Withdraw one note per call.")
    for note in _list_notes(memory):
        if note.id == ids[0]:
            return _withdraw_one(memory, note, user_id)
    removed = [note for note in _list_removed(memory) if note.id == f"{NOTE_KIND}:{ids[0]}"]
    if removed:
        return Withdrawal((), None, (_make_item(memory, removed[0]),))
    raise NotFound(f"There is no note {ids[0]!r}. Recall returns the ids of notes.")


def _withdraw_one(memory: Memory, one: Fact | _Note, user_id: str | None) -> Withdrawal:
    if isinstance(one, Fact):
        return _withdraw_ids(memory, [one.id], user_id)
    item = _make_item(memory, one)
    memory.notebook.shrink(one.book, one.entry, None)
    change = memory.storage.read(lambda tx: tx.audit.newest_on(ref(one.book)))
    return Withdrawal((item,), None if change is None else change.id)


def _list_notes(memory: Memory) -> list[_Note]:
    books = map(Book, memory.settings.notebook_files)
    return [_Note(book, entry) for book in books for entry in memory.notebook.entries(book)]


def _list_removed(memory: Memory) -> list[_Note]:
    books = map(Book, memory.settings.notebook_files)
    return [_Note(book, entry, at) for book in books for entry, at in memory.notebook.removed(book).items()]


def _describe(one: Fact | _Note) -> tuple[str, str]:
    """Return the text of a fact or note, and further words that find it."""
    if isinstance(one, _Note):
        return one.entry, one.book
    line = f"{one.target} {one.content}"
    return one.content, f"{one.target} {find_counterparts(line)} {name_kinds(line)}"


def _make_item(memory: Memory, one: Fact | _Note) -> Item:
    if isinstance(one, Fact):
        return Item(one.id, "fact", quote(one), one.at, one.message_id)
    shown = " ".join(memory.notebook.render([one.entry])[0].split())
    return Item(one.id, NOTE_KIND, f'"{shown}"', one.removed_at, None)

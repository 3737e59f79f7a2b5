"""``memory.notebook``: MEMORY.md and USER.md, curated by the model, bounded, frozen into the prompt."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from mnemos.errors import Corrupt, Disabled, MnemosError, Refused
from mnemos.notebook import undo
from mnemos.notebook.block import Page, blocks
from mnemos.notebook.editing import Change, applied, checked, checked_operations
from mnemos.notebook.model import Book, Use, book_of, entries_of, joined
from mnemos.notebook.shelf import Folder, Shelf
from mnemos.settings import Settings
from mnemos.storage.base import Storage, Writes
from mnemos.text.secrets import find_secrets
from mnemos.text.threats import threats

KIND = "note"
"""What notes are called among the passages of recall."""

_TOO_OFTEN = 3


class Notebook:
    """The notes of one space, in two files that people may edit too.

    A write is durable at once and seen by the next session; a session's own snapshot does not change.
    """

    def __init__(
        self, shelf: Shelf, storage: Storage, settings: Settings, clock: Callable[[], float]
    ) -> None:
        self._shelf = shelf
        self._storage = storage
        self._settings = settings
        self._clock = clock
        self._snapshots: dict[str, str] = {}
        self._failures = 0
        self._known: dict[Book, str] = {}

    # --- changing ---------------------------------------------------------------------------

    def add(self, content: str, *, target: str = Book.MEMORY) -> Use:
        """Note something. The same entry is not added twice."""
        return self.change([{"action": "add", "content": content}], target=target)

    def replace(self, old_text: str, content: str, *, target: str = Book.MEMORY) -> Use:
        """Put another entry in the place of the one that contains ``old_text``."""
        return self.change([{"action": "replace", "old_text": old_text, "content": content}], target=target)

    def remove(self, old_text: str, *, target: str = Book.MEMORY) -> Use:
        """Take out the entry that contains ``old_text``."""
        return self.change([{"action": "remove", "old_text": old_text}], target=target)

    def change(self, operations: Sequence[dict[str, Any]], *, target: str = Book.MEMORY) -> Use:
        """Do several things to one file, all or none; only the final state has to keep to the limit."""
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")
        try:
            book = self._open_book(target)
            changes = checked_operations(operations)
            for change in changes:
                _check_safe(change)
            use = self._change(book, changes)
        except MnemosError as exc:
            self._failures += 1
            if self._failures >= _TOO_OFTEN:
                raise type(exc)(
                    f"{exc} This failed {self._failures} times: stop retrying and go on."
                ) from exc
            raise
        self._failures = 0
        return use

    def write(self, target: str, text: str) -> Use:
        """Replace a whole file, as a person does who edited it. Limits and checks hold as for a change."""
        book = self._open_book(target)
        entries = entries_of(text)
        for entry in entries:
            _check_safe(checked("add", entry, None))

        def changed(_: str) -> str:
            return joined(applied([], [Change("add", entry) for entry in entries], book, self.limit(book)))

        return self._store(book, *self._shelf.change(book, changed))

    def turn_begun(self) -> None:
        """A new turn of the conversation: what failed before is forgiven."""
        self._failures = 0

    # --- reading ----------------------------------------------------------------------------

    def entries(self, target: str = Book.MEMORY) -> list[str]:
        """The entries of a file as they are now."""
        return entries_of(self._shelf.read(book_of(target)))

    def use(self, target: str = Book.MEMORY) -> Use:
        book = book_of(target)
        return self._use(book, self.entries(book))

    def limit(self, book: Book) -> int:
        return self._settings.memory_characters if book is Book.MEMORY else self._settings.user_characters

    def snapshot(self, session_id: str = "") -> str:
        """The blocks for the prompt, taken once a session: whatever is written meanwhile, they stay."""
        if session_id not in self._snapshots:
            self._snapshots[session_id] = self.block()
        return self._snapshots[session_id]

    def refresh(self, session_id: str = "") -> None:
        """Let the next snapshot of a session be taken anew: it was compressed, or another one."""
        self._snapshots.pop(session_id, None)

    def block(self) -> str:
        """The blocks as they would be taken now. A file that cannot be read is named in its place."""
        pages: list[Page] = []
        for book in self._settings.notebook_files:
            try:
                entries = self.entries(book)
            except (Corrupt, Refused) as exc:
                entries = [f"({exc})"]
            pages.append(Page(self._use(Book(book), entries), tuple(entries)))
        return blocks(pages)

    # --- recall -----------------------------------------------------------------------------

    def sync(self) -> None:
        """Let recall know what the files say now, also after somebody edited them by hand."""
        if self._settings.disabled or self._storage.read_only:
            return
        for name in self._settings.notebook_files:
            book = Book(name)
            try:
                text = self._shelf.read(book)
            except (Corrupt, Refused):
                continue
            if self._known.get(book) != text:
                self._storage.write(lambda tx: self._feed(tx, book, text))  # noqa: B023
                self._known[book] = text

    # --- inside -----------------------------------------------------------------------------

    def _open_book(self, target: str) -> Book:
        book = book_of(target)
        if book not in self._settings.notebook_files:
            raise Disabled(f"{book.filename} is switched off by the settings; nothing was changed")
        return book

    def _change(self, book: Book, changes: Sequence[Change]) -> Use:
        def changed(text: str) -> str:
            self._check_drift(book, text)
            return joined(applied(entries_of(text), changes, book, self.limit(book)))

        return self._store(book, *self._shelf.change(book, changed))

    def _check_drift(self, book: Book, text: str) -> None:
        """A file that somebody made larger than we ever would is theirs to shorten."""
        size = len(joined(entries_of(text)))
        if size <= self.limit(book):
            return
        copy = (
            f"; a copy is in {self._shelf.keep_copy(book, text)}" if isinstance(self._shelf, Folder) else ""
        )
        raise Refused(
            f"{book.filename} was edited to {size:,} characters, more than its {self.limit(book):,}; it is "
            f"left as it is{copy}. Shorten it with `mnemos notebook edit {book}`"
        )

    def _store(self, book: Book, before: str, after: str) -> Use:
        if before != after:
            self._storage.write(lambda tx: self._note(tx, book, before, after))
            self._known[book] = after
        return self._use(book, entries_of(after))

    def _note(self, tx: Writes, book: Book, before: str, after: str) -> None:
        tx.audit.record(
            at=self._clock(),
            actor=self._settings.actor,
            operation=undo.CHANGE,
            ref=undo.ref(book),
            before=before,
            after=after,
        )
        self._feed(tx, book, after)

    def _feed(self, tx: Writes, book: Book, text: str) -> None:
        """Passages of recall: one for each entry that is no order to the model."""
        wanted = {f"{book}:{digest(entry)}": entry for entry in entries_of(text) if not threats(entry)}
        there = {passage.ref for passage in tx.passages.of_kind(KIND) if passage.ref.startswith(f"{book}:")}
        for ref in there - wanted.keys():
            tx.passages.remove(KIND, ref)
        for ref in wanted.keys() - there:
            tx.passages.put(KIND, ref, text=wanted[ref], at=self._clock(), also=book)

    def _use(self, book: Book, entries: Sequence[str]) -> Use:
        return Use(book, len(joined(list(entries))), self.limit(book), len(entries))


def digest(entry: str) -> str:
    """A short name for an entry, the same wherever it stands."""
    return hashlib.sha256(entry.encode()).hexdigest()[:12]


def _check_safe(change: Change) -> None:
    found = threats(change.content)
    if found:
        raise Refused(
            f"the note was not stored: it {found[0].reason}. Notes stand in every prompt; write down what is "
            "so, not what to do with the rules"
        )
    if find_secrets(change.content):
        raise Refused(
            "the note was not stored: it holds a secret, and notes are sent to the model with every turn. "
            "Note where the secret is kept instead"
        )

"""``memory.notebook``: MEMORY.md and USER.md, curated by the model, bounded, frozen into the prompt."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from mnemos.errors import Disabled, InvalidInput, MnemosError, NotFound, ReadOnly, Refused
from mnemos.notebook import undo
from mnemos.notebook.block import Page, blocks, orders_in
from mnemos.notebook.editing import Change, applied, check_limit, checked, checked_operations
from mnemos.notebook.model import Book, Use, book_of, entries_of, joined
from mnemos.notebook.shelf import Shelf
from mnemos.settings import Settings
from mnemos.storage.base import AuditRow, Reads, Storage, Writes
from mnemos.storage.passages import Passage
from mnemos.text.secrets import find_secrets

KIND = "note"
"""What notes are called among the passages of recall."""

_TOO_OFTEN = 3
_MOST_SNAPSHOTS = 1_000
# What recall is told of a file, at most.
_TIMES_THE_LIMIT = 3
_MOST_FED = 200

log = logging.getLogger("mnemos.notebook")


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
        self._freezing = threading.Lock()
        self._failures = 0
        # The last text of each file with its entries, because judging them takes longer than recall by words.
        self._judged: dict[Book, tuple[str, dict[str, str]]] = {}

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
        # First what people did before: the log keeps the order in which things happened.
        self.notice()
        try:
            book = self._open_book(target)
            changes = checked_operations(operations)
            for change in changes:
                _check_safe(change)
            use = self._change(book, changes)
        except MnemosError as exc:
            self._failures += 1
            if self._failures >= _TOO_OFTEN:
                again = f"This failed {self._failures} times: stop retrying and go on."
                raise type(exc)(f"{exc}. {again}") from exc
            raise
        self._failures = 0
        return use

    def write(self, target: str, text: str) -> Use:
        """Replace a whole file, as a person does who edited it. Limits and checks hold as for a change."""
        self._check_writable()
        book = self._open_book(target)
        if not isinstance(text, str):
            raise InvalidInput(f"text is a {type(text).__name__}; use a text")
        entries = list(dict.fromkeys(entries_of(text)))
        check_limit([], entries, book, self.limit(book))
        for entry in entries:
            _check_safe(checked("add", entry, None))
        return self._apply(book, lambda _: joined(entries))

    def shrink(self, target: str, entry: str, shorter: str | None) -> Use:
        """Make a file smaller by one entry: shortened, or taken out. Also one that is over its limit."""
        self._check_writable()
        book = self._open_book(target)

        def changed(text: str) -> str:
            entries = entries_of(text)
            if entry in entries:
                place = entries.index(entry)
                entries[place : place + 1] = [] if shorter is None else [shorter]
            return joined(entries)

        return self._apply(book, changed)

    def bring_back(self, entry: AuditRow) -> str:
        """Make a file what it was before a change; that is a change of its own. What was done, for people."""
        self._check_writable()
        book = self._open_book(undo.book_in(entry))
        self._apply(book, lambda _: entry.before or "", undoing=entry.id)
        return f"{book.filename} is as it was before entry {entry.id}"

    def forget(self, ref: str) -> None:
        """Erase an entry, named as recall names it (``memory:0123…``), and all that the log kept of its file.

        Unknown raises NotFound. It cannot be undone, and neither can earlier changes of the file.
        """
        self._check_writable()
        name, _, wanted = ref.partition(":")
        book = book_of(name)

        def changed(text: str) -> str:
            kept = [entry for entry in entries_of(text) if digest(entry) != wanted]
            if len(kept) == len(entries_of(text)):
                raise NotFound(f"{book.filename} has no entry {ref!r}; recall names them")
            return joined(kept)

        def record(_: str, after: str, put: Callable[[], None]) -> None:
            def work(tx: Writes) -> None:
                self._scrub(tx, book, after)
                put()

            self._storage.write(work)

        self._shelf.change(book, changed, record)

    def copies(self) -> list[str]:
        """Copies of the files that were kept when somebody made them unreadable or too large."""
        return self._shelf.copies()

    def notice(self) -> None:
        """Log what people changed in the files by hand, so that it can be undone as well."""
        self._check_writable()
        for name in self._settings.notebook_files:
            book = Book(name)
            try:
                if self._is_unlogged(book, self._shelf.read(book)):
                    self._shelf.change(book, str, lambda text, _, __: self._notice(book, text))  # noqa: B023
            except MnemosError as exc:
                # Whoever wants to undo something else is not to be kept from it.
                log.warning("what was changed in %s by hand is not in the log: %s", book.filename, exc)

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

    def limit(self, target: str) -> int:
        """The characters that the entries of a file may take."""
        memory = book_of(target) is Book.MEMORY
        return self._settings.memory_characters if memory else self._settings.user_characters

    def snapshot(self, session_id: str = "") -> str:
        """The blocks for the prompt, taken once a session: whatever is written meanwhile, they stay."""
        if not isinstance(session_id, str):
            raise InvalidInput(f"session_id is a {type(session_id).__name__}; use a text")
        with self._freezing:
            taken = self._snapshots.pop(session_id, None)
            if taken is None:
                taken = self.block()
                if len(self._snapshots) >= _MOST_SNAPSHOTS:
                    self._snapshots.pop(next(iter(self._snapshots)))
            # Behind all others: the session that is quiet for longest loses its own.
            self._snapshots[session_id] = taken
        return taken

    def refresh(self, session_id: str = "") -> None:
        """Let the next snapshot of a session be taken anew: it was compressed, or another one."""
        self._snapshots.pop(session_id, None)

    def block(self) -> str:
        """The blocks as they would be taken now. A file that cannot be read is named in its place."""
        pages: list[Page] = []
        for name in self._settings.notebook_files:
            book = Book(name)
            try:
                entries = self.entries(book)
            except MnemosError as exc:
                pages.append(Page(self._use(book, []), (f"({exc})",)))
            else:
                pages.append(Page(self._use(book, entries), tuple(entries)))
        return blocks(pages)

    # --- recall -----------------------------------------------------------------------------

    def sync(self) -> None:
        """Let recall know what the files say now, also after somebody edited them by hand.

        Nothing is written when it knows already, and no failure of it is worth failing for.
        """
        if self._settings.disabled or self._storage.read_only:
            return
        for book in Book:
            try:
                text = self._text(book)
                if self._storage.read(lambda tx: self._is_news(tx, book, text)):  # noqa: B023
                    # Read again: whoever changes a file does so within a transaction.
                    self._storage.write(lambda tx: self._feed(tx, book, self._text(book)), within=0.5)  # noqa: B023
            except MnemosError as exc:
                log.warning("recall may not know the newest of %s: %s", book.filename, exc)

    def signature(self, book: Book) -> object:
        """A value that changes whenever somebody changes the file; nothing is read for it."""
        return self._shelf.signature(book) if book in self._settings.notebook_files else None

    def passages(self, book: Book) -> list[Passage]:
        """The entries of a file as recall may find them."""
        at = self._shelf.modified(book)
        moment = self._clock() if at is None else at
        return [
            Passage(0, KIND, ref, None, None, moment, live=True, text=text, also=book)
            for ref, text in self._wanted(book, self._text(book)).items()
        ]

    # --- inside -----------------------------------------------------------------------------

    def _open_book(self, target: str) -> Book:
        book = book_of(target)
        if book not in self._settings.notebook_files:
            raise Disabled(f"{book.filename} is switched off by the settings; nothing was changed")
        return book

    def _check_writable(self) -> None:
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")
        if self._storage.read_only:
            raise ReadOnly(f"{self._storage.location} is open for reading only; nothing was changed")

    def _change(self, book: Book, changes: Sequence[Change]) -> Use:
        def changed(text: str) -> str:
            self._check_drift(book, text)
            return joined(applied(entries_of(text), changes, book, self.limit(book)))

        return self._apply(book, changed)

    def _check_drift(self, book: Book, text: str) -> None:
        """A file that somebody made larger than we ever would is theirs to shorten."""
        size, limit = len(joined(entries_of(text))), self.limit(book)
        if size <= limit:
            return
        copy = self._shelf.keep_copy(book, text)
        kept = f"; a copy is in {copy}" if copy else ""
        raise Refused(
            f"{book.filename} was edited to {size:,} characters, more than its {limit:,}; it is left as it is"
            f"{kept}. Shorten it with `mnemos notebook edit {book}` or `mnemos notebook optimize`"
        )

    def _apply(self, book: Book, change: Callable[[str], str], *, undoing: int | None = None) -> Use:
        def record(before: str, after: str, put: Callable[[], None]) -> None:
            def work(tx: Writes) -> None:
                self._note(tx, book, before, after, undoing)
                put()

            # An undo is noted even if the file is so already: else it would be the next one for ever.
            if before != after or undoing is not None:
                self._storage.write(work)

        _, after = self._shelf.change(book, change, record)
        return self._use(book, entries_of(after))

    def _note(self, tx: Writes, book: Book, before: str, after: str, undoing: int | None) -> None:
        self._note_by_hand(tx, book, before)
        operation = undo.CHANGE if undoing is None else undo.UNDO
        by = self._record(tx, book, before, after, self._settings.actor, operation)
        if undoing is not None:
            tx.audit.mark_undone(undoing, by)
        self._feed(tx, book, after)

    def _is_unlogged(self, book: Book, text: str) -> bool:
        return self._storage.read(lambda tx: _logged(tx, book)) not in (text, None)

    def _notice(self, book: Book, text: str) -> None:
        if self._is_unlogged(book, text):
            self._storage.write(lambda tx: self._note_by_hand(tx, book, text))

    def _note_by_hand(self, tx: Writes, book: Book, text: str) -> None:
        """Somebody edited the file, or was killed between log and file: that is a version too."""
        known = _logged(tx, book)
        if known is not None and known != text:
            self._record(tx, book, known, text, undo.BY_HAND, undo.CHANGE)

    def _scrub(self, tx: Writes, book: Book, after: str) -> None:
        tx.audit.scrub(undo.ref(book))
        # What is left is where the next version begins; what was before is nobody's business any more.
        tx.audit.record(
            at=self._clock(),
            actor=self._settings.actor,
            operation=undo.FORGET,
            ref=undo.ref(book),
            after=after,
        )
        self._feed(tx, book, after)

    def _record(self, tx: Writes, book: Book, before: str, after: str, actor: str, operation: str) -> int:
        return tx.audit.record(
            at=self._clock(), actor=actor, operation=operation, ref=undo.ref(book), before=before, after=after
        )

    def _text(self, book: Book) -> str:
        """What a file says; one that is switched off says nothing."""
        return self._shelf.read(book) if book in self._settings.notebook_files else ""

    def _is_news(self, tx: Reads, book: Book, text: str) -> bool:
        return self._wanted(book, text).keys() != _fed(tx, book)

    def _feed(self, tx: Writes, book: Book, text: str) -> None:
        wanted = self._wanted(book, text)
        there = _fed(tx, book)
        for ref in there - wanted.keys():
            tx.passages.remove(KIND, ref)
        for ref in wanted.keys() - there:
            tx.passages.put(KIND, ref, text=wanted[ref], at=self._clock(), also=book)

    def _wanted(self, book: Book, text: str) -> dict[str, str]:
        """What recall may find: entries as large as we would write them, that are no order to the model."""
        known = self._judged.get(book)
        if known is None or known[0] != text:
            entries = _newest(entries_of(text), self.limit(book))
            known = text, {f"{book}:{digest(entry)}": entry for entry in entries if not orders_in(entry)}
            self._judged[book] = known
        return known[1]

    def _use(self, book: Book, entries: Sequence[str]) -> Use:
        return Use(book, len(joined(list(entries))), self.limit(book), len(entries))


def _newest(entries: Sequence[str], limit: int) -> list[str]:
    """Of a file that somebody made far too large, as much as a few files of ours, without giant entries."""
    kept: list[str] = []
    room = _TIMES_THE_LIMIT * limit
    for entry in reversed(entries):
        if len(entry) <= limit and len(entry) <= room:
            kept.append(entry)
            room -= len(entry)
        if room <= 0 or len(kept) >= _MOST_FED:
            break
    return kept


def digest(entry: str) -> str:
    """A short name for an entry, the same wherever it stands."""
    return hashlib.sha256(entry.encode()).hexdigest()[:12]


def _logged(tx: Reads, book: Book) -> str | None:
    """What a file says, as far as the log knows; None when it knew once and does not any more."""
    newest = tx.audit.newest_on(undo.ref(book))
    return "" if newest is None else newest.after


def _fed(tx: Reads, book: Book) -> set[str]:
    return {passage.ref for passage in tx.passages.of_kind(KIND) if passage.ref.startswith(f"{book}:")}


def _check_safe(change: Change) -> None:
    found = orders_in(change.content)
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

"""``memory.notebook``: MEMORY.md and USER.md, edited by the model, bounded, frozen per session."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from mnemos.errors import Disabled, InvalidInput, MnemosError, NotFound, ReadOnly, Refused
from mnemos.inputs import whole
from mnemos.language.threats.guard import admit, was_allowed
from mnemos.notebook import note_changes
from mnemos.notebook.note_block import Page, find_orders, render_blocks, render_entry, reveal_entry
from mnemos.notebook.note_changes import (
    Change,
    apply_changes,
    check_change,
    check_limit,
    check_operations,
)
from mnemos.notebook.note_files import Shelf
from mnemos.notebook.notes import (
    SEPARATOR,
    Book,
    Use,
    Version,
    join_entries,
    merge_entries,
    name_version,
    parse_book,
    parse_entries,
    removal_key,
)
from mnemos.settings import Settings
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Reads, Storage, Writes
from mnemos.storage.passages import Passage
from mnemos.storage.tombstones import Tombstone
from mnemos.text.secrets import find_secrets

KIND = "note"
"""The kind of a note's passages in recall."""

_TOO_OFTEN = 3
_MOST_SNAPSHOTS = 1_000
# Recall indexes up to this many characters of a file.
_TIMES_THE_LIMIT = 3
_MOST_FED = 200
_MOST_VERSIONS = 10_000

log = logging.getLogger("mnemos.notebook")


class Notebook:
    """The notes of one space, in two files that people may edit too.

    A write is durable at once and visible to the next session. A session's snapshot doesn't change.
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
        # The last text of each file with its safe entries, because scanning takes longer than keyword recall.
        self._scanned: dict[Book, tuple[str, dict[str, str]]] = {}

    # --- change -----------------------------------------------------------------------------

    def add(self, content: str, *, target: str = Book.MEMORY, allow: bool = False) -> Use:
        """Add an entry. An exact duplicate is not added twice.

        An entry that looks like a prompt injection raises Refused, unless a person passes ``allow``.
        """
        return self.change([{"action": "add", "content": content}], target=target, allow=allow)

    def replace(self, old_text: str, content: str, *, target: str = Book.MEMORY, allow: bool = False) -> Use:
        """Replace the entry that contains ``old_text``."""
        change = {"action": "replace", "old_text": old_text, "content": content}
        return self.change([change], target=target, allow=allow)

    def remove(self, old_text: str, *, target: str = Book.MEMORY) -> Use:
        """Remove the entry that contains ``old_text``."""
        return self.change([{"action": "remove", "old_text": old_text}], target=target)

    def change(
        self, operations: Sequence[dict[str, Any]], *, target: str = Book.MEMORY, allow: bool = False
    ) -> Use:
        """Make several changes to one file, all or none. Only the final state must be within the limit."""
        # Manual edits are logged first, to keep the order of events.
        self.log_manual_edits()
        try:
            book = self._open_book(target)
            changes = check_operations(operations)
            self._admit([change.content for change in changes], allow=allow)
            use = self._change(book, changes)
        except MnemosError as exc:
            self._failures += 1
            if self._failures >= _TOO_OFTEN:
                why = str(exc).rstrip(".")
                exc.args = (f"{why}. This failed {self._failures} times: stop retrying and continue.",)
            raise
        self._failures = 0
        return use

    def write(self, target: str, text: str, *, allow: bool = False, base: str | None = None) -> Use:
        """Replace a whole file with an edited text, which is checked like any change.

        ``base`` is the version that was edited. Changes made by others since then are kept. An unknown
        version raises Refused.
        """
        self._check_writable()
        book = self._open_book(target)
        if not isinstance(text, str):
            raise InvalidInput(f"text must be a string, not {type(text).__name__}")
        entries = list(dict.fromkeys(parse_entries(text)))
        check_limit([], entries, book, self.limit(book))
        self._admit([check_change("add", entry, None).content for entry in entries], allow=allow)
        edited = None if base is None else self._find_version(book, base)

        def change_text(now: str) -> str:
            if edited is None:
                return join_entries(entries)
            merged = merge_entries(entries, edited, parse_entries(now))
            check_limit([], merged, book, self.limit(book))
            return join_entries(merged)

        return self._apply(book, change_text)

    def shrink(self, target: str, entry: str, shorter: str | None) -> Use:
        """Shorten or remove one entry, even in a file that is over its limit."""
        self._check_writable()
        book = self._open_book(target)

        def change_text(text: str) -> str:
            entries = parse_entries(text)
            if entry in entries:
                place = entries.index(entry)
                entries[place : place + 1] = [] if shorter is None else [shorter]
            return join_entries(entries)

        return self._apply(book, change_text)

    def exchange(self, target: str, entries: Sequence[str], shorter: Sequence[str]) -> Use:
        """Replace all entries of a file. A file that has changed since raises Refused."""
        self._check_writable()
        book = self._open_book(target)

        def change_text(text: str) -> str:
            if parse_entries(text) != list(entries):
                raise Refused(f"{book.filename} was changed by another process. Nothing was changed.")
            return join_entries(list(shorter))

        return self._apply(book, change_text)

    def undo(self, entry: AuditRow) -> str:
        """Restore a file to its state before a change, as a new change; return a sentence for people."""
        self._check_writable()
        book = self._open_book(note_changes.book_in(entry))
        self._apply(book, lambda _: entry.before or "", undoing=entry.id)
        return f"Restored {book.filename} as it was before entry {entry.id}."

    def forget(self, ref: str) -> None:
        """Erase an entry by its recall reference (``memory:0123…``) and the log of its file.

        An entry that was already removed is erased from the log. An unknown one raises NotFound. Neither this
        nor earlier changes of the file can be undone.
        """
        self._check_writable()
        name, _, wanted = ref.partition(":")
        book = parse_book(name)

        def change_text(text: str) -> str:
            kept = [entry for entry in parse_entries(text) if digest(entry) != wanted]
            if len(kept) < len(parse_entries(text)):
                return join_entries(kept)
            if wanted not in map(digest, self.removed(book)):
                raise NotFound(f"{book.filename} has no entry {ref!r}. Recall returns the ids of entries.")
            return text

        def record(_: str, after: str, put: Callable[[], None]) -> None:
            def work(tx: Writes) -> None:
                self._scrub(tx, book, after)
                # Other machines must erase their logs too, even if the entry was already removed here.
                tx.tombstones.put([Tombstone(KIND, book, self._clock(), forgotten=True)])
                put()

            self._storage.write(work)

        self._shelf.change(book, change_text, record)

    def copies(self) -> list[str]:
        """Return the paths of copies kept of files that were unreadable or too large."""
        return self._shelf.copies()

    def log_manual_edits(self) -> None:
        """Log what people changed in the files, so that it can be undone too."""
        self._check_writable()
        for name in self._settings.notebook_files:
            book = Book(name)
            try:
                if self._is_unlogged(book, self._shelf.read(book)):
                    self._shelf.change(book, str, lambda text, _, __: self._log_manual_edit(book, text))  # noqa: B023
            except MnemosError as exc:
                # A failure here must not block undoing something else.
                log.warning("manual edits of %s are not logged: %s", book.filename, exc)

    def begin_turn(self) -> None:
        """Begin a new turn, which resets the count of failures."""
        self._failures = 0

    # --- read -------------------------------------------------------------------------------

    def entries(self, target: str = Book.MEMORY) -> list[str]:
        """Return the current entries of a file."""
        return parse_entries(self._shelf.read(parse_book(target)))

    def removed(self, target: str = Book.MEMORY) -> dict[str, float]:
        """Return removed entries that the log still has, with their times, the last removed first."""
        book = parse_book(target)
        found: dict[str, float] = {}
        for row in self._storage.read(lambda tx: tx.audit.on(note_changes.ref(book), _MOST_VERSIONS)):
            for entry in parse_entries(f"{row.after or ''}{SEPARATOR}{row.before or ''}"):
                found.setdefault(entry, row.at)
        there = set(self.entries(book))
        return {entry: at for entry, at in found.items() if entry not in there}

    def versions(self, target: str = Book.MEMORY, limit: int = 50) -> list[Version]:
        """Return the logged states of a file, newest first, beginning with the current one.

        Texts that were forgotten are left out.
        """
        book = parse_book(target)
        current = self.entries(book)
        found = [Version(name_version(current), tuple(current))]
        rows = self._storage.read(lambda tx: tx.audit.on(note_changes.ref(book), whole("limit", limit)))
        for row in rows:
            if row.after is None:
                continue
            entries = parse_entries(row.after)
            made = Version(name_version(entries), tuple(entries), row.at, row.actor, row.id)
            # A manual edit that isn't logged yet is newer than the newest logged version.
            if len(found) == 1 and found[0].name == made.name and found[0].entry is None:
                found[0] = made
            else:
                found.append(made)
        return found[:limit]

    def _find_version(self, book: Book, name: str) -> list[str]:
        """Return the entries of a version. An unknown version raises Refused."""
        current = self.entries(book)
        if name_version(current) == name:
            return current
        for row in self._storage.read(lambda tx: tx.audit.on(note_changes.ref(book), _MOST_VERSIONS)):
            for text in (row.after, row.before):
                if text is not None and name_version(parse_entries(text)) == name:
                    return parse_entries(text)
        raise Refused(
            f"{book.filename} has no version {name!r}, so nothing was changed. Read the file again, and "
            "pass the version that it has."
        )

    def use(self, target: str = Book.MEMORY) -> Use:
        book = parse_book(target)
        return self._use(book, self.entries(book))

    def limit(self, target: str) -> int:
        """Return the maximum number of characters of a file."""
        memory = parse_book(target) is Book.MEMORY
        return self._settings.memory_characters if memory else self._settings.user_characters

    def snapshot(self, session_id: str = "") -> str:
        """Return the prompt blocks, made once per session. Later writes don't change them."""
        if not isinstance(session_id, str):
            raise InvalidInput(f"session_id must be a string, not {type(session_id).__name__}")
        with self._freezing:
            taken = self._snapshots.pop(session_id, None)
            if taken is None:
                taken = self.block()
                if len(self._snapshots) >= _MOST_SNAPSHOTS:
                    self._snapshots.pop(next(iter(self._snapshots)))
            # Moved to the end, so that the session idle for the longest time is dropped first.
            self._snapshots[session_id] = taken
        return taken

    def refresh(self, session_id: str = "") -> None:
        """Drop the snapshot of a session, for example after its context was compressed."""
        self._snapshots.pop(session_id, None)

    def block(self) -> str:
        """Return the current prompt blocks. A file that can't be read is replaced by the error."""
        pages: list[Page] = []
        for name in self._settings.notebook_files:
            book = Book(name)
            try:
                entries = self.entries(book)
            except MnemosError as exc:
                pages.append(Page(self._use(book, []), (f"({exc})",)))
            else:
                allowed = self._find_allowed(_take_newest(entries, self.limit(book)))
                pages.append(Page(self._use(book, entries), tuple(entries), allowed))
        return render_blocks(pages)

    # --- recall -----------------------------------------------------------------------------

    def sync(self) -> None:
        """Index the files for recall, also after manual edits.

        Only changes are written. A failure is logged, not raised.
        """
        if self._settings.disabled or self._storage.read_only:
            return
        for book in Book:
            try:
                text = self._text(book)
                if self._storage.read(lambda tx: self._is_outdated(tx, book, text)):  # noqa: B023
                    # Read again, because files are changed within a transaction.
                    self._storage.write(lambda tx: self._index(tx, book, self._text(book)), within=0.5)  # noqa: B023
            except MnemosError as exc:
                log.warning("recall may miss the newest notes of %s: %s", book.filename, exc)

    def render(self, entries: Sequence[str]) -> list[str]:
        """Render entries as prompts show them: orders to a model are blocked unless a person allowed them."""
        allowed = self._find_allowed(entries)
        return [reveal_entry(entry) if entry in allowed else render_entry(entry) for entry in entries]

    def signature(self, book: Book) -> object:
        """Return a value that changes with the file, without reading it."""
        return self._shelf.signature(book) if book in self._settings.notebook_files else None

    def passages(self, book: Book) -> list[Passage]:
        """Return the entries of a file as passages for recall."""
        at = self._shelf.read_modified_time(book)
        moment = self._clock() if at is None else at
        return [
            Passage(0, KIND, ref, None, None, moment, live=True, text=text, also=book)
            for ref, text in self._indexable(book, self._text(book)).items()
        ]

    # --- internals --------------------------------------------------------------------------

    def _open_book(self, target: str) -> Book:
        book = parse_book(target)
        if book not in self._settings.notebook_files:
            raise Disabled(f"{book.filename} is disabled in the settings. Nothing was changed.")
        return book

    def _check_writable(self) -> None:
        self._settings.check_enabled()
        if self._storage.read_only:
            raise ReadOnly(f"{self._storage.location} is open for reading only. Nothing was changed.")

    def _change(self, book: Book, changes: Sequence[Change]) -> Use:
        def change_text(text: str) -> str:
            self._check_drift(book, text)
            return join_entries(apply_changes(parse_entries(text), changes, book, self.limit(book)))

        return self._apply(book, change_text)

    def _check_drift(self, book: Book, text: str) -> None:
        """Refuse to change a file that people made larger than its limit."""
        size, limit = len(join_entries(parse_entries(text))), self.limit(book)
        if size <= limit:
            return
        copy = self._shelf.keep_copy(book, text)
        kept = f"; a copy is in {copy}" if copy else ""
        raise Refused(
            f"{book.filename} was edited to {size:,} characters, more than its {limit:,}. It was left "
            f"unchanged{kept}. Shorten it with `mnemos notebook edit {book}` or `mnemos notebook optimize`."
        )

    def _apply(self, book: Book, change: Callable[[str], str], *, undoing: int | None = None) -> Use:
        def record(before: str, after: str, put: Callable[[], None]) -> None:
            def work(tx: Writes) -> None:
                self._log(tx, book, before, after, undoing)
                put()

            # An undo without effect is logged too, or the same change would always be undone next.
            if before != after or undoing is not None:
                self._storage.write(work)

        _, after = self._shelf.change(book, change, record)
        return self._use(book, parse_entries(after))

    def _log(self, tx: Writes, book: Book, before: str, after: str, undoing: int | None) -> None:
        self._log_by_hand(tx, book, before)
        operation = note_changes.CHANGE if undoing is None else note_changes.UNDO
        by = self._record(tx, book, before, after, self._settings.current_actor, operation)
        if undoing is not None:
            tx.audit.mark_undone(undoing, by)
        self._index(tx, book, after)

    def _admit(self, notes: Sequence[str], *, allow: bool) -> None:
        """Raise Refused for a secret, or for an order to a model that no person allowed."""
        if any(map(find_secrets, notes)):
            raise Refused(
                "The note was not stored: it contains a secret, and notes are sent to the model with every "
                "turn. Write down where the secret is kept instead."
            )
        now, actor = self._clock(), self._settings.current_actor
        admit(self._storage, "note", notes, allow=allow, at=now, actor=actor, find=find_orders)

    def _find_allowed(self, entries: Sequence[str]) -> frozenset[str]:
        """Return the entries that look like prompt injections and that a person allowed."""
        marked = [entry for entry in entries if find_orders(entry)]
        if not marked:
            return frozenset()
        return self._storage.read(lambda tx: frozenset(entry for entry in marked if was_allowed(tx, entry)))

    def _is_unlogged(self, book: Book, text: str) -> bool:
        return self._storage.read(lambda tx: _read_logged(tx, book)) not in (text, None)

    def _log_manual_edit(self, book: Book, text: str) -> None:
        if self._is_unlogged(book, text):
            self._storage.write(lambda tx: self._log_by_hand(tx, book, text))

    def _log_by_hand(self, tx: Writes, book: Book, text: str) -> None:
        """Log a version edited by hand, or left by a process that was killed before logging it."""
        known = _read_logged(tx, book)
        if known is not None and known != text:
            self._record(tx, book, known, text, note_changes.BY_HAND, note_changes.CHANGE)

    def _scrub(self, tx: Writes, book: Book, after: str) -> None:
        ref, actor, now = note_changes.ref(book), self._settings.current_actor, self._clock()
        tx.audit.scrub(ref)
        # The next logged version starts from the remaining text.
        tx.audit.record(at=now, actor=actor, operation=note_changes.FORGET, ref=ref, after=after)
        self._index(tx, book, after)

    def _record(self, tx: Writes, book: Book, before: str, after: str, actor: str, operation: str) -> int:
        ref = note_changes.ref(book)
        return tx.audit.record(
            at=self._clock(), actor=actor, operation=operation, ref=ref, before=before, after=after
        )

    def _text(self, book: Book) -> str:
        """Return the text of a file, empty if it is disabled."""
        return self._shelf.read(book) if book in self._settings.notebook_files else ""

    def _is_outdated(self, tx: Reads, book: Book, text: str) -> bool:
        return self._indexable(book, text).keys() != _read_indexed(tx, book)

    def _index(self, tx: Writes, book: Book, text: str) -> None:
        wanted = self._indexable(book, text)
        there = _read_indexed(tx, book)
        kept = {f"{book}:{digest(entry)}" for entry in parse_entries(text)}
        for ref in there - wanted.keys():
            gone = tx.passages.find(KIND, ref)
            if gone is not None and ref not in kept:
                tx.tombstones.put([Tombstone(KIND, removal_key(book, gone.at, gone.text), self._clock())])
            tx.passages.remove(KIND, ref)
        for ref in wanted.keys() - there:
            tx.passages.put(KIND, ref, text=wanted[ref], at=self._clock(), also=book)

    def _indexable(self, book: Book, text: str) -> dict[str, str]:
        """Return the entries that recall may find: within the limit and without orders to the model."""
        known = self._scanned.get(book)
        if known is None or known[0] != text:
            entries = _take_newest(parse_entries(text), self.limit(book))
            known = text, {f"{book}:{digest(entry)}": entry for entry in entries if not find_orders(entry)}
            self._scanned[book] = known
        return known[1]

    def _use(self, book: Book, entries: Sequence[str]) -> Use:
        return Use(book, len(join_entries(list(entries))), self.limit(book), len(entries))


def _take_newest(entries: Sequence[str], limit: int) -> list[str]:
    """Return the newest entries, up to a few times the limit, without giant ones."""
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
    """Return a short id for an entry that doesn't depend on its place."""
    return hashlib.sha256(entry.encode()).hexdigest()[:12]


def _read_logged(tx: Reads, book: Book) -> str | None:
    """Return the last logged text of a file, or None if it was erased from the log."""
    newest = tx.audit.newest_on(note_changes.ref(book))
    return "" if newest is None else newest.after


def _read_indexed(tx: Reads, book: Book) -> set[str]:
    return {passage.ref for passage in tx.passages.of_kind(KIND) if passage.ref.startswith(f"{book}:")}

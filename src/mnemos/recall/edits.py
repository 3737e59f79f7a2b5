"""Passages that the storage lacks: hand-edited files and entries not indexed yet.

People edit notes and templates by hand, and storing an entry writes only its row. A question must find both
at once, without writing anything. So the files are compared with the storage, first by their signatures, and
differences are proposed from memory.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from msgspec import Struct
from msgspec.structs import replace

from mnemos.errors import MnemosError
from mnemos.storage.base import Reads
from mnemos.storage.entries import KIND, USUAL_USER, EntryRow, kind_of, owner_of
from mnemos.storage.passages import Passage

log = logging.getLogger("mnemos.recall")

# The number of entries read one by one. A larger backlog waits for the index.
_MOST_ENTRIES = 2_000
_ENTRY_CHARACTERS = 100_000


@dataclass(frozen=True, slots=True)
class Source:
    """Passages in files, of one kind and with references of one prefix."""

    kind: str
    prefix: str
    signature: Callable[[], object]
    """Returns a value that changes whenever the files do, and is cheap to compute."""
    read: Callable[[], Iterable[Passage]]
    """Returns the passages that are in the files now. Their ids have no meaning."""


class Unfed(Struct, frozen=True):
    """The difference between the files and the storage."""

    added: tuple[Passage, ...] = ()
    """Passages with negative ids, which nothing in a storage has."""
    gone: frozenset[int] = frozenset()
    """Ids of stored passages that were since edited or deleted."""
    version: tuple[int, ...] = ()
    """The version of the stored passages in the comparison."""


NOTHING_UNFED = Unfed()


class Edits:
    """Compares files with their passages in the storage."""

    def __init__(self, sources: Sequence[Source] = ()) -> None:
        self._sources = sources
        self._agreed: dict[tuple[str, str], object] = {}
        self.unfed: set[tuple[str, str]] = set()
        """The kinds and prefixes of sources in which the last comparison found a difference."""

    def find(self, tx: Reads, kinds: Sequence[str] | None, user: str = USUAL_USER, now: float = 0.0) -> Unfed:
        """Find all passages of these kinds, for entries those of one user, that the storage lacks.

        Expired entries count as deleted.
        """
        added: list[Passage] = []
        gone: set[int] = set()
        version = tx.passages.version() if self._sources else ()
        for source in self._sources:
            if kinds is None or source.kind in kinds:
                self._compare(tx, source, version, added, gone)
        if kinds is None or kind_of(user) in kinds:
            entries = tx.entries.fresh(user, _MOST_ENTRIES)
            self._note((KIND, user), bool(entries))
            for entry in entries:
                known = tx.passages.find(kind_of(user), str(entry.id))
                if known is not None:
                    gone.add(known.id)
                if entry.is_searched and not (entry.expires_at and entry.expires_at <= now):
                    added.append(_passage(entry))
            for number, name, _ in tx.entries.find_expired(now, _MOST_ENTRIES):
                known = tx.passages.find(kind_of(name), str(number))
                if known is not None:
                    gone.add(known.id)
        numbered = (replace(passage, id=-number) for number, passage in enumerate(added, start=1))
        return Unfed(tuple(numbered), frozenset(gone), version)

    def _compare(
        self, tx: Reads, source: Source, version: tuple[int, ...], added: list[Passage], gone: set[int]
    ) -> None:
        key = source.kind, source.prefix
        try:
            seen = source.signature(), version
            if self._agreed.get(key) == seen:
                return
            self._agreed.pop(key, None)
            wanted = {passage.ref: passage for passage in source.read()}
        except MnemosError as exc:
            log.warning("recall may not know the newest %s: %s", source.kind, exc)
            return
        known = {p.ref: p for p in tx.passages.of_kind(source.kind) if p.ref.startswith(source.prefix)}
        new = [p for ref, p in wanted.items() if ref not in known or known[ref].text != p.text]
        old = {p.id for ref, p in known.items() if ref not in wanted or wanted[ref].text != p.text}
        self._note(key, bool(new or old))
        if not new and not old:
            self._agreed[key] = seen
        added += new
        gone |= old

    def _note(self, key: tuple[str, str], differs: bool) -> None:  # noqa: FBT001
        if differs:
            self.unfed.add(key)
        else:
            self.unfed.discard(key)


def _passage(entry: EntryRow) -> Passage:
    text = f"{entry.key}: {entry.readable}"[:_ENTRY_CHARACTERS]
    return Passage(
        0, kind_of(entry.user), str(entry.id), None, None, entry.updated_at, live=True, text=text,
        group=owner_of(entry.user),
    )  # fmt: skip

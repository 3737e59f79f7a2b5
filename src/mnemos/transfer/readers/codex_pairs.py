"""Messages of a rollout on their way: what stands there as event and as item is told once.

An event and its item stand next to each other, in either order, with a thought or a count of tokens between
them. So a message is kept back until nothing can belong to it any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

# Lines between an event and its item. Farther away, the same words are another message.
_NEAR: Final = 12


@dataclass(slots=True)
class Entry:
    """A message. ``fields`` None: it turned out to be a part of another. ``waits``: its item may follow."""

    key: str
    fields: dict[str, Any] | None
    waits: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(slots=True)
class _Event:
    """An event of which the item was not seen. ``entry`` None: it was told when the file was read before."""

    role: str
    digest: str
    line: int
    entry: Entry | None


class Pairs:
    """``made`` entries came so far, and ``told`` of them went."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._items: deque[tuple[str, str, int]] = deque(map(tuple, state.get("items") or ()))
        self._events: deque[_Event] = deque(
            _Event(role, digest, line, None) for role, digest, line in state.get("events") or ()
        )
        self._entries: deque[Entry] = deque()
        self.made = 0
        self.told = 0

    def state(self) -> dict[str, Any]:
        """What is to be known of those that went, for when their items or events come later."""
        return {
            "items": list(self._items),
            "events": [(event.role, event.digest, event.line) for event in self._events],
        }

    @property
    def last(self) -> Entry | None:
        return self._entries[-1] if self._entries else None

    def add(self, entry: Entry) -> None:
        self.made += 1
        self._entries.append(entry)

    def at(self, line: int) -> None:
        """Give up what is too far from this line."""
        first = line - _NEAR
        while self._items and self._items[0][2] < first:
            self._items.popleft()
        while self._events and self._events[0].line < first:
            event = self._events.popleft()
            if event.entry is not None:
                event.entry.waits = False

    def await_event(self, role: str, digests: Sequence[str], line: int) -> None:
        """Remember an item that came first: its event, or one for each of its parts, may follow."""
        self._items.extend((role, digest, line) for digest in digests)

    def await_item(self, role: str, digest: str, line: int) -> None:
        """Remember the last entry as an event that came first."""
        self._events.append(_Event(role, digest, line, self._entries[-1]))

    def had_item(self, role: str, digest: str) -> bool:
        """Whether the item of an event came already; it is the item of no other then."""
        for item in self._items:
            if item[:2] == (role, digest):
                self._items.remove(item)
                return True
        return False

    def had_events(self, role: str, digests: Sequence[str]) -> list[Entry] | None:
        """The entries of the events of an item, without those that went; None when there was no event."""
        # Of each text the first: the same may be said twice.
        first: dict[str, _Event] = {}
        for event in self._events:
            if event.role == role and event.digest in digests:
                first.setdefault(event.digest, event)
        for event in first.values():
            self._events.remove(event)
            if event.entry is not None:
                event.entry.waits = False
        return [event.entry for event in first.values() if event.entry is not None] if first else None

    def sure(self) -> Iterator[Entry]:
        """The entries to which nothing can come any more. The last one may still get its tokens."""
        while len(self._entries) > 1 and not self._entries[0].waits:
            yield self._next()

    def rest(self) -> Iterator[Entry]:
        while self._entries:
            yield self._next()

    def _next(self) -> Entry:
        self.told += 1
        return self._entries.popleft()

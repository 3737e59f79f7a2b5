"""The storage port of removals, which keep a sync from restoring removed items."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Tombstone(Struct, frozen=True):
    """A removal. ``key`` identifies the item by names and times, never by its text."""

    kind: str
    """``session``, ``message``, ``fact``, ``note``, ``entry`` or ``template``."""
    key: str
    at: float
    forgotten: bool = False
    """True if it was erased permanently, so that no later change restores it."""


def make_key(*parts: object) -> str:
    """Make a key from names and times. Don't pass text that may be forgotten, as it can be guessed."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class TombstoneReads(Protocol):
    def of_kind(self, kind: str | None) -> list[Tombstone]:
        """The removals of one kind, or all removals, in any order."""
        ...

    def get(self, kind: str, key: str) -> Tombstone | None: ...


class TombstoneWrites(TombstoneReads, Protocol):
    def put(self, stones: Sequence[Tombstone]) -> None:
        """Record removals. Of two with one key, the later time is kept, and so is a permanent erasure."""
        ...

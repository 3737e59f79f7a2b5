"""The storage port of removals, so that a sync does not restore what is gone."""

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
    """True if it was erased permanently: no later change restores it."""


def make_key(*parts: object) -> str:
    """Return a key of names and times. Give it no text that may be forgotten: short texts can be guessed."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class TombstoneReads(Protocol):
    def of_kind(self, kind: str | None) -> list[Tombstone]:
        """The removals of one kind, or all, in any order."""
        ...

    def get(self, kind: str, key: str) -> Tombstone | None: ...


class TombstoneWrites(TombstoneReads, Protocol):
    def put(self, stones: Sequence[Tombstone]) -> None:
        """Record removals. Of two for one key, the later time counts, and forgetting does."""
        ...

"""The log of recalls as an engine stores it: the newest questions of a space."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct


class RecallRow(Struct, frozen=True):
    """A question that was asked. ``hits`` is a JSON list of references such as ``message:12``."""

    at: float
    actor: str
    session_id: str | None
    query: str
    hits: str
    certainty: str
    tokens: int
    milliseconds: float
    id: int = 0


class RecallReads(Protocol):
    def newest(self, limit: int, *, before: int | None = None) -> list[RecallRow]:
        """The questions with ids below ``before``, newest first."""
        ...


class RecallWrites(RecallReads, Protocol):
    def add(self, rows: Sequence[RecallRow], *, keep: int) -> None:
        """Store questions in order, and remove all except the newest ``keep``."""
        ...

    def remove(self, ids: Collection[int]) -> None: ...

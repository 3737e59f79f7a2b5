"""A tally of what a sync changed on one side."""

from __future__ import annotations

from typing import Any, Final

import msgspec

MOST_REASONS: Final = 50
_LONGEST_REASON: Final = 300


class Tally(msgspec.Struct, forbid_unknown_fields=True):
    """Counts by kind, from this side or as the other one reports them."""

    added: dict[str, int] = {}
    changed: dict[str, int] = {}
    removed: dict[str, int] = {}
    reasons: list[str] = []
    """Reasons why items were refused."""
    is_scrubbed: bool = True
    """False if forgotten text still has to be erased from the file."""

    def add(self, kind: str, count: int = 1) -> None:
        _count(self.added, kind, count)

    def change(self, kind: str) -> None:
        _count(self.changed, kind)

    def remove(self, kind: str, *, forgotten: bool = False) -> None:
        _count(self.removed, kind)
        self.is_scrubbed = self.is_scrubbed and not forgotten

    def explain(self, reason: str) -> None:
        if reason not in self.reasons and len(self.reasons) < MOST_REASONS:
            self.reasons.append(reason[:_LONGEST_REASON])

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)

    def include(self, other: Tally) -> None:
        for mine, more in zip(self._counts(), other._counts(), strict=True):
            for kind, count in more.items():
                _count(mine, kind, count)
        for reason in other.reasons:
            self.explain(reason)

    def _counts(self) -> tuple[dict[str, int], ...]:
        return self.added, self.changed, self.removed

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("added", "changed", "removed", "reasons")}


def _count(counts: dict[str, int], kind: str, count: int = 1) -> None:
    if count:
        counts[kind] = counts.get(kind, 0) + count

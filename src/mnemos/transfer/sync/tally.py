"""Counts of what a sync changed on one side."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

MOST_REASONS: Final = 50


@dataclass(slots=True)
class Tally:
    added: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)
    """Reasons why items were not taken."""
    is_scrubbed: bool = True
    """False if something was forgotten and its bytes are still to be erased."""

    def add(self, kind: str, count: int = 1) -> None:
        if count:
            self.added[kind] += count

    def change(self, kind: str) -> None:
        self.changed[kind] += 1

    def remove(self, kind: str, *, forgotten: bool = False) -> None:
        self.removed[kind] += 1
        self.is_scrubbed = self.is_scrubbed and not forgotten

    def explain(self, reason: str) -> None:
        if reason not in self.reasons and len(self.reasons) < MOST_REASONS:
            self.reasons.append(reason)

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)

    def include(self, other: Tally) -> None:
        self.added += other.added
        self.changed += other.changed
        self.removed += other.removed
        for reason in other.reasons:
            self.explain(reason)

    def as_dict(self) -> dict[str, Any]:
        return {
            "added": dict(self.added), "changed": dict(self.changed), "removed": dict(self.removed),
            "reasons": self.reasons,
        }  # fmt: skip


class TallyLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts that another machine reports."""

    added: dict[str, int] = {}
    changed: dict[str, int] = {}
    removed: dict[str, int] = {}
    reasons: list[str] = []

    def to_tally(self) -> Tally:
        reasons = [reason[:300] for reason in self.reasons[:MOST_REASONS]]
        return Tally(Counter(self.added), Counter(self.changed), Counter(self.removed), reasons)

"""Made-up fact rows for tests of rules without storage."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from mnemos.storage.facts import FactRow, Hot
from mnemos.testing import FixedClock

NOW = FixedClock().now


def fact_row(mark: str = "V", target: str = "a", content: str = "b", **fields: Any) -> FactRow:
    plain = FactRow(
        id=1,
        mark=mark,
        target=target,
        key=target.casefold(),
        content=content,
        scope_id=None,
        scope=None,
        state="live",
        hot=True,
        recorded_at=NOW,
        ended_at=None,
        superseded_by=None,
        valid_from=NOW,
        valid_to=None,
        used_at=NOW,
        uses=0,
        session_id=None,
        message_id=None,
        actor="tester",
    )
    return replace(plain, **fields)


def hot_set(*rows: FactRow, further: int = 0) -> Hot:
    """As storage hands it out: constraints apart, the last used first; ids by their order here."""
    numbered = [replace(row, id=number) for number, row in enumerate(rows, start=1)]
    last_used_first = sorted(numbered, key=lambda row: (-row.used_at, -row.id))
    return Hot(
        tuple(row for row in last_used_first if row.mark == "C"),
        further,
        tuple(row for row in last_used_first if row.mark != "C"),
    )

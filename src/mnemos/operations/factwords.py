"""Facts as plain data and as lines, for the operations that answer with them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemos.facts.fact import Conflict, Fact


def fact_dict(fact: Fact) -> dict[str, Any]:
    """A fact for programs; times are ISO 8601 in UTC."""
    return {
        "id": fact.id,
        "type": fact.type,
        "target": fact.target,
        "content": fact.content,
        "scope": fact.scope,
        "tier": fact.tier,
        "state": fact.state,
        "at": iso(fact.at),
        "ended_at": None if fact.ended_at is None else iso(fact.ended_at),
        "superseded_by": fact.superseded_by,
        "valid_from": iso(fact.valid_from),
        "valid_to": None if fact.valid_to is None else iso(fact.valid_to),
        "session_id": fact.session_id,
        "message_id": fact.message_id,
        "actor": fact.actor,
    }


def conflict_dict(conflict: Conflict) -> dict[str, Any]:
    """Two facts that contradict each other: what it takes to see why, and to find them."""
    return {
        "target": conflict.target,
        "older": _short(conflict.older),
        "newer": _short(conflict.newer),
    }


def _short(fact: Fact) -> dict[str, Any]:
    told = ("id", "type", "target", "content", "scope", "tier", "state", "at", "superseded_by")
    whole = fact_dict(fact)
    return {name: whole[name] for name in told}


def described(fact: dict[str, Any], *, dated: bool = True) -> str:
    """A fact on one line: as it is written, with its id, scope, tier and day."""
    from mnemos.facts.hot_set import escape
    from mnemos.language.notation import format_line

    text = format_line(fact["type"], escape(fact["target"]), escape(fact["content"]))
    kept = fact["tier"] if fact["state"] == "live" else fact["state"]
    if fact["superseded_by"]:
        kept = f"{kept} by {fact['superseded_by']}"
    scope = f"{shown_label(fact['scope'])}, " if fact["scope"] else ""
    when = f", {day(fact['at'])}" if dated else ""
    return f"{text}  ({fact['id']}, {scope}{kept}{when})"


def shown_label(label: str) -> str:
    """The label of a scope, in which nothing is hidden."""
    from mnemos.facts.hot_set import escape

    return escape(label)


def iso(moment: float) -> str:
    """A time in UTC, to the millisecond; one that no calendar has, as seconds."""
    try:
        return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"


def day(moment: str) -> str:
    return moment[:10]

"""The forms of mem0: messages, ids, filters, and memories as dictionaries."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from mnemos.entries.backend import MemoryEntry
from mnemos.integrations.small_talk import is_trivial
from mnemos.language.extraction import extract_facts

IDS = ("user_id", "agent_id", "run_id")
_OPERATORS = {"eq": "$eq", "ne": "$ne", "gt": "$gt", "gte": "$gte", "lt": "$lt", "lte": "$lte", "in": "$in"}
_LOGIC = {"AND": "$and", "OR": "$or"}


def read_messages(given: Any) -> list[Mapping[str, Any]]:
    """Return the messages in what mem0 accepts, except system messages."""
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages = [messages] if isinstance(messages, Mapping) else messages
    if not isinstance(messages, Sequence):
        raise ValueError(f"messages must be str, dict, or list[dict], not {type(given).__name__}")  # noqa: TRY004 - as mem0
    said = [one for one in messages if isinstance(one, Mapping) and one.get("role") and one.get("content")]
    return [one for one in said if one["role"] != "system"]


def find_statements(message: Mapping[str, Any]) -> list[str]:
    """Return the sentences of a message that are worth storing."""
    text = str(message["content"]).strip()
    stated = [one.sentence.strip() for one in extract_facts(text, role=str(message["role"]))]
    if stated or message["role"] != "user" or is_trivial(text) or text.endswith("?"):
        return stated
    return [text]


def check_ids(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the given ids as text. Like mem0, refuse a call without any."""
    ids = {name: str(one).strip() for name, one in given.items() if one is not None}
    if not ids or not all(ids.values()):
        raise ValueError("At least one of user_id, agent_id and run_id is needed, and none may be empty.")
    return ids


def check_expiry(given: str | date | None) -> dict[str, str]:
    """Return the last day on which a memory is found."""
    if given is None:
        return {}
    try:
        day = given if isinstance(given, date) else date.fromisoformat(given)
    except (TypeError, ValueError) as exc:
        raise ValueError(f"expiration_date is {given!r}. Use a date such as 2027-01-31.") from exc
    return {"expiration_date": day.isoformat()[:10]}


def refuse(unsupported: Mapping[str, Any]) -> None:
    """Refuse arguments that would otherwise be ignored."""
    named = [name for name in unsupported if name in IDS]
    if named:
        raise ValueError(f"Put {named[0]} into filters: filters={{{named[0]!r}: …}}")
    given = [name for name, value in unsupported.items() if value]
    if given:
        raise ValueError(f"{given[0]} needs a model or mem0's platform, which Mnemos does without.")


def translate(filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Translate a filter of mem0. Keys other than ids are keys of the metadata."""
    for key, wanted in filters.items():
        if key in _LOGIC:
            yield {_LOGIC[key]: [{"$and": list(translate(one))} for one in wanted]}
        elif key == "NOT":
            yield {"$not": {"$or": [{"$and": list(translate(one))} for one in wanted]}}
        else:
            yield {key if key in IDS else f"metadata.{key}": _translate_value(wanted)}


def _translate_value(wanted: Any) -> Any:
    if wanted == "*":
        return {"$ne": None}
    if not isinstance(wanted, Mapping):
        return wanted
    if "nin" in wanted:
        return {"$not": {"$in": wanted["nin"]}}
    unknown = set(wanted) - set(_OPERATORS)
    if unknown:
        raise ValueError(f"The filter {sorted(unknown)[0]!r} is not supported; use {', '.join(_OPERATORS)}.")
    return {_OPERATORS[name]: value for name, value in wanted.items()}


def make_change(event: str, old: str | None, new: str | None) -> dict[str, Any]:
    """Return an entry of a memory's history."""
    now = datetime.now(UTC).isoformat()
    change = {"id": str(uuid.uuid4()), "old_memory": old, "new_memory": new, "event": event}
    return change | {"created_at": now, "updated_at": now, "is_deleted": event == "DELETE"}


def as_item(entry: MemoryEntry) -> dict[str, Any]:
    """Convert an entry to what mem0 returns."""
    value = entry.value
    times = (datetime.fromtimestamp(at, UTC).isoformat() for at in (entry.created_at, entry.updated_at))
    item = {
        "id": entry.key,
        "memory": value["memory"],
        "hash": hashlib.md5(value["memory"].encode(), usedforsecurity=False).hexdigest(),
        **dict(zip(("created_at", "updated_at"), times, strict=True)),
    }
    item |= {"score": entry.score} if entry.score is not None else {}
    kept = (*IDS, "actor_id", "role", "expiration_date")
    item |= {name: value[name] for name in kept if value.get(name) is not None}
    return item | ({"metadata": value["metadata"]} if value["metadata"] else {})

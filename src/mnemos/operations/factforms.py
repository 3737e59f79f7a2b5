"""Facts as a file: in the notation, as JSON, as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import msgspec

from mnemos.facts.hot_set import escape
from mnemos.language.notation import format_line
from mnemos.operations.factwords import day

_MARKUP = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|#"})


def notation(facts: list[dict[str, Any]]) -> str:
    """One fact a line, as ``memory_write`` takes them."""
    return "\n".join(format_line(fact["type"], fact["target"], fact["content"]) for fact in facts)


def as_json(facts: list[dict[str, Any]]) -> str:
    return msgspec.json.format(msgspec.json.encode(facts), indent=2).decode()


def markdown(facts: list[dict[str, Any]]) -> str:
    """A heading for each scope, a line for each fact."""
    ordered = sorted(facts, key=lambda fact: (fact["scope"] or "", fact["type"], fact["target"]))
    lines = ["# Facts"]
    for scope, group in groupby(ordered, key=lambda fact: fact["scope"]):
        lines += ["", f"## {_plain(scope) if scope else 'Without a scope'}", ""]
        lines += [_item(fact) for fact in group]
    return "\n".join(lines)


def _item(fact: dict[str, Any]) -> str:
    state = "" if fact["state"] == "live" else f", {fact['state']}"
    return (
        f"- **{fact['type']} {_plain(fact['target'])}**: {_plain(fact['content'])} "
        f"({fact['id']}, {day(fact['at'])}{state})"
    )


def _plain(text: str) -> str:
    return escape(text).translate(_MARKUP)


FORMS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "notation": notation,
    "json": as_json,
    "markdown": markdown,
}

"""The text in a JSON value: all of its strings and numbers, or those at some paths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


def collect_text(value: Any, fields: Sequence[str] | None = None) -> str:
    """Return the strings and numbers of a value, one per line.

    ``fields`` are paths such as ``title``, ``author.name``, ``notes[0]`` or ``notes[*].text``; ``$`` is the
    whole value. A path that leads nowhere adds nothing.
    """
    found = [value] if fields is None else [one for path in fields for one in select(value, path)]
    return "\n".join(text for one in found for text in _walk(one))


def select(value: Any, path: str) -> list[Any]:
    """Return the values at a path."""
    found = [value]
    for step in _STEP.findall(path) if path not in ("", "$") else ():
        found = [inner for outer in found for inner in _take(outer, step)]
    return found


def _take(value: Any, step: str) -> list[Any]:
    if not step.startswith("["):
        return [value[step]] if isinstance(value, dict) and step in value else []
    if not isinstance(value, list):
        return []
    inside = step[1:-1]
    if inside == "*":
        return value
    if not re.fullmatch(r"-?\d{1,9}", inside):
        return []
    return value[int(inside) :][:1] if int(inside) != -1 else value[-1:]


def _walk(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _walk(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)

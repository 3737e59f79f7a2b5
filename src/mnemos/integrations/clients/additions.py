"""Additions to a client's settings, and how to find them again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from mnemos.errors import InvalidInput

Keys = tuple[str | int, ...]
"""The path to a value: names of members and indices of items, outermost first."""


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """A value that Mnemos adds: a member at the path, or an item of the list at the path."""

    path: tuple[str, ...]
    value: Any
    is_item: bool = False

    @property
    def containers(self) -> tuple[str, ...]:
        """Return the path of the object or list that holds it."""
        return self.path if self.is_item else self.path[:-1]


def locate(settings: Any, addition: Addition) -> Keys | None:
    """Find an addition, even if it was changed since; None if it is missing."""
    inside = value_at(settings, addition.containers)
    if not addition.is_item:
        is_there = isinstance(inside, Mapping) and addition.path[-1] in inside
        return addition.path if is_there else None
    ours = _commands(addition.value)
    for number, group in enumerate(inside if isinstance(inside, list) else ()):
        commands = _commands(group)
        for place, command in enumerate(commands):
            if command is not None and command in ours:
                # A person may have added another hook to our group.
                within: Keys = ("hooks", place) if len(commands) > 1 else ()
                return (*addition.path, number, *within)
    return None


def value_at(settings: Any, keys: Keys) -> Any:
    """Return the value at a path; None if it is missing."""
    for key in keys:
        if isinstance(settings, Mapping):
            settings = settings.get(key)
        elif isinstance(settings, list) and isinstance(key, int):
            settings = settings[key]
        else:
            return None
    return settings


def has_addition(settings: Any, addition: Addition) -> bool:
    """True if the settings contain an addition, even with values added to it."""
    keys = locate(settings, addition)
    return keys is not None and (addition.is_item or starts_same(value_at(settings, keys), addition.value))


def starts_same(entry: Any, other: Any) -> bool:
    """True if two entries start the same program, or two scripts are equal."""
    if isinstance(other, str):
        return bool(entry == other)
    return isinstance(entry, Mapping) and all(
        (entry.get(name) or []) == (other.get(name) or []) for name in ("command", "args")
    )


def starts_mnemos(entry: Any) -> bool:
    """True if a server entry starts Mnemos on any memory, also with Python or uvx."""
    words = list_words(entry)
    if "mcp" not in words[1:]:
        return False
    program = words[words.index("mcp", 1) - 1]
    return isinstance(program, str) and PurePath(program.replace("\\", "/")).stem == "mnemos"


def list_words(entry: Any) -> list[Any]:
    """Return the command of a server entry, given as a list or as program and arguments."""
    if not isinstance(entry, Mapping):
        return []
    command, args = entry.get("command"), entry.get("args")
    return [*(command if isinstance(command, list) else [command]), *(args if isinstance(args, list) else [])]


def add_setting(settings: Mapping[str, Any], addition: Addition, where: str) -> dict[str, Any]:
    """Return settings with an addition. InvalidInput for a container of another type."""
    changed: dict[str, Any] = dict(settings)
    inside: Any = changed
    for depth, name in enumerate(addition.containers, 1):
        is_list = addition.is_item and depth == len(addition.containers)
        kind: type[Any] = list if is_list else dict
        found = inside.get(name, kind())
        if not isinstance(found, kind):
            what = "a list" if is_list else "an object"
            raise InvalidInput(
                f"{where}: {'.'.join(addition.path[:depth])} is not {what}. Change that first."
            )
        inside[name] = kind(found)
        inside = inside[name]
    if addition.is_item:
        inside.append(addition.value)
    else:
        inside[addition.path[-1]] = addition.value
    return changed


def remove_setting(settings: Mapping[str, Any], keys: Keys) -> dict[str, Any]:
    changed: Any = dict(settings)
    inside = changed
    for key in keys[:-1]:
        inside[key] = inside = inside[key].copy()
    del inside[keys[-1]]
    return dict(changed)


def _commands(group: Any) -> list[Any]:
    """Return the command of each hook in a group; None for a hook without one."""
    if isinstance(group, Mapping) and isinstance(group.get("command"), str):
        # Cursor lists hooks without groups.
        return [group["command"]]
    hooks = group.get("hooks") if isinstance(group, Mapping) else None
    return (
        [hook.get("command") if isinstance(hook, Mapping) else None for hook in hooks or ()]
        if isinstance(hooks, list)
        else []
    )

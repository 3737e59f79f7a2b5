"""What is put into a program's settings, and how it is found there again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Protocol

import msgspec

Keys = tuple[str | int, ...]
"""Where something stands: names of members and numbers of items, from the outside in."""


class Addition(msgspec.Struct, frozen=True, kw_only=True):
    """Something that settings are to hold: a member of that path, or an item of the list of that path."""

    path: tuple[str, ...]
    value: Any
    is_item: bool = False

    @property
    def containers(self) -> tuple[str, ...]:
        """The objects, and for an item the list, that it stands in, without the outermost."""
        return self.path if self.is_item else self.path[:-1]


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """What else an addition changed, so that it can be taken back."""

    made: int = 0
    """How many of its containers were made for it, from the inside out."""
    empty: str | None = None
    """What stood between the brackets of the container that was there, when that was only blank."""
    fragment: str = ""
    """The text itself, of a format in which an addition is one piece."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """An addition that was made."""

    addition: Addition
    trace: Trace


class Format(Protocol):
    """A kind of settings file that can be changed in one place and stays as it is in all others.

    ``where`` names the file in errors. What cannot be read raises InvalidInput with the line and the column.
    """

    def value(self, text: str, where: str) -> dict[str, Any]:
        """What the text says; a blank one says nothing."""
        ...

    def add(self, text: str, addition: Addition, where: str) -> tuple[str, Trace]:
        """The text with an addition that it does not hold yet."""
        ...

    def entry(self, text: str, keys: Keys, where: str) -> dict[str, Any]:
        """The object that stands there, such that it can be added again; nothing for what is none."""
        ...

    def remove(self, text: str, keys: Keys, trace: Trace, where: str) -> str:
        """The text without what stands there, and without what was made for it if that is left empty."""
        ...


def located(value: Any, addition: Addition) -> Keys | None:
    """Where an addition stands in settings, changed or not; None when it does not."""
    inside = at(value, addition.containers)
    if not addition.is_item:
        last = addition.path[-1]
        return addition.path if isinstance(inside, Mapping) and last in inside else None
    if not isinstance(inside, list):
        return None
    for number, item in enumerate(inside):
        below = _commands(item)
        for place, command in enumerate(below):
            if command is not None and command in _commands(addition.value):
                # A person may have put another hook beside ours.
                within: Keys = ("hooks", place) if len(below) > 1 else ()
                return (*addition.path, number, *within)
    return None


def at(value: Any, keys: Keys) -> Any:
    """What stands there; None for nothing."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int):
            value = value[key]
        else:
            return None
    return value


def holds(value: Any, addition: Addition) -> bool:
    """Whether settings hold an addition, whatever a program or a person added to it."""
    keys = located(value, addition)
    if keys is None:
        return False
    return addition.is_item or starts_the_same(at(value, keys), addition.value)


def starts_the_same(present: Any, wanted: Any) -> bool:
    """Whether two entries start the same program with the same arguments."""
    if not isinstance(present, Mapping):
        return False
    own, other = (one.get("args") or [] for one in (present, wanted))
    return present.get("command") == wanted.get("command") and bool(own == other)


def starts_mnemos(present: Any) -> bool:
    """Whether an entry starts some Mnemos as a server."""
    if not isinstance(present, Mapping) or not isinstance(present.get("command"), str):
        return False
    given = present.get("args")
    arguments = given if isinstance(given, list) else []
    program = PurePath(present["command"].replace("\\", "/")).stem
    return "mcp" in arguments and (program == "mnemos" or arguments[:3] == ["-P", "-m", "mnemos"])


def option(present: Mapping[str, Any], name: str) -> str | None:
    """The value of an option in the arguments of an entry."""
    arguments = present.get("args") or []
    if name not in arguments[:-1]:
        return None
    return str(arguments[arguments.index(name) + 1])


def _commands(item: Any) -> list[Any]:
    """What each hook of a group runs; None for one that runs nothing."""
    hooks = item.get("hooks") if isinstance(item, Mapping) else None
    listed = hooks if isinstance(hooks, list) else []
    return [hook.get("command") if isinstance(hook, Mapping) else None for hook in listed]

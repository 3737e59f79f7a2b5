"""Checks of single settings, from every source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args

from mnemos.errors import InvalidInput
from mnemos.inputs import SERVERS, find_scheme
from mnemos.projects import find_project

_SPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*(/[A-Za-z0-9][A-Za-z0-9._@-]*)*")
_PLUG_IN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_PROMPT_PARTS = ("notebook", "facts", "tables")
_FEWEST_TOKENS = 50  # Smaller budgets have no room for a fact.
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})

Stater = Literal["user", "agent", "import", "tool"]
STATERS = get_args(Stater)
"""The sources of a fact: a person, a model, imported data or the output of a tool."""


class Durability(StrEnum):
    NORMAL = "normal"
    """An acknowledged write survives a killed process."""
    FULL = "full"
    """An acknowledged write survives a power cut."""


def check_database(name: str, value: Any) -> str:
    """Check a database URL. Errors don't quote it: it may hold a password."""
    text = value.strip() if isinstance(value, str) else None
    if text == "" or find_scheme(text) in SERVERS:
        return text or ""
    raise InvalidInput(f"{name} must be a URL such as postgresql://user:password@host:5432/database.")


def check_space(space: str) -> str:
    """Check a space: parts of letters, digits and ``. _ @ -``, joined by ``/``."""
    if not isinstance(space, str) or len(space) > 200 or not _SPACE.fullmatch(space):
        raise InvalidInput(
            f"{space!r} is not a valid space. Use letters, digits and . _ @ - in parts joined by /, "
            "such as team-a/alice."
        )
    return space


def check_switch(name: str, value: Any) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise InvalidInput(f"{name} must be true or false, not {value!r}.")


def check_positive(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number < 1e12:
        raise InvalidInput(f"{name} must be a number greater than zero, not {value!r}.")
    return number


def check_whole(name: str, value: Any) -> int:
    number = check_positive(name, value)
    if number != int(number):
        raise InvalidInput(f"{name} must be a whole number greater than zero, not {value!r}.")
    return int(number)


def check_tokens(name: str, value: Any) -> int:
    number = check_whole(name, value)
    if number < _FEWEST_TOKENS:
        raise InvalidInput(f"{name} must be at least {_FEWEST_TOKENS}, not {value!r}.")
    return number


def check_text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a non-empty string, not {value!r}.")
    return value


def check_notebook_files(name: str, value: Any) -> tuple[str, ...]:
    """Parse the files of the notebook: names, or ``on`` or ``off`` for all or none."""
    every = ("memory", "user")
    if isinstance(value, str):
        word = value.strip().lower()
        value = every if word in _TRUE else () if word in _FALSE else word.split(",")
    wanted = [str(one).strip() for one in value] if isinstance(value, Sequence) else [repr(value)]
    if not set(wanted) <= set(every):
        raise InvalidInput(f"{name} must be on, off, memory or user, not {value!r}.")
    return tuple(one for one in every if one in wanted)


def check_names(name: str, value: Any) -> tuple[str, ...]:
    """Parse names in a list, or in one string with commas."""
    several = value.split(",") if isinstance(value, str) else value
    if not isinstance(several, (list, tuple)) or not all(isinstance(one, str) for one in several):
        raise InvalidInput(f"{name} must be a list of names, not {value!r}.")
    return tuple(one.strip() for one in several if one.strip())


def check_provider(name: str, value: Any) -> str:
    """Check a provider's name; empty for the built-in one alone."""
    known = value.strip() if isinstance(value, str) else None
    if known in ("", "none", "builtin"):
        return ""
    if known is None or not _PLUG_IN.fullmatch(known):
        raise InvalidInput(f"{name} must contain only letters, digits and . _ -, not {value!r}.")
    return known


def check_backend(name: str, value: Any) -> str:
    """Check the name of a backend; empty to choose automatically."""
    known = value.strip().lower() if isinstance(value, str) else None
    if known is None or (known and not _PLUG_IN.fullmatch(known)):
        raise InvalidInput(f"{name} must be null, local, honcho or a plug-in, not {value!r}.")
    return known


def check_prompt_parts(name: str, value: Any) -> str:
    """Parse the parts of the system prompt, separated by commas; ``off`` for none."""
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    wanted = {part.strip() for part in text.lower().split(",")} - _FALSE
    if not wanted <= set(_PROMPT_PARTS):
        raise InvalidInput(
            f"{name} must be off, or one or more of {', '.join(_PROMPT_PARTS)}, not {value!r}."
        )
    return ",".join(part for part in _PROMPT_PARTS if part in wanted)


def check_project(name: str, value: Any) -> str:
    """Return the root of the repository that a folder is in; empty for none."""
    if not isinstance(value, str) or not value.isprintable():
        raise InvalidInput(f"{name} must be the path of a folder, not {value!r}.")
    return find_project(Path(value).expanduser().absolute()) or "" if value.strip() else ""


def check_stater(name: str, value: Any) -> str:
    if value not in STATERS:
        raise InvalidInput(f"{name} must be {', '.join(STATERS[:-1])} or {STATERS[-1]}, not {value!r}.")
    return str(value)


def check_depth(name: str, value: Any) -> str:
    if value not in ("normal", "deep"):
        raise InvalidInput(f"{name} must be normal or deep, not {value!r}.")
    return str(value)


def check_durability(name: str, value: Any) -> Durability:
    try:
        return Durability(value)
    except ValueError:
        raise InvalidInput(f"{name} must be normal or full, not {value!r}.") from None

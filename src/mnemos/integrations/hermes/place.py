"""Which memory serves which Hermes: ``mnemos.json`` in the home of Hermes names a home and a space.

Where it names none, it is the home that the ``mnemos`` command uses; profiles of Hermes, which are meant to
be apart, have a space each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemos import files
from mnemos.errors import InvalidInput
from mnemos.settings import Settings

FILE: Final = "mnemos.json"
KEYS: Final = ("home", "space")
DEFAULT_SPACE: Final = "default"
_PROFILES: Final = "profiles"


@dataclass(frozen=True, slots=True)
class Place:
    """A space of a home of Mnemos."""

    home: Path
    space: str


def place_of(hermes: Path) -> Place:
    """The memory of a home of Hermes. What is named there and makes no sense raises InvalidInput."""
    named = values(hermes)
    settings = Settings.load(named.get("home") or None, space=named.get("space") or None)
    if named.get("space") or settings.space != DEFAULT_SPACE:
        return Place(settings.home, settings.space)
    return Place(settings.home, profile(hermes) or DEFAULT_SPACE)


def profile(hermes: Path) -> str:
    """The profile that a home of Hermes belongs to; empty for the default one."""
    return hermes.name if hermes.parent.name == _PROFILES else ""


def values(hermes: Path) -> dict[str, str]:
    """What ``mnemos.json`` says; nothing where there is none."""
    said = files.read(hermes / FILE)
    try:
        found = json.loads(said) if said else {}
    except ValueError as exc:
        raise InvalidInput(f"{hermes / FILE} is no JSON: {exc}; repair or remove it") from exc
    if not isinstance(found, dict) or not all(isinstance(found.get(key, ""), str) for key in KEYS):
        raise InvalidInput(f"{hermes / FILE} should hold an object with the texts home and space")
    return {key: found[key] for key in KEYS if found.get(key)}


def keep(hermes: Path, given: Mapping[str, Any]) -> Path:
    """Change what ``mnemos.json`` says, except what is not given; where it is. Nonsense is not kept."""
    unknown = sorted(set(given) - set(KEYS))
    if unknown:
        raise InvalidInput(f"there is no field {unknown[0]!r}; known are {', '.join(KEYS)}")
    merged = values(hermes) | {key: str(value).strip() for key, value in given.items() if value is not None}
    Settings.load(merged.get("home") or None, space=merged.get("space") or None)
    files.replace(hermes / FILE, text(merged).encode(), keeps_mode=True)
    return hermes / FILE


def text(named: Mapping[str, str]) -> str:
    """What ``mnemos.json`` holds to say that."""
    return json.dumps(dict(named), indent=2, ensure_ascii=False) + "\n"

"""The Hermes that Mnemos runs in: its home, its contract and its memory.

``mnemos.json`` in the home of Hermes names a home and a space of Mnemos. Without it, the home of the
``mnemos`` command is used, and each profile of Hermes has its own space. The modules of Hermes only exist
inside it, so they are imported when they are needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from mnemos import files
from mnemos.errors import InvalidInput
from mnemos.hermes_folder import hermes_home
from mnemos.inputs import suggest
from mnemos.notebook.notes import Book
from mnemos.settings import Settings

FILE: Final = "mnemos.json"
KEYS: Final = ("home", "space")
DEFAULT_SPACE: Final = "default"
_PROFILES: Final = "profiles"
_SHOWS: Final = {Book.MEMORY: "memory_enabled", Book.USER: "user_profile_enabled"}


def find_contract() -> type | None:
    """Return Hermes' base class for providers; None outside of Hermes.

    Later versions may add methods to it, with defaults.
    """
    found = _import("agent.memory_provider", "MemoryProvider")
    return found if isinstance(found, type) else None


def find_home() -> Path:
    """Return the active profile's home. One process of Hermes may serve several."""
    get_home = _import("hermes_constants", "get_hermes_home")
    return hermes_home(get_home() if callable(get_home) else None)


def shows(book: Book) -> bool:
    """True if Hermes puts its own file of that name into the prompt (the default)."""
    load = _import("hermes_cli.config", "load_config")
    config = load() if callable(load) else {}
    memory = config.get("memory") if isinstance(config, Mapping) else None
    return not isinstance(memory, Mapping) or memory.get(_SHOWS[book], True) is not False


def _import(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None


# --- the memory that serves it --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A space in a home of Mnemos."""

    home: Path
    space: str


def find_place(hermes: Path) -> Place:
    """Return the memory for a home of Hermes. Invalid values raise InvalidInput."""
    named = read_place(hermes)
    settings = Settings.load(named.get("home") or None, space=named.get("space") or None)
    if named.get("space") or settings.space != DEFAULT_SPACE:
        return Place(settings.home, settings.space)
    return Place(settings.home, profile(hermes) or DEFAULT_SPACE)


def profile(hermes: Path) -> str:
    """Return the profile of a home of Hermes; empty for the default one."""
    return hermes.name if hermes.parent.name == _PROFILES else ""


def read_place(hermes: Path) -> dict[str, str]:
    """Return the values in ``mnemos.json``; empty without the file."""
    text = files.read(hermes / FILE)
    try:
        found = json.loads(text) if text else {}
    except ValueError as exc:
        raise InvalidInput(f"{hermes / FILE} is not valid JSON: {exc}. Repair or delete it.") from exc
    if not isinstance(found, dict) or not all(isinstance(found.get(key, ""), str) for key in KEYS):
        raise InvalidInput(f"{hermes / FILE} must be an object with the strings home and space.")
    return {key: found[key] for key in KEYS if found.get(key)}


def save_place(hermes: Path, given: Mapping[str, Any]) -> Path:
    """Change the values in ``mnemos.json`` that are not None, unless one is invalid."""
    unknown = sorted(set(given) - set(KEYS))
    if unknown:
        meant = suggest(unknown[0], KEYS)
        raise InvalidInput(f"There is no field {unknown[0]!r}.{meant} Fields: {', '.join(KEYS)}.")
    merged = read_place(hermes) | {
        key: str(value).strip() for key, value in given.items() if value is not None
    }
    Settings.load(merged.get("home") or None, space=merged.get("space") or None)
    files.replace(hermes / FILE, render_place(merged).encode(), keeps_mode=True)
    return hermes / FILE


def render_place(values: Mapping[str, str]) -> str:
    return json.dumps(dict(values), indent=2, ensure_ascii=False) + "\n"

"""What is asked of Hermes itself. Its modules are there only inside of it, and imported when needed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from mnemos.notebook.notes import Book
from mnemos.settings import hermes_home

_SHOWS: Final = {Book.MEMORY: "memory_enabled", Book.USER: "user_profile_enabled"}


def contract() -> type | None:
    """The class that Hermes wants providers to derive from; None outside of it.

    What later versions add to it has defaults there.
    """
    found = _of("agent.memory_provider", "MemoryProvider")
    return found if isinstance(found, type) else None


def home() -> Path:
    """The home of the profile that is active at this moment: one process of Hermes may serve several."""
    asked = _of("hermes_constants", "get_hermes_home")
    return hermes_home(asked() if callable(asked) else None)


def shows(book: Book) -> bool:
    """Whether Hermes puts its own file of that name into the prompt, as it does unless it is told not to."""
    load = _of("hermes_cli.config", "load_config")
    config = load() if callable(load) else {}
    memory = config.get("memory") if isinstance(config, Mapping) else None
    return not isinstance(memory, Mapping) or memory.get(_SHOWS[book], True) is not False


def _of(module: str, name: str) -> Any:
    try:
        return getattr(import_module(module), name, None)
    except ImportError:
        return None

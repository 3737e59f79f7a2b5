"""Which backend is used, and why."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mnemos.entries.contract import MemoryBackend
from mnemos.entries.null import NullBackend
from mnemos.errors import InvalidInput, Unavailable
from mnemos.settings import Settings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from mnemos.storage.base import Check

log = logging.getLogger("mnemos.entries")

GROUP = "mnemos.backends"
NULL, LOCAL, HONCHO = "null", "local", "honcho"
BUILT_IN = (NULL, LOCAL, HONCHO)

Maker = Callable[[], MemoryBackend]


@dataclass(frozen=True, slots=True)
class Choice:
    """A backend by name, whether somebody asked for it, and why it is this one."""

    name: str
    is_explicit: bool
    reason: str


def choose(settings: Settings) -> Choice:
    """What the settings ask for; where they ask for nothing, Honcho if it is set up, else nothing is kept."""
    if settings.backend:
        return Choice(settings.backend, is_explicit=True, reason=f"backend is set to {settings.backend}")
    if not settings.honcho.api_key:
        return Choice(NULL, is_explicit=False, reason="no backend is configured")
    if find_spec("honcho") is None:
        reason = "HONCHO_API_KEY is set, but honcho-ai is not installed (pip install 'mnemos[honcho]')"
        return Choice(NULL, is_explicit=False, reason=reason)
    return Choice(HONCHO, is_explicit=False, reason="HONCHO_API_KEY is set")


def make(settings: Settings, local: Maker) -> MemoryBackend:
    """The backend that the settings choose. One that was asked for and cannot be used raises Unavailable, or
    InvalidInput when there is none of that name; nothing is ever put in its place."""
    choice = choose(settings)
    if choice.name == NULL:
        if not choice.is_explicit and settings.honcho.api_key:
            log.warning("nothing is kept about users: %s", choice.reason)
        elif not choice.is_explicit:
            log.info("nothing is kept about users: %s", choice.reason)
        return NullBackend(choice.reason)
    if choice.name == LOCAL:
        return local()
    return _usable(choice.name, honcho(settings) if choice.name == HONCHO else _plug_in(choice.name))


def check(settings: Settings) -> Check:
    """What the doctor says of the choice."""
    # Who has no backend needs nothing of what storage needs.
    from mnemos.storage.base import failed, passed

    choice = choose(settings)
    try:
        # Only those that nobody must be asked for: the local one is the database that is being looked at.
        make(settings, NullBackend)
    except (InvalidInput, Unavailable) as exc:
        return failed("backend", str(exc))
    is_missing = choice.name == NULL and not choice.is_explicit and bool(settings.honcho.api_key)
    told = f"{choice.name}: {choice.reason}"
    return failed("backend", told) if is_missing else passed("backend", told)


def honcho(settings: Settings) -> MemoryBackend:
    # Reaches for httpx and pydantic when it is first asked, not here.
    from mnemos.entries.honcho import HonchoBackend

    at = settings.honcho
    return HonchoBackend(at.api_key, at.app_id, at.base_url, timeout=at.timeout, redact=settings.redact)


def names() -> list[str]:
    """Every backend that can be asked for."""
    return sorted({*BUILT_IN, *(entry.name for entry in _entry_points())})


def _plug_in(name: str) -> MemoryBackend:
    declared = {entry.name: entry for entry in _entry_points()}
    if name not in declared:
        raise InvalidInput(f"there is no backend {name!r}; known are {', '.join(names())}")
    try:
        made = declared[name].load()()
    except Exception as exc:
        raise Unavailable(f"the backend {name!r} cannot be made: {type(exc).__name__}: {exc}") from exc
    if not isinstance(made, MemoryBackend):
        raise InvalidInput(f"what {name!r} makes is a {type(made).__name__} and no MemoryBackend")
    return made


def _usable(name: str, backend: MemoryBackend) -> MemoryBackend:
    if not backend.is_available():
        why = getattr(backend, "problem", "") or "it says that it is not available"
        raise Unavailable(f"the backend {name!r} was asked for and cannot be used: {why}")
    return backend


def _entry_points() -> Iterable[EntryPoint]:
    # importlib.metadata: too slow for those who need none of it.
    from importlib.metadata import entry_points

    return [entry for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN]

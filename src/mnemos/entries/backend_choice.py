"""The choice of a backend by the settings, with its reason."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from mnemos.entries.backend import MemoryBackend, NullBackend
from mnemos.entries.plug_in import guard
from mnemos.errors import InvalidInput, Unavailable
from mnemos.inputs import suggest
from mnemos.settings import Settings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from mnemos.storage.base import Check

log = logging.getLogger("mnemos.entries")

GROUP = "mnemos.backends"
NULL, LOCAL, HONCHO = "null", "local", "honcho"
BUILT_IN = (NULL, LOCAL, HONCHO)


@dataclass(frozen=True, slots=True)
class BackendChoice:
    name: str
    reason: str
    is_explicit: bool = False
    is_fallback: bool = False
    """True if Honcho was configured but can't be used."""


def choose_backend(settings: Settings) -> BackendChoice:
    """Choose the configured backend, else Honcho if its key and SDK are there, else null."""
    if settings.backend:
        return BackendChoice(settings.backend, f"backend is set to {settings.backend}", is_explicit=True)
    if not settings.honcho.api_key:
        return BackendChoice(NULL, "no backend is configured")
    if find_spec("honcho") is None:
        reason = "HONCHO_API_KEY is set, but honcho-ai is not installed (pip install 'mnemos[honcho]')"
        return BackendChoice(NULL, reason, is_fallback=True)
    return BackendChoice(HONCHO, "HONCHO_API_KEY is set")


def make_backend(settings: Settings, make_local: Callable[[], MemoryBackend]) -> MemoryBackend:
    """Make the backend that the settings select.

    Raises Unavailable if the configured backend can't be used, and InvalidInput if the name is unknown. There
    is no fallback to another backend.
    """
    choice = choose_backend(settings)
    if choice.name == NULL:
        if not choice.is_explicit:
            level = logging.WARNING if choice.is_fallback else logging.INFO
            log.log(level, "nothing is kept about users: %s", choice.reason)
        return NullBackend(choice.reason)
    if choice.name == LOCAL:
        return make_local()
    backend = make_honcho(settings) if choice.name == HONCHO else load_plug_in(choice.name)
    if not backend.is_available():
        why = getattr(backend, "problem", "") or "it reports that it is not available"
        raise Unavailable(f"The configured backend {choice.name!r} can't be used: {why}.")
    return backend


def check_choice(settings: Settings) -> Check:
    """Return the doctor's check of the backend."""
    # Imported here, because a caller without a backend needs nothing that storage loads.
    from mnemos.storage.base import report_ok, report_problem

    choice = choose_backend(settings)
    try:
        # The local backend is the database that the doctor examines, so it is not opened here.
        make_backend(settings, NullBackend)
    except (InvalidInput, Unavailable) as exc:
        return report_problem("backend", str(exc))
    report = report_problem if choice.is_fallback else report_ok
    return report("backend", f"{choice.name}: {choice.reason}")


def make_honcho(settings: Settings) -> MemoryBackend:
    # Loads httpx and pydantic on the first request, not here.
    from mnemos.entries.honcho import HonchoBackend

    at = settings.honcho
    return HonchoBackend(at.api_key, at.app_id, at.base_url, timeout=at.timeout, redact=settings.redact)


def list_plug_ins() -> list[str]:
    """Return the sorted names of the backends that other packages install."""
    return sorted({entry.name for entry in _entry_points()})


def load_plug_in(name: str) -> MemoryBackend:
    """Make another package's backend, guarded to raise only our errors. Fails as ``make_backend`` does."""
    declared = {entry.name: entry for entry in _entry_points()}
    if name not in declared:
        known = sorted({*BUILT_IN, *declared})
        raise InvalidInput(f"There is no backend {name!r}.{suggest(name, known)} Use {', '.join(known)}.")
    try:
        made = declared[name].load()()
    except Exception as exc:
        raise Unavailable(f"The backend {name!r} can't be created: {type(exc).__name__}: {exc}") from exc
    if not isinstance(made, MemoryBackend):
        raise InvalidInput(f"The backend {name!r} is a {type(made).__name__}, not a MemoryBackend.")
    return guard(made, name)


def _entry_points() -> Iterable[EntryPoint]:
    # importlib.metadata takes 45 ms to import, and only plug-ins need it.
    from importlib.metadata import entry_points

    return [entry for entry in entry_points(group=GROUP) if entry.name not in BUILT_IN]

"""Which agent programs are recorded on this machine, how, and when each was last seen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.errors import MnemosError
from mnemos.hermes_folder import hermes_home
from mnemos.integrations.clients import client_connection
from mnemos.integrations.clients.catalogue import CLAUDE_CODE, CLIENTS
from mnemos.integrations.clients.machine import Machine, build_launch, find_own_program
from mnemos.integrations.hermes import plugin
from mnemos.integrations.watch.watch_lock import find_running
from mnemos.transfer import agent_places

if TYPE_CHECKING:
    from mnemos.memory import Memory

# Programs that can't be read, for a person who connects one.
_UNREADABLE: Final = {
    "cursor": "Its conversations are not recorded, because Cursor's format is not public. The memory keeps "
    "what its model stores with the tools.",
    "vscode": "Conversations of Copilot Chat, Cline, Roo Code and Continue are recorded while `mnemos watch` "
    "runs: `mnemos watch install`.",
    "claude-desktop": "Its conversations are not recorded, because they are not on this machine. "
    "`mnemos import claude EXPORT` imports an export of Claude.ai.",
}


@dataclass(frozen=True, slots=True)
class Recording:
    """A program that is on this machine or has been recorded; ``how`` is empty if it is not recorded now."""

    program: str
    title: str
    how: str
    last_seen: float | None


def list_recordings(memory: Memory, env: Mapping[str, str], titles: Mapping[str, str]) -> list[Recording]:
    """Return the programs with conversations on this machine or in this memory, in a fixed order."""
    settings = memory.settings
    running = find_running(settings.home)
    watched = running.programs if running is not None and running.space == settings.space else ()
    found = []
    for kind in agent_places.KINDS:
        last_seen = _find_last(memory, kind)
        is_here = any(path.exists() for path in agent_places.default_places(kind, settings, env))
        if is_here or last_seen is not None:
            how = "hooks" if kind == CLAUDE_CODE and has_hooks(memory, env) else ""
            how = "plug-in" if kind == "hermes" and plugin.is_installed(hermes_home(env=env)) else how
            found.append(
                Recording(kind, titles[kind], how or ("watch" if kind in watched else ""), last_seen)
            )
    return found


def describe_recording(memory: Memory, client: str, *, hooks: bool) -> str:
    """Say truthfully what is recorded of a program that was connected; empty if there is nothing to say."""
    if client in _UNREADABLE:
        return _UNREADABLE[client]
    if client == CLAUDE_CODE and hooks:
        return "Its conversations are recorded by the hooks."
    if client not in agent_places.KINDS:
        return ""
    running = find_running(memory.settings.home)
    if running is not None and client in running.programs and running.space == memory.settings.space:
        return "Its conversations are recorded by `mnemos watch`, which is running."
    return (
        "Its conversations are not recorded yet. `mnemos watch install` records them, now and at every login."
    )


def has_hooks(memory: Memory, env: Mapping[str, str]) -> bool:
    """True if Claude Code runs our hooks."""
    try:
        here, settings = Machine.of(env, sys.platform), memory.settings
        program = find_own_program(sys.argv, sys.executable, sys.platform)
        launch = build_launch(here, program, settings.home, settings.space)
        request = client_connection.Request(CLIENTS[CLAUDE_CODE], launch, settings.home, settings.space)
        return client_connection.has_hooks(request, here)
    except (MnemosError, OSError):
        # Settings that can't be read are a matter of `mnemos connect`.
        return False


def _find_last(memory: Memory, kind: str) -> float | None:
    if not memory.home.exists:
        return None
    newest = memory.sessions.search_sessions(source=kind, limit=1)
    last = memory.sessions.get_messages(newest[0]["id"], last=1) if newest else []
    return float(last[0]["timestamp"]) if last else None

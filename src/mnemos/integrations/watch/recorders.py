"""Which agent programs are recorded on this machine, how, and when last."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.errors import MnemosError
from mnemos.hermes_folder import hermes_home
from mnemos.integrations.clients import client_connection
from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.integrations.clients.machine import Machine, build_launch, find_own_program
from mnemos.integrations.hermes import plugin
from mnemos.integrations.watch.watch_lock import find_running
from mnemos.transfer import agent_places

if TYPE_CHECKING:
    from mnemos.memory import Memory

# Programs whose files hold a client's conversations, if that is not the client itself.
_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "vscode": ("copilot", "cline", "roo", "continue"),
    "claude-desktop": (),
}
_IN_VSCODE: Final = "Conversations of Copilot Chat, Cline, Roo Code and Continue"
_ELSEWHERE: Final = (
    "Its conversations are not recorded, because they are not on this machine. "
    "`mnemos import claude EXPORT` imports a Claude.ai export."
)


@dataclass(frozen=True, slots=True)
class Recording:
    """A program that is connected, on this machine, or was recorded."""

    program: str
    title: str
    connected: bool
    """True if it has the tools of some memory, not necessarily this one."""
    how: str
    """Recorded by hooks, plug-in or watch; untrusted if hooks wait for a person; or empty."""
    last_seen: float | None
    """The time of its newest message."""
    can_be: bool = True
    """True if it can be recorded on this machine."""


def list_recordings(memory: Memory, env: Mapping[str, str], titles: Mapping[str, str]) -> list[Recording]:
    """List programs that are connected, have conversations here or were recorded."""
    settings = memory.settings
    watched = _find_watched(memory)
    seen = memory.storage.read(lambda tx: tx.sessions.last_seen()) if memory.home.exists else {}
    found = []
    for kind in dict.fromkeys((*agent_places.KINDS, *CLIENTS)):
        connected, how = _find_recorder(memory, kind, env)
        is_here = any(path.exists() for path in agent_places.find_default_places(kind, settings, env))
        if is_here or connected or kind in seen:
            title = titles[kind] if kind in titles else CLIENTS[kind].name
            if how and not is_trusted(kind, env):
                how = "" if kind in watched else "untrusted"
            how = how or ("watch" if kind in watched else "")
            can_be = kind in agent_places.KINDS
            found.append(Recording(kind, title, connected, how, seen.get(kind), can_be))
    return found


def describe_recording(memory: Memory, client: str, *, hooks: bool) -> str:
    """Say what is recorded of a connected program; empty for nothing to say.

    ``hooks``: it has our hooks or our plug-in.
    """
    recorder = CLIENTS[client].recorder
    if recorder is not None and hooks:
        condition = "" if is_trusted(client) else f" {recorder.condition}"
        return f"Its conversations are recorded by the {recorder.name}{condition}. {recorder.caveat}".strip()
    kinds = _KINDS.get(client, (client,))
    if not kinds:
        return _ELSEWHERE
    whose = "Its conversations" if kinds == (client,) else _IN_VSCODE
    if set(kinds) <= set(_find_watched(memory)):
        return f"{whose} are recorded by `mnemos watch`, which is running."
    return f"{whose} are not recorded yet. `mnemos watch install` records them, now and at every login."


def needs_watch(memory: Memory, client: str, *, hooks: bool) -> bool:
    """True if only the watch would record a program, and it is not running."""
    kinds = _KINDS.get(client, (client,))
    return bool(kinds) and not hooks and not set(kinds) <= set(_find_watched(memory))


def _find_watched(memory: Memory) -> tuple[str, ...]:
    running = find_running(memory.settings.home, memory.settings.space)
    return () if running is None else running.programs


def is_trusted(client: str, env: Mapping[str, str] = os.environ) -> bool:
    """True unless a person has to trust our hooks first, which Codex records."""
    if client != "codex":
        return True
    try:
        settings = CLIENTS[client].file(Machine.of(env, sys.platform))
        hooks = settings.with_name("hooks.json")
        groups = json.loads(hooks.read_bytes())["hooks"]["Stop"]
        state = tomllib.loads(settings.read_text())["hooks"]["state"]
        ours = [
            f"{hooks}:stop:{number}:{place}"
            for number, group in enumerate(groups)
            for place, hook in enumerate(group["hooks"])
            if "hook stop --agent codex" in hook["command"]
        ]
        return any("trusted_hash" in state.get(key, ()) for key in ours)
    except (MnemosError, OSError, ValueError, LookupError, TypeError, AttributeError):
        # The settings don't say, or not in a known way.
        return False


def _find_recorder(memory: Memory, client: str, env: Mapping[str, str]) -> tuple[bool, str]:
    """Return True if a program is connected, and what records it without the watch."""
    if client == "hermes":
        installed = plugin.is_installed(hermes_home(env=env))
        return installed, "plug-in" if installed else ""
    if client not in CLIENTS:
        return False, ""
    try:
        here, settings = Machine.of(env, sys.platform), memory.settings
        program = find_own_program(sys.argv, sys.executable, sys.platform)
        launch = build_launch(here, program, settings.home, settings.space)
        request = client_connection.Request(CLIENTS[client], launch, settings.home, settings.space)
        recorder = CLIENTS[client].recorder
        runs = recorder is not None and client_connection.has_hooks(request, here)
        return client_connection.is_connected(request, here), recorder.name if recorder and runs else ""
    except (MnemosError, OSError):
        # `mnemos connect` reports settings that can't be read.
        return False, ""

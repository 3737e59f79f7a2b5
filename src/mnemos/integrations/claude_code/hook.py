"""``mnemos hook NAME``: what Claude Code runs when something happens.

Memory must never stand in the way of the agent: whatever fails, the process ends with 0, prints nothing, and
notes the kind of the failure in the log of the home.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from mnemos.integrations.claude_code import events, failures
from mnemos.integrations.providers.conversation import is_trivial
from mnemos.settings import Settings, home_folder

# Short, because somebody waits. What could not be done goes to the background process, which has time.
BUSY_SECONDS: Final = 0.25

Later = Callable[[Settings, events.Event], None]
"""Lets a process in the background do the rest of an event."""


@dataclass(frozen=True, slots=True)
class Call:
    """What stands on the command line."""

    name: str
    home: str | None = None
    space: str | None = None


def main(arguments: Sequence[str]) -> None:
    """Run the hook of this process and end the process."""
    # One process for one event: nothing becomes garbage worth looking for.
    gc.disable()
    try:
        _be_silent()
        called = call_of(arguments)
        if called is not None:
            run(called, sys.stdin.fileno(), sys.stdout)
    except BaseException:  # noqa: BLE001, S110 - an interrupt too must not look like the failure of a hook
        pass
    # Without taking the interpreter apart: nothing is open that the kernel could not close.
    os._exit(0)


def run(called: Call, descriptor: int, out: IO[str], later: Later | None = None) -> None:
    """Do what an event asks for; its answer goes to ``out``. Nothing is raised."""
    home: Path | None = None
    try:
        home = home_folder(called.home)
        settings = Settings.load(home, space=called.space, busy_seconds=BUSY_SECONDS, source="claude-code")
        event = events.read(called.name, descriptor)
        if not settings.disabled:
            text = answer(settings, event, later or _to_background)
            if text:
                out.write(_output(event, text))
                out.flush()
    except Exception as exc:  # noqa: BLE001 - the outermost loop of a face
        if home is not None:
            failures.note(home, called.name if called.name in events.NAMES else "unknown", exc)


def answer(settings: Settings, event: events.Event, later: Later) -> str:
    """What an event adds to the conversation; mostly nothing. Only what it needs is imported."""
    match event.name:
        case events.SESSION_START:
            from mnemos.integrations.claude_code.starting import begun

            return begun(settings, event)
        case events.USER_PROMPT if is_trivial(event.prompt.strip()):
            return ""
        case events.USER_PROMPT:
            from mnemos.integrations.claude_code.recalling import recalled

            return recalled(settings, event)
        case events.STOP | events.SESSION_END | events.PRE_COMPACT:
            from mnemos.integrations.claude_code.recording import record

            if not record(settings, event):
                later(settings, event)
            elif event.name == events.SESSION_END:
                _go_on(settings)
            return ""
        case _:
            raise ValueError("there is no hook of that name")


def call_of(arguments: Sequence[str]) -> Call | None:
    """What is asked for; None when it cannot be understood."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        name, given, value = word.partition("=")
        if name not in ("--home", "--space"):
            words.append(word)
            continue
        found = value if given else next(rest, None)
        if not found:
            return None
        options[name] = found
    return Call(words[0], options.get("--home"), options.get("--space")) if len(words) == 1 else None


def _output(event: events.Event, text: str) -> str:
    import json

    name = "SessionStart" if event.name == events.SESSION_START else "UserPromptSubmit"
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}) + "\n"


def _to_background(settings: Settings, event: events.Event) -> None:
    from mnemos.integrations.claude_code import rest

    rest.put(settings, event)
    rest.begin(settings)


def _go_on(settings: Settings) -> None:
    """Let be done what a process in the background, killed perhaps, left."""
    from mnemos.integrations.claude_code import rest

    if rest.is_waiting(settings):
        rest.begin(settings)


def _be_silent() -> None:
    """Nothing that anybody writes to standard error reaches the agent."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)

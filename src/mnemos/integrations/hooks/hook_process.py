"""``mnemos hook NAME``: the command that an agent program runs at an event.

Memory must never get in the agent's way. If anything fails, the process exits with 0, prints nothing, and
writes the type of the error to the log of the home.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from mnemos.integrations.hooks import events, hook_log
from mnemos.integrations.small_talk import is_trivial
from mnemos.settings import Settings, home_folder

# Short, because somebody waits. The background process does the rest.
BUSY_SECONDS: Final = 0.25

Later = Callable[[Settings, events.Event], None]
"""Hands the rest of an event to a background process."""


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of the command."""

    name: str
    agent: str = events.CLAUDE_CODE
    home: str | None = None
    space: str | None = None


def main(arguments: Sequence[str]) -> None:
    """Run a hook. Never raises."""
    call = parse_arguments(arguments)
    if call is not None:
        run(call, sys.stdin.fileno(), sys.stdout)


def run(call: Call, descriptor: int, out: IO[str], later: Later | None = None) -> None:
    """Handle an event and write the answer to ``out``. Never raises."""
    home: Path | None = None
    # Used until the settings are read, which may fail.
    is_off = bool(os.environ.get("MNEMOS_DISABLED"))
    try:
        home = home_folder(call.home)
        settings = Settings.load(home, space=call.space, busy_seconds=BUSY_SECONDS, source=call.agent)
        is_off = settings.disabled
        event = events.read(call.name, descriptor, call.agent)
        if not is_off:
            text = answer(settings, event, later or _to_background)
            if text:
                out.write(_output(event, text))
                out.flush()
    except Exception as exc:  # noqa: BLE001 - the outermost loop of a face
        if home is not None and not is_off:
            hook_log.note(home, call.name if call.name in events.NAMES else "unknown", exc)


def answer(settings: Settings, event: events.Event, later: Later) -> str:
    """Return what an event adds to the conversation, usually nothing."""
    match event.name:
        case events.SESSION_START:
            from mnemos.integrations.hooks.session_start import build_context

            return build_context(settings, event)
        case events.USER_PROMPT if is_trivial(event.prompt.strip()):
            return ""
        case events.USER_PROMPT:
            from mnemos.integrations.hooks.prompt_context import recall_for_prompt

            return recall_for_prompt(settings, event)
        case name if name in events.RECORDING:
            from mnemos.integrations.hooks.transcript_import import record

            if not record(settings, event):
                later(settings, event)
            elif event.name == events.SESSION_END:
                _resume_background(settings)
            return ""
        case _:
            raise ValueError("unknown hook")


def parse_arguments(arguments: Sequence[str]) -> Call | None:
    """Parse the command line; None if it is invalid."""
    words: list[str] = []
    options: dict[str, str] = {}
    rest = iter(arguments)
    for word in rest:
        name, given, value = word.partition("=")
        if name not in ("--home", "--space", "--agent"):
            words.append(word)
            continue
        found = value if given else next(rest, None)
        if not found:
            return None
        options[name] = found
    agent = options.get("--agent", events.CLAUDE_CODE)
    if len(words) != 1 or agent not in events.AGENTS:
        return None
    return Call(words[0], agent, options.get("--home"), options.get("--space"))


def _output(event: events.Event, text: str) -> str:
    import json

    answer: dict[str, object] = {"additional_context": text}
    if event.agent != "cursor":
        name = "SessionStart" if event.name == events.SESSION_START else "UserPromptSubmit"
        specific = {"hookEventName": event.own_name or name, "additionalContext": text}
        answer = {"hookSpecificOutput": specific}
    return json.dumps(answer) + "\n"


def _to_background(settings: Settings, event: events.Event) -> None:
    from mnemos.integrations.hooks import background

    background.put(settings, event)
    background.start(settings)


def _resume_background(settings: Settings) -> None:
    """Finish what an earlier background process left, for example when killed."""
    from mnemos.integrations.hooks import background

    if background.is_waiting(settings):
        background.start(settings)

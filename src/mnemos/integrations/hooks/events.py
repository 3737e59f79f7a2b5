"""Events of agent programs: a JSON object on a hook's standard input."""

from __future__ import annotations

import json
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CLAUDE_CODE: Final = "claude-code"
AGENTS: Final = (CLAUDE_CODE, "codex", "gemini", "qwen", "opencode", "cursor")
"""Programs that run hooks, or a plug-in that does."""

SESSION_START: Final = "session-start"
USER_PROMPT: Final = "user-prompt"
PRE_COMPACT: Final = "pre-compact"
STOP: Final = "stop"
SESSION_END: Final = "session-end"
RECORDING: Final = (PRE_COMPACT, STOP, SESSION_END)
"""Events that store something and answer nothing."""
NAMES: Final = (SESSION_START, USER_PROMPT, *RECORDING)

AFTER_COMPACTION: Final = "compact"
"""The ``source`` of a session that starts again after a compaction."""

# A prompt with a pasted file fits. Anything longer is read from the pipe and dropped.
MOST_BYTES: Final = 4_000_000
_CHUNK: Final = 1 << 16
# After this many seconds without data, no more is expected.
_SILENCE_SECONDS: Final = 2.0
_READ_SECONDS: Final = 5.0
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Event:
    """An event; fields that the program did not send are empty."""

    name: str
    agent: str = CLAUDE_CODE
    own_name: str = ""
    """The program's name for the event."""
    session_id: str = ""
    transcript: Path | None = None
    source: str = ""
    """Of a session start: startup, resume, clear or compact."""
    prompt: str = ""
    reason: str = ""
    """Of a session end."""
    cwd: str = ""
    """The folder that the program works in."""

    def as_record(self) -> dict[str, str]:
        """Return the event without its prompt, in the form that ``parse_event`` reads."""
        return {
            "agent": self.agent,
            "session_id": self.session_id,
            "transcript_path": "" if self.transcript is None else str(self.transcript),
            "source": self.source,
            "reason": self.reason,
            "cwd": self.cwd,
        }


def parse_event(name: str, document: Any, agent: str = CLAUDE_CODE) -> Event:
    """Build an event from a JSON document. Fields of wrong types stay empty."""
    given = document if isinstance(document, dict) else {}
    transcript = _text(given, "transcript_path")
    return Event(
        name,
        agent,
        own_name=_text(given, "hook_event_name", _LONGEST_NAME),
        session_id=_text(given, "session_id", _LONGEST_NAME)
        or _text(given, "conversation_id", _LONGEST_NAME),
        transcript=Path(transcript).expanduser() if transcript and "\0" not in transcript else None,
        source=_text(given, "source", _LONGEST_NAME),
        prompt=_text(given, "prompt"),
        reason=_text(given, "reason", _LONGEST_NAME),
        cwd=_text(given, "cwd"),
    )


def read(name: str, descriptor: int, agent: str = CLAUDE_CODE) -> Event:
    """Read an event from a pipe. Raises ValueError if it is not JSON."""
    data = _read_all(descriptor)
    return parse_event(name, json.loads(data), agent) if data.strip() else Event(name, agent)


def _text(given: dict[str, Any], key: str, most: int = MOST_BYTES) -> str:
    value = given.get(key)
    # A lone surrogate can't be stored or be part of a file name.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and len(value) <= most else ""


def _read_all(descriptor: int) -> bytes:
    """Return the data up to a limit, but read all, so that the writer does not fail."""
    kept = bytearray()
    until = time.monotonic() + _READ_SECONDS
    while time.monotonic() < until:
        ready, _, _ = select.select([descriptor], [], [], _SILENCE_SECONDS)
        part = os.read(descriptor, _CHUNK) if ready else b""
        if not part:
            break
        if len(kept) < MOST_BYTES:
            kept += part
    return bytes(kept[:MOST_BYTES])

"""What Claude Code tells a hook: a JSON object on standard input."""

from __future__ import annotations

import json
import os
import select
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

SESSION_START: Final = "session-start"
USER_PROMPT: Final = "user-prompt"
PRE_COMPACT: Final = "pre-compact"
STOP: Final = "stop"
SESSION_END: Final = "session-end"
NAMES: Final = (SESSION_START, USER_PROMPT, PRE_COMPACT, STOP, SESSION_END)

AFTER_COMPACTION: Final = "compact"
"""Where a session begins, when that is not where it began: its ``source``."""

# A prompt with a file pasted into it fits; what is longer is taken from the pipe and left unread.
MOST_BYTES: Final = 4_000_000
_A_READ: Final = 1 << 16
# How long nothing may come before nobody is expected to write any more.
_SILENCE_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 5.0
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True)
class Event:
    """What happened; empty where the program did not say."""

    name: str
    session_id: str = ""
    transcript: Path | None = None
    source: str = ""
    """Of a beginning: startup, resume, clear or compact."""
    prompt: str = ""
    reason: str = ""
    """Of an end."""

    def told(self) -> dict[str, str]:
        """The event without what was typed, as ``event_of`` reads it."""
        return {
            "session_id": self.session_id,
            "transcript_path": "" if self.transcript is None else str(self.transcript),
            "source": self.source,
            "reason": self.reason,
        }


def event_of(name: str, said: Any) -> Event:
    """The event in a JSON document; what has another form than expected is left empty."""
    given = said if isinstance(said, dict) else {}
    transcript = _text(given, "transcript_path")
    return Event(
        name,
        session_id=_text(given, "session_id", _LONGEST_NAME),
        transcript=Path(transcript).expanduser() if transcript and "\0" not in transcript else None,
        source=_text(given, "source", _LONGEST_NAME),
        prompt=_text(given, "prompt"),
        reason=_text(given, "reason", _LONGEST_NAME),
    )


def read(name: str, descriptor: int) -> Event:
    """The event that is written to a pipe. One that is no JSON raises ValueError."""
    data = _all_of(descriptor)
    return event_of(name, json.loads(data)) if data.strip() else Event(name)


def _text(given: dict[str, Any], key: str, most: int = MOST_BYTES) -> str:
    value = given.get(key)
    # A lone surrogate can neither be stored nor name a file.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) and len(value) <= most else ""


def _all_of(descriptor: int) -> bytes:
    """Everything that is written, up to a limit; the rest is read too, so that the writer is not cut off."""
    kept = bytearray()
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        ready, _, _ = select.select([descriptor], [], [], _SILENCE_SECONDS)
        part = os.read(descriptor, _A_READ) if ready else b""
        if not part:
            break
        if len(kept) < MOST_BYTES:
            kept += part
    return bytes(kept[:MOST_BYTES])

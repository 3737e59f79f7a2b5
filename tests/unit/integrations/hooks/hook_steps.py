"""Hook events as Claude Code sends them, run in this process or in one of their own."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mnemos
from mnemos.integrations.hooks import background, hook_process
from mnemos.integrations.hooks.events import CLAUDE_CODE, Event
from mnemos.settings import Settings

DATA = Path(__file__).parents[3] / "data" / "hooks"


@dataclass
class Answer:
    text: str
    """The text added to the conversation."""
    name: str = ""


@dataclass
class Hooks:
    """Hooks of one home, run in this process; what they leave for later is done at once, and noted."""

    home: Path
    left: list[str] = field(default_factory=list)

    def run(
        self,
        name: str,
        said: Any = None,
        *,
        raw: bytes | None = None,
        agent: str = CLAUDE_CODE,
    ) -> Answer:
        out = io.StringIO()
        with piped(json.dumps(said or {}).encode() if raw is None else raw) as descriptor:
            hook_process.run(hook_process.Call(name, agent, str(self.home)), descriptor, out, self._later)
        return answer_of(out.getvalue())

    def _later(self, settings: Settings, event: Event) -> None:
        self.left.append(event.name)
        background.put(settings, event)
        background.run_tasks(settings.home)

    @property
    def log(self) -> str:
        file = self.home / "logs" / "hooks.log"
        return file.read_text() if file.exists() else ""


def answer_of(output: str) -> Answer:
    if not output:
        return Answer("")
    said = json.loads(output)["hookSpecificOutput"]
    return Answer(said["additionalContext"], said["hookEventName"])


class piped:
    """A pipe with this in it."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __enter__(self) -> int:
        # A file, because the room in a pipe is limited.
        self._file = tempfile.TemporaryFile()
        self._file.write(self._data)
        self._file.seek(0)
        return self._file.fileno()

    def __exit__(self, *_: object) -> None:
        self._file.close()


def process(name: str, said: Any, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A hook as Claude Code runs it."""
    return subprocess.run(
        [sys.executable, "-m", "mnemos", "hook", name, *options],
        input=said if isinstance(said, str) else json.dumps(said),
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
    )


def stored(home: Path, session_id: str, messages: int, space: str = "default") -> bool:
    """Wait until a session has these messages: on a busy machine a process in the background stores them."""
    until = time.monotonic() + 60
    with mnemos.open(home, space=space) as memory:
        while memory.sessions.message_count(session_id) < messages and time.monotonic() < until:
            time.sleep(0.02)
        return memory.sessions.message_count(session_id) == messages


def line(session_id: str, key: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    """A line of a transcript."""
    message: dict[str, Any] = {"role": role, "content": text}
    if role == "assistant":
        message = {"role": role, "id": key, "content": [{"type": "text", "text": text}]}
    return {
        "type": role,
        "uuid": key,
        "sessionId": session_id,
        "timestamp": "2026-03-02T09:00:00.000Z",
        "message": message,
        **more,
    }


def write(transcript: Path, *lines: dict[str, Any]) -> Path:
    """Add lines to a transcript."""
    transcript.parent.mkdir(parents=True, exist_ok=True)
    with transcript.open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in lines)
    return transcript


def told(transcript: Path, **more: Any) -> dict[str, Any]:
    return {"session_id": transcript.stem, "transcript_path": str(transcript), **more}


def replayed(hooks: Hooks, folder: Path) -> Iterator[tuple[dict[str, Any], Answer]]:
    """The events of a file one after another, each with its answer; transcripts grow before them."""
    for event in map(json.loads, (DATA / "session.jsonl").read_text().splitlines()):
        transcript = folder / f"{event['input']['session_id']}.jsonl"
        write(transcript, *event["said"])
        yield event, hooks.run(event["event"], {**event["input"], "transcript_path": str(transcript)})

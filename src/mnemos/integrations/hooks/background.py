"""The background process that finishes what a hook had no time for.

A small file in ``<home>/hooks`` names each task, without any text of the conversation, and is deleted when
the task is done. If the process is killed, the next one finds the file.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos import detached
from mnemos.errors import Busy, DiskFull
from mnemos.files import lock, read_bounded, replace
from mnemos.integrations.hooks import hook_log
from mnemos.integrations.hooks.events import (
    AGENTS,
    CLAUDE_CODE,
    MOST_BYTES,
    NAMES,
    PRE_COMPACT,
    SESSION_END,
    Event,
    parse_event,
)
from mnemos.settings import Settings

if TYPE_CHECKING:
    import subprocess

_FOLDER: Final = "hooks"
_LOCK: Final = ".lock"
# The process that holds the lock may have seen no more tasks and be about to end.
_LOCK_SECONDS: Final = 2.0
# Tasks older than this are given up: the transcript is gone, or the disk is full.
_MAX_AGE: Final = 7 * 86_400
_NICE: Final = 10

Do = Callable[[Settings, Event], None]


def put(settings: Settings, event: Event) -> None:
    """Write a task file. There is one for each session and event."""
    folder = settings.home / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    task = json.dumps({"event": event.name, "space": settings.space, **event.as_record()})
    session = blake2b(f"{settings.space}\0{event.session_id}".encode(), digest_size=12).hexdigest()
    # If the power fails, the next hook writes it again.
    replace(folder / f"{session}-{event.name}.json", task.encode(), durable=False)


def is_waiting(settings: Settings) -> bool:
    return bool(_find_tasks(settings.home))


def start(settings: Settings) -> subprocess.Popen[bytes]:
    """Start the background process without waiting for it."""
    return detached.start(__name__, settings.home)


def run_tasks(home: Path, do: Do | None = None) -> int:
    """Run all tasks unless another process is at it. Returns how many were done."""
    done = 0
    try:
        with lock(home / _FOLDER, _LOCK, _LOCK_SECONDS):
            tried: set[Path] = set()
            while left := [file for file in _find_tasks(home) if file not in tried]:
                tried.add(left[0])
                done += _run_task(home, left[0], do or carry_out)
    except Busy:
        pass
    return done


def carry_out(settings: Settings, event: Event) -> None:
    """Do everything that a hook left, however long it takes."""
    # Imported here, because hooks don't need it.
    from mnemos.integrations.hooks.compaction import save_statements
    from mnemos.integrations.hooks.transcript_import import end_session, find_transcripts, import_transcripts
    from mnemos.memory import Memory
    from mnemos.memory.backlog import finish

    if settings.disabled or not any(find_transcripts(settings, event)):
        return
    with Memory(settings) as parts:
        import_transcripts(parts.home, event, indexes=True)
        if event.name == PRE_COMPACT:
            save_statements(parts, event.session_id)
        elif event.name == SESSION_END:
            end_session(parts.storage, event, parts.clock())
        finish(parts)


def main() -> None:
    home = Path(sys.argv[1])
    try:
        os.nice(_NICE)
        run_tasks(home)
    except Exception as exc:  # noqa: BLE001 - the outermost loop: there is nobody to tell
        hook_log.note(home, "background", exc)


def _find_tasks(home: Path) -> list[Path]:
    """Return the task files, the oldest first."""
    try:
        with os.scandir(home / _FOLDER) as entries:
            found = [(one.stat().st_mtime_ns, one.path) for one in entries if one.name.endswith(".json")]
    except OSError:
        return []
    return [Path(path) for _, path in sorted(found)]


def _run_task(home: Path, file: Path, do: Do) -> bool:
    event = "background"
    try:
        created = file.stat().st_mtime
        task = json.loads(read_bounded(file, MOST_BYTES))
        event = task["event"] if task["event"] in NAMES else event
        # Tasks of older versions don't name a program.
        agent = task["agent"] if task.get("agent") in AGENTS else CLAUDE_CODE
        do(Settings.load(home, space=task["space"], source=agent), parse_event(event, task, agent))
    except (Busy, DiskFull) as exc:
        # Keep the task for the next process, unless it is too old.
        hook_log.note(home, event, exc)
        if time.time() - created < _MAX_AGE:
            return False
    except Exception as exc:  # noqa: BLE001 - a broken task must not block the others
        hook_log.note(home, event, exc)
    file.unlink(missing_ok=True)
    return True


if __name__ == "__main__":
    main()

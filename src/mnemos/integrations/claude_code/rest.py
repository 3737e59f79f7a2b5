"""What a hook had no time for, done by one process in the background.

A small file in ``<home>/hooks`` says what is to be done, without anything that was said; it goes when that is
done. So nothing is lost when the process is killed, or while another one is at it: whoever comes next finds
the file.
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

from mnemos.errors import Busy, DiskFull
from mnemos.files import locked, replace
from mnemos.integrations.claude_code import failures
from mnemos.integrations.claude_code.events import NAMES, PRE_COMPACT, SESSION_END, Event, event_of
from mnemos.settings import Settings

if TYPE_CHECKING:
    import subprocess

_FOLDER: Final = "hooks"
_LOCK: Final = ".lock"
# Whoever has the lock may be about to leave, having seen nothing more to do.
_LEAVING_SECONDS: Final = 2.0
# What could not be done for so long never will be: its transcript is gone, or the disk is full.
_LASTS: Final = 7 * 86_400
_NICE: Final = 10

Do = Callable[[Settings, Event], None]


def put(settings: Settings, event: Event) -> None:
    """Note what is to be done; the same of the same session is noted once."""
    folder = settings.home / _FOLDER
    folder.mkdir(mode=0o700, exist_ok=True)
    told = json.dumps({"event": event.name, "space": settings.space, **event.told()})
    session = blake2b(f"{settings.space}\0{event.session_id}".encode(), digest_size=12).hexdigest()
    # The next hook notes it again if the power fails.
    replace(folder / f"{session}-{event.name}.json", told.encode(), durable=False)


def is_waiting(settings: Settings) -> bool:
    """Whether something is noted that a former process did not do."""
    return bool(_noted(settings.home))


def begin(settings: Settings) -> subprocess.Popen[bytes]:
    """Start the process that does it, and do not wait for it."""
    # Most hooks start nothing.
    import subprocess

    return subprocess.Popen(  # noqa: S603 - our own interpreter, and a folder
        # -P: a folder that happens to be called mnemos where the agent works is not ours.
        [sys.executable, "-P", "-m", __name__, str(settings.home)],
        cwd=settings.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        close_fds=True,
    )


def work_off(home: Path, do: Do | None = None) -> int:
    """Do what is noted, until nothing is, unless another process is at it; how much was done."""
    done = 0
    try:
        with locked(home / _FOLDER, _LOCK, _LEAVING_SECONDS):
            tried: set[Path] = set()
            while left := [file for file in _noted(home) if file not in tried]:
                tried.add(left[0])
                done += _work_off(home, left[0], do or carry_out)
    except Busy:
        pass
    return done


def carry_out(settings: Settings, event: Event) -> None:
    """Everything that the hook left, however long it takes."""
    # Needed here alone.
    from mnemos.integrations.claude_code.recording import bring, end
    from mnemos.integrations.claude_code.saving import save_stated
    from mnemos.memory import Memory

    if settings.disabled or event.transcript is None or not event.transcript.is_file():
        return
    with Memory(settings) as parts:
        bring(parts.home, event, indexes=True)
        if event.name == PRE_COMPACT:
            save_stated(parts, event.session_id)
        elif event.name == SESSION_END:
            end(parts.storage, event, parts.clock())


def main() -> None:
    home = Path(sys.argv[1])
    try:
        os.nice(_NICE)
        work_off(home)
    except Exception as exc:  # noqa: BLE001 - the outermost loop: nobody is there to be told
        failures.note(home, "background", exc)


# --- inside -------------------------------------------------------------------------------------


def _noted(home: Path) -> list[Path]:
    """What is to be done, the oldest first."""
    found: list[tuple[int, str]] = []
    try:
        with os.scandir(home / _FOLDER) as entries:
            for entry in entries:
                if entry.name.endswith(".json"):
                    found.append((entry.stat().st_mtime_ns, entry.path))
    except OSError:
        return []
    return [Path(path) for _, path in sorted(found)]


def _work_off(home: Path, file: Path, do: Do) -> bool:
    event = "background"
    try:
        noted = file.stat().st_mtime
        said = json.loads(file.read_text())
        event = said["event"] if said["event"] in NAMES else event
        do(Settings.load(home, space=said["space"], source="claude-code"), event_of(event, said))
    except (Busy, DiskFull) as exc:
        # For whoever comes next, unless that has been so for long.
        failures.note(home, event, exc)
        if time.time() - noted < _LASTS:
            return False
    except Exception as exc:  # noqa: BLE001 - one that cannot be done must not keep the others from it
        failures.note(home, event, exc)
    file.unlink(missing_ok=True)
    return True


if __name__ == "__main__":
    main()

"""The lock that the running watch of a home holds, with what it watches."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from mnemos.errors import Busy
from mnemos.files import make_private

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FILE: Final = "watch.lock"
_MOST_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True)
class RunningWatch:
    """The watch that is running."""

    pid: int
    since: float
    space: str
    programs: tuple[str, ...]


def take_lock(home: Path, watch: RunningWatch) -> int:
    """Lock a home until the process ends, also if it becomes another program. Busy if one is watching it."""
    make_private(home)
    handle = os.open(home / _FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if not _try_lock(handle):
        os.close(handle)
        running = find_running(home)
        who = f" (process {running.pid})" if running else ""
        raise Busy(f"{home} is already being watched{who}. `mnemos watch status` shows it.")
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(asdict(watch)).encode(), 0)
    os.set_inheritable(handle, True)  # noqa: FBT003
    return handle


def find_running(home: Path) -> RunningWatch | None:
    """Return the watch of a home; None if none is running."""
    try:
        handle = os.open(home / _FILE, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if _try_lock(handle):
            return None
        found = json.loads(os.pread(handle, _MOST_BYTES, 0))
        return RunningWatch(found["pid"], found["since"], found["space"], tuple(found["programs"]))
    except (ValueError, KeyError, TypeError):
        # It is just being written.
        return None
    finally:
        os.close(handle)


def _try_lock(handle: int) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

"""The lock of a space's running watch, which contains what it watches."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final

from mnemos.errors import Busy
from mnemos.files import make_private

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_DEFAULT_SPACE: Final = "default"
# `find_running` holds the lock for a moment.
_TRIES: Final = 20
_PAUSE: Final = 0.05
_MOST_BYTES: Final = 10_000


@dataclass(frozen=True, slots=True)
class RunningWatch:
    pid: int
    since: float
    space: str
    programs: tuple[str, ...]


def take_lock(home: Path, watch: RunningWatch) -> int:
    """Lock a space until this process ends, even if it calls exec. Busy if taken."""
    make_private(home)
    handle = os.open(_file(home, watch.space), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if not _take(handle):
        os.close(handle)
        running = find_running(home, watch.space)
        who = f" (process {running.pid})" if running else ""
        raise Busy(
            f"The space {watch.space} in {home} is already watched{who}. `mnemos watch status` shows it."
        )
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps(asdict(watch)).encode(), 0)
    os.set_inheritable(handle, True)  # noqa: FBT003
    return handle


def find_running(home: Path, space: str) -> RunningWatch | None:
    """Return the watch of a space; None if none is running."""
    try:
        handle = os.open(_file(home, space), os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        if fcntl is None or _try_lock(handle, fcntl.LOCK_SH):
            return None
        found = json.loads(os.pread(handle, _MOST_BYTES, 0))
        return RunningWatch(found["pid"], found["since"], found["space"], tuple(found["programs"]))
    except (ValueError, KeyError, TypeError):
        # The file is just being written.
        return None
    finally:
        os.close(handle)


def _file(home: Path, space: str) -> Path:
    # Hashed, because a space's name may be any text.
    suffix = "" if space == _DEFAULT_SPACE else f"-{blake2b(space.encode(), digest_size=6).hexdigest()}"
    return home / f"watch{suffix}.lock"


def _take(handle: int) -> bool:
    if fcntl is None:
        return True
    for _ in range(_TRIES):
        if _try_lock(handle, fcntl.LOCK_EX):
            return True
        time.sleep(_PAUSE)
    return False


def _try_lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

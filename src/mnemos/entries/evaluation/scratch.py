"""A folder for an evaluation that goes away with it, and what is left of those that were killed.

A killed process clears nothing away. So before anything is stored elsewhere, whose it is is written into the
folder, and the next evaluation deletes it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from mnemos.entries.contract import MemoryBackend
from mnemos.errors import MnemosError

log = logging.getLogger("mnemos.entries")

_PREFIX = "mnemos-evaluation-"
_JOURNAL = "stored.json"


@contextmanager
def folder() -> Iterator[Path]:
    """A new folder, removed in the end however that comes, if it can be noticed."""
    made = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        with _stopped_gently():
            yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def note(made: Path, server: str, users: list[str]) -> None:
    """Remember that these users are about to have entries on a server."""
    (made / _JOURNAL).write_text(json.dumps({"server": server, "users": users}), encoding="utf-8")


def clear_former(server: str, make: Callable[[], MemoryBackend]) -> int:
    """Delete what killed evaluations left: their folders, and their entries on this server; how many."""
    gone = 0
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not _is_left(left):
            continue
        journal = _read(left / _JOURNAL)
        if journal is not None and journal["server"] != server:
            # Somebody will evaluate that server again.
            continue
        try:
            gone += _cleared(make(), journal["users"]) if journal is not None else 0
        except MnemosError as exc:
            log.warning("entries of an evaluation that was killed are still at %s: %s", server, exc)
            continue
        shutil.rmtree(left, ignore_errors=True)
    return gone


def _cleared(backend: MemoryBackend, users: list[str]) -> int:
    try:
        return sum(backend.delete(user, key) for user in users for key in backend.list_keys(user))
    finally:
        backend.close()


def _is_left(path: Path) -> bool:
    """Whether this is a folder of ours whose process is gone."""
    owner = path.name.removeprefix(_PREFIX).partition("-")[0]
    try:
        if not owner.isdecimal() or path.is_symlink() or path.stat().st_uid != os.getuid():
            return False
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    users = found.get("users") if isinstance(found, dict) else None
    named = isinstance(users, list) and all(isinstance(one, str) and one.startswith(_PREFIX) for one in users)
    return found if named and isinstance(found.get("server"), str) else None


@contextmanager
def _stopped_gently() -> Iterator[None]:
    """Let a request to end be an exception, so that what was begun is cleared away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    former = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)

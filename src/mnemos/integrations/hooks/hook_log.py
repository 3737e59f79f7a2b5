"""The log of failed hooks, ``<home>/logs/hooks.log``: time, event, error type and place in our code.

Messages of errors may quote conversations, so they are not written.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

_FOLDER: Final = "logs"
_FILE: Final = "hooks.log"
_MOST_BYTES: Final = 1_000_000


def note(home: Path, event: str, failure: BaseException | str) -> None:
    """Add a line if the home exists. Never raises."""
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {event} {_describe(failure)}\n"
    try:
        if not home.is_dir():
            return
        folder = home / _FOLDER
        folder.mkdir(mode=0o700, exist_ok=True)
        file = folder / _FILE
        if file.exists() and file.stat().st_size >= _MOST_BYTES:
            file.replace(file.with_name(f"{_FILE}.1"))
        # Written in one call, so that lines of several processes do not mix.
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(file, flags, 0o600)
        try:
            os.write(descriptor, line.encode("ascii", "replace"))
        finally:
            os.close(descriptor)
    except OSError:
        # The disk is read-only or full, and there is nowhere else to report that.
        return


def _describe(failure: BaseException | str) -> str:
    if isinstance(failure, str):
        return failure
    text = type(failure).__name__
    if isinstance(failure, OSError) and failure.errno is not None:
        text += f" ({os.strerror(failure.errno)})"
    place = failure.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return text
    return f"{text} at {_shorten(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}"


def _shorten(filename: str) -> str:
    """Return a path in our code, without the folders it is installed in."""
    _, ours, below = filename.rpartition(f"{os.sep}mnemos{os.sep}")
    return below if ours else Path(filename).name

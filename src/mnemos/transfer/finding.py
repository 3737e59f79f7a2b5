"""Files below a folder, in an order that stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from stat import S_ISREG

from mnemos.errors import InvalidInput
from mnemos.transfer.model import Source

Tell = Callable[[Path, str], None]


def is_there(path: Path) -> bool:
    """Whether there is such a file or folder; what cannot be looked at raises InvalidInput."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}; name another file or folder") from exc
    return True


def is_file(path: Path) -> bool:
    """Whether it is a plain file; False also for what cannot be looked at, where `Path` would raise."""
    return os.path.isfile(path)  # noqa: PTH113


def is_folder(path: Path) -> bool:
    """Whether it is a folder, likewise."""
    return os.path.isdir(path)  # noqa: PTH112


def source_of(path: Path, tell: Tell) -> Source | None:
    """A file as it is now; None, and told, when it cannot be looked at or is no plain file."""
    try:
        found = path.stat()
    except OSError as exc:
        tell(path, f"it cannot be read: {exc.strerror}")
        return None
    if not S_ISREG(found.st_mode):
        tell(path, "it is no file")
        return None
    return Source(path, found.st_size, found.st_mtime_ns)


def files_below(path: Path, suffix: str, tell: Tell) -> Iterator[Path]:
    """The files with that suffix below a folder, by name, those of a folder before those below it.

    Links to folders are not followed: they may lead round in a circle.
    """
    try:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as exc:
        tell(path, f"it cannot be read: {exc.strerror}")
        return
    for entry in entries:
        # A link that leads in a circle, or to where nobody may look, is told when it is looked at.
        if entry.name.endswith(suffix) and not is_folder(Path(entry.path)):
            yield Path(entry.path)
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from files_below(Path(entry.path), suffix, tell)

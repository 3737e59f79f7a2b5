"""The settings files of other programs: read whole, replaced in one step, their modes and links kept."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

from mnemos import files
from mnemos.errors import InvalidInput, PermissionDenied, TooLarge
from mnemos.files import behind_links, discard_unfinished, unwritten

_MOST: Final = 200_000_000


def read(path: Path) -> bytes | None:
    """What a file holds; None when there is none. What is no file, or cannot be read, raises."""
    try:
        known = path.stat()
        if not stat.S_ISREG(known.st_mode):
            kind = "a folder" if stat.S_ISDIR(known.st_mode) else "no plain file"
            raise InvalidInput(f"{path} is {kind}, where a file with settings should be; move it away first")
        if known.st_size > _MOST:
            raise TooLarge(f"{path} has {known.st_size:,} bytes; no settings are larger than {_MOST:,}")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise _unread(exc, path) from exc


def text_of(data: bytes | None, path: Path) -> str:
    """Bytes as text, with every line break as it is; nothing is an empty text."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as exc:
        raise InvalidInput(
            f"{path} is not UTF-8 text (byte {exc.start}: {exc.reason}); save it so. Nothing was changed"
        ) from exc


def check_writable(path: Path) -> None:
    """Raise PermissionDenied when a file must not be changed."""
    real = behind_links(path)
    # Who is root may write anything, and still respects that somebody locked the file.
    if real.exists() and not (real.stat().st_mode & 0o222 and os.access(real, os.W_OK)):
        raise PermissionDenied(f"{path} is read-only; make it writable (chmod u+w) or change it by hand")


def missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for a file, the innermost first."""
    return [folder for folder in behind_links(path).parents if not folder.exists()]


def replace(path: Path, data: bytes) -> None:
    """Put the bytes there in one step; a link stays a link, and a file keeps its mode."""
    real = behind_links(path)
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise unwritten(exc, path) from exc
    files.replace(real, data, keeps_mode=True)


def remove(path: Path, folders: list[Path]) -> None:
    """Remove a file, and of the folders those that are empty; a link to it stays."""
    try:
        real = behind_links(path)
        real.unlink(missing_ok=True)
        discard_unfinished(real)
    except OSError as exc:
        raise unwritten(exc, path) from exc
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            # Somebody keeps something of his own there.
            return


def _unread(exc: OSError, path: Path) -> InvalidInput | PermissionDenied:
    if exc.errno in (errno.EACCES, errno.EPERM):
        return PermissionDenied(f"{path} cannot be read ({exc.strerror}); nothing was changed")
    return InvalidInput(f"{path} cannot be read: {exc.strerror}; nothing was changed")

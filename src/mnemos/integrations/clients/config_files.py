"""The settings files of other programs: read whole, replaced in one step, their modes and links kept."""

from __future__ import annotations

import errno
import glob
import os
import stat
from pathlib import Path
from typing import Final

from mnemos.errors import InvalidInput, PermissionDenied, TooLarge
from mnemos.files import is_running, unwritten, write_new

_MOST: Final = 200_000_000
_PRIVATE: Final = 0o600


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
    real = _real(path)
    # Who is root may write anything, and still respects that somebody locked the file.
    if real.exists() and not (real.stat().st_mode & 0o222 and os.access(real, os.W_OK)):
        raise PermissionDenied(f"{path} is read-only; make it writable (chmod u+w) or change it by hand")


def missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for a file, the innermost first."""
    return [folder for folder in _real(path).parents if not folder.exists()]


def replace(path: Path, data: bytes) -> None:
    """Put the bytes there in one step; a link stays a link, and a file keeps its mode."""
    real = _real(path)
    fresh = real.with_name(f".{real.name}.{os.getpid()}.new")
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else _PRIVATE
        _tidy(real)
        write_new(fresh, data)
        fresh.chmod(mode)
        fresh.replace(real)
    except OSError as exc:
        raise unwritten(exc, path) from exc
    finally:
        _discard(fresh)


def remove(path: Path, folders: list[Path]) -> None:
    """Remove a file, and of the folders those that are empty; a link to it stays."""
    try:
        real = _real(path)
        real.unlink(missing_ok=True)
        _tidy(real)
    except OSError as exc:
        raise unwritten(exc, path) from exc
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:
            # Somebody keeps something of his own there.
            return


def _tidy(real: Path) -> None:
    """Remove what killed processes left of a file: settings may hold keys, and nobody looks there."""
    for left in real.parent.glob(f".{glob.escape(real.name)}.*.new"):
        process = left.name.removesuffix(".new").rpartition(".")[2]
        if process == str(os.getpid()) or (process.isdecimal() and not is_running(int(process))):
            _discard(left)


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as exc:
        raise InvalidInput(f"{path} is a link that leads nowhere: {exc}; mend it first") from exc


def _discard(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        # Where nothing could be written, nothing was left either.
        return


def _unread(exc: OSError, path: Path) -> InvalidInput | PermissionDenied:
    if exc.errno in (errno.EACCES, errno.EPERM):
        return PermissionDenied(f"{path} cannot be read ({exc.strerror}); nothing was changed")
    return InvalidInput(f"{path} cannot be read: {exc.strerror}; nothing was changed")

"""Files that are written beside and put in place in one step: nobody ever reads half of one."""

from __future__ import annotations

import os
from pathlib import Path

from mnemos.errors import InvalidInput, PermissionDenied


def read(path: Path) -> str | None:
    """The text of a file; None when there is none. What is no text raises InvalidInput."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc.reason} at byte {exc.start}") from exc
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc


def replace(path: Path, text: str) -> None:
    """Write a file, private to its owner if it is new, with the mode it has if it is not."""
    # A link stays one: people keep their settings elsewhere.
    path = path.resolve()
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.chmod(mode)
        fresh.replace(path)
    except OSError as exc:
        fresh.unlink(missing_ok=True)
        raise PermissionDenied(f"{path} cannot be written: {exc.strerror}; it is as it was") from exc


def remove(path: Path) -> bool:
    """Whether there was such a file; now there is none."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be removed: {exc.strerror}") from exc
    return True

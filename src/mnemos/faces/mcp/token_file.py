"""The token that clients over HTTP must send, in a file of the home that only its owner can read."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from mnemos import files
from mnemos.errors import Disabled, PermissionDenied
from mnemos.settings import Settings

NAME = "token"
_PREFIX = "mnm_"
_LOCK = ".token.lock"
_LOCK_SECONDS = 10.0
_LONGEST = 500
# The characters that the header allows, and enough of them.
_FORM = re.compile(rb"[A-Za-z0-9._~+/=-]{32,500}")
_ADVICE = "Delete it, and the next start makes a new token"


def load_token(settings: Settings) -> str:
    """Return the token of the home, which is made the first time. A file that others can read is refused."""
    path = settings.home / NAME
    found = _read(path)
    if found is not None:
        return found
    if settings.disabled:
        raise Disabled(
            "Memory is disabled (MNEMOS_DISABLED is set), so no token can be stored. Pass --no-token."
        )
    with files.lock(settings.home, _LOCK, _LOCK_SECONDS):
        # Another server may have been faster.
        found = _read(path)
        if found is None:
            found = _PREFIX + secrets.token_urlsafe(32)
            files.replace(path, f"{found}\n".encode(), alone=True)
    return found


def _read(path: Path) -> str | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read ({exc.strerror}). {_ADVICE}") from exc
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise PermissionDenied(f"{path} must be a plain file that only you can read. {_ADVICE}")
        text = os.read(handle, _LONGEST + 2).strip()
    finally:
        os.close(handle)
    if not _FORM.fullmatch(text):
        raise PermissionDenied(f"{path} does not hold a token. {_ADVICE}")
    return text.decode()

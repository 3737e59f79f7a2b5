"""Tokens for clients over HTTP.

The owner's is in the file ``token`` of the home, which only the owner can read, and allows everything.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from mnemos import files
from mnemos.errors import Disabled, PermissionDenied
from mnemos.settings import Settings

NAME = "token"
OWNER = "owner"
"""The id of the owner's token."""
_PREFIX = "mnm_"
_LOCK = ".token.lock"
_LOCK_SECONDS = 10.0
_LONGEST = 500
# The characters that the header allows, and enough of them.
_FORM = re.compile(rb"[A-Za-z0-9._~+/=-]{32,500}")
_ADVICE = "Delete it, and the next start makes a new token"


class Scope(IntEnum):
    """The rights of a token; each scope includes those before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3
    """Also operations that delete something."""
    LOCAL = 4
    """Also operations on files of this machine."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of the sender of a request."""

    token_id: str
    space: str
    scope: Scope


class Doorkeeper:
    """Knows the tokens of a home."""

    def __init__(self, settings: Settings) -> None:
        self._owner = load_owner_token(settings).encode()
        self._space = settings.space

    def admit(self, token: bytes) -> Grant | None:
        """Return what a token allows; None for one that is unknown."""
        if secrets.compare_digest(token, self._owner):
            return Grant(OWNER, self._space, Scope.LOCAL)
        return None


def load_owner_token(settings: Settings) -> str:
    """Return the owner's token, which is made the first time. A file that others can read is refused."""
    path = settings.home / NAME
    found = _read(path)
    if found is not None:
        return found
    if settings.disabled:
        raise Disabled(
            "Memory is disabled (MNEMOS_DISABLED is set), so no token can be stored. "
            "Unset it for the first start."
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

"""Tokens for clients over HTTP.

The owner's token is in the file ``token`` of the home and allows everything. Other tokens are limited to one
space and scope. Their hashes are in ``tokens.json``, and those of browser pages in ``page.json``. Only the
owner of the home can read these files.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import secrets
import stat
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path

import msgspec

from mnemos import files
from mnemos.errors import Disabled, InvalidInput, MnemosError, NotFound, PermissionDenied
from mnemos.inputs import name as check_name
from mnemos.settings import Settings
from mnemos.structs import analyse

log = logging.getLogger("mnemos.tokens")

NAME = "token"
LIST = "tokens.json"
OWNER = "owner"
"""The id of the owner's token."""
_PREFIX = "mnm_"
_LOCK = ".token.lock"
_LOCK_SECONDS = 10.0
_LONGEST = 500
_LARGEST_LIST = 4_000_000
# Characters that the header allows, and a length that can't be guessed.
_FORM = re.compile(rb"[A-Za-z0-9._~+/=-]{32,500}")
_GIVEN = re.compile(rb"mnm_([0-9a-f]{8})_[A-Za-z0-9_-]{43}")
_ADVICE = "Delete it, and the next start makes a new token"
_DAY = 86_400.0
_MOST_DAYS = 36_500


class Scope(IntEnum):
    """The rights of a token. Each scope includes the ones before it."""

    READ = 1
    WRITE = 2
    ADMIN = 3
    """Includes operations that delete something."""
    LOCAL = 4
    """Includes operations on this machine's files. Only the owner's token and page have it."""


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """A stored token, without its secret."""

    id: str
    name: str
    sha256: str
    space: str
    scope: str
    operations: str = "all"
    """The allowed sets and operations, separated by commas."""
    created_at: float
    expires_at: float | None = None
    last_used: str = ""
    """The day it was last used, such as ``2026-11-18``, in UTC. Empty if it never was."""

    def is_valid(self, now: float) -> bool:
        return self.expires_at is None or self.expires_at > now

    @property
    def grant(self) -> Grant:
        return Grant(self.id, self.space, Scope[self.scope.upper()], self.operations, self.name)


def make_token() -> tuple[str, str]:
    """Make a new token; return its id and its text, which contains the id."""
    token_id = secrets.token_hex(4)
    return token_id, f"{_PREFIX}{token_id}_{secrets.token_urlsafe(32)}"


class _TokenList(msgspec.Struct, frozen=True):
    tokens: list[Token]


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights of whoever sent a request."""

    token_id: str
    space: str
    scope: Scope
    operations: str = "all"
    actor: str = ""
    """The name of the token, for the log of changes. Empty for the owner."""
    is_person: bool = False
    """True for a browser page. The user states the facts that it stores."""


class Doorkeeper:
    """Checks tokens against those of a home. A revoked token is refused at once."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._owner = load_owner_token(settings).encode()
        self._settings = settings
        self._clock = clock
        self._list = settings.home / LIST
        self._signature: object = None
        self._tokens: dict[str, Token] = {}
        self._noted: dict[str, str] = {}

    def admit(self, token: bytes) -> Grant | None:
        """Return the rights of a token, or None if it is unknown or expired."""
        if secrets.compare_digest(token, self._owner):
            return Grant(OWNER, self._settings.space, Scope.LOCAL)
        now = self._clock()
        known = find_token(token, self._load(), now)
        if known is None:
            return None
        today = f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d}"
        if known.last_used != today and self._noted.get(known.id) != today:
            self._noted[known.id] = today
            # In a thread, because the file may be locked and the request must not wait.
            threading.Thread(target=note_use, args=(self._settings, known.id, today), daemon=True).start()
        return known.grant

    def _load(self) -> dict[str, Token]:
        found = files.signature(self._list)
        if found is None or found != self._signature:
            try:
                self._tokens = {token.id: token for token in list_tokens(self._settings)}
                self._signature = found
            except MnemosError as exc:
                log.warning("no token but the owner's is accepted: %s", exc)
                self._tokens = {}
        return self._tokens


def find_token(given: bytes, tokens: Mapping[str, Token], now: float) -> Token | None:
    """Find the token with this text among ``tokens`` by id; None if it is unknown or expired."""
    form = _GIVEN.fullmatch(given)
    known = tokens.get(form[1].decode()) if form else None
    # Compared even for an unknown id, so that the time reveals nothing about ids.
    is_right = secrets.compare_digest(hash_token(given), known.sha256 if known else hash_token(b""))
    if known is None or not is_right:
        return None
    return known if known.is_valid(now) else None


def create_token(
    settings: Settings,
    name: str,
    scope: str,
    *,
    operations: str = "all",
    days: float | None = None,
    now: float,
) -> tuple[Token, str]:
    """Create a token for the settings' space; return it with its text, which is not stored."""
    settings.check_enabled()
    if scope not in ("read", "write", "admin"):
        raise InvalidInput(f"Unknown scope {scope!r}. Use read, write or admin.")
    if days is not None and not 0 < days <= _MOST_DAYS:
        raise InvalidInput(f"days must be more than 0 and at most {_MOST_DAYS:,}, not {days}.")
    token_id, text = make_token()
    token = Token(
        id=token_id,
        name=check_name("name", name),
        sha256=hash_token(text.encode()),
        space=settings.space,
        scope=scope,
        operations=operations,
        created_at=now,
        expires_at=None if days is None else now + days * _DAY,
    )
    with files.lock(settings.home, _LOCK, _LOCK_SECONDS):
        _save(settings, [*list_tokens(settings), token])
    return token, text


def list_tokens(settings: Settings) -> list[Token]:
    """Return the tokens of all spaces, even expired ones, oldest first. Raises PermissionDenied."""
    path = settings.home / LIST
    data = read_private(
        path, _LARGEST_LIST, f"Delete it, which revokes all tokens in it, or run: chmod 600 {path}"
    )
    try:
        return [] if data is None else msgspec.json.decode(data, type=analyse(_TokenList)).tokens
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise PermissionDenied(f"{path} is damaged: {exc}. Delete it and create the tokens again.") from exc


def revoke_token(settings: Settings, token_id: str) -> Token:
    """Delete a token. It is refused from then on."""
    settings.check_enabled()
    with files.lock(settings.home, _LOCK, _LOCK_SECONDS):
        tokens = list_tokens(settings)
        found = [token for token in tokens if token.id == token_id]
        if not found:
            raise NotFound(f"There is no token {token_id[:80]!r}. `mnemos tokens list` lists them.")
        _save(settings, [token for token in tokens if token.id != token_id])
    return found[0]


def note_use(settings: Settings, token_id: str, day: str) -> None:
    """Store the day on which a token was last used. A failure is logged, not raised."""
    try:
        with files.lock(settings.home, _LOCK, _LOCK_SECONDS):
            tokens = list_tokens(settings)
            if any(token.id == token_id and token.last_used != day for token in tokens):
                _save(
                    settings,
                    [
                        msgspec.structs.replace(token, last_used=day) if token.id == token_id else token
                        for token in tokens
                    ],
                )
    except (MnemosError, OSError) as exc:
        log.debug("the use of a token was not stored: %s", type(exc).__name__)


def _save(settings: Settings, tokens: list[Token]) -> None:
    data = msgspec.json.format(msgspec.json.encode(_TokenList(tokens)), indent=2)
    files.replace(settings.home / LIST, data + b"\n", alone=True)


def hash_token(token: bytes) -> str:
    """Hash a token for storage."""
    return hashlib.sha256(token).hexdigest()


def load_owner_token(settings: Settings) -> str:
    """Return the owner's token, creating it if needed. A file that others can read is refused."""
    path = settings.home / NAME
    found = read_owner_token(settings.home)
    if found is not None:
        return found
    if settings.disabled:
        raise Disabled(
            "Memory is disabled (MNEMOS_DISABLED is set), so no token can be stored. "
            "Unset it for the first start."
        )
    with files.lock(settings.home, _LOCK, _LOCK_SECONDS):
        # Another server may have created it first.
        found = read_owner_token(settings.home)
        if found is None:
            found = _PREFIX + secrets.token_urlsafe(32)
            files.replace(path, f"{found}\n".encode(), alone=True)
    return found


def read_owner_token(home: Path) -> str | None:
    """Return the owner's token of a home, or None if there is none. Raises PermissionDenied."""
    path = home / NAME
    text = read_private(path, _LONGEST + 2, _ADVICE)
    if text is None:
        return None
    text = text.strip()
    if not _FORM.fullmatch(text):
        raise PermissionDenied(f"{path} does not contain a token. {_ADVICE}")
    return text.decode()


def read_private(path: Path, most: int, advice: str) -> bytes | None:
    """Return the first bytes of a file that only its owner can read, or None if there is no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read ({exc.strerror}). {advice}") from exc
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise PermissionDenied(f"{path} must be a plain file that only you can read. {advice}")
        return os.read(handle, most)
    finally:
        os.close(handle)

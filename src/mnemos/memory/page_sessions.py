"""Sessions of the page in a browser.

A link has a code that works once and expires after a few minutes. The page trades it for its own token, which
expires when it isn't used. The hashes of both are in ``page.json`` in the home, so that every server of the
home knows them.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from mnemos import files
from mnemos.errors import MnemosError, NotAllowed, PermissionDenied
from mnemos.memory.access_tokens import Grant, Token, find_token, hash_token, make_token, read_private
from mnemos.settings import Settings
from mnemos.structs import analyse

log = logging.getLogger("mnemos.tokens")

FILE = "page.json"
CODE_SECONDS = 300.0
IDLE_SECONDS = 12 * 3600.0
_RENEW_SECONDS = 3600.0
_MOST_SESSIONS = 200
_LARGEST = 1_000_000
_LOCK = ".page.lock"
_LOCK_SECONDS = 5.0
_CODE = re.compile(r"[A-Za-z0-9_-]{43}")
_AGAIN = "Run `mnemos ui` for a new link."


class _Code(msgspec.Struct, frozen=True, kw_only=True):
    sha256: str
    space: str
    expires_at: float
    was_used: bool = False


class _Kept(msgspec.Struct, kw_only=True):
    codes: list[_Code] = []
    sessions: list[Token] = []


def make_code(settings: Settings, now: float) -> str:
    """Make a code for the settings' space. It works once, within five minutes."""
    settings.check_enabled()
    code = secrets.token_urlsafe(32)
    with _change(settings, now) as kept:
        kept.codes.append(
            _Code(sha256=hash_token(code.encode()), space=settings.space, expires_at=now + CODE_SECONDS)
        )
    return code


class PageSessions:
    """The page sessions of a home, as one of its servers sees them."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._settings = settings
        self._clock = clock
        self._signature: object = None
        self._tokens: dict[str, Token] = {}

    def trade(self, code: str) -> tuple[Token, str]:
        """Trade a code for a session and its token. An unknown, old or used code raises NotAllowed."""
        if not _CODE.fullmatch(code):
            raise NotAllowed(f"The code in this link is not valid. {_AGAIN}")
        hashed, now = hash_token(code.encode()), self._clock()
        with _change(self._settings, now) as kept:
            found = next((one for one in kept.codes if secrets.compare_digest(one.sha256, hashed)), None)
            if found is None:
                raise NotAllowed(f"This link has expired. {_AGAIN}")
            if found.was_used:
                raise NotAllowed(f"This link was already used, in another tab or by someone else. {_AGAIN}")
            kept.codes[kept.codes.index(found)] = msgspec.structs.replace(found, was_used=True)
            return _add(kept, found.space, now)

    def branch(self, space: str) -> tuple[Token, str]:
        """Make a session of the owner for another space."""
        now = self._clock()
        with _change(self._settings, now) as kept:
            return _add(kept, space, now)

    def admit(self, given: bytes) -> Grant | None:
        """Return the rights of a session and renew it for some hours; None if it is unknown."""
        now = self._clock()
        known = find_token(given, self._load(), now)
        if known is None:
            return None
        if known.expires_at is not None and known.expires_at < now + IDLE_SECONDS - _RENEW_SECONDS:
            self._renew(known, now)
        return dataclasses.replace(known.grant, actor="", is_person=True)

    def _renew(self, known: Token, now: float) -> None:
        longer = msgspec.structs.replace(known, expires_at=now + IDLE_SECONDS)
        try:
            with _change(self._settings, now) as kept:
                kept.sessions = [longer if one.id == known.id else one for one in kept.sessions]
        except MnemosError as exc:
            log.warning("a session of the page could not be extended: %s", exc)

    def _load(self) -> dict[str, Token]:
        found = files.signature(self._settings.home / FILE)
        if found is None or found != self._signature:
            try:
                self._tokens = {one.id: one for one in _read(self._settings).sessions}
                self._signature = found
            except MnemosError as exc:
                log.warning("no session of the page is accepted: %s", exc)
                self._tokens = {}
        return self._tokens


def _add(kept: _Kept, space: str, now: float) -> tuple[Token, str]:
    token_id, text = make_token()
    session = Token(
        id=token_id,
        name="page",
        sha256=hash_token(text.encode()),
        space=space,
        scope="local",
        created_at=now,
        expires_at=now + IDLE_SECONDS,
    )
    kept.sessions.append(session)
    return session, text


@contextmanager
def _change(settings: Settings, now: float) -> Iterator[_Kept]:
    """Lock the file, and write the changes without expired items. After an error, nothing is written."""
    with files.lock(settings.home, _LOCK, _LOCK_SECONDS):
        kept = _read(settings)
        kept.codes = [one for one in kept.codes if one.expires_at > now]
        kept.sessions = [one for one in kept.sessions if (one.expires_at or now) > now][-_MOST_SESSIONS:]
        yield kept
        files.replace(settings.home / FILE, msgspec.json.encode(kept), alone=True)


def _read(settings: Settings) -> _Kept:
    path = settings.home / FILE
    data = read_private(path, _LARGEST, f"Delete it, which ends all sessions of the page: {path}")
    try:
        return _Kept() if data is None else msgspec.json.decode(data, type=analyse(_Kept))
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise PermissionDenied(f"{path} is damaged: {exc}. Delete it and run `mnemos ui` again.") from exc

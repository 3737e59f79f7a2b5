"""The Honcho backend: entries on a Honcho server, through the SDK of its v3 API.

An entry is a session of its own, whose metadata holds it word for word: of all that Honcho has, only a
session can be made in one request, found by what it holds, and deleted with everything that was concluded
from it. A new value is a new session; the one before is deleted when the new one is there, so that no failure
loses both, and of several the newest counts. What an entry says is also told to Honcho as a conclusion about
the user, for its dialectic.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

from mnemos.entries import ranking
from mnemos.entries.contract import (
    DIALECTIC,
    WORDS,
    MemoryBackend,
    MemoryEntry,
    known_key,
    known_limit,
    known_query,
    known_user,
    known_value,
    metadata_json,
)
from mnemos.entries.honcho_calls import Calls
from mnemos.errors import MnemosError, NotFound, Unavailable
from mnemos.settings import Settings
from mnemos.storage.entries import EntryRow
from mnemos.text.secrets import redact as redact_secrets

T = TypeVar("T")
log = logging.getLogger("mnemos.entries")

_MOST_BYTES = 16 * 1024 * 1024
# What Honcho allows as a name.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,512}")
_OURS = "mnemos-"
_USER, _KEY, _ENTRY = "mnemos_user", "mnemos_key", "mnemos_entry"
# The most that a page of Honcho's has, and the most pages that are read: a hundred thousand entries.
_PAGE = 100
_MOST_PAGES = 1_000
_READINGS = 3
# What a conclusion and a question may have.
_CONCLUSION_CHARACTERS = 8_000
_QUESTION_CHARACTERS = 10_000
# What a server answers that has no dialectic.
_HAS_NONE = frozenset({405, 501})


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry and the session that holds it."""

    session: str
    entry: MemoryEntry


class HonchoBackend(MemoryBackend):
    """Entries on a Honcho server. What is not given comes from the settings, and so from ``HONCHO_API_KEY``,
    ``HONCHO_APP_ID`` and ``HONCHO_BASE_URL``. Nobody is asked before the first call."""

    def __init__(
        self,
        api_key: str | None = None,
        app_id: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float | None = None,
        redact: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        at = Settings.load().honcho
        self._api_key = at.api_key if api_key is None else api_key
        self._app_id = at.app_id if app_id is None else app_id
        self._base_url = (at.base_url if base_url is None else base_url).rstrip("/")
        self._redact = redact_secrets if redact else str
        self._clock = clock
        self._has_dialectic = True
        seconds = at.timeout if timeout is None else timeout
        self._calls = Calls(self._base_url, self._api_key, self._app_id, seconds, is_local=not self.is_cloud)

    @property
    def backend_name(self) -> str:
        return "honcho (cloud)" if self.is_cloud else "honcho (self-hosted)"

    @property
    def is_cloud(self) -> bool:
        """A server on this machine is none."""
        host = (urlsplit(self._base_url).hostname or "").rstrip(".")
        if host == "localhost" or host.endswith(".localhost"):
            return False
        try:
            return not ip_address(host).is_loopback
        except ValueError:
            return True

    @property
    def location(self) -> str:
        return self._base_url

    @property
    def problem(self) -> str:
        """Why it cannot be used as it is set up; empty when it can."""
        if find_spec("honcho") is None:
            return "honcho-ai is not installed; pip install 'mnemos[honcho]'"
        if urlsplit(self._base_url).scheme not in ("http", "https") or not urlsplit(self._base_url).hostname:
            return f"HONCHO_BASE_URL is {self._base_url!r}; use an address such as https://api.honcho.dev"
        if not _NAME.fullmatch(self._app_id):
            return f"HONCHO_APP_ID is {self._app_id!r}; use letters, digits, _ and -"
        if self.is_cloud and not self._api_key:
            return "HONCHO_API_KEY is not set"
        return ""

    def is_available(self) -> bool:
        return not self.problem

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        user, key = known_user(user_id), known_key(key)
        value = self._redact(known_value(value, _MOST_BYTES))
        about = metadata_json(metadata)
        former = self._of_key(user, key)
        now = self._clock()
        made = min((kept.entry.created_at for kept in former), default=now)
        # Clocks differ from machine to machine; what was stored last counts.
        last = max([now, *(kept.entry.updated_at + 1e-6 for kept in former)])
        entry = MemoryEntry(key, value, user, made, last, json.loads(self._redact(about)) if about else {})
        session = self._kept(entry)
        self._conclude(entry, session)
        for kept in former:
            self._clear_away(kept)
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        found = self._of_key(known_user(user_id), known_key(key))
        return found[0].entry if found else None

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """Entries that share words with the question, best first, and at the end what the dialectic says."""
        user, question, limit = known_user(user_id), known_query(query_text), known_limit(limit)
        if not question:
            return []
        entries = [kept.entry for kept in self._of_user(user)]
        found = _matching(entries, question, limit)
        if limit == 1 and found:
            return found
        said = self._dialectic(user, question)
        if said is None:
            return found
        return [*found[: limit - 1], said]

    def list_keys(self, user_id: str) -> list[str]:
        return [kept.entry.key for kept in self._of_user(known_user(user_id))]

    def delete(self, user_id: str, key: str) -> bool:
        """The server erases messages, vectors and conclusions of the entry a moment later."""
        found = self._of_key(known_user(user_id), known_key(key))
        # The newest last: whoever reads meanwhile does not see an old value come back.
        gone = [self._deleted(kept.session) for kept in reversed(found)]
        return any(gone)

    def close(self) -> None:
        self._calls.close()

    # --- inside -----------------------------------------------------------------------------

    def _kept(self, entry: MemoryEntry) -> str:
        session = f"{_OURS}{_digest(entry.user_id)[:12]}-{_digest(entry.key)[:12]}-{os.urandom(8).hex()}"
        # As one text of ASCII: what a server does to numbers, depths and characters does not matter.
        word_for_word = json.dumps(
            {
                "user_id": entry.user_id,
                "key": entry.key,
                "value": entry.value,
                "created_at": entry.created_at,
                "updated_at": entry.updated_at,
                "metadata": entry.metadata,
            }
        )
        metadata = {_USER: _digest(entry.user_id), _KEY: _digest(entry.key), _ENTRY: word_for_word}
        peer = _peer(entry.user_id)
        self._ask(lambda client: client.session(session, metadata=metadata, peers=[peer]))
        return session

    def _conclude(self, entry: MemoryEntry, session: str) -> None:
        """Tell Honcho what the entry says. The entry is kept whether or not it listens."""
        said = f"{entry.key}: {entry.value}"[:_CONCLUSION_CHARACTERS].strip()

        def call(client: Any) -> None:
            self._sdk().Peer(_peer(entry.user_id), client).conclusions.create(
                [{"content": said, "session_id": session}]
            )

        try:
            self._ask(call, tries=1)
        except MnemosError as exc:
            log.warning("the entry %r is kept, but Honcho's dialectic was not told: %s", entry.key, exc)

    def _clear_away(self, kept: Kept) -> None:
        """Remove a value that has a successor; if that fails, the next change of the entry does it."""
        try:
            self._deleted(kept.session)
        except MnemosError as exc:
            log.warning("the former value of %r is still at Honcho: %s", kept.entry.key, exc)

    def _deleted(self, session: str) -> bool:
        try:
            self._ask(lambda client: self._sdk().Session(session, client).delete())
        except NotFound:
            return False
        return True

    def _of_key(self, user: str, key: str) -> list[Kept]:
        """The sessions that hold an entry, the newest first; more than one after a race or a failure."""
        found = self._listed({_USER: _digest(user), _KEY: _digest(key)})
        return [kept for kept in found if kept.entry.user_id == user and kept.entry.key == key]

    def _of_user(self, user: str) -> list[Kept]:
        """The newest of each key, the most recently updated first."""
        newest: dict[str, Kept] = {}
        for kept in self._listed({_USER: _digest(user)}):
            if kept.entry.user_id == user:
                newest.setdefault(kept.entry.key, kept)
        return list(newest.values())

    def _listed(self, metadata: dict[str, str]) -> list[Kept]:
        """Every entry whose session has this metadata, the most recently updated first."""
        found: dict[str, Kept] = {}
        for _ in range(_READINGS):
            found, total = self._read_all(metadata)
            # What is deleted while pages are read moves others from one page to the one before.
            if len(found) >= total:
                break
        return sorted(found.values(), key=lambda kept: (-kept.entry.updated_at, kept.session))

    def _read_all(self, metadata: dict[str, str]) -> tuple[dict[str, Kept], int]:
        found: dict[str, Kept] = {}
        unreadable = 0
        for number in range(1, _MOST_PAGES + 1):
            sessions, pages, total = self._page(metadata, number)
            for session, about in sessions:
                kept = _read(session, about)
                if kept is None:
                    unreadable += 1
                else:
                    found[session] = kept
            if number >= pages:
                return found, total - unreadable
        raise Unavailable(f"the Honcho server at {self._base_url} has too many entries to be read")

    def _page(self, metadata: dict[str, str], number: int) -> tuple[list[tuple[str, Any]], int, int]:
        def call(client: Any) -> tuple[list[tuple[str, Any]], int, int]:
            page = client.sessions({"metadata": metadata}, page=number, size=_PAGE)
            return [(one.id, one.metadata) for one in page.items], int(page.pages), int(page.total)

        return self._ask(call)

    def _dialectic(self, user: str, question: str) -> MemoryEntry | None:
        """What Honcho's model says; None without a dialectic, or when it has nothing to say in time."""
        if not self._has_dialectic:
            return None

        def call(client: Any) -> Any:
            try:
                return self._sdk().Peer(_peer(user), client).chat(question[:_QUESTION_CHARACTERS])
            except self._sdk().APIError as exc:
                if exc.status in _HAS_NONE:
                    self._has_dialectic = False
                    return None
                raise

        try:
            said = self._ask(call, tries=1)
        except NotFound:
            # Nobody has told it anything of this user yet.
            return None
        except MnemosError as exc:
            log.warning("by words alone, without Honcho's dialectic: %s", exc)
            return None
        if not isinstance(said, str) or not said.strip():
            return None
        return MemoryEntry(DIALECTIC, said, user, metadata={"source": "honcho dialectic"}, match=DIALECTIC)

    def _ask(self, call: Callable[[Any], T], *, tries: int = 3) -> T:
        if self.problem:
            raise Unavailable(f"Honcho cannot be used: {self.problem}")
        return self._calls.ask(call, tries=tries)

    def _sdk(self) -> Any:
        # Optional, and 0.4 s to import: only for those who use it.
        return import_module("honcho")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _peer(user: str) -> str:
    """The peer that a user is: under the same name where Honcho allows it, as others call them."""
    if _NAME.fullmatch(user) and not user.startswith(_OURS):
        return user
    return f"{_OURS}{_digest(user)}"


def _read(session: str, about: Any) -> Kept | None:
    """What a session holds; None for one that somebody else made or changed."""
    try:
        held = json.loads(about[_ENTRY])
        entry = MemoryEntry(
            _text(held["key"]),
            _text(held["value"]),
            _text(held["user_id"]),
            float(held["created_at"]),
            float(held["updated_at"]),
            dict(held["metadata"]),
        )
    except (KeyError, TypeError, ValueError):
        log.warning("the session %r at Honcho is no entry of ours, though it says so", session)
        return None
    return Kept(session, entry)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _matching(entries: list[MemoryEntry], question: str, limit: int) -> list[MemoryEntry]:
    rows = [
        EntryRow(number, one.user_id, one.key, one.value, None, one.created_at, one.updated_at, 1)
        for number, one in enumerate(entries)
    ]
    found = [entries[row.id] for row in ranking.among(rows, question, limit)]
    return [
        MemoryEntry(one.key, one.value, one.user_id, one.created_at, one.updated_at, one.metadata, WORDS)
        for one in found
    ]

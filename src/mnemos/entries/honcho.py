"""The Honcho backend: entries on a Honcho server, through the SDK of its v3 API.

Each entry is a session whose metadata contains the exact entry. Of Honcho's objects, only a session can be
created in one request, found by its metadata, and deleted with everything concluded from it. A new value is a
new session, and the previous one is deleted once the new one exists, so no failure loses both. If there are
several, the newest counts. For Honcho's dialectic, the entry is also sent as a conclusion about the user.
"""

from __future__ import annotations

import json
import logging
import os
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from mnemos.deadlines import Overdue, Patience, StillOut
from mnemos.entries import entry_ranking
from mnemos.entries.backend import (
    DIALECTIC,
    MAX_VALUE_BYTES,
    WORDS,
    MemoryBackend,
    MemoryEntry,
    check_key,
    check_limit,
    check_query,
    check_user,
    check_value,
    encode_metadata,
    redact_entry,
)
from mnemos.errors import InvalidInput, MnemosError, NotFound, PermissionDenied, TooLarge, Unavailable
from mnemos.settings import Settings
from mnemos.storage.entries import EntryRow
from mnemos.structs import convert
from mnemos.text.secrets import redact as redact_secrets

T = TypeVar("T")
log = logging.getLogger("mnemos.entries")

# Honcho only allows names like this.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,512}")
_OURS = "mnemos-"
_USER, _KEY, _ENTRY = "mnemos_user", "mnemos_key", "mnemos_entry"
# Honcho's largest page, and the number of pages to read at most: a hundred thousand entries.
_PAGE = 100
_MOST_PAGES = 1_000
_READINGS = 3
# Honcho's limits.
_CONCLUSION_CHARACTERS = 8_000
_QUESTION_CHARACTERS = 10_000
# Status codes of a server without a dialectic, and of temporary failures.
_NO_DIALECTIC = frozenset({405, 501})
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
_REFUSALS: dict[int, tuple[type[MnemosError], str]] = {
    400: (InvalidInput, "refused the input"),
    401: (PermissionDenied, "refused the key. Check HONCHO_API_KEY"),
    403: (PermissionDenied, "refused the key. Check HONCHO_API_KEY"),
    404: (NotFound, "does not have it"),
    413: (TooLarge, "refused that much"),
    422: (InvalidInput, "refused the input"),
}
_TRIES = 3
_FIRST_PAUSE = 0.2
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry and the session it is stored in."""

    session: str
    entry: MemoryEntry


class HonchoBackend(MemoryBackend):
    """Entries on a Honcho server. Nothing is sent before the first call.

    Omitted arguments come from the settings: ``HONCHO_API_KEY``, ``HONCHO_APP_ID``, ``HONCHO_BASE_URL``.
    """

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
        self._timeout = at.timeout if timeout is None else timeout
        self._calls = _Calls(f"the Honcho server at {self._base_url}", self._timeout, self._connect)

    @property
    def backend_name(self) -> str:
        return "honcho (cloud)" if self.is_cloud else "honcho (self-hosted)"

    @property
    def is_cloud(self) -> bool:
        """False for a server on this machine."""
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
        """The reason why the configuration can't be used, or "" if it can."""
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
        user, key = check_user(user_id), check_key(key)
        value = redact_entry(user, key, check_value(value, MAX_VALUE_BYTES), self._redact)
        about = encode_metadata(metadata)
        former = self._find_key(user, key)
        now = self._clock()
        made = min((kept.entry.created_at for kept in former), default=now)
        # Machines' clocks differ, and the value stored last must win.
        last = max([now, *(kept.entry.updated_at + 1e-6 for kept in former)])
        entry = MemoryEntry(key, value, user, made, last, json.loads(self._redact(about)) if about else {})
        session = self._create_session(entry)
        self._conclude(entry, session)
        for kept in former:
            self._delete_former(kept)
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        found = self._find_key(check_user(user_id), check_key(key))
        return found[0].entry if found else None

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """Return entries that share words with the question, best first, then the dialectic's answer."""
        user, question, limit = check_user(user_id), check_query(query_text), check_limit(limit)
        if not question:
            return []
        entries = [kept.entry for kept in self._find_user(user)]
        found = _match(entries, question, limit)
        if limit == 1 and found:
            return found
        answer = self._ask_dialectic(user, question)
        return found if answer is None else [*found[: limit - 1], answer]

    def list_keys(self, user_id: str) -> list[str]:
        return [kept.entry.key for kept in self._find_user(check_user(user_id))]

    def delete(self, user_id: str, key: str) -> bool:
        """Delete an entry. The server erases its messages, vectors and conclusions a moment later."""
        found = self._find_key(check_user(user_id), check_key(key))
        # The newest is deleted last, so that no reader sees an old value reappear.
        gone = [self._delete_session(kept.session) for kept in reversed(found)]
        return any(gone)

    def close(self) -> None:
        self._calls.close()

    def _create_session(self, entry: MemoryEntry) -> str:
        session = f"{_OURS}{_digest(entry.user_id)[:12]}-{_digest(entry.key)[:12]}-{os.urandom(8).hex()}"
        # ASCII text, so that the server's handling of numbers and nesting can't change it.
        exact = json.dumps(asdict(entry))
        metadata = {_USER: _digest(entry.user_id), _KEY: _digest(entry.key), _ENTRY: exact}
        peer = _peer(entry.user_id)
        self._ask(lambda client: client.session(session, metadata=metadata, peers=[peer]))
        return session

    def _conclude(self, entry: MemoryEntry, session: str) -> None:
        """Send an entry to Honcho as a conclusion. The entry is kept even if this fails."""
        content = f"{entry.key}: {entry.value}"[:_CONCLUSION_CHARACTERS].strip()

        def call(client: Any) -> None:
            self._sdk().Peer(_peer(entry.user_id), client).conclusions.create(
                [{"content": content, "session_id": session}]
            )

        try:
            self._ask(call, tries=1)
        except MnemosError as exc:
            log.warning("the entry %r is stored, but Honcho's dialectic does not know it: %s", entry.key, exc)

    def _delete_former(self, kept: Kept) -> None:
        """Delete replaced values. If that fails, the next change of the entry deletes them."""
        try:
            self._delete_session(kept.session)
        except MnemosError as exc:
            log.warning("the previous value of %r is still at Honcho: %s", kept.entry.key, exc)

    def _delete_session(self, session: str) -> bool:
        try:
            self._ask(lambda client: self._sdk().Session(session, client).delete())
        except NotFound:
            return False
        return True

    def _find_key(self, user: str, key: str) -> list[Kept]:
        """Return the sessions of an entry, newest first. There are several after a race or a failure."""
        found = self._find({_USER: _digest(user), _KEY: _digest(key)})
        return [kept for kept in found if kept.entry.user_id == user and kept.entry.key == key]

    def _find_user(self, user: str) -> list[Kept]:
        """Return the newest session of each key, the most recently updated first."""
        newest: dict[str, Kept] = {}
        for kept in self._find({_USER: _digest(user)}):
            if kept.entry.user_id == user:
                newest.setdefault(kept.entry.key, kept)
        return list(newest.values())

    def _find(self, metadata: dict[str, str]) -> list[Kept]:
        """Return all entries whose session has this metadata, the most recently updated first."""
        found: dict[str, Kept] = {}
        for _ in range(_READINGS):
            found, total = self._read_all(metadata)
            # If entries are deleted while pages are read, others move to a page already read.
            if len(found) >= total:
                break
        return sorted(found.values(), key=lambda kept: (-kept.entry.updated_at, kept.session))

    def _read_all(self, metadata: dict[str, str]) -> tuple[dict[str, Kept], int]:
        """Return the readable entries by session, and the number that the server reports."""
        found: dict[str, Kept] = {}
        unreadable = 0
        for number in range(1, _MOST_PAGES + 1):

            def call(client: Any, number: int = number) -> tuple[list[Kept | None], int, int]:
                page = client.sessions({"metadata": metadata}, page=number, size=_PAGE)
                sessions = [_parse_session(one.id, one.metadata) for one in page.items]
                return sessions, int(page.pages), int(page.total)

            sessions, pages, total = self._ask(call)
            found |= {kept.session: kept for kept in sessions if kept is not None}
            unreadable += sessions.count(None)
            if number >= pages:
                return found, total - unreadable
        raise Unavailable(f"The Honcho server at {self._base_url} has too many entries to read.")

    def _ask_dialectic(self, user: str, question: str) -> MemoryEntry | None:
        """Return the answer of Honcho's model, or None without a dialectic or an answer in time."""
        if not self._has_dialectic:
            return None

        def call(client: Any) -> Any:
            try:
                return self._sdk().Peer(_peer(user), client).chat(question[:_QUESTION_CHARACTERS])
            except self._sdk().APIError as exc:
                if exc.status in _NO_DIALECTIC:
                    self._has_dialectic = False
                    return None
                raise

        try:
            answer = self._ask(call, tries=1)
        except NotFound:
            # The server doesn't know this user yet.
            return None
        except MnemosError as exc:
            log.warning("answered by keywords only, without Honcho's dialectic: %s", exc)
            return None
        if not isinstance(answer, str) or not answer.strip():
            return None
        return MemoryEntry(DIALECTIC, answer, user, metadata={"source": "honcho dialectic"}, match=DIALECTIC)

    def _ask(self, call: Callable[[Any], T], *, tries: int = _TRIES) -> T:
        if self.problem:
            raise Unavailable(f"Honcho can't be used: {self.problem}.")
        return self._calls.ask(call, tries=tries)

    def _sdk(self) -> Any:
        # Imported here, because it is optional and takes 0.4 s to import.
        return import_module("honcho")

    def _connect(self) -> Any:
        # A server on this machine must not be reached through a proxy from the environment.
        http = import_module("httpx").Client(timeout=self._timeout, trust_env=self.is_cloud)
        return self._sdk().Honcho(
            api_key=self._api_key or None,
            base_url=self._base_url,
            workspace_id=self._app_id,
            timeout=self._timeout,
            max_retries=0,
            http_client=http,
        )


class _Calls:
    """Calls with a deadline to one workspace of a server.

    The SDK would wait as long as a server's ``Retry-After`` asks, and its timeouts cover each piece of an
    answer, not the whole. So its retries are off, and an overdue call is abandoned. After a fork, the child
    makes its own connections.
    """

    def __init__(self, server: str, timeout: float, connect: Callable[[], Any]) -> None:
        self._server = server
        self._timeout = timeout
        self._connect = connect
        self._lock = threading.Lock()
        self._made: tuple[int, Any] | None = None
        self._patience = Patience(server)

    def ask(self, call: Callable[[Any], T], *, tries: int = _TRIES) -> T:
        """Run a call with the SDK's client and return its result. Temporary errors are retried.

        Raises PermissionDenied for a rejected key, InvalidInput or TooLarge for rejected input, NotFound, or
        Unavailable for everything else, at the latest after the timeout.
        """
        until = time.monotonic() + self._timeout
        try:
            answer: T = self._patience.ask(lambda: self._retry(call, tries, until), self._timeout + 0.5)
        except (Overdue, StillOut) as exc:
            # Closing its connection ends the abandoned call soon. The next call makes a new connection.
            self.close()
            raise Unavailable(f"{exc}. The call may have succeeded.") from exc
        return answer

    def close(self) -> None:
        made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            made[1]._http._client.close()

    def _retry(self, call: Callable[[Any], T], tries: int, until: float) -> T:
        for number in range(tries):
            try:
                return call(self._client())
            except MnemosError:
                raise
            # The SDK raises its own errors, pydantic's, and TypeErrors for an answer that is not an object.
            except Exception as exc:
                pause = _FIRST_PAUSE * 2**number * random.uniform(0.8, 1.2)  # noqa: S311
                pause = max(pause, getattr(exc, "retry_after", None) or 0.0)
                is_last = number == tries - 1 or time.monotonic() + pause >= until
                if is_last or not _is_temporary(exc):
                    raise self._translate(exc) from exc
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _client(self) -> Any:
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                self._made = (os.getpid(), self._connect())
            return self._made[1]

    def _translate(self, exc: Exception) -> MnemosError:
        status, where = _status(exc), self._server
        text = (str(exc).splitlines() or [""])[0][:_SHOWN]
        if status in _REFUSALS:
            kind, what = _REFUSALS[status]
            return kind(f"{where} {what} ({status}: {text})")
        if _is_garbage(exc):
            return Unavailable(
                f"{where} did not answer like Honcho ({text}). Is HONCHO_BASE_URL the address of its API?"
            )
        if status:
            return Unavailable(f"{where} failed ({status}: {text}). Try again later.")
        return Unavailable(f"{where} can't be reached: {text}")


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _peer(user: str) -> str:
    """Return the peer of a user: if Honcho allows it, the same name that other programs use."""
    if _NAME.fullmatch(user) and not user.startswith(_OURS):
        return user
    return f"{_OURS}{_digest(user)}"


def _parse_session(session: str, about: Any) -> Kept | None:
    """Return the entry of a session, or None if another program made or changed it."""
    try:
        return Kept(session, convert(json.loads(about[_ENTRY]), MemoryEntry))
    except (KeyError, TypeError, ValueError, msgspec.ValidationError):
        log.warning("the session %r at Honcho is marked as an entry of ours but can't be read", session)
        return None


def _match(entries: list[MemoryEntry], question: str, limit: int) -> list[MemoryEntry]:
    rows = [
        EntryRow(number, one.user_id, one.key, one.value, None, one.created_at, one.updated_at, 1)
        for number, one in enumerate(entries)
    ]
    ranked = entry_ranking.rank_entries(rows, question, limit)
    return [replace(entries[row.id], match=WORDS) for row in ranked]


def _status(exc: Exception) -> int:
    status = getattr(exc, "status", 0)
    return status if isinstance(status, int) else 0


def _is_garbage(exc: Exception) -> bool:
    """True if the server answered with something the SDK can't read."""
    # The SDK's own errors have a code. One of them is caused by an answer that isn't JSON.
    return not hasattr(exc, "code") or isinstance(exc.__cause__, ValueError)


def _is_temporary(exc: Exception) -> bool:
    status = _status(exc)
    return status in _TEMPORARY or (not status and not _is_garbage(exc))

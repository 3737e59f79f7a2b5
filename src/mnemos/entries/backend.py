"""The interface of a backend, the backend that keeps nothing, and the limits of all backends."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mnemos.errors import InvalidInput, TooLarge
from mnemos.inputs import in_range, name
from mnemos.text.secrets import Redact, redact_value, refuse_secret

MAX_KEY = 4_096
MAX_METADATA = 1_000_000
MAX_RESULTS = 200
MAX_VALUE_BYTES = 16 * 1024 * 1024
"""The limit of backends that have no setting for it."""

WORDS, SEMANTIC, DIALECTIC = "words", "semantic", "dialectic"


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A key and a value of a user. Times are Unix seconds, by default now."""

    key: str
    value: Any
    user_id: str
    created_at: float = 0
    updated_at: float = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    match: str = ""
    """The way ``query`` found it: ``words`` (or parts of them), ``semantic`` (only similar in meaning) or
    ``dialectic`` (an answer of the backend's model, not a stored entry)."""
    namespace: tuple[str, ...] = ()
    """The labels it is stored under, by default only the user."""
    expires_at: float | None = None
    score: float | None = field(default=None, compare=False)
    """The match with the question, from 0 to 1. Only comparable within one answer."""
    number: int = field(default=0, compare=False)
    """The number in ``entry:NUMBER``, or 0 if it has none."""
    revision: str = field(default="", compare=False)
    """Changes with each write, for ``if_revisions``. Empty if the backend has no revisions."""

    @property
    def ref(self) -> str:
        """The reference to forget it by, in a memory on this machine."""
        return f"entry:{self.number}"

    def __post_init__(self) -> None:
        created = self.created_at or time.time()
        object.__setattr__(self, "created_at", created)
        object.__setattr__(self, "updated_at", self.updated_at or created)
        object.__setattr__(self, "namespace", self.namespace or (self.user_id,))


@dataclass(frozen=True, slots=True)
class NewEntry:
    """An entry to set, with the arguments of ``Entries.put``."""

    key: str
    value: Any
    metadata: Mapping[str, Any] | None = None
    fields: Sequence[str] | None = None
    expires_at: float | None = None


class MemoryBackend(ABC):
    """Keys and values of users, across sessions. Threads may share one instance.

    Users never see each other's entries. Text that can't be stored unchanged raises InvalidInput, and a
    store that can't be reached raises Unavailable: success is never reported for work that was not done.
    """

    @property
    @abstractmethod
    def backend_name(self) -> str: ...

    @property
    @abstractmethod
    def is_cloud(self) -> bool:
        """True if stored data leaves this machine."""

    @abstractmethod
    def is_available(self) -> bool:
        """True if the backend is configured well enough to be used. Never uses the network."""

    @abstractmethod
    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """Set the value of a key, replacing the previous one. True if it was accepted."""

    @abstractmethod
    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None: ...

    @abstractmethod
    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """Return the user's entries that match a question or its words, best first."""

    @abstractmethod
    def list_keys(self, user_id: str) -> list[str]:
        """Return the user's keys, the most recently updated first."""

    @abstractmethod
    def delete(self, user_id: str, key: str) -> bool:
        """Delete an entry. False if there was none."""

    @property
    def location(self) -> str:
        """The location of the data, for people."""
        return "elsewhere" if self.is_cloud else "this machine"

    @property
    def needs_api_key(self) -> bool:
        return self.is_cloud

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Release connections and files. Closing twice is harmless."""


class NullBackend(MemoryBackend):
    """Accepts everything and keeps nothing: no file, no thread, no driver.

    It refuses the input that every backend refuses, so choosing a real backend later breaks no caller.
    """

    def __init__(self, reason: str = "no backend is configured") -> None:
        self.reason = reason
        """The reason why nothing is kept."""

    @property
    def backend_name(self) -> str:
        return "null (disabled)"

    @property
    def is_cloud(self) -> bool:
        return False

    @property
    def location(self) -> str:
        return "nowhere"

    def is_available(self) -> bool:
        return True

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """Return True, which by contract means that the entry was accepted, not kept."""
        check_user(user_id)
        check_key(key)
        check_value(value, MAX_VALUE_BYTES)
        encode_metadata(metadata)
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        check_user(user_id)
        check_key(key)
        return None

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:  # noqa: ARG002
        check_user(user_id)
        check_query(query_text)
        return []

    def list_keys(self, user_id: str) -> list[str]:
        check_user(user_id)
        return []

    def delete(self, user_id: str, key: str) -> bool:
        check_user(user_id)
        check_key(key)
        return False


def check_user(user_id: Any) -> str:
    return check_text("user_id", name("user_id", user_id))


def check_key(key: Any) -> str:
    if not isinstance(key, str) or not key.strip():
        raise InvalidInput("key must not be empty")
    if len(key) > MAX_KEY:
        raise TooLarge(f"key has {len(key)} characters. Use at most {MAX_KEY}.")
    return check_text("key", key)


def check_value(value: Any, max_bytes: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"value must be a string, not {type(value).__name__}")
    if len(value) > max_bytes or len(check_text("value", value).encode()) > max_bytes:
        raise TooLarge(f"value has {len(value):,} characters. Use at most {max_bytes:,} bytes.")
    return value


def redact_entry(user: str, key: str, value: str, redact: Redact) -> str:
    """Return the value, judged together with its key, without secrets. A secret in a name raises Refused."""
    refuse_secret("user_id", user, redact)
    refuse_secret("key of an entry", key, redact)
    clean: str = redact_value({key: value}, redact)[key]
    return clean


def encode_value(key: str, value: Any, max_bytes: int, redact: Redact) -> tuple[str, bool]:
    """Encode a value for storage, without secrets; also return True if the result is JSON.

    The value is judged together with its key. The key may be a secret itself, which the caller refuses or
    cleans.
    """
    if isinstance(value, str):
        (text,) = redact_value({key: check_value(value, max_bytes)}, redact).values()
        return text, False
    try:
        (clean,) = redact_value({key: value}, redact).values()
        text = json.dumps(clean, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            f"value can't be stored as JSON: {exc}. Use strings, numbers, lists, objects."
        ) from exc
    # JSON escapes a NUL, but the decoded text would contain it.
    return check_value(text, max_bytes), True


def encode_fields(fields: Any) -> str | None:
    if fields is None:
        return None
    if not isinstance(fields, (list, tuple)) or not all(isinstance(path, str) for path in fields):
        raise InvalidInput(
            f"fields must be a list of paths such as ['title', 'notes[*].text'], not {fields!r:.100}"
        )
    return json.dumps(list(fields))


def check_limit(limit: Any) -> int:
    return in_range("limit", limit, MAX_RESULTS)


def check_query(text: Any) -> str:
    """Return the question without surrounding space. An empty one matches nothing."""
    if not isinstance(text, str):
        raise InvalidInput(f"query_text is {text!r}. Ask a question or give a few words.")
    return text.strip()


def encode_metadata(metadata: Any) -> str | None:
    """Encode metadata as JSON that decodes to the same value; None for no metadata."""
    if not metadata and (metadata is None or isinstance(metadata, Mapping)):
        return None
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata must be an object of names and values, not {type(metadata).__name__}")
    try:
        plain = dict(metadata)
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        is_same = json.loads(text) == plain
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            f"metadata can't be stored as JSON: {exc}. Use strings, numbers, lists and objects."
        ) from exc
    if not is_same:
        raise InvalidInput(
            "metadata would change when stored as JSON. Use string keys and lists instead of tuples."
        )
    if len(text) > MAX_METADATA:
        raise TooLarge(f"metadata has {len(text):,} characters as JSON. Use at most {MAX_METADATA:,}.")
    # JSON escapes a NUL, so it can be stored.
    return check_text("metadata", text)


def check_text(label: str, text: str) -> str:
    """Return text that every store can keep: no NUL, no lone surrogate."""
    if "\0" in text:
        raise InvalidInput(f"{label} has a NUL character at position {text.index(chr(0))}. Remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{label} has a lone surrogate at {exc.start}. Use valid Unicode.") from exc
    return text

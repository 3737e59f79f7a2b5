"""What a backend promises."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemos.errors import InvalidInput, TooLarge
from mnemos.inputs import name

MAX_KEY = 4_096
MAX_METADATA = 1_000_000
MOST_RESULTS = 200

WORDS, SEMANTIC, DIALECTIC = "words", "semantic", "dialectic"


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A key and a value of a user. Times are Unix seconds, now where they are not given."""

    key: str
    value: str
    user_id: str
    created_at: float = 0
    updated_at: float = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    match: str = ""
    """Of a result of ``query``: ``words`` (or parts of them), ``semantic`` (near in meaning, nothing more) or
    ``dialectic`` (what a model of the backend's said; no entry that was stored)."""

    def __post_init__(self) -> None:
        made = self.created_at or time.time()
        object.__setattr__(self, "created_at", made)
        object.__setattr__(self, "updated_at", self.updated_at or made)


class MemoryBackend(ABC):
    """Keys and values of users, across sessions. Threads may share one.

    Users never see each other. A text that cannot be kept as it is raises InvalidInput, what is not
    reachable now raises Unavailable: nothing is reported as done that was not.
    """

    @property
    @abstractmethod
    def backend_name(self) -> str: ...

    @property
    @abstractmethod
    def is_cloud(self) -> bool:
        """Whether what is stored leaves this machine."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether it can be used as it is set up; nobody is asked over a network."""

    @abstractmethod
    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """Keep a value under a key, in place of the one before; True when it was accepted."""

    @abstractmethod
    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None: ...

    @abstractmethod
    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        """The user's entries that answer a question or have its words, best first."""

    @abstractmethod
    def list_keys(self, user_id: str) -> list[str]:
        """The most recently updated first."""

    @abstractmethod
    def delete(self, user_id: str, key: str) -> bool:
        """True only when something was deleted."""

    @property
    def location(self) -> str:
        """Where the data is, for people."""
        return "elsewhere" if self.is_cloud else "this machine"

    @property
    def needs_api_key(self) -> bool:
        return self.is_cloud

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Let go of what is open. Closing twice does no harm."""


def known_user(user_id: Any) -> str:
    return _storable("user_id", name("user_id", user_id))


def known_key(key: Any) -> str:
    if not isinstance(key, str) or not key.strip():
        raise InvalidInput(f"key is {key!r}; use a text that is not empty")
    if len(key) > MAX_KEY:
        raise TooLarge(f"key has {len(key)} characters; at most {MAX_KEY} are allowed")
    return _storable("key", key)


def known_value(value: Any, most_bytes: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"value is a {type(value).__name__}; use a text")
    if len(value) > most_bytes or len(_storable("value", value).encode()) > most_bytes:
        raise TooLarge(f"value has {len(value):,} characters; at most {most_bytes:,} bytes are allowed")
    return value


def known_limit(limit: Any) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_RESULTS:
        raise InvalidInput(f"limit is {limit!r}; use 1 to {MOST_RESULTS}")
    return limit


def known_query(text: Any) -> str:
    """The question; an empty one finds nothing, whatever it is asked of."""
    if not isinstance(text, str):
        raise InvalidInput(f"query_text is {text!r}; use a question or a few words")
    return text.strip()


def metadata_json(metadata: Any) -> str | None:
    """Metadata as JSON that reads back as the same; None for none."""
    if not metadata and (metadata is None or isinstance(metadata, Mapping)):
        return None
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata is a {type(metadata).__name__}; use an object of names and values")
    try:
        plain = dict(metadata)
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        is_same = json.loads(text) == plain
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            f"metadata cannot be kept as JSON: {exc}; use texts, numbers, lists, objects"
        ) from exc
    if not is_same:
        raise InvalidInput("metadata would come back changed from JSON; use texts as names, and no tuples")
    if len(text) > MAX_METADATA:
        raise TooLarge(f"metadata has {len(text):,} characters as JSON; at most {MAX_METADATA:,} are allowed")
    # As an escape a NUL is text like any other.
    return _storable("metadata", text)


def _storable(label: str, text: str) -> str:
    """The text itself, when every store can keep it: no NUL, no half of a character."""
    if "\0" in text:
        raise InvalidInput(f"{label} has a NUL character at {text.index(chr(0))}; take it out")
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise InvalidInput(f"{label} has half a character at {exc.start}; it is no Unicode text") from exc
    return text

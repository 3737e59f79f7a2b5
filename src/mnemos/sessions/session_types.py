"""Typed dicts that ``memory.sessions`` takes and returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NotRequired, TypedDict

Role = Literal["user", "assistant", "system", "tool", "developer", "function"]
Sort = Literal["relevance", "newest", "oldest"]

MetadataChange = Mapping[str, Any] | Callable[[Any], Any]
"""Keys of metadata to set, or a pure function from the old metadata (or None) to the new."""


class Session(TypedDict):
    """A conversation without its messages."""

    id: str
    source: str
    user_id: str | None
    model: str | None
    model_config: Any
    system_prompt: str | None
    parent_session_id: str | None
    started_at: float
    ended_at: float | None
    end_reason: str | None
    message_count: int
    tool_call_count: int
    input_tokens: int
    output_tokens: int
    title: str | None
    metadata: Any
    archived: bool
    project: str | None
    branch: str | None
    updated_at: float
    """The time of the last write."""
    revision: NotRequired[int]
    """Counts the writes; not in exports."""


class Message(TypedDict):
    """A stored message. Imported conversations may have further roles."""

    id: int
    session_id: str
    role: str
    content: Any
    """A string, a list of parts, or None."""
    tool_name: str | None
    tool_calls: Any
    tool_call_id: str | None
    token_count: int | None
    timestamp: float
    metadata: Any
    forgotten: NotRequired[bool]
    origin: NotRequired[str]
    key: NotRequired[str]
    """The host's own id of the message."""
    retired: NotRequired[bool]
    """True if it left the working history. Searches still find it."""


class MessagePage(TypedDict):
    """Consecutive messages of a session."""

    session_id: str
    messages: list[Message]
    start: int
    """The number of messages before the first on the page."""
    total: int
    """The number of messages of the session."""


class Day(TypedDict):
    """The first message of a day: its position, and the local date."""

    position: int
    date: str


class Outline(TypedDict):
    """All messages of a session in columns. A message has the same index in each."""

    session_id: str
    steps: list[int]
    """The first id, then the difference between each id and the previous one."""
    roles: list[int]
    """Positions in ``role_names``."""
    sizes: list[int]
    """Bytes of text and tool calls."""
    role_names: list[str]
    days: list[Day]


class ExportedSession(Session):
    """A conversation with its messages, as ``import_sessions`` accepts it."""

    messages: list[Message]


class ContextMessage(TypedDict):
    """A message around a hit, cut to its beginning."""

    role: str
    content: str


class MessageHit(TypedDict):
    """A message that a search found."""

    id: int
    session_id: str
    role: str
    snippet: str
    """The matching part, with the words between ``>>>`` and ``<<<``."""
    timestamp: float
    tool_name: str | None
    title: str | None
    project: str | None
    source: str
    model: str | None
    session_started: float
    context: list[ContextMessage]
    root_session_id: str
    """The first session of the conversation."""
    score: float
    partial: bool
    """True if only some of the words were found."""


class ImportedSessions(TypedDict):
    """The result of ``import_sessions``: ids of sessions, and the number of messages."""

    imported: list[str]
    skipped: list[str]
    messages: int
    disabled: NotRequired[bool]

"""Several messages at once: the turn that a host appends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from mnemos.errors import InvalidInput
from mnemos.inputs import LAST_MOMENT, MAX_NAME
from mnemos.sessions.records import NOT_PLAIN, PlainCalls, dump_plain, is_storable, new_message
from mnemos.sessions.sdk_messages import read_messages
from mnemos.sessions.session_types import Role
from mnemos.storage.base import NewMessage
from mnemos.text.secrets import Redact

RedactAll = Callable[[Sequence[str]], list[str]]

_IS_TEXT = False
# NewMessage(...) without its Python call, which takes half as long again.
_message = tuple.__new__
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


class _Plain(Struct, forbid_unknown_fields=True, gc=False):
    """The common form of a message: a known role, text, and calls with only one JSON encoding."""

    role: Role
    content: str | None = None
    tool_name: _Name | None = None
    tool_calls: PlainCalls | None = None
    tool_call_id: _Name | None = None
    token_count: Annotated[int, Meta(ge=0, lt=1 << 53)] | None = None
    timestamp: Annotated[float, Meta(gt=-LAST_MOMENT, lt=LAST_MOMENT)] | None = None
    metadata: None = None
    origin: Literal["memory"] | None = None
    key: _Name | None = None


def new_messages(
    messages: Sequence[Any],
    *,
    clock: Callable[[], float],
    redact: Redact,
    redact_all: RedactAll,
    max_bytes: int,
) -> list[NewMessage]:
    """Do the same as ``new_message`` for each, and faster where all are plain.

    Plain messages are checked together. Otherwise each is read as a message of an SDK and checked alone,
    which names the mistake.
    """
    found = _plain_messages(messages, clock, redact_all, max_bytes)
    if found is None:
        if not isinstance(messages, (list, tuple)):
            raise InvalidInput(f"messages must be a list of messages, not {type(messages).__name__}")
        given = read_messages(messages)
        return [new_message(one, now=clock(), redact=redact, max_bytes=max_bytes) for one in given]
    return found


def _plain_messages(
    messages: Sequence[Any],
    clock: Callable[[], float],
    redact_all: RedactAll,
    max_bytes: int,
) -> list[NewMessage] | None:
    try:
        plain = msgspec.convert(messages, list[_Plain])
        calls = [None if one.tool_calls is None else dump_plain(one.tool_calls) for one in plain]
    except NOT_PLAIN:
        return None
    texts = [one.content or "" for one in plain]
    texts += [text for text in calls if text]
    names = [one.tool_name for one in plain if one.tool_name is not None]
    names += [one.tool_call_id for one in plain if one.tool_call_id is not None]
    names += [one.key for one in plain if one.key is not None]
    if sum(map(len, texts)) > max_bytes // 4 or not all(map(is_storable, texts)) or not _are_names(names):
        return None
    texts.append("\n".join(names))
    clean = redact_all(texts)
    if clean[len(plain) :] != texts[len(plain) :]:
        # A secret in the arguments of a call, which must stay JSON, or in a name.
        return None
    return [
        _message(
            NewMessage,
            (
                one.role,
                clock() if one.timestamp is None else one.timestamp,
                one.tool_name,
                one.tool_call_id,
                one.token_count,
                _IS_TEXT,
                None,
                text,
                None if one.content is None else content,
                one.origin,
                one.key,
                len(one.tool_calls) if one.tool_calls else 0,
            ),
        )
        for one, content, text in zip(plain, clean, calls, strict=False)
    ]


def _are_names(names: Sequence[str]) -> bool:
    """True if all names are printable and not blank, so that they need no further check."""
    return "".join(names).isprintable() and all(map(str.strip, names))

"""Several messages at once: what a host hands over at the end of a turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from mnemos.errors import InvalidInput
from mnemos.inputs import LAST_MOMENT, MAX_NAME
from mnemos.sessions.model import (
    MESSAGE_FIELDS,
    NOT_PLAIN,
    PlainCalls,
    Role,
    is_storable,
    new_message,
    plain_json,
)
from mnemos.sessions.redaction import Redact
from mnemos.storage.base import NewMessage

RedactAll = Callable[[Sequence[str]], list[str]]

_IS_TEXT = False
# What NewMessage(...) does in the end, without a call in between that takes half as long again.
_message = tuple.__new__
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


class _Plain(Struct, forbid_unknown_fields=True, gc=False):
    """A message as most are: known roles, texts, and calls that JSON writes in one way only."""

    role: Role
    content: str | None = None
    tool_name: _Name | None = None
    tool_calls: PlainCalls | None = None
    tool_call_id: _Name | None = None
    token_count: Annotated[int, Meta(ge=0, lt=1 << 53)] | None = None
    timestamp: Annotated[float, Meta(gt=-LAST_MOMENT, lt=LAST_MOMENT)] | None = None
    metadata: None = None


def new_messages(
    messages: Sequence[Mapping[str, Any]],
    *,
    clock: Callable[[], float],
    redact: Redact,
    redact_all: RedactAll,
    max_bytes: int,
) -> list[NewMessage]:
    """The same as ``new_message`` for each, and quicker where all are plain.

    Those are checked together. When anything is unusual, each is checked alone, which tells what is wrong.
    """
    found = _plain_messages(messages, clock, redact_all, max_bytes)
    if found is None:
        each = _turn(messages)
        return [new_message(one, now=clock(), redact=redact, max_bytes=max_bytes) for one in each]
    return found


def _plain_messages(
    messages: Sequence[Mapping[str, Any]],
    clock: Callable[[], float],
    redact_all: RedactAll,
    max_bytes: int,
) -> list[NewMessage] | None:
    try:
        plain = msgspec.convert(messages, list[_Plain])
        calls = [None if one.tool_calls is None else plain_json(one.tool_calls) for one in plain]
    except NOT_PLAIN:
        return None
    texts = [one.content or "" for one in plain]
    texts += [text for text in calls if text]
    if sum(map(len, texts)) > max_bytes // 4 or not all(map(is_storable, texts)) or not _are_named(plain):
        return None
    clean = redact_all(texts)
    if len(texts) > len(plain) and clean[len(plain) :] != texts[len(plain) :]:
        # A secret in the arguments of a call: they must stay JSON.
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
                len(one.tool_calls) if one.tool_calls else 0,
            ),
        )
        for one, content, text in zip(plain, clean, calls, strict=False)
    ]


def _are_named(plain: Sequence[_Plain]) -> bool:
    """Whether all names are such that nobody need look at them closer."""
    names = [one.tool_name for one in plain if one.tool_name is not None]
    names += [one.tool_call_id for one in plain if one.tool_call_id is not None]
    return "".join(names).isprintable() and all(map(str.strip, names))


def _turn(messages: Any) -> Sequence[Mapping[str, Any]]:
    """Messages for ``append_messages``: a list of dicts with the fields of ``append_message``."""
    if not isinstance(messages, (list, tuple)):
        raise InvalidInput(f"messages is a {type(messages).__name__}; use a list of dicts")
    for number, message in enumerate(messages, start=1):
        if not isinstance(message, Mapping):
            raise InvalidInput(f"message {number} is a {type(message).__name__}; use a dict")
        unknown = set(message) - MESSAGE_FIELDS
        if unknown:
            raise InvalidInput(
                f"message {number} has the unknown field {min(map(str, unknown))!r}; "
                f"known are {', '.join(sorted(MESSAGE_FIELDS))}"
            )
    return messages

"""Answers in JSON, and the status of every error."""

from __future__ import annotations

import traceback
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from mnemos.errors import (
    DiskFull,
    InvalidInput,
    MnemosError,
    NotAllowed,
    NotFound,
    PermissionDenied,
    ReadOnly,
    Refused,
    TimedOut,
    TooLarge,
    Unavailable,
)
from mnemos.faces.http.request_log import Entry, RequestLog
from mnemos.operations.arguments import replace_surrogates
from mnemos.operations.base import Question

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"

# An error has the status of its nearest base class. Others are failures of the server.
_STATUSES: Final[Mapping[type[MnemosError], int]] = {
    InvalidInput: 400,
    TooLarge: 413,
    NotFound: 404,
    Refused: 409,
    NotAllowed: 403,
    ReadOnly: 403,
    PermissionDenied: 403,
    Unavailable: 503,
    DiskFull: 507,
    TimedOut: 504,
    MnemosError: 500,
}


# Codes of malformed requests. All others are in the tree of errors.
REJECTIONS: Final[Mapping[int, str]] = {
    400: "incomplete",
    401: "unauthenticated",
    405: "usage",
    406: "usage",
    408: "timed_out",
    415: "usage",
    421: "misdirected",
    429: "rate_limited",
    500: "internal",
}


class Rejection(Exception):
    """A request answered with an error, before or instead of running an operation."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = headers or {}


def status_of(exc: MnemosError) -> int:
    """Return the HTTP status of an error."""
    return next(_STATUSES[kind] for kind in type(exc).__mro__ if kind in _STATUSES)


class Failure(msgspec.Struct, frozen=True):
    code: str
    """Stable, and meant for programs."""
    message: str


class Error(msgspec.Struct, frozen=True):
    """The reason why a request failed. The server's log has the request id."""

    error: Failure
    request_id: str


class Health(msgspec.Struct, frozen=True):
    status: str
    version: str


class Preview(msgspec.Struct, frozen=True):
    """The things that an operation would delete (empty for none), and its questions."""

    at_stake: str
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes | AsyncGenerator[bytes, None]
    """The whole body, or its pieces as they are produced."""
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = JSON


def refuse(exc: Exception, entry: Entry, request_log: RequestLog) -> Reply:
    """Return the answer to a failed request. Unexpected failures are logged."""
    if not isinstance(exc, Rejection | MnemosError):
        # Don't send the exception's text, which may quote a memory.
        where = "".join(traceback.format_tb(exc.__traceback__))
        request_log.fail(entry, f"{type(exc).__name__}\n{where}")
        exc = Rejection(500, "The server failed unexpectedly. Its log has the request id.")
    if isinstance(exc, Rejection):
        status, code, headers = exc.status, REJECTIONS[exc.status], exc.headers
    else:
        status, code = status_of(exc), exc.code
        headers = {"retry-after": "1"} if status == 503 else {}
    return Reply(status, encode(Error(Failure(code, str(exc)), entry.request_id)), headers)


def encode(value: Any) -> bytes:
    """Encode a value as JSON, replacing bytes of paths that are not UTF-8."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(replace_surrogates(msgspec.to_builtins(value)))


def render_event(name: str, data: bytes, event_id: str = "") -> bytes:
    """Render an event of a stream. ``data`` is JSON, without line breaks."""
    about = f"id: {event_id}\n" if event_id else ""
    return f"event: {name}\n{about}data: ".encode() + data + b"\n\n"

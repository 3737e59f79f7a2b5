"""Answers in JSON, and the status of every error."""

from __future__ import annotations

import math
from collections.abc import Mapping
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
from mnemos.operations.arguments import replace_surrogates

# An error has the status of the nearest class above it; those without one are failures of ours.
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


class Rejection(Exception):
    """A request that is answered with an error before or instead of running an operation."""

    def __init__(
        self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers or {}

    @classmethod
    def of(cls, exc: MnemosError) -> Rejection:
        status = status_of(exc)
        return cls(status, exc.code, str(exc), {"retry-after": "1"} if status == 503 else None)


def status_of(exc: MnemosError) -> int:
    """Return the HTTP status of an error."""
    return next(_STATUSES[kind] for kind in type(exc).__mro__ if kind in _STATUSES)


def too_busy(status: int, code: str, message: str, seconds: float = 1) -> Rejection:
    """Return a refusal that says when to try again."""
    return Rejection(status, code, message, {"retry-after": str(math.ceil(seconds))})


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = "application/json"


def refuse(rejection: Rejection, request_id: str) -> Reply:
    error = {"code": rejection.code, "message": str(rejection)}
    return Reply(rejection.status, encode({"error": error, "request_id": request_id}), rejection.headers)


def encode(value: Any) -> bytes:
    """Return a value in JSON. A path may contain bytes that are not UTF-8: they are replaced."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(replace_surrogates(value))

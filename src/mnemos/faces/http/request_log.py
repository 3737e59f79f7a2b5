"""One line of JSON per request, without contents and tokens."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

log = logging.getLogger("mnemos.http")


@dataclass(slots=True)
class Entry:
    """A request, as far as it is known."""

    request_id: str
    began: float
    token: str = ""
    operation: str = ""
    status: int = 0


class RequestLog:
    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    def begin(self, request_id: str) -> Entry:
        return Entry(request_id, time.perf_counter())

    def end(self, entry: Entry) -> None:
        line = {
            "time": round(self._clock(), 3),
            "request_id": entry.request_id,
            "token": entry.token,
            "operation": entry.operation,
            "status": entry.status,
            "ms": round((time.perf_counter() - entry.began) * 1000, 2),
        }
        log.info("%s", msgspec.json.encode(line).decode())

    def fail(self, entry: Entry, what: str) -> None:
        log.error("%s of request %s failed: %s", entry.operation, entry.request_id, what)


def log_to_stderr() -> None:
    """Write messages for people with our name in front, and lines about requests as they are."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mnemos: %(message)s")
    # A client that sends garbage should not fill the log with it.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    log.propagate = False
    log.setLevel(logging.INFO)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    log.addHandler(handler)

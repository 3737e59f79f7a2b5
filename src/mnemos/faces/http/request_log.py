"""A request log, one line of JSON per request, and counts. No contents or tokens."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

log = logging.getLogger("mnemos.http")
_encoder = msgspec.json.Encoder()


@dataclass(slots=True)
class Entry:
    """The known facts about a request."""

    request_id: str
    began: float
    token: str = ""
    operation: str = ""
    status: int = 0


class RequestLog:
    def __init__(
        self, write: Callable[[bytes], object] = lambda _: None, clock: Callable[[], float] = time.time
    ) -> None:
        """``write`` takes the lines. The logging module is slower than checking a request."""
        self._write = write
        self._clock = clock
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, float] = {}

    def begin(self, request_id: str) -> Entry:
        return Entry(request_id, time.perf_counter())

    def end(self, entry: Entry) -> None:
        seconds = time.perf_counter() - entry.began
        self._requests[entry.operation, entry.status] += 1
        self._seconds[entry.operation] = self._seconds.get(entry.operation, 0.0) + seconds
        line = {
            "time": round(self._clock(), 3),
            "request_id": entry.request_id,
            "token": entry.token,
            "operation": entry.operation,
            "status": entry.status,
            "ms": round(seconds * 1000, 2),
        }
        self._write(_encoder.encode(line) + b"\n")

    def render(self, gauges: Mapping[str, int]) -> bytes:
        """Render the counts in the text format of Prometheus."""
        lines = ["# TYPE mnemos_requests_total counter"]
        lines += [
            f'mnemos_requests_total{{operation="{operation}",status="{status}"}} {count}'
            for (operation, status), count in sorted(self._requests.items())
        ]
        lines.append("# TYPE mnemos_request_seconds_total counter")
        lines += [
            f'mnemos_request_seconds_total{{operation="{operation}"}} {seconds:.6f}'
            for operation, seconds in sorted(self._seconds.items())
        ]
        for name, value in gauges.items():
            lines += [f"# TYPE mnemos_{name} gauge", f"mnemos_{name} {value}"]
        return "\n".join([*lines, ""]).encode()

    def fail(self, entry: Entry, what: str) -> None:
        log.error("%s of request %s failed: %s", entry.operation, entry.request_id, what)


def log_to_stderr() -> None:
    """Log messages for people to standard error, prefixed with our name."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="mnemos: %(message)s")
    # A client that sends garbage should not fill the log with it.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)

"""The limits of the server, each in one place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

HEAD_BYTES: Final = 64 * 1024
"""Maximum size of the request line and headers, beyond what arrived in one piece."""
BODY_BYTES: Final = 1024 * 1024
APPEND_BYTES: Final = 16 * 1024 * 1024
"""Maximum body of operations whose input contains a whole message or file."""
LARGE_BODIES: Final = frozenset({"sessions_append", "sessions_rewrite", "sessions_import", "sync_answer"})
JSON_DEPTH: Final = 64
UPLOAD_BYTES: Final = 4 * 1024**3
UPLOADS: Final = 4
"""Maximum number of files received at once."""

HEAD_SECONDS: Final = 5.0
"""Seconds from the first byte of a request, or from connecting, to the end of its head."""
KEEP_ALIVE_SECONDS: Final = 60
"""Seconds for which an idle connection stays open. A client may write just as it is closed."""
BODY_SECONDS: Final = 10.0
"""Maximum pause between two pieces of a body, in seconds."""
WHOLE_BODY_SECONDS: Final = 60.0
CALL_SECONDS: Final = 30.0
"""Time limit in seconds of an operation that reports no progress."""
STALL_SECONDS: Final = 60.0
"""Seconds that a client has to take the next piece of an answer."""
PULSE_SECONDS: Final = 15.0
"""Seconds between keep-alives on a quiet stream, so that no proxy closes it."""
STOP_SECONDS: Final = 8.0
"""Seconds that requests still have when the server is stopped. Then they get an error."""
CUT_SECONDS: Final = 9
"""Seconds until requests are cut off that can't even get an error, as their body has not arrived."""
END_SECONDS: Final = 9.8
"""Seconds until the process ends, even if something is still running."""

CONNECTIONS: Final = 1024
IN_FLIGHT: Final = 64
"""Maximum number of calls per token that run or wait in a pool."""
POOL: Final = 128
"""Maximum number of calls of all tokens that run or wait in a pool."""
STREAMS: Final = 32
"""Maximum number of open event streams."""
POLL_SECONDS: Final = 0.25
"""Seconds between two checks for other processes' changes, while anybody listens."""
PER_SECOND: Final = 50.0
BURST: Final = 200.0
"""Maximum burst of requests per token, after a pause."""

SPACES: Final = 32
"""Maximum number of memories kept open."""


class Rates:
    """A token bucket per caller: it fills steadily, and each request takes from it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, token_id: str) -> float:
        """Count a request. Return the seconds to wait if it is one too many, else 0."""
        now = self._clock()
        left, at = self._buckets.get(token_id, (BURST, now))
        left = min(BURST, left + (now - at) * PER_SECOND)
        if left < 1:
            return (1 - left) / PER_SECOND
        self._buckets[token_id] = left - 1, now
        return 0.0

"""The limits of the server, each in one place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

HEAD_BYTES: Final = 64 * 1024
"""For the request line and the headers, beyond what arrived in one piece."""
BODY_BYTES: Final = 1024 * 1024
APPEND_BYTES: Final = 16 * 1024 * 1024
"""For operations that carry a whole message or file in their input."""
LARGE_BODIES: Final = frozenset({"sessions_append", "sessions_rewrite", "sessions_import", "sync_answer"})
JSON_DEPTH: Final = 64
UPLOAD_BYTES: Final = 4 * 1024**3
UPLOADS: Final = 4
"""The most files that are received at once."""

HEAD_SECONDS: Final = 5.0
"""From the first byte of a request, or from connecting, to the end of its head."""
KEEP_ALIVE_SECONDS: Final = 60
"""The time a connection stays open after an answer. A client may write on it just as it is closed."""
BODY_SECONDS: Final = 10.0
"""The longest pause between two pieces of a body."""
WHOLE_BODY_SECONDS: Final = 60.0
CALL_SECONDS: Final = 30.0
"""For an operation that reports no progress."""
STALL_SECONDS: Final = 60.0
"""The time a client has to take the next piece of an answer."""
PULSE_SECONDS: Final = 15.0
"""The time between two lines of a stream without news, so that no proxy closes it."""
STOP_SECONDS: Final = 8.0
"""The time requests still have when the server is stopped. Then they get an error."""
CUT_SECONDS: Final = 9
"""Then requests are cut off that can't even get an error, such as those whose body has not arrived."""
END_SECONDS: Final = 9.8
"""Then the process ends, even if something still runs."""

CONNECTIONS: Final = 1024
IN_FLIGHT: Final = 64
"""The most calls of one token that run or wait in a pool."""
POOL: Final = 128
"""The most calls of all tokens that run or wait in a pool."""
STREAMS: Final = 32
"""The most streams of events that are open at once."""
POLL_SECONDS: Final = 0.25
"""The time between two looks for changes of other processes, while anybody listens."""
PER_SECOND: Final = 50.0
BURST: Final = 200.0
"""The most requests that a token may send at once after a pause."""

SPACES: Final = 32
"""The most memories that stay open."""


class Rates:
    """A bucket per token, which fills steadily and is emptied by requests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, token_id: str) -> float:
        """Count a request; return the seconds to wait if it is one too many, else 0."""
        now = self._clock()
        left, at = self._buckets.get(token_id, (BURST, now))
        left = min(BURST, left + (now - at) * PER_SECOND)
        if left < 1:
            return (1 - left) / PER_SECOND
        self._buckets[token_id] = left - 1, now
        return 0.0

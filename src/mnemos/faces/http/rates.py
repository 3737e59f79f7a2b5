"""A limit on the requests of each token."""

from __future__ import annotations

import time
from collections.abc import Callable

from mnemos.faces.http import limits


class Rates:
    """A bucket per token, which fills steadily and is emptied by requests."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, token_id: str) -> float:
        """Count a request; return the seconds to wait if it is one too many, else 0."""
        now = self._clock()
        left, at = self._buckets.get(token_id, (limits.BURST, now))
        left = min(limits.BURST, left + (now - at) * limits.PER_SECOND)
        if left < 1:
            return (1 - left) / limits.PER_SECOND
        self._buckets[token_id] = left - 1, now
        return 0.0

"""A clock that moves only when a test advances it."""

from __future__ import annotations


class FixedClock:
    """A callable that returns the same Unix seconds until it is advanced."""

    def __init__(self, now: float = 1_767_225_600.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> float:
        """Move the clock, back with a negative number. Returns the new time."""
        self.now += seconds
        return self.now

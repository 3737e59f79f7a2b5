"""Progress of long work, reported to whoever wants to see it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None]
"""Called with the share of the work that is done, 0 to 1."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Return the progress of one part of the work, from ``start`` to ``end`` of the whole."""
    return lambda share: progress(start + share * (end - start))


def no_progress(_: float) -> None:
    """Report to nobody."""

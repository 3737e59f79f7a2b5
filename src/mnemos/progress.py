"""Progress of long work, reported to whoever wants to see it."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[float], None]
"""Called with the share of the work that is done, 0 to 1."""


def no_progress(_: float) -> None:
    """Report to nobody."""

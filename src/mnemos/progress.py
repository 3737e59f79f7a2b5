"""Progress reports of long work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

Progress = Callable[[float], None]
"""Called with the share of the work that is done, 0 to 1."""


@runtime_checkable
class Labelled(Protocol):
    """A progress with a label."""

    label: str

    def __call__(self, share: float, /) -> None: ...


def part_of(progress: Progress, start: float, end: float, label: str = "") -> Progress:
    """Return a progress that maps one part of the work to ``start``..``end``.

    ``label`` says in words what is being done, e.g. Reading conversations.
    """

    def report(share: float) -> None:
        if label and isinstance(progress, Labelled):
            progress.label = label
        progress(start + share * (end - start))

    return report


def no_progress(_: float) -> None:
    """Ignore the progress."""

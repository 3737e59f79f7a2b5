"""Many things a few at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batches(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most ``size`` of them, in order."""
    coming = iter(things)
    while batch := list(islice(coming, size)):
        yield batch

"""The id range of a space."""

from __future__ import annotations

from dataclasses import dataclass

_BITS = 32


@dataclass(frozen=True, slots=True)
class Space:
    """A space as this file numbers it: its messages have the ids ``first`` to ``last``."""

    id: int
    first: int
    last: int


def space_of(number: int) -> Space:
    return Space(number, (number << _BITS) + 1, (number + 1 << _BITS) - 1)


# A file opened for reading may not have the asked space: a range in which nothing can be.
NOWHERE = Space(-1, 0, -1)

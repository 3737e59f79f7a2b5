"""The id range of a space."""

from __future__ import annotations

from msgspec import Struct

_BITS = 32


class Space(Struct, frozen=True):
    """A space as this file numbers it: its messages have the ids ``first`` to ``last``.

    The ids of passages that are no messages follow, ``first_passage`` to ``last_passage``.
    """

    id: int
    first: int
    last: int

    @property
    def first_passage(self) -> int:
        return self.last + 1

    @property
    def last_passage(self) -> int:
        return self.last + (1 << _BITS - 1)


def space_of(number: int) -> Space:
    """A space's range of ids: messages have the lower half of it."""
    start = number << _BITS
    return Space(number, start + 1, start + (1 << _BITS - 1) - 1)


# A file opened for reading may not have the asked space: a range in which nothing can be.
NOWHERE = Space(-1, 0, -1)

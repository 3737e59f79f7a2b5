"""Spaces as engines number them, and the ids that belong to each."""

from __future__ import annotations

from msgspec import Struct

SPACE_BITS = 32


class Space(Struct, frozen=True):
    """The ids of a space in a database: ``first`` to ``last`` for messages.

    Passages that are not messages follow, ``first_passage`` to ``last_passage``.
    """

    id: int
    first: int
    last: int

    @property
    def first_passage(self) -> int:
        return self.last + 1

    @property
    def last_passage(self) -> int:
        return self.last + (1 << SPACE_BITS - 1)


def space_of(number: int) -> Space:
    """Return a space's range of ids, whose lower half is for messages."""
    start = number << SPACE_BITS
    return Space(number, start + 1, start + (1 << SPACE_BITS - 1) - 1)


# An empty range, for a space that doesn't exist in a database opened for reading.
NOWHERE = Space(-1, 0, -1)

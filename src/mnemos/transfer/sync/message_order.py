"""The order of a session's messages after it continued on two machines.

Both keep what they have in common. The rest is sorted by time. Messages of one moment keep their order where
the machines agree on it, and are sorted by content where they don't. All machines arrive at the same order,
whichever news they get first, because each such step sorts more than was sorted before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest


@dataclass(frozen=True, slots=True)
class Item:
    """A message to compare. ``key`` is None if forgotten: only role and time are left."""

    role: str
    at: float
    key: str | None


@dataclass(frozen=True, slots=True)
class Pair:
    """A message's place here and there; None where it is missing."""

    here: int | None
    there: int | None
    is_forgotten: bool = False


def merge_order(here: Sequence[Item], there: Sequence[Item], skip: int) -> list[Pair]:
    """Return both machines' messages in common order. ``skip``: the known equal ones."""
    start = skip
    while start < min(len(here), len(there)) and _is_same(here[start], there[start]):
        start += 1
    same = [_pair(here, there, place, place) for place in range(start)]
    left, right = range(start, len(here)), range(start, len(there))
    if not left or not right:
        return [*same, *(_pair(here, there, mine, theirs) for mine, theirs in zip_longest(left, right))]
    moments: dict[float, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place in left:
        moments[here[place].at][0].append(place)
    for place in right:
        moments[there[place].at][1].append(place)
    for at in sorted(moments):
        same += _merge_moment(here, there, *moments[at])
    return same


def _merge_moment(
    here: Sequence[Item], there: Sequence[Item], mine: Sequence[int], theirs: Sequence[int]
) -> list[Pair]:
    roles = sorted({here[place].role for place in mine} | {there[place].role for place in theirs})
    pairs = [
        pair
        for role in roles
        for pair in _match(
            here,
            there,
            [place for place in mine if here[place].role == role],
            [place for place in theirs if there[place].role == role],
        )
    ]
    first = sorted((pair for pair in pairs if pair.here is not None), key=lambda pair: pair.here or 0)
    second = sorted((pair for pair in pairs if pair.there is not None), key=lambda pair: pair.there or 0)
    agreed = [one for one, _ in takewhile(lambda both: both[0] is both[1], zip(first, second, strict=False))]
    if len(agreed) in (len(first), len(second)):
        return first if len(first) >= len(second) else second
    rest = [pair for pair in pairs if pair not in agreed]
    return [*agreed, *sorted(rest, key=lambda pair: _sort_key(here, there, pair))]


def _match(
    here: Sequence[Item], there: Sequence[Item], mine: Sequence[int], theirs: Sequence[int]
) -> Iterator[Pair]:
    """Match messages of the same role and moment."""
    both = list(zip_longest(mine, theirs))
    agree = all(one is None or two is None or _is_same(here[one], there[two]) for one, two in both)
    keys = [*(here[place].key for place in mine), *(there[place].key for place in theirs)]
    if agree or None in keys:
        # Two machines wrote different texts at one moment, and it is unknown which was forgotten.
        for one, two in both:
            yield Pair(one, two, is_forgotten=True) if not agree else _pair(here, there, one, two)
        return
    left = list(theirs)
    for one in mine:
        two = next((place for place in left if there[place].key == here[one].key), None)
        if two is not None:
            left.remove(two)
        yield Pair(one, two)
    yield from (Pair(None, two) for two in left)


def _is_same(one: Item, two: Item) -> bool:
    return (one.role, one.at) == (two.role, two.at) and (one.key == two.key or None in (one.key, two.key))


def _pair(here: Sequence[Item], there: Sequence[Item], mine: int | None, theirs: int | None) -> Pair:
    is_forgotten = (mine is not None and here[mine].key is None) or (
        theirs is not None and theirs < len(there) and there[theirs].key is None
    )
    return Pair(mine, theirs, is_forgotten)


def _sort_key(here: Sequence[Item], there: Sequence[Item], pair: Pair) -> tuple[str, str]:
    item = here[pair.here] if pair.here is not None else there[pair.there or 0]
    return ("" if pair.is_forgotten else item.key or "", item.role)

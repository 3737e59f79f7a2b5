"""What people are like: the entries and the questions of the workload.

Every line of ``people.tsv`` is a topic: a key, a question about it that avoids the words of key and values,
as somebody asks who does not know what was written, and a value for each of five people.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

PEOPLE = ("alex", "björk-7", "chen wei", "dara@example.com", "эмма")

# Beside the topics, so that there is something to pick them out of.
_VERBS = ("visited", "bought", "read", "met", "cooked", "repaired", "planted", "watched")
_THINGS = (
    *("a lamp", "old maps", "the neighbour", "tomato soup"),
    *("a bridge", "red boots", "a short play", "two chairs"),
)


@dataclass(frozen=True, slots=True)
class Topic:
    key: str
    question: str
    """In other words."""
    values: tuple[str, ...]
    """One for each of the people."""


@cache
def topics() -> tuple[Topic, ...]:
    lines = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()
    return tuple(
        Topic(key, question, tuple(values)) for key, question, *values in (line.split("\t") for line in lines)
    )


def filler(person: int, number: int) -> tuple[str, str]:
    """An entry of the diary sort: there are many like it."""
    verb, thing = _VERBS[(number + person) % len(_VERBS)], _THINGS[(3 * number + person) % len(_THINGS)]
    return f"diary_{number:03}", f"{verb} {thing} on day {number * 7 + person}"

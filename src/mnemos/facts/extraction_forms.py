"""What a language says of stating facts: its rules and its words. The expressions read lower case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mnemos.facts.notation import Mark


@dataclass(frozen=True, slots=True)
class Rule:
    """A form in which a fact of one type is stated.

    ``unless``: what makes the same words something else. ``about``: what its target begins with.
    ``spoken_by_user``: an assistant that says so advises, promises, or tells what it does next.
    ``commands``: it may begin like a task, for it is one that lasts.
    """

    mark: Mark
    form: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    about: str = ""
    spoken_by_user: bool = False
    commands: bool = False


@dataclass(frozen=True, slots=True)
class Values:
    """How a language says what something is, where it is, what it is called, when it happens.

    ``verb`` has the groups ``called``, ``placed``, ``timed``, ``counted`` and ``is``: what may follow depends
    on it. ``nouns`` are things that have a value; ``named`` those whose value may be any word. ``vague`` is what
    tells a state and no value. ``others`` cannot be understood without the sentences before; ``passing`` things
    are gone with the conversation.
    """

    verb: re.Pattern[str]
    nouns: frozenset[str]
    named: frozenset[str]
    grouped: frozenset[str]
    vague: re.Pattern[str]
    others: frozenset[str]
    ours: frozenset[str]
    joint: re.Pattern[str]
    small: frozenset[str]
    passing: frozenset[str]
    of: re.Pattern[str]
    dates: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language, most telling first.

    ``common``: words by which it is known. ``asks``: how a question begins that lost its sign. ``doubts``:
    what is only believed, supposed or told by others, anywhere in the sentence. ``unreal``: the same before
    the statement. ``conditions``: before a statement, they leave only constraints. ``orders``: how a task
    begins. ``helps``: what an assistant says of itself and of the world.
    """

    common: frozenset[str]
    asks: re.Pattern[str]
    doubts: re.Pattern[str]
    unreal: re.Pattern[str]
    conditions: re.Pattern[str]
    orders: re.Pattern[str]
    helps: re.Pattern[str]
    open: re.Pattern[str]
    rules: tuple[Rule, ...]
    values: Values


def form(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


def words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())

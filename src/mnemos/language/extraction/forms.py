"""What a language says of stating facts: its rules and its words. The expressions read lower case."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mnemos.language.notation import Mark


@dataclass(frozen=True, slots=True)
class Rule:
    """Forms in which a fact of one type is stated.

    ``cues``: a sentence without any of these words is not looked at. ``unless``: what makes the same words
    something else. ``about``: what the target begins with. ``by_assistant``: true when an assistant says it
    too; what else it says is advice, a promise, or what it does next. ``commands``: it may begin like a task,
    for it is one that lasts.
    """

    mark: Mark
    cues: frozenset[str]
    form: re.Pattern[str]
    unless: re.Pattern[str]
    about: str
    by_assistant: bool
    commands: bool


@dataclass(frozen=True, slots=True)
class Values:
    """How a language says what something is, where it is, what it is called, when it happens.

    ``verb`` has the groups ``called``, ``placed``, ``timed``, ``acts``, ``counted`` and ``is``: what may
    follow depends on it. ``nouns`` are things that have a value, ``named`` those whose value may be any word,
    ``grouped`` those that have so many of something. ``vague`` tells a state, no value. Subjects that begin
    with ``others`` cannot be understood without the sentences before; ``passing`` things are gone with the
    conversation; ``ours`` are words before what belongs to who speaks, ``every`` before all of a kind, and
    ``small`` those that are no part of a target. ``joint`` is where a subject begins, ``of`` parts it.
    """

    verb: re.Pattern[str]
    nouns: frozenset[str]
    named: frozenset[str]
    grouped: frozenset[str]
    vague: re.Pattern[str]
    others: frozenset[str]
    ours: frozenset[str]
    every: frozenset[str]
    passing: frozenset[str]
    small: frozenset[str]
    joint: re.Pattern[str]
    of: re.Pattern[str]
    dates: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language, most telling first.

    ``common``: words by which it is known. ``asks``: how a question begins that lost its sign. ``doubts``:
    what is only believed, supposed or told by others, anywhere in the sentence. ``unreal``: the same before
    the statement. ``conditions``: before a statement, they leave only constraints. ``orders``: how a task
    begins. ``helps``: what an assistant says of itself and of the world. ``open``: how a question is kept.
    """

    common: frozenset[str]
    asks: re.Pattern[str]
    doubts: re.Pattern[str]
    unreal: re.Pattern[str]
    conditions: re.Pattern[str]
    orders: re.Pattern[str]
    helps: re.Pattern[str]
    open_cues: frozenset[str]
    open: re.Pattern[str]
    rules: tuple[Rule, ...]
    values: Values


_NEVER: re.Pattern[str] = re.compile(r"(?!)")


def rule(
    mark: Mark,
    cues: str,
    *forms: str,
    unless: re.Pattern[str] = _NEVER,
    about: str = "",
    by_assistant: bool = False,
    commands: bool = False,
) -> Rule:
    return Rule(mark, words(cues), form(*forms), unless, about, by_assistant, commands)


def form(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives))


def words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())

"""The rules of extraction by language, read from ``rules/<language>.txt``.

A rule file has sections in brackets and lines ``key: value``; indented lines continue the line before. Word
lists are separated by blanks. Patterns are regular expressions over lower case; a key that occurs several
times lists alternatives. ``[fragments]`` name parts of patterns, which are inserted by ``<NAME>``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from mnemos.language.notation import Mark, mark_of

_WORD_LISTS: Final = frozenset(
    "common open_cues cues nouns named grouped others every ours passing small".split()
)
_FRAGMENT: Final = re.compile(r"<([A-Z_]+)>")
_NEVER: Final = re.compile(r"(?!)")

Entry = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Rule:
    """Forms in which a fact of one type is stated.

    A sentence without any of the ``cues`` is skipped. ``unless`` matches what makes the same words
    something else. ``about`` is the first part of the target. ``by_assistant``: counts for assistants
    too, whose other sentences are advice, promises or plans. ``commands``: may begin like a task, because
    it is a lasting one.
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
    """The forms of values in a language: what something is, where, by which name and when.

    ``verb`` has the groups ``called``, ``placed``, ``timed``, ``acts``, ``counted`` and ``is``, which
    decide what may follow. ``nouns`` have a value, ``named`` ones may have any word as a value,
    ``grouped`` ones have a number of something. ``vague`` matches a state instead of a value. Subjects
    that begin with ``others`` need the sentences before; ``passing`` things are gone with the
    conversation; ``ours`` precede what belongs to the speaker, ``every`` all of a kind, and ``small``
    words are not part of a target. ``joint`` is where a subject begins, and ``of`` splits it.
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
    """The rules of a language, the most specific first.

    ``common`` words identify it. ``asks``: the beginning of a question without its sign. ``doubts``:
    believed, supposed or reported, anywhere in the sentence; ``unreal``: the same before the statement.
    ``conditions`` before a statement leave only constraints. ``orders``: the beginning of a task.
    ``helps``: what an assistant says about itself and the world. ``open``: an open question to keep.
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


def load_language(name: str) -> Language:
    """Read and compile the rules of a language."""
    text = (Path(__file__).parent / "rules" / f"{name}.txt").read_text(encoding="utf-8")
    fragments: dict[str, str] = {}
    language: Entry = {}
    rules: list[Rule] = []
    values: Entry = {}
    for section, entry in _parse(text):
        if section == "fragments":
            fragments.update((key, _expand(value, fragments)) for key, (value,) in entry.items())
            continue
        expanded = {key: [_expand(line, fragments) for line in lines] for key, lines in entry.items()}
        if section == "language":
            language = expanded
        elif section == "values":
            values = expanded
        else:
            rules.append(_make_rule(section.removeprefix("rule "), expanded))
    return Language(**_compile(language), rules=tuple(rules), values=Values(**_compile(values)))


def _parse(text: str) -> Iterator[tuple[str, Entry]]:
    """Yield the sections of a rule file with the lines of each key."""
    section, entry, key = "", Entry(), ""
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            if section:
                yield section, entry
            section, entry = line[1:-1], Entry()
        elif line.startswith(" "):
            # Words are separated by blanks; a pattern continues at its "|".
            entry[key][-1] += " " * (key in _WORD_LISTS) + line.strip(" ")
        else:
            key, _, value = line.partition(": ")
            entry.setdefault(key, []).append(value)
    yield section, entry


def _expand(value: str, fragments: dict[str, str]) -> str:
    return _FRAGMENT.sub(lambda name: fragments[name[1]], value)


def _compile(entry: Entry) -> dict[str, Any]:
    """Make a set of each word list and an expression of each list of alternatives."""
    return {
        key: frozenset(" ".join(lines).split()) if key in _WORD_LISTS else re.compile("|".join(lines))
        for key, lines in entry.items()
    }


def _make_rule(mark: str, entry: Entry) -> Rule:
    return Rule(
        mark=mark_of(mark),
        cues=frozenset(" ".join(entry["cues"]).split()),
        form=re.compile("|".join(entry["form"])),
        unless=re.compile("|".join(entry["unless"])) if "unless" in entry else _NEVER,
        about=entry.get("about", [""])[0],
        by_assistant="by_assistant" in entry,
        commands="commands" in entry,
    )

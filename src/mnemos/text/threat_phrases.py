"""A small notation for what people say, and the search for it.

``[please] (ignore|forget) {which*} {rules}`` reads: maybe "please"; one of two verbs; any number of words of
the class *which*; one of the class *rules*. ``..3`` is up to three words of any kind, ``!(to|until)``
forbids what may not follow, ``$`` asks for the end of the clause. A space stands for whatever separates words.

Every phrase begins with a word, and is tried only where one of its first words stands. So the cost of a
text is that of looking its words up, and a phrase is not even compiled before a text needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mnemos.text.threat_context import is_addressed, is_mentioned, is_negated

Guard = Callable[[str, int, int], bool]
"""Whether a phrase found at ``text[start:end]`` is meant, given what stands around it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Phrases that say the same thing, and what has to hold around them."""

    reason: str
    guard: Guard
    phrases: tuple[str, ...]


class Phrasebook:
    """Rules with their word classes, indexed by the words their phrases begin with."""

    def __init__(self, classes: Mapping[str, str], rules: tuple[Rule, ...]) -> None:
        self._classes = classes
        self._index: dict[str, list[tuple[Rule, str]]] = {}
        for rule in rules:
            for phrase in rule.phrases:
                for word in _first_words(phrase, classes):
                    self._index.setdefault(word, []).append((rule, phrase))
        self._compiled: dict[str, re.Pattern[str]] = {}

    def find(self, text: str) -> Iterator[tuple[str, int, int]]:
        """(reason, start, end) of every phrase that is meant in ``text``, which has to be folded."""
        for word in _WORD.finditer(text):
            for rule, phrase in self._index.get(word[0], ()):
                match = self._expression(phrase).match(text, word.start())
                if match is not None and rule.guard(text, *match.span()):
                    if not is_mentioned(text, *match.span()):
                        yield (rule.reason, *match.span())

    def _expression(self, phrase: str) -> re.Pattern[str]:
        if phrase not in self._compiled:
            self._compiled[phrase] = re.compile(expression(phrase, self._classes))
        return self._compiled[phrase]


def ordered(text: str, start: int, _end: int) -> bool:
    """Said as an order: an imperative, or what "you" must do."""
    return is_addressed(text, start) and not is_negated(text, start, reach=30)


def stated(text: str, start: int, _end: int) -> bool:
    """Said, and not denied or forbidden."""
    return not is_negated(text, start, reach=40)


def anyhow(_text: str, _start: int, _end: int) -> bool:
    """Whatever stands around it."""
    return True


# --- the notation ---------------------------------------------------------------------------------

_WORD: Final = re.compile(r"\w+(?:'\w+)*")
_SEPARATOR: Final = r"[\s,\"'*_():/`-]{1,4}+"
_ANY_WORD: Final = r"[^\s!?;]{0,39}[^\s!?;.:,]"
_END_OF_CLAUSE: Final = r"(?=\s*(?:[.!?,;:\n)\"'`]|-\s|$))"
_MOST_REPEATS: Final = 9


def expression(phrase: str, classes: Mapping[str, str]) -> str:
    """The regular expression of a phrase; ValueError for a class that is not there."""
    return _sequence(phrase, classes) + r"(?!\w)"


def _sequence(phrase: str, classes: Mapping[str, str]) -> str:
    parts: list[str] = []
    pending = ""  # what goes before the next word: nothing, or a separator
    for token in _tokens(phrase):
        if token == "$":
            parts.append(_END_OF_CLAUSE)
        elif token.startswith("!"):
            parts.append(f"(?!{_SEPARATOR}{_group(token[2:-1], classes)}(?!\\w))")
        elif token.startswith("["):
            inner = _group(token[1:-1], classes)
            parts.append(f"(?:{pending}{inner})?" if pending else f"(?:{inner}{_SEPARATOR})?")
        elif token.endswith("*}"):
            inner = _class(token[1:-2], classes)
            parts.append(f"(?:{pending}{inner}(?!\\w)){{0,{_MOST_REPEATS}}}")
        elif token.startswith(".."):
            parts.append(f"(?:{pending}{_ANY_WORD}){{0,{int(token[2:])}}}?")
        else:
            parts.append(pending + _word(token, classes))
            pending = _SEPARATOR
    return "".join(parts)


def _word(token: str, classes: Mapping[str, str]) -> str:
    if token.startswith("("):
        return _group(token[1:-1], classes)
    if token.startswith("{"):
        return _class(token[1:-1], classes)
    if token.endswith("~"):
        return re.escape(token[:-1]) + r"\w*+"
    return re.escape(token)


def _class(name: str, classes: Mapping[str, str]) -> str:
    if name not in classes:
        raise ValueError(f"there is no class of words {name!r}; there are {', '.join(sorted(classes))}")
    value = classes[name]
    return f"(?:{value[3:]})" if value.startswith("re:") else _group(value, classes)


def _group(inner: str, classes: Mapping[str, str]) -> str:
    # The longest first: "instructions" must not stop at "instruction".
    options = sorted(_options(inner), key=len, reverse=True)
    return "(?:" + "|".join(f"{_sequence(option, classes)}(?!\\w)" for option in options) + ")"


def _first_words(phrase: str, classes: Mapping[str, str]) -> Iterator[str]:
    first = next(iter(_tokens(phrase)))
    if first.startswith("("):
        for option in _options(first[1:-1]):
            yield from _first_words(option, classes)
    elif first.startswith("{"):
        for option in _options(classes[first[1:-1]]):
            yield from _first_words(option, classes)
    else:
        yield first


@lru_cache(maxsize=4_096)
def _tokens(phrase: str) -> tuple[str, ...]:
    return tuple(_split(phrase, " "))


def _options(group: str) -> list[str]:
    return _split(group, "|")


def _split(text: str, separator: str) -> list[str]:
    """The parts of ``text`` between separators that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif character == separator and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return [part for part in parts if part]

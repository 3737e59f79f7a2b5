"""A small notation for what people say, and the search for it.

``(ignore|forget) [all] {which*} {rules}`` reads: one of two verbs; maybe "all"; any number of words of the
class *which*; one of the class *rules*. ``..3`` is up to three words of any kind, ``!(to|until)`` forbids
    what
may not follow, ``$`` asks for the end of the clause. A space stands for whatever separates words.

``inject~`` stands for any word that begins so.

Every phrase begins with a whole word, and is tried only where its first two words may stand. So the cost of a
text is that of looking its words up, and a phrase is not even compiled before a text needs it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from mnemos.text.threats.context import is_addressed, is_mentioned, is_negated
from mnemos.text.threats.words import Words

Guard = Callable[[str, int, int], bool]
"""Whether a phrase found at ``text[start:end]`` is meant, given what stands around it."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Phrases that say the same thing, and what has to hold around them."""

    reason: str
    guard: Guard
    phrases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrasebook:
    """The rules of one kind of threat, with the classes of words they speak of."""

    kind: str
    classes: Mapping[str, str]
    rules: tuple[Rule, ...]


class _Entry:
    """A phrase as it is looked up: the words that may come second (None: any), and what it means."""

    __slots__ = ("_book", "_compiled", "_phrase", "rule")

    def __init__(self, book: Phrasebook, rule: Rule, phrase: str) -> None:
        self._book = book
        self.rule = rule
        self._phrase = phrase
        self._compiled: re.Pattern[str] | None = None

    @property
    def kind(self) -> str:
        return self._book.kind

    def match(self, text: str, start: int) -> re.Match[str] | None:
        if self._compiled is None:
            self._compiled = re.compile(expression(self._phrase, self._book.classes))
        return self._compiled.match(text, start)


class Phrases:
    """All phrases of several books, found in one pass over the words of a text."""

    def __init__(self, books: Iterable[Phrasebook]) -> None:
        self._index: dict[str, list[tuple[frozenset[str] | None, _Entry]]] = {}
        for book in books:
            for rule in book.rules:
                for phrase in rule.phrases:
                    entry = _Entry(book, rule, phrase)
                    for first, seconds in openings(phrase, book.classes).items():
                        self._index.setdefault(first, []).append((seconds, entry))

    def find(self, words: Words) -> Iterator[tuple[str, str, int, int]]:
        """(kind, reason, start, end) of every phrase that is meant in the words of a folded text."""
        index, listed = self._index, words.list
        for at, word in enumerate(listed):
            entries = index.get(word)
            if entries is None:
                continue
            second = listed[at + 1] if at + 1 < len(listed) else ""
            for seconds, entry in entries:
                if seconds is None or second in seconds:
                    yield from _meant(entry, words.text, words.spans[at][0])


def _meant(entry: _Entry, text: str, start: int) -> Iterator[tuple[str, str, int, int]]:
    match = entry.match(text, start)
    if match is None or _is_name(text, *match.span()):
        return
    if entry.rule.guard(text, *match.span()) and not is_mentioned(text, *match.span()):
        yield entry.kind, entry.rule.reason, *match.span()


def _is_name(text: str, start: int, end: int) -> bool:
    """``test_ignore_previous_instructions``, ``fix/ignore-all-rules.md``: a name, not a sentence."""
    if " " in text[start:end] or "\n" in text[start:end]:
        return False
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return "_" in text[start:end] + around or "/" in around or "." in around[:1]


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


def phrases(block: str) -> tuple[str, ...]:
    """The phrases of a block of text, one a line; a line that is indented goes on with the one before."""
    return tuple(_joined(block))


def classes(block: str) -> dict[str, str]:
    """Classes of words from a block of text: ``name: word|two words|another``, indented lines go on."""
    named = (line.split(":", 1) for line in _joined(block))
    return {name.strip(): members.strip() for name, members in named}


def _joined(block: str) -> list[str]:
    lines: list[str] = []
    for line in block.splitlines():
        if not line.strip():
            continue
        if line[0].isspace() and lines:
            between = "" if line.lstrip()[0] in "|)" or lines[-1][-1] in "(|" else " "
            lines[-1] += between + line.strip()
        else:
            lines.append(line.strip())
    return lines


_SEPARATOR: Final = r"[\s,\"'*_():/`-]{1,4}+"
_ANY_WORD: Final = r"(?>[^\s!?;]{0,39}[^\s!?;.:,])"
_END_OF_CLAUSE: Final = r"(?=\s*(?:[.!?,;:\n)\"'`]|-\s|$))"
_MOST_REPEATS: Final = 9
_END: Final = "$"


def expression(phrase: str, classes: Mapping[str, str]) -> str:
    """The regular expression of a phrase; ValueError for a class that is not there."""
    return _sequence(phrase, classes) + r"(?!\w)"


def _sequence(phrase: str, classes: Mapping[str, str]) -> str:
    parts: list[str] = []
    separator = ""  # before the first word there is none
    for piece in _pieces(phrase):
        if piece == _END:
            parts.append(_END_OF_CLAUSE)
        elif piece.startswith("!"):
            parts.append(f"(?!{_SEPARATOR}{_group(piece[2:-1], classes)}(?!\\w))")
        elif piece.startswith("["):
            inner = _group(piece[1:-1], classes)
            parts.append(f"(?:{separator}{inner})?" if separator else f"(?:{inner}{_SEPARATOR})?")
        elif piece.endswith("*}"):
            inner = _class(piece[1:-2], classes)
            parts.append(f"(?:{separator}{inner}(?!\\w)){{0,{_MOST_REPEATS}}}")
        elif piece.startswith(".."):
            parts.append(f"(?:{separator}{_ANY_WORD}){{0,{int(piece[2:])}}}?")
        else:
            parts.append(separator + _word(piece, classes))
            separator = _SEPARATOR
    return "".join(parts)


def _word(piece: str, classes: Mapping[str, str]) -> str:
    if piece.startswith("("):
        return _group(piece[1:-1], classes)
    if piece.startswith("{"):
        return _class(piece[1:-1], classes)
    if piece.endswith("~"):
        return re.escape(piece[:-1]) + r"\w*+"
    return re.escape(piece)


def _class(name: str, classes: Mapping[str, str]) -> str:
    value = _members(name, classes)
    return f"(?:{value[3:]})" if value.startswith("re:") else _group(value, classes)


def _members(name: str, classes: Mapping[str, str]) -> str:
    if name not in classes:
        raise ValueError(f"there is no class of words {name!r}; there are {', '.join(sorted(classes))}")
    return classes[name]


def _group(inner: str, classes: Mapping[str, str]) -> str:
    # The longest first: "instructions" must not stop at "instruction".
    options = sorted(_options(inner), key=len, reverse=True)
    return "(?:" + "|".join(f"{_sequence(option, classes)}(?!\\w)" for option in options) + ")"


# --- the words a phrase begins with ---------------------------------------------------------------

Seconds = frozenset[str] | None


def openings(phrase: str, classes: Mapping[str, str]) -> dict[str, Seconds]:
    """The first words of a phrase, each with the words that may come second; None for any word."""
    return _openings(phrase, classes, None)


def _openings(phrase: str, classes: Mapping[str, str], after: Seconds) -> dict[str, Seconds]:
    """The same for a part of a phrase, which ``after`` follows."""
    first, *rest = _pieces(phrase)
    following = _firsts(rest, classes, after)
    found: dict[str, Seconds] = {}
    for option in _choices(first, classes) or ():
        head, *tail = _pieces(option)
        if head[0] in "({":
            nested = _openings(option, classes, following)
        else:
            word, *parts = Words(head).list
            nested = {word: frozenset(parts[:1]) or _firsts(tail, classes, following)}
        for word, seconds in nested.items():
            known = found.get(word, frozenset())
            found[word] = None if known is None or seconds is None else known | seconds
    return found


def _firsts(pieces: list[str], classes: Mapping[str, str], after: Seconds) -> Seconds:
    """The words that a sequence may begin with, which ``after`` follows; None if it can be any word."""
    found: frozenset[str] = frozenset()
    for piece in pieces:
        choices = _choices(piece, classes)
        if choices is None:
            return None
        for option in choices:
            firsts = _first_of(option, classes)
            if firsts is None:
                return None
            found |= firsts
        if not (piece.startswith("[") or piece.endswith("*}")):
            return found
    return None if after is None else found | after


def _first_of(option: str, classes: Mapping[str, str]) -> Seconds:
    head = _pieces(option)[0]
    if head[0] in "({[":
        return _firsts(list(_pieces(option)), classes, frozenset())
    return frozenset(Words(head).list[:1])


def _choices(piece: str, classes: Mapping[str, str]) -> list[str] | None:
    """What a piece may stand for; None if anything."""
    if piece[0] in "([":
        return _options(piece[1:-1])
    if piece[0] == "{":
        value = _members(piece.strip("{*}"), classes)
        return None if value.startswith("re:") else _options(value)
    return None if piece.startswith("..") or piece.endswith("~") or not piece[0].isalnum() else [piece]


@lru_cache(maxsize=8_192)
def _pieces(phrase: str) -> tuple[str, ...]:
    return tuple(_split(phrase, " "))


@lru_cache(maxsize=8_192)
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

"""Words of time in English, German, French and Spanish, read from ``words.tsv``.

Every table maps a word in lower case to its meaning, with and without its accents. Words that mean something
else in another of the languages (*hier*, *morgen*, *mañana*, *may*, *mars*) are included: the readers of
``dates`` and ``relative`` ask for evidence. A text without any of these words or numbers names no time, so
that most texts need only one search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, TypeVar

_Meaning = TypeVar("_Meaning")
_ACCENTS: Final = str.maketrans("áàâäéèêëíïóôöúùûüñç", "aaaaeeeeiiooouuuunc")


def _load() -> dict[str, list[tuple[str, list[str]]]]:
    """Read the rows of each table: a meaning and its words."""
    tables: dict[str, list[tuple[str, list[str]]]] = {}
    for row in Path(__file__).with_name("words.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        table, meaning, words = row.split("\t")
        tables.setdefault(table, []).append((meaning, [word.replace("_", " ") for word in words.split()]))
    return tables


_TABLES: Final = _load()


def _table(name: str, read: Callable[[str], _Meaning]) -> dict[str, _Meaning]:
    found = {word: read(meaning) for meaning, words in _TABLES[name] for word in words}
    return {word.translate(_ACCENTS): meaning for word, meaning in found.items()} | found


def _list(name: str) -> frozenset[str]:
    return frozenset(word for _, words in _TABLES[name] for word in words)


def _pair(meaning: str) -> tuple[int, int]:
    first, second = map(int, meaning.split())
    return first, second


def join_words(words: str) -> str:
    """Return the words as the tables have them, with one blank between."""
    return " ".join(words.split())


def either(words: Iterable[str]) -> str:
    """Return a pattern that matches the longest of the words; a blank matches any white space.

    Words that begin alike share their beginning, because an alternation tries every word at every place.
    """
    tree: dict[str, dict] = {}  # type: ignore[type-arg]
    for word in words:
        node = tree
        for char in word:
            node = node.setdefault(char, {})
        node[""] = {}
    return _branch(tree)


def _branch(node: dict[str, dict]) -> str:  # type: ignore[type-arg]
    ways = [(r"\s" if c == " " else re.escape(c)) + _branch(rest) for c, rest in node.items() if c]
    if not ways:
        return ""
    may_end = "?" if "" in node else ""
    return ways[0] if len(ways) == 1 and not may_end else f"(?:{'|'.join(ways)}){may_end}"


MONTHS: Final = _table("month", int)
SHORT_MONTHS: Final = _table("short month", int)
# Verbs, nouns and names too: alone they are months only in the right company.
DOUBTFUL_MONTHS: Final = frozenset(("may", "march", "mai", "mars", "mayo", *SHORT_MONTHS))
WEEKDAYS: Final = _table("weekday", int)
SHORT_WEEKDAYS: Final = _table("short weekday", int)
UNITS: Final = _table("unit", str)
NUMBERS: Final = _table("number", int)
# From the least to the most that people mean by it.
VAGUE_NUMBERS: Final = _table("vague number", _pair)
# By their first month.
SEASONS: Final = _table("season", int)
HOLIDAYS: Final = _table("holiday", str)
# Hours of the day; past 24 into the next day.
PARTS: Final = _table("part of day", _pair)
# Parts only next to another word: alone they mean tomorrow, or late.
AMBIGUOUS_PARTS: Final = _table("ambiguous part", _pair)
# Days from today.
DAYS: Final = _table("day", int)
NIGHTS: Final = _table("night", int)
# Last, this, next; and those after what they refer to: la semaine dernière, el martes que viene.
TURNS: Final = _table("turn", int)
TURNS_AFTER: Final = _table("turn after", int)
# Early, mid, late.
THIRDS: Final = _table("third", int)
ORDINALS: Final = _table("ordinal", int)

# Words before a month, a year or a season that mean the time.
PREPOSITIONS: Final = _list("preposition")
# The same in languages that write months like words: en mars, im Mai, de mayo.
NOT_ENGLISH: Final = PREPOSITIONS - frozenset(
    "in since until till by before after from during between around of early late mid through".split()
)
# Words before a holiday.
OCCASIONS: Final = PREPOSITIONS | frozenset("at on over for this zu an à por".split())
# Words that make a weekday a habit, a name or an adjective.
HABITUAL: Final = _list("habitual")

ALL_MONTHS: Final = MONTHS | SHORT_MONTHS
ALL_PARTS: Final = PARTS | AMBIGUOUS_PARTS
ALL_WEEKDAYS: Final = WEEKDAYS | SHORT_WEEKDAYS
COUNTS: Final = {word: (number, number) for word, number in NUMBERS.items()} | VAGUE_NUMBERS

# The character before a word. Not \\W: a table of characters is faster than their kind.
BEFORE_A_WORD: Final = "[^a-z0-9_ß-ÿœ]"
# Words of other languages, and of other meanings.
_DOUBTFUL_DAYS: Final = frozenset(("hier", "morgen", "mañana", "manana"))
SURE_WORDS: Final = frozenset({*DAYS, *NIGHTS, *WEEKDAYS, *MONTHS} - DOUBTFUL_MONTHS - _DOUBTFUL_DAYS)
_DOUBTFUL: Final = (
    *_DOUBTFUL_DAYS,
    *DOUBTFUL_MONTHS,
    *SHORT_WEEKDAYS,
    *UNITS,
    *PARTS,
    *SEASONS,
    *HOLIDAYS,
    *("tarde", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"),
    *("q1", "q2", "q3", "q4"),
)

# In a text in lower case that begins with a blank: the character before a word is found faster than the
# beginning of a word.
SIGN: Final = re.compile(
    rf"{BEFORE_A_WORD}(?:({either(sorted({*SURE_WORDS, *_DOUBTFUL}))})\b"
    r"|\d(?:\d{3}\b|\d?(?:(?:st|nd|rd|th)\b|[-/.]\d\d?[-/.]\d\d)|\d{3}[-/.]\d))"
)

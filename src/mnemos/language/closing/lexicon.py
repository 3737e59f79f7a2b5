"""The lexicon of closing statements: words and phrases by language, read from ``words.tsv``.

A message without a word that closes is not read any further. The letters are those of ``grammar``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

LANGUAGES: Final = ("english", "german", "french", "spanish")

Phrases = Mapping[str, Sequence[tuple[tuple[str, ...], str]]]
"""Phrases by their first word, the longest first: the words that follow, and the letters of the phrase."""

_WITH: Final = "àáâãäåçèéêëìíîïñòóôõöùúûüýÿ"
_WITHOUT: Final = "aaaaaaceeeeiiiinooooouuuuyy"
ACCENTS: Final = str.maketrans(_WITH, _WITHOUT)

_WORD: Final = re.compile("[a-zß]+")
_OFTEN_MISSPELT: Final = (
    "merged deployed shipped released finished completed fixed resolved works working closing"
)
_OTHER_WORDS: Final = frozenset("competed fied mered resoled woks".split())


def _load() -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Read the rows of each language and table: letters, and words or phrases."""
    tables: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for row in Path(__file__).with_name("words.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        language, table, letters, entries = row.split("\t")
        tables.setdefault((language, table), []).append((letters, entries))
    return tables


_TABLES: Final = _load()


def load_words(language: str) -> dict[str, str]:
    """Return the letters of each word. The language's own words win over nouns, and keys over both."""
    rows = [*_TABLES["all", "noun"], *_TABLES[language, "word"], *_TABLES[language, "key"]]
    return {word: letters for letters, line in rows for word in line.split()}


def load_phrases(language: str) -> Phrases:
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for letters, line in _TABLES[language, "phrase"]:
        for phrase in line.split("|"):
            first, *rest = phrase.split()
            found.setdefault(first, []).append((tuple(rest), letters))
    for choices in found.values():
        choices.sort(key=lambda choice: -len(choice[0]))
    return found


def _misspell(line: str) -> dict[str, str]:
    """Return words with two neighbouring letters swapped, or without one of the letters inside.

    The first two and the last letter stay, so that the result is not another word.
    """
    found: dict[str, str] = {}
    for word in line.split():
        for at in range(1, len(word) - 2):
            found[word[:at] + word[at + 1] + word[at] + word[at + 2 :]] = word
            found[word[: at + 1] + word[at + 2 :]] = word
    return found


TYPOS: Final[Mapping[str, str]] = {
    "doen": "done",
    "dnoe": "done",
    **{wrong: word for wrong, word in _misspell(_OFTEN_MISSPELT).items() if wrong not in _OTHER_WORDS},
}
SIGNS: Final = frozenset(
    word.translate(ACCENTS)
    for (_, table), rows in _TABLES.items()
    if table in ("key", "sign")
    for _, line in rows
    for word in line.split()
).union(TYPOS)


def has_sign(lowered: str) -> bool:
    """True if a text in lower case has a word that a closing statement needs."""
    folded = lowered if lowered.isascii() else lowered.translate(ACCENTS)
    return not SIGNS.isdisjoint(_WORD.findall(folded))

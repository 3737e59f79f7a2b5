"""The grammar of closing statements: a letter for each kind of word, and the forms made of them.

A word becomes one letter for its role in a clause. Forms are expressions over these letters, so that a rule
reads "subject, form of to be, adverbs, a word that closes" and not as a list of sentences. Anything without
a place in a form, such as a negation, a modal verb, a condition or a noun after the participle, makes it
fail: what is not understood closes nothing. ``forms.txt`` has the letters and the forms of each language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mnemos.language.closing.lexicon import Phrases, load_phrases, load_words

WORK: Final = "njqG"
"""Nouns of what people finish."""
STEP: Final = f"{WORK}@"
"""Nouns of what is deployed or repaired too: a query that is done is not finished work."""
THING: Final = f"{STEP}h"
"""All nouns."""


class Token(NamedTuple):
    """A word or a sign: corrected and without accents, as written in lower case, and its place."""

    word: str
    written: str
    start: int


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language and the forms of closing statements.

    The forms match the letters of a whole clause; the group ``said`` is the statement itself. ``bare`` forms
    have no subject, so that the clauses before them decide too. ``signs`` are characters that identify the
    language.
    """

    words: Mapping[str, str]
    phrases: Phrases
    signs: frozenset[str]
    whole: tuple[re.Pattern[str], ...]
    bare: tuple[re.Pattern[str], ...]

    def count_known(self, tokens: Sequence[Token]) -> int:
        """Count the words of this language, and once more those with a sign of it."""
        known = self.words
        count = sum(token.written in known or token.word in known for token in tokens)
        if self.signs:
            count += sum(not self.signs.isdisjoint(token.written) for token in tokens)
        return count


_END: Final = r"(?:[oN].*|!?)$"
_ANY: Final = f"{THING}QMFEKL"
# A source or an occasion may come first: QA confirmed it is fixed.
_OPENING: Final = "[oaT]*(?:(?<=o)t(?=[utd])|8[dtg]?[njG]{1,4}(?=[diu])|[dt]?[nj]{1,2}a+(?=[utd]))?"
FREELY: Final = rf"[aITdtgiu0-8njhG@DQMFEKLU_]*{_END}"
"""May follow a statement that can't mean anything else."""


def make_noun(nouns: str = WORK) -> str:
    """Make a noun with its attributes (the new login page of the shop); its last word is of these."""
    return rf"(?:u?7?[dt])?a?[{THING}]{{0,5}}[{nouns}](?:[1-7][dt]?[{THING}]{{0,4}}[{nouns}]){{0,2}}"


def make_tail(prepositions: str = "", adverbs: str = "aIT_") -> str:
    """Make the rest of a clause: adverbs, and places and times with these prepositions."""
    place = rf"(?:[dtgu]?[{_ANY}]{{1,5}}|G[dt]?[{_ANY}]{{1,4}}|[utif])[{adverbs}]*"
    places = rf"(?:[{prepositions}]{place})*" if prepositions else ""
    return rf"[{adverbs}]*{places}{_END}"


_SHARED: Final = {
    "work": WORK,
    "steps": STEP,
    "things": THING,
    "noun": make_noun(),
    "step": make_noun(STEP),
    "thing": make_noun(THING),
    "freely": FREELY,
}
_PART: Final = re.compile(r"<([a-z]+)(?: ([-0-7]+))?(?: ([aIT_]+))?>")


def _load() -> Iterator[Language]:
    blocks = Path(__file__).with_name("forms.txt").read_text(encoding="utf-8").split("\n\n")
    for head, *lines in (block.splitlines() for block in blocks[1:]):
        name, _, signs = head.partition(" ")
        parts = dict(_SHARED)
        forms: dict[str, list[re.Pattern[str]]] = {"whole": [], "bare": []}
        kind = ""
        for line in lines:
            form, is_form, tail = line.partition("\t")
            part, is_part, value = line.partition(" = ")
            if is_form:
                # Openers and adverbs may come before every form.
                said = rf"{_OPENING}(?P<said>{_expand(form, parts)}){_expand(tail, parts)}"
                forms[kind].append(re.compile(said))
            elif is_part and not line.startswith("#"):
                parts[part] = _expand(value, parts)
            elif line.endswith(":"):
                kind = line[:-1]
        yield Language(
            load_words(name[1:-1]),
            load_phrases(name[1:-1]),
            frozenset(signs),
            tuple(forms["whole"]),
            tuple(forms["bare"]),
        )


def _expand(text: str, parts: Mapping[str, str]) -> str:
    def fill(found: re.Match[str]) -> str:
        name, prepositions, adverbs = found.groups()
        if name == "tail":
            return make_tail(prepositions.strip("-"), adverbs or "aIT_")
        return parts[name]

    return _PART.sub(fill, text)


LANGUAGES: Final = tuple(_load())

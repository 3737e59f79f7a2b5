"""What a language brings to the reading of a sentence: its words, as letters, and its statements.

A word becomes one letter for what it does in a clause; a language lists which. Its statements are
expressions over these letters, so that a rule reads "subject, form of to be, adverbs, a word that closes"
and not as a list of sentences. Whatever has no place in a statement, a negation, a modal verb, a
condition, a noun after the participle, makes it fail: what is not understood closes nothing.

The letters, the same in every language:

nouns        n any word that is not known   j work, or what has a number (PR, ticket, #12, v2, `code`)
             q a problem (bug, error)   h a thing that is no work (cell, lock)   @ a process (query)
             G a verb in -ing or -ed
before nouns d the, my   g a, each   t this, that
pronouns     i I, we, you   u it, everything   f they, she
verbs        b is   P was   p been   s 's   v have   k got   R load, render   ~ I have just
             m must, will, want   N can, let's, please   r tell, show, think   * r or j: fix, release
adverbs      a now, already, finally   _ perfectly, manually   I in production   T yesterday
             H always, last year   e almost, half, probably   x not, never   Z no longer   S any more
joints       l and, so   > then   y but, however   c if, when, until   w who, what, because
             o ok, thanks, emoji   , : signs   ! the end of an exclamation
trouble      z fails, broken, missing
prepositions 1 to, into   2 in   3 on, at   4 with   5 by   6 for   7 of, from   8 after   0 via, as
what closes  D done   E finished   Q complete   M merged   F fixed   K closed   L live   O gone
             U landed   W works   J worked   V working   Y work   X ship it   A did it   C closing
             < close   B mark, call   9 as done   % pushed   # resolves   = its infinitive
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

WORK: Final = "njqG"
"""Nouns of what people finish."""
STEP: Final = f"{WORK}@"
"""Nouns of what is deployed or mended too: a query is not finished when it is done."""
THING: Final = f"{STEP}h"
"""All nouns."""

Phrases = Mapping[str, Sequence[tuple[tuple[str, ...], str]]]


class Token(NamedTuple):
    """A word or a sign: without accents and mistakes, as it is written in lower case, and its place."""

    word: str
    written: str
    start: int


@dataclass(frozen=True, slots=True)
class Language:
    """The words of a language and the statements of finished work that are made of them.

    The expressions match the letters of a whole clause; the group ``said`` is the statement without what
    is around it. ``bare`` are statements without a subject: what stands before them decides too.
    ``signs`` are characters that show the language.
    """

    words: Mapping[str, str]
    phrases: Phrases
    signs: frozenset[str]
    whole: tuple[re.Pattern[str], ...]
    bare: tuple[re.Pattern[str], ...]

    def knows(self, tokens: Sequence[Token]) -> int:
        """How many of the words are of this language; one more for each with a sign of it."""
        known = self.words
        count = sum(token.written in known or token.word in known for token in tokens)
        if self.signs:
            count += sum(not self.signs.isdisjoint(token.written) for token in tokens)
        return count


def phrases(table: Mapping[str, str]) -> Phrases:
    """Sequences of words by their first word, the longest first, from letters and sequences with ``|``."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for letters, line in table.items():
        for sequence in line.split("|"):
            first, *rest = sequence.split()
            found.setdefault(first, []).append((tuple(rest), letters))
    for choices in found.values():
        choices.sort(key=lambda choice: -len(choice[0]))
    return found


def words(*tables: Mapping[str, str]) -> dict[str, str]:
    """The letters of each word, from letters and lines of words; what a later table says counts."""
    return {word: letters for table in tables for letters, line in table.items() for word in line.split()}


_END: Final = r"(?:[oN].*|!?)$"
_ANY: Final = f"{THING}QMFEKL"
# Whoever confirmed it may come first, and after what: QA confirmed it is fixed.
_OPENING: Final = "[oaT]*(?:(?<=o)t(?=[utd])|8[dtg]?[njG]{1,4}(?=[diu])|[dt]?[nj]{1,2}a+(?=[utd]))?"
FREELY: Final = rf"[aITdtgiu0-8njhG@DQMFEKLU_]*{_END}"
"""What may follow a statement that cannot be taken for anything else."""


def statements(*forms: tuple[str, str]) -> tuple[re.Pattern[str], ...]:
    """Expressions of what is said and of what may follow it; openers and adverbs may come before."""
    return tuple(re.compile(rf"{_OPENING}(?P<said>{said}){tail}") for said, tail in forms)


def noun(nouns: str = WORK) -> str:
    """A noun with what belongs to it: the new login page of the shop. Its last word is of these."""
    return rf"(?:u?7?[dt])?a?[{THING}]{{0,5}}[{nouns}](?:[1-7][dt]?[{THING}]{{0,4}}[{nouns}]){{0,2}}"


def tail(prepositions: str = "", adverbs: str = "aIT_") -> str:
    """What may follow until the clause ends: adverbs, and places and times with these prepositions."""
    place = rf"(?:[dtgu]?[{_ANY}]{{1,5}}|G[dt]?[{_ANY}]{{1,4}}|[utif])[{adverbs}]*"
    places = rf"(?:[{prepositions}]{place})*" if prepositions else ""
    return rf"[{adverbs}]*{places}{_END}"

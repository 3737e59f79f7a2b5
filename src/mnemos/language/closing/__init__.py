"""Closing statements in messages: "merged", "phase B is done", "it works".

Negations, questions, conditions, plans, wishes, half-done work, later trouble, quotations and general
statements don't count. English, German, French and Spanish.

Every message of a user passes here, and hardly any closes anything. So a look at its words decides whether
its sentences are read at all; the rules are imported when first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mnemos.language.closing.lexicon import has_sign
from mnemos.language.sentences import lower_in_place

_READ: Final = 20_000


@dataclass(frozen=True, slots=True)
class Closing:
    """A closing sentence, the words that say so, and their place: ``text[start:end] == phrase``."""

    sentence: str
    phrase: str
    start: int
    end: int


def find_closings(text: str) -> list[Closing]:
    """Return the sentences that declare a unit of work finished, in order; mostly none.

    Only the first 20,000 characters are read. No text raises an error.
    """
    lowered = lower_in_place(text[:_READ])
    if not has_sign(lowered):
        return []

    # Imported when first needed: its expressions take long to compile.
    from mnemos.language.closing.clauses import iterate_closings

    return [
        Closing(text[sentence.start : sentence.end], text[start:end], start, end)
        for sentence, (start, end) in iterate_closings(lowered)
    ]

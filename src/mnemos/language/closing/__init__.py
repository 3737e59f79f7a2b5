"""Statements that a unit of work is finished, in what a user writes: "merged", "phase B is done", "it works".

Negations, questions, conditions, plans, wishes, half-done work, trouble after the fact, quotations and
general statements are none. English, German, French and Spanish.

Every message of a user passes here, and hardly any closes anything. So a look at its words decides whether
the sentences are read at all; the rules are imported when first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mnemos.language.closing.words import has_sign


@dataclass(frozen=True, slots=True)
class Closing:
    """A sentence that closes, the words that say so, and their place: ``text[start:end] == phrase``."""

    sentence: str
    phrase: str
    start: int
    end: int


def find_closings(text: str) -> list[Closing]:
    """The sentences of a message that say that a unit of work is finished, in order; mostly none.

    Only the first 20,000 characters are read. No text raises anything.
    """
    lowered = _lowered(text[:_READ])
    if not has_sign(lowered):
        return []

    # Imported when first needed: it is mostly expressions, which take long to compile.
    from mnemos.language.closing.rules import closings

    return [
        Closing(text[sentence.start : sentence.stop], text[start:end], start, end)
        for sentence, (start, end) in closings(lowered)
    ]


def _lowered(text: str) -> str:
    """In lower case, with straight apostrophes, and every character where it was."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lower if lower.isascii() else lower.replace("’", "'")


_READ: Final = 20_000

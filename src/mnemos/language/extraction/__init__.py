"""Facts stated in a message that is about to be dropped: decisions, constraints, values, open questions.

Rules over words, without a model. What is not clearly stated by the one who writes is left: questions,
suppositions, reports of what others say, tasks, plans for the next minute, code and logs. A sentence is
kept whole, so that it is understood alone; one that cannot be ("let's use it") is no fact.
English, German, French and Spanish.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from unicodedata import category

from mnemos.errors import InvalidInput
from mnemos.language.extraction.text import Part, parts
from mnemos.language.notation import Mark, Statement, format_line, looks_like, parse

if TYPE_CHECKING:
    from mnemos.language.extraction.rules import Verdict

LONGEST: Final = 400
"""The characters that a content may have, as in the notation."""

_READ: Final = 200_000
_SPEAKERS: Final = frozenset({"user", "assistant"})
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_UNWRITABLE: Final = frozenset({"Cc", "Cs"})


@dataclass(frozen=True, slots=True)
class Extract:
    """A fact, and the sentence that states it: ``text[start:end] == sentence``."""

    statement: Statement
    sentence: str
    start: int
    end: int


def extract_facts(text: str, *, role: str = "user") -> list[Extract]:
    """The facts that a message states, in order, each once; mostly none.

    ``role``: who wrote it. Only a user and an assistant state facts; what a tool or a system wrote is data.
    Advice and general knowledge of an assistant are no facts. Only the first 200,000 characters are read.
    No text raises anything.
    """
    if role not in _SPEAKERS:
        return []

    # Imported when first needed: it is mostly expressions, which take 150 ms to compile.
    from mnemos.language.extraction.rules import judged, takes_back

    found: list[Extract] = []
    latest = 0
    for part in parts(text[:_READ]):
        if takes_back(part.text):
            # "Scratch that" is about the sentence before, or about this one.
            del found[latest:]
            continue
        latest = len(found)
        statement = _noted(part)
        if statement is None:
            verdict = judged(part.text, ended_by=part.mark, by_user=role == "user")
            statement = None if verdict is None else _stated(part, verdict)
        if statement is not None:
            found.append(Extract(statement, text[part.start : part.end], part.start, part.end))
    return _each_once(found)


def _noted(part: Part) -> Statement | None:
    """A line of notation, as it is."""
    if "[" not in part.text or not looks_like(part.text):
        return None
    return _read(part.text)


def _stated(part: Part, verdict: Verdict) -> Statement | None:
    content = _tidy(part.text[verdict.lead :], verdict.mark)
    return _read(format_line(verdict.mark, verdict.target, content))


def _read(line: str) -> Statement | None:
    """What a line of notation says; none where it says nothing that can be kept."""
    try:
        (statement,) = parse(line, most=LONGEST)
    except InvalidInput:
        return None
    return statement if _HAS_LETTER.search(statement.target) else None


def _tidy(sentence: str, mark: Mark) -> str:
    kept = "".join(char for char in sentence if category(char) not in _UNWRITABLE).strip()
    # A full stop says nothing; an exclamation mark would make a value critical.
    return kept.rstrip(" .…;" if mark is Mark.CONSTRAINT else " .…;!")


def _each_once(found: list[Extract]) -> list[Extract]:
    first: dict[tuple[Mark, str, str], Extract] = {}
    for one in found:
        first.setdefault((one.statement.mark, one.statement.key, one.statement.content), one)
    return list(first.values())

"""Extraction of the facts that a message states: decisions, constraints, values, open questions.

It works by rules over words, without a model. Only clear statements of the writer count, not questions,
suppositions, reports, tasks, next steps, code or logs. A sentence is kept whole, so that it can be understood
alone; one that can't be ("let's use it") is not a fact. English, German, French and Spanish.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from unicodedata import category

from mnemos.errors import InvalidInput
from mnemos.language.extraction.prose import Part, iterate_parts
from mnemos.language.notation import Mark, Statement, format_line, looks_like, parse

if TYPE_CHECKING:
    from mnemos.language.extraction.verdicts import Verdict

LONGEST: Final = 400
"""The maximum number of characters of a content, as in the notation."""

_READ: Final = 200_000
_SPEAKERS: Final = frozenset({"user", "assistant"})
_HAS_LETTER: Final = re.compile(r"[^\W\d_]")
_UNWRITABLE: Final = frozenset({"Cc", "Cs"})


@dataclass(frozen=True, slots=True)
class Extract:
    """A fact and the sentence that states it: ``text[start:end] == sentence``."""

    statement: Statement
    sentence: str
    start: int
    end: int


def extract_facts(text: str, *, role: str = "user") -> list[Extract]:
    """Return the facts that a message states, in order, each once; mostly none.

    Only messages in the roles user and assistant state facts; those of tools and systems are data. Advice
    and general knowledge of an assistant don't count. Only the first 200,000 characters are read. No text
    raises an error.
    """
    if role not in _SPEAKERS:
        return []

    # Imported when first needed: its expressions take 150 ms to compile.
    from mnemos.language.extraction.verdicts import is_retraction, judge

    found: list[Extract] = []
    latest = 0
    for part in iterate_parts(text[:_READ]):
        if is_retraction(part.text):
            # "Scratch that" refers to the sentence before, or to this one.
            del found[latest:]
            continue
        latest = len(found)
        statement = _parse_notation(part)
        if statement is None:
            verdict = judge(part.text, ended_by=part.mark, by_user=role == "user")
            statement = None if verdict is None else _make_statement(part, verdict)
        if statement is not None:
            found.append(Extract(statement, text[part.start : part.end], part.start, part.end))
    return _drop_repeated(found)


def _parse_notation(part: Part) -> Statement | None:
    """Parse a line of notation."""
    if "[" not in part.text or not looks_like(part.text):
        return None
    return _parse_line(part.text)


def _make_statement(part: Part, verdict: Verdict) -> Statement | None:
    content = _clean(part.text[verdict.lead :], verdict.mark)
    return _parse_line(format_line(verdict.mark, verdict.target, content))


def _parse_line(line: str) -> Statement | None:
    """Parse a line of notation; None if it can't be stored."""
    try:
        (statement,) = parse(line, most=LONGEST)
    except InvalidInput:
        return None
    return statement if _HAS_LETTER.search(statement.target) else None


def _clean(sentence: str, mark: Mark) -> str:
    kept = "".join(char for char in sentence if category(char) not in _UNWRITABLE).strip()
    # An exclamation mark would make a value critical.
    return kept.rstrip(" .…;" if mark is Mark.CONSTRAINT else " .…;!")


def _drop_repeated(found: list[Extract]) -> list[Extract]:
    first: dict[tuple[Mark, str, str], Extract] = {}
    for one in found:
        first.setdefault((one.statement.mark, one.statement.key, one.statement.content), one)
    return list(first.values())

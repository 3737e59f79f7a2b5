"""Facts from plain sentences, for those who don't use the notation.

Type and target are guessed from the words of a sentence. A wrong guess costs little: facts are found by
their content, not by their target, and what a statement replaces is judged by what it says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Final

from mnemos.errors import InvalidInput
from mnemos.language.notation import MAX_TARGET, Mark, Statement, normalize_target, strip_hidden
from mnemos.language.sentences import split_sentences
from mnemos.language.updates.claim import name_target

_CONSTRAINT: Final = re.compile(
    r"\b(?:must|never|always|mandatory|required|forbidden|prohibited|not allowed|cannot|can't|do not|don't"
    r"|shall|may not|no longer than|at most|at least"
    r"|muss|müssen|nie|niemals|immer|darf nicht|dürfen nicht|pflicht|verboten"
    r"|doit|doivent|jamais|toujours|obligatoire|interdit"
    r"|debe|deben|nunca|siempre|obligatorio|prohibido)\b",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:decided?|deciding|decision|chose|chosen|choose|agreed|going with|go with|we(?:'ll| will) use"
    r"|settled on|switch(?:ed|ing)? to|instead of|plan to|prefers?|preferred"
    r"|entschieden|beschlossen|gewählt|wir nehmen|décidé|choisi|préfère|decidido|elegido|prefiere)\b",
    re.IGNORECASE,
)
_LONGEST_TARGET: Final = MAX_TARGET - 20
_BLANK_OR_JOINER: Final = " \u200c\u200d"


def make_statements(text: str, *, target: str | None, most: int) -> list[Statement]:
    """Turn a text into facts: one, or several if it is too long for one.

    ``target`` is the subject, if the caller knows it.
    """
    clean = _clean(text) if isinstance(text, str) else ""
    if not clean:
        raise InvalidInput(f"text must say what to remember, not {text!r}.")
    parts = list(_parts(clean, most))
    mark = guess_type(parts[0])
    about = normalize_target(target) if target is not None else name_subject(parts[0], mark)
    return [
        Statement(guess_type(part), about if number == 1 else f"{about}.{number}", part)
        for number, part in enumerate(parts, start=1)
    ]


def guess_type(sentence: str) -> Mark:
    if sentence.rstrip().endswith(("?", "？")):
        return Mark.UNKNOWN
    if _DECISION.search(sentence):
        return Mark.DECISION
    return Mark.CONSTRAINT if _CONSTRAINT.search(sentence) else Mark.VALUE


def name_subject(sentence: str, mark: Mark) -> str:
    """Return the target of a sentence of this type."""
    target = name_target(sentence, has_value=mark not in (Mark.CONSTRAINT, Mark.UNKNOWN))
    return target[:_LONGEST_TARGET].rstrip(". ")


def number_targets(statement: Statement) -> Iterator[str]:
    """Yield targets to try when one is taken: numbered, without end."""
    base = statement.target[:_LONGEST_TARGET].rstrip(". ")
    yield from (f"{base}.{number}" for number in count(2))


def _clean(text: str) -> str:
    """Remove invisible characters and extra blanks from every line."""
    lines = (" ".join(strip_hidden(line).split()).strip(_BLANK_OR_JOINER) for line in text.splitlines())
    return "\n".join(lines).strip()


def _parts(text: str, most: int) -> Iterator[str]:
    """Yield the text on one line, or in parts of whole sentences; long sentences are cut."""
    line = " ".join(text.split())
    if len(line) <= most:
        yield line
        return
    part = ""
    for sentence in split_sentences(text):
        for piece in _pieces(" ".join(sentence.split()), most):
            if part and len(part) + 1 + len(piece) > most:
                yield part
                part = ""
            part = f"{part} {piece}".strip()
    if part:
        yield part


def _pieces(sentence: str, most: int) -> Iterator[str]:
    while len(sentence) > most:
        cut = sentence.rfind(" ", 0, most + 1)
        cut = cut if cut > most // 2 else most
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence

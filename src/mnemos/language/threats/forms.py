"""One matcher for all structural forms.

A form is a regular expression over folded text, and a block of ``forms.txt``. A certain form has no honest
use in a note and is a threat by itself, unless the sentence forbids it or reports it. The others are daily
work ("ufw disable", a heading "System:"): the classifier has learnt how much they count with the words around
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from mnemos.language.threats import ThreatKind


@dataclass(frozen=True, slots=True)
class Form:
    """A structure to look for. A text without any of the literals that it ``needs`` has none."""

    kind: ThreatKind
    reason: str
    needs: tuple[str, ...]
    pattern: str
    is_certain: bool


def _load() -> Iterator[Form]:
    parts: dict[str, str] = {}
    blocks = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").split("\n\n")
    for head, *rest in (block.splitlines() for block in blocks if not block.startswith("#")):
        kind, colon, reason = head.partition(":")
        needs = tuple(one.replace("␣", " ") for one in rest.pop(0).split()) if colon else ()
        joined = "".join(line.strip() for line in rest)
        pattern = _PART.sub(lambda found: parts.get(found[0], found[0]), joined)
        if colon:
            is_certain = not kind.endswith("?")
            yield Form(ThreatKind(kind.rstrip("?")), reason.strip(), needs, pattern, is_certain)
        else:
            parts[head] = pattern


_PART: Final = re.compile("<[A-Z_]+>")
FORMS: Final = tuple(_load())


@dataclass(frozen=True, slots=True)
class Match:
    """A form found in a text; ``number`` is its place in the table."""

    number: int
    form: Form
    start: int
    end: int
    is_certain: bool


_MOST: Final = 50
_AROUND: Final = 100
# Words before or after a form that is forbidden, reported or only named.
_FORBIDDEN: Final = re.compile(
    r"\b(?:never|don't|do not|dont|must not|avoid|refuse|instead of|not|nie|niemals|nicht|jamais|ne|nunca"
    r"|no)\b(?![^\n]{0,20}\b(?:forget|tell|fail|hesitate|mention)\b)"
    r"[^\n.;]{0,40}$"
)
_REPORTED: Final = re.compile(
    r"(?<![\w./@-])(?:incident|malware|malicious|attackers?|phishing|exploit|pentest|red team|honeypot"
    r"|ctf|payloads?|scanner|detect\w{0,4}|flags|flagged|catch(?:es)?"
    r"|blocked|blocks|rejects?|rejected|injections?|suspicious|stripped|regex|parser|parses?|tokenizer"
    r"|template|covers?|fixture|stop sequences|wraps?|markers?|syntax"
    r"|formats?|demo|examples?|docs|emits?|request|deprecated|alerts?|vorfall|angreifer|atacante"
    r"|attaquant)(?![\w/@-]|\.\w)"
)
_ORDERED: Final = re.compile(
    r"\b(?:always|must|every|each|whenever|at the start|on start|silently|before you|run it|obey)\b"
)


@cache
def _compile(number: int) -> re.Pattern[str]:
    # Compiled when first needed: most notes need none of them.
    return re.compile(FORMS[number].pattern)


def find_forms(text: str) -> Iterator[Match]:
    """Yield the forms in a folded text."""
    for number, form in enumerate(FORMS):
        if any(map(text.__contains__, form.needs)):
            for match in islice(_compile(number).finditer(text), _MOST):
                if match.end() > match.start():
                    start, end = match.span()
                    yield Match(
                        number, form, start, end, form.is_certain and not _is_mentioned(text, start, end)
                    )


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """True if the line forbids what was found, or tells of it."""
    before = text[max(0, start - _AROUND) : start]
    stop = text.find("\n", end, end + _AROUND)
    after = text[end : end + _AROUND if stop < 0 else stop]
    if _FORBIDDEN.search(before):
        return True
    return bool(_REPORTED.search(before) or _REPORTED.search(after)) and not _ORDERED.search(before + after)

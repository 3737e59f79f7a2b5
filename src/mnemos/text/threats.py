"""Texts that would be dangerous in a prompt.

A note of the notebook is read by the model in every session, so a note that speaks to the model is not a
note. Found are: orders to ignore rules, imitations of system blocks and tool calls, orders and commands that
carry secrets away, commands that wipe a machine or open it, orders that come back at every start, orders to
hide things from the user, and text that hides itself. Notes *about* such texts pass.

Judged is what a model would read: letters in disguise, spaced-out words and encoded passages are read as
what they stand for. Places are always those in the text as it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

LONGEST: Final = 100_000
"""So many characters are read; a text that is longer is judged by its beginning."""
# Nobody reads more of them, and a hostile text may hold thousands.
_MOST: Final = 100


class ThreatKind(StrEnum):
    OVERRIDE = "override"
    SYSTEM = "system block"
    EXFILTRATION = "exfiltration"
    PERSISTENCE = "persistence"
    HIDDEN = "hidden text"
    TOOL_CALL = "tool call"
    CONCEALMENT = "concealment"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Threat:
    """What is dangerous about ``text[start:end]``; the reason completes "this text …"."""

    kind: ThreatKind
    reason: str
    start: int
    end: int


def threats(text: str) -> list[Threat]:
    """The threats of ``text`` in the order they stand in it; those of one kind do not overlap.

    Empty for a text that may stand in a prompt. Never raises, whatever the text.
    """
    text = text[:LONGEST]
    return _merged([*_hidden(text), *_said(text)])


def _hidden(text: str) -> Iterator[Threat]:
    if not text.isascii():
        from mnemos.text.threat_hidden import hidden

        for reason, start, end in islice(hidden(text), _MOST):
            yield Threat(ThreatKind.HIDDEN, reason, start, end)


def _said(text: str) -> Iterator[Threat]:
    from mnemos.text import threat_folding, threat_rules

    plain = threat_folding.folded(text)
    for view in (plain, threat_folding.unspaced(plain), threat_folding.without_digits(plain)):
        if view is not None:
            for kind, reason, start, end in islice(threat_rules.find(view.text), _MOST):
                yield Threat(ThreatKind(kind), reason, *view.span(start, end))
    for decoded, start, end in threat_folding.encoded(plain):
        for kind, reason, _, _ in islice(threat_rules.find(threat_folding.folded(decoded).text), _MOST):
            yield Threat(ThreatKind(kind), f"{reason}, in code", start, end)


def _merged(found: list[Threat]) -> list[Threat]:
    """Overlapping finds of one kind become one, with the reason of the one that starts first."""
    kept: list[Threat] = []
    last: dict[ThreatKind, int] = {}
    for threat in sorted(found, key=lambda one: (one.start, one.end)):
        at = last.get(threat.kind)
        if at is not None and threat.start < kept[at].end:
            before = kept[at]
            kept[at] = Threat(before.kind, before.reason, before.start, max(before.end, threat.end))
        else:
            last[threat.kind] = len(kept)
            kept.append(threat)
    return kept

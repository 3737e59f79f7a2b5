"""Texts that would be dangerous in a prompt.

A note of the notebook is read by the model in every session, so a note that speaks to the model is not a
note. Found are: orders to ignore rules, imitations of system blocks and tool calls, orders and commands that
carry secrets away, commands that wipe a machine or open it, orders that come back at every start, orders to
hide things from the user, and text that hides itself. Notes *about* such texts pass.

Rules know the usual wordings (``rules``). What they do not know is weighed (``model``): a
sentence that weighs enough is found too, and one that weighs as clearly harmless is let pass against a rule.

Judged is what a model would read: letters in disguise, spaced-out words and encoded passages are read as
what they stand for. Places are always those in the text as it was given.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemos.text.threats.folding import View
    from mnemos.text.threats.model import Reading

LONGEST: Final = 100_000
"""So many characters are read; a text that is longer is judged by its beginning."""
# Nobody reads more of them, and a hostile text may hold thousands.
_MOST: Final = 100


_DECODE_AND_DO: Final = "asks the model to follow instructions in disguise"
# So many of the ideas in it are named as the reason for taking a text for an order.
_IDEAS_TOLD: Final = 4


class ThreatKind(StrEnum):
    OVERRIDE = "override"
    SYSTEM = "system block"
    EXFILTRATION = "exfiltration"
    PERSISTENCE = "persistence"
    HIDDEN = "hidden text"
    TOOL_CALL = "tool call"
    CONCEALMENT = "concealment"
    COMMAND = "command"


# Where wording decides, and a sentence that weighs as harmless is believed more than the rule.
_MATTERS_OF_WORDING: Final = frozenset(
    (ThreatKind.OVERRIDE, ThreatKind.EXFILTRATION, ThreatKind.PERSISTENCE, ThreatKind.CONCEALMENT)
)
# What an order is about decides its kind: the first idea here that weighs.
_KINDS: Final = {
    **dict.fromkeys(
        "rules limits ignoring void priority obey role told refusing approving prompt".split(),
        ThreatKind.OVERRIDE,
    ),
    **dict.fromkeys(
        "secret private remote publicly sending giving copying collecting third".split(),
        ThreatKind.EXFILTRATION,
    ),
    **dict.fromkeys("always sessions keeping writing memory".split(), ThreatKind.PERSISTENCE),
    **dict.fromkeys(
        "hiding telling !telling lying knowing !knowing logs user".split(), ThreatKind.CONCEALMENT
    ),
    **dict.fromkeys("run machine deleting disabling".split(), ThreatKind.COMMAND),
}


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
        from mnemos.text.threats.hidden import hidden

        for reason, start, end in islice(hidden(text), _MOST):
            yield Threat(ThreatKind.HIDDEN, reason, start, end)


def _said(text: str) -> list[Threat]:
    """What ``text`` says, and what it says without its disguises; those may be one inside the other."""
    from mnemos.text.threats.announced import announced
    from mnemos.text.threats.readings import Readings

    found: list[Threat] = []
    for number, reading in enumerate(Readings(text)):
        if number == 0:
            for start, end in islice(announced(reading.view.text, text), _MOST):
                where = reading.view.span(start, end)
                found.append(Threat(ThreatKind.OVERRIDE, _DECODE_AND_DO, *where))
        for threat in _judged(reading.view, reading.suspicion):
            start, end = reading.span(threat.start, threat.end)
            # What is found without taking anything for a disguise says better where it stands.
            if not any(
                threat.kind is other.kind and start < other.end and other.start < end for other in found
            ):
                found.append(Threat(threat.kind, f"{threat.reason}{reading.note}", start, end))
    return found


def _judged(view: View, suspicion: float | None) -> list[Threat]:
    from mnemos.text.threats.model import Reading

    reading = Reading("" if suspicion is None else view.text)
    found = list(_ruled(view, reading))
    for order in islice(reading.orders(suspicion=suspicion or 0.0), _MOST):
        start, end = view.span(order.start, order.end)
        # Where a rule found something, it says better what is wrong.
        if not any(start < threat.end and threat.start < end for threat in found):
            found.append(Threat(*_kind_and_reason(order.ideas), start, end))
    return found


def _ruled(view: View, reading: Reading) -> Iterator[Threat]:
    from mnemos.text.threats import rules
    from mnemos.text.threats.commands import CARRIES

    for kind, reason, start, end in islice(rules.find(view.text), _MOST):
        is_worded = kind in _MATTERS_OF_WORDING and reason != CARRIES
        if not is_worded or not reading.doubts(start, end):
            yield Threat(ThreatKind(kind), reason, *view.span(start, end))
    for kind, reason, start, end in islice(rules.abroad(view.text), _MOST):
        yield Threat(ThreatKind(kind), reason, *view.span(start, end))


def _kind_and_reason(ideas: tuple[str, ...]) -> tuple[ThreatKind, str]:
    from mnemos.text.threats.concepts import said

    kind = next((_KINDS[idea] for idea in ideas if idea in _KINDS), ThreatKind.OVERRIDE)
    told = ", ".join(list(dict.fromkeys(said(idea) for idea in ideas))[:_IDEAS_TOLD])
    return kind, f"reads like an order to the model ({told})" if told else "reads like an order to the model"


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

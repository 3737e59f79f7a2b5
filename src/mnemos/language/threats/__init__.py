"""Scan for texts that would be dangerous in a prompt.

A note, a fact or a template is read by a model without being asked for, so one that speaks to the model is
not a memory. Found are orders to drop rules, imitated system blocks and tool calls, commands that carry
data away, run downloads or destroy a machine, orders that come back at every start, orders to hide things
from the user, and hidden text. Texts *about* such things pass.

Three parts work together: ``unfold`` reads disguised text as a model would, ``forms`` knows structures, and
``classifier`` weighs the wording of sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mnemos.language.threats.forms import Match

__all__ = ["LONGEST", "Threat", "ThreatKind", "scan"]

LONGEST: Final = 100_000
"""Number of characters that are read; a longer text is judged by its beginning."""
_MOST: Final = 100
_CACHED: Final = 4_000


class ThreatKind(StrEnum):
    OVERRIDE = "override"
    SYSTEM = "system block"
    EXFILTRATION = "exfiltration"
    PERSISTENCE = "persistence"
    HIDDEN = "hidden text"
    TOOL_CALL = "tool call"
    CONCEALMENT = "concealment"
    COMMAND = "command"


_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Threat:
    """A danger in ``text[start:end]``. The reason completes "this text …"."""

    kind: ThreatKind
    reason: str
    start: int
    end: int


def scan(text: str) -> list[Threat]:
    """Return the threats of a text in order, those of one kind apart; empty if it may enter a prompt.

    Never raises.
    """
    return list(_scan_cached(text) if len(text) <= _CACHED else _scan(text[:LONGEST]))


def _scan(text: str) -> tuple[Threat, ...]:
    return tuple(_merge([*_find_hidden(text), *_find_spoken(text)]))


# Blocks are made anew for every prompt from texts that do not change.
_scan_cached = lru_cache(maxsize=512)(_scan)


def _find_hidden(text: str) -> Iterator[Threat]:
    if not text.isascii():
        from mnemos.language.threats.hidden import find_hidden

        for reason, start, end in islice(find_hidden(text), _MOST):
            yield Threat(ThreatKind.HIDDEN, reason, start, end)


def _find_spoken(text: str) -> Iterator[Threat]:
    """Yield what a text says, and what it says without its disguises."""
    from mnemos.language.threats.classifier import count_known, find_orders
    from mnemos.language.threats.forms import find_forms
    from mnemos.language.threats.unfold import unfold

    for number, reading in enumerate(unfold(text, count_known)):
        disguise = " (in disguise)" if number else ""
        matches = list(find_forms(reading.text))
        certain = [match for match in matches if match.is_certain]
        for match in certain:
            yield Threat(
                match.form.kind, f"{match.form.reason}{disguise}", *reading.span(match.start, match.end)
            )
        marks = [(match.number, match.start, match.end) for match in matches]
        for order in islice(find_orders(reading.text, marks), _MOST):
            if not any(match.start < order.end and order.start < match.end for match in certain):
                inside = [one for one in matches if one.start < order.end and order.start < one.end]
                kind, reason = _explain(reading.text[order.start : order.end], inside)
                yield Threat(
                    kind, f"{reason}{disguise}", *reading.span(*_trim(reading.text, order.start, order.end))
                )


def _explain(order: str, matches: list[Match]) -> tuple[ThreatKind, str]:
    """Return the kind of an order and the reason for taking it for one."""
    from mnemos.language.threats.classifier import load_weights

    for match in matches:
        if match.form.reason:
            return match.form.kind, match.form.reason
    ideas = _load_ideas()
    known = [ideas[idea] for idea in load_weights().name_ideas(order) if idea in ideas][:_NAMED]
    if not known:
        return ThreatKind.OVERRIDE, "looks like a prompt injection"
    return known[0][0], f"looks like a prompt injection (about {', '.join(name for _, name in known)})"


@cache
def _load_ideas() -> dict[str, tuple[ThreatKind, str]]:
    """Return the kind of an order by its idea, and how to name to a person what it is about."""
    rows = Path(__file__).with_name("ideas.tsv").read_text(encoding="utf-8").splitlines()
    return {idea: (ThreatKind(kind), name) for idea, kind, name in (row.split("\t") for row in rows)}


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the stretch without the spaces around it."""
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def _merge(found: list[Threat]) -> Iterator[Threat]:
    """Yield the threats in order; overlapping ones of a kind become one."""
    open_: dict[ThreatKind, Threat] = {}
    kept: list[Threat] = []
    for threat in sorted(found, key=lambda one: (one.start, one.end)):
        before = open_.get(threat.kind)
        if before is not None and threat.start < before.end:
            kept.remove(before)
            threat = Threat(before.kind, before.reason, before.start, max(before.end, threat.end))
        open_[threat.kind] = threat
        kept.append(threat)
    return iter(sorted(kept, key=lambda one: one.start))

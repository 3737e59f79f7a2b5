"""``python -m benchmarks updates``: does memory answer with what holds now, and keep look-alikes apart?

Every labelled pair gets a home of its own: 40 made-up statements, the older ones of 60 other pairs about
something else, the older statement of the pair, the newer one a day later, then the question. The same is
asked of a memory that keeps every statement and marks none, as the baseline. ``--data FILE`` takes other
pairs: tab-separated ``kind``, ``topic``, ``language``, ``old``, ``new``, ``question``, where kind is update,
lookalike, addition or restatement.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mnemos
from mnemos.testing import FixedClock

DATA: Final = Path(__file__).resolve().parents[1] / "tests" / "data" / "updates"
BLIND: Final = DATA / "blind.tsv"
FILLERS: Final = DATA / "fillers.tsv"
KINDS: Final = ("update", "lookalike", "addition", "restatement")
_BESIDE: Final = 40
_STRANGERS: Final = 60
_DAY: Final = 86_400.0
_START: Final = 1_790_000_000.0


@dataclass(frozen=True, slots=True)
class Pair:
    kind: str
    topic: str
    language: str
    old: str
    new: str
    question: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a pair."""

    pair: Pair
    retired: bool
    """The older statement is no longer live."""
    linked: bool
    """It is live, and linked to the newer one as possibly outdated."""
    asked_first: bool
    """The first hit is what the question asks for: the newer statement of an update, else the older one."""
    shown_as_true: bool
    """The packed text shows the older statement without a mark."""
    kept_first: bool
    """The first hit of the baseline is what the question asks for."""
    strangers: int
    """Facts about something else that the newer statement retired or marked."""


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks updates", description=__doc__)
    parser.add_argument("--data", type=Path, default=BLIND, help=f"labelled pairs (default: {BLIND.name})")
    parser.add_argument("--show", action="store_true", help="print the pairs that went wrong")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    given = parser.parse_args(arguments)
    fillers = read_fillers(FILLERS)
    pairs = read_pairs(given.data)
    outcomes = [
        try_pair(pair, [*fillers[pair.language][:_BESIDE], *pick_strangers(pair, pairs)]) for pair in pairs
    ]
    figures = summarise(outcomes)
    print(render(figures))
    if given.show:
        print("\n".join(describe_failure(one) for one in outcomes if has_failed(one)))
    if given.json is not None:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def read_pairs(path: Path) -> list[Pair]:
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Pair(**row) for row in rows]


def read_fillers(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            found.setdefault(row["language"], []).append(row["text"])
    return found


def pick_strangers(pair: Pair, pairs: Sequence[Pair]) -> list[str]:
    """Pick older statements of other pairs that are about something else."""
    chance = random.Random(pair.old)
    others = {one.old for one in pairs if one.language == pair.language and one.topic != pair.topic}
    ordered = sorted(others - {pair.old, pair.new})
    return chance.sample(ordered, min(_STRANGERS, len(ordered)))


def try_pair(pair: Pair, beside: Sequence[str]) -> Outcome:
    wanted = pair.new if pair.kind in ("update", "restatement") else pair.old
    clock = FixedClock(_START)
    with mnemos.open(":memory:", clock=clock) as memory:
        for number, text in enumerate(beside):
            # On targets of their own: they may well replace each other, which is not what is measured.
            memory.facts.write(f"V[s{number}]: {text}", allow=True)
        # A person may allow what the threat scanner takes for an order to a model.
        (old,) = memory.facts.remember(pair.old, allow=True).facts
        clock.now += _DAY
        written = memory.facts.remember(pair.new, allow=True)
        (new,) = written.facts
        clock.now += 60
        state = memory.facts.get(old.id).state
        recalled = memory.recall(pair.question, limit=10)
        first = recalled.hits[0].text if recalled.hits else ""
        hit = next((hit for hit in recalled.hits if hit.ref == old.id), None)
    return Outcome(
        pair,
        retired=state != "live",
        linked=old.id in new.may_replace,
        asked_first=first.endswith(wanted)
        or (pair.kind == "restatement" and first.endswith((pair.old, pair.new))),
        shown_as_true=state == "live" and hit is not None and hit.state == "current",
        kept_first=_ask_baseline(pair, beside, wanted),
        strangers=len({*new.may_replace, *(one.id for one in written.replaced)} - {old.id}),
    )


def _ask_baseline(pair: Pair, beside: Sequence[str], wanted: str) -> bool:
    """Ask a memory that keeps every statement as it is, as a note without a subject."""
    clock = FixedClock(_START)
    with mnemos.open(":memory:", clock=clock) as memory:
        for number, text in enumerate([*beside, pair.old, pair.new]):
            clock.now += _DAY if text == pair.new else 0
            memory.facts.write(f"V[s{number}]: {text}", allow=True)
        hits = memory.recall(pair.question, limit=10).hits
    said = hits[0].text if hits else ""
    return said.endswith(wanted) or (pair.kind == "restatement" and said.endswith((pair.old, pair.new)))


def has_failed(one: Outcome) -> bool:
    if one.pair.kind == "update":
        return not one.asked_first or one.shown_as_true
    return one.retired if one.pair.kind != "restatement" else not one.asked_first


def describe_failure(one: Outcome) -> str:
    what = "retired" if one.retired else "may replace" if one.linked else "different"
    first = "asked for first" if one.asked_first else "something else first"
    return f"{one.pair.kind:11} {what:12} {first:20} {one.pair.old} | {one.pair.new} | {one.pair.question}"


def summarise(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    groups: dict[str, list[Outcome]] = {}
    for one in outcomes:
        groups.setdefault(one.pair.kind, []).append(one)
        groups.setdefault(f"{one.pair.kind} {one.pair.language}", []).append(one)
    return {name: _count(groups[name]) for name in sorted(groups, key=_order)}


def _order(name: str) -> tuple[bool, int, str]:
    return " " in name, KINDS.index(name.partition(" ")[0]), name


def _count(some: Sequence[Outcome]) -> dict[str, float]:
    def share(flags: Iterable[bool]) -> float:
        return round(sum(flags) / len(some), 4)

    return {
        "pairs": len(some),
        "asked_first": share(one.asked_first for one in some),
        "baseline_first": share(one.kept_first for one in some),
        "retired": share(one.retired for one in some),
        "may_replace": share(one.linked for one in some),
        "not_shown_as_true": share(not one.shown_as_true for one in some),
        "stranger_marked": share(one.strangers > 0 for one in some),
    }


def render(figures: dict[str, Any]) -> str:
    heads = ("", "pairs", "first", "baseline", "retired", "may replace", "retired or marked", "others marked")
    lines = ["{:16}{:>7}{:>9}{:>10}{:>9}{:>13}{:>19}{:>15}".format(*heads)]
    for name, row in figures.items():
        shares = [f"{100 * share:.1f}%" for key, share in row.items() if key != "pairs"]
        lines.append("{:16}{:>7}{:>9}{:>10}{:>9}{:>13}{:>19}{:>15}".format(name, row["pairs"], *shares))
    return "\n".join(lines)

"""Are facts found by people who ask in their own words?

Both stores get the same statements, one per call, in order; both are asked the same questions,
five results each. Those kept back were not looked at by those who work on recall. An answer counts
when the statement that holds now is among the first ``k``: what was said before and replaced does
not count. Questions are asked as they are, and with their telling words alone, which is what
hermes-memory needs; and of hermes-memory after the facts it archived by itself were restored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.facts import data
from benchmarks.facts.data import Question
from benchmarks.measure import percentile
from benchmarks.peers import Child
from benchmarks.report import Table

CUTS = (1, 3, 5)
AS_ASKED = "as asked"
TELLING = "telling words"
WAYS: dict[str, Callable[[str], str]] = {AS_ASKED: str, TELLING: data.without_small_words}
OPEN = "open"
KEPT_BACK = "kept back"


def measure(team: Sequence[Child], folder: Path) -> dict[str, Any]:
    made = data.statements()
    sets = {OPEN: data.questions(made), KEPT_BACK: data.questions(made, data.KEPT_BACK)}
    figures: dict[str, Any] = {
        "statements": len(made),
        "holding": len(data.holding(made)),
        "questions": {name: len(asked) for name, asked in sets.items()},
        "stores": {},
    }
    for child in team:
        store = folder / f"{child.name}-told"
        store.mkdir()
        told = child.ask("tell", folder=str(store), lines=[(one.line, one.scope) for one in made])
        figures["stores"][child.name] = {
            "findable": told["findable"],
            "sets": {
                name: {way: _ask(child, asked, change) for way, change in WAYS.items()}
                for name, asked in sets.items()
            },
        }
        child.ask("close")
    return figures


def table(figures: dict[str, Any]) -> Table:
    rows = [
        [
            name,
            questions,
            way,
            *(f"{found['recall'][f'@{cut}']:.1%}" for cut in CUTS),
            *(f"{share:.0%}" for share in found["by_language"].values()),
            f"{found['answered']:.0%}",
            f"{found['wall_p50']:.2f}",
            f"{store['findable']} of {figures['holding']}",
        ]
        for name, store in figures["stores"].items()
        for questions, ways in store["sets"].items()
        for way, found in ways.items()
    ]
    headings = (
        "store", "questions", "asked", *(f"recall@{cut}" for cut in CUTS),
        *(f"{language} @{CUTS[-1]}" for language in data.LANGUAGES), "answered", "p50 ms", "still findable",
    )  # fmt: skip
    counts = " and ".join(f"{count} {name}" for name, count in figures["questions"].items())
    note = f"{counts} questions about {figures['holding']} facts that hold."
    return Table("Asking for facts in plain words", headings, rows, [note])


def _ask(child: Child, asked: Sequence[Question], change: Callable[[str], str]) -> dict[str, Any]:
    reply = child.ask("ask", queries=[change(one.text) for one in asked])
    ranks = [rank(one, answers) for one, answers in zip(asked, reply["answers"], strict=True)]
    wall = [took / 1e6 for took in reply["wall"]]
    return {
        "recall": {f"@{cut}": _share(ranks, cut) for cut in CUTS},
        "by_language": {
            language: _share(
                [r for r, one in zip(ranks, asked, strict=True) if one.language == language], CUTS[-1]
            )
            for language in data.LANGUAGES
        },
        "answered": sum(map(bool, reply["answers"])) / len(asked),
        "wall_p50": percentile(wall, 0.50),
        "wall_p99": percentile(wall, 0.99),
    }


def rank(question: Question, answers: Sequence[Sequence[str]]) -> int:
    """The place of the first right answer, from 1; 0 when there is none."""
    wanted = {(one.type, one.target, one.scope, one.content) for one in question.answers}
    return next((place for place, one in enumerate(answers, start=1) if tuple(one) in wanted), 0)


def _share(ranks: Sequence[int], cut: int) -> float:
    return sum(0 < rank <= cut for rank in ranks) / len(ranks)

"""``python -m benchmarks recall --rules``: what each rule of recall is worth.

Each rule is switched off in turn and every question asked again, of one home that holds all conversations and
of made-up histories. None of the rules but the weight of ``of_named`` was fitted, so every conversation is as
good as held out; the change in the worst one is shown next to that of all, which has a paired interval.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.recall import made, mixed
from benchmarks.recall.paired import compare
from benchmarks.report import Result, Table
from mnemos.faces.cli.bench.corpus import Data
from mnemos.faces.cli.bench.measurement import ALL, Home, Taken, ask_all, open_home
from mnemos.faces.cli.bench.report import HEADLINE
from mnemos.recall import candidates, certainty, features, question, recaller

NOTHING = re.compile(r"(?!)")
LINES = 160
FEWEST = 5


def _within_lines(passages: Sequence[int], _sizes: Mapping[int, int], most: float) -> set[int]:
    """Limit proposals by lines, regardless of their length."""
    kept: set[int] = set()
    read: set[int] = set()
    for passage in passages:
        if len(read) >= LINES * most / (candidates.SEEDS * candidates._LINES_PER_SEED):
            break
        kept.add(passage)
        read.update(range(passage - 4, passage + 5))
    return kept


# By rule: what to replace, where, and with what.
RULES: Mapping[str, Sequence[tuple[Any, str, Any]]] = {
    "people who are named": (
        (candidates, "_MOST_OF_NAMED", 0),
        (recaller, "HYBRID", {**features.HYBRID, "of_named": 0.0}),
    ),
    "the user's own words in our conversations": (
        (question, "_BY_USER", NOTHING),
        (question, "_ASKS_ME", NOTHING),
    ),
    "dates that requests are for": ((question, "_REQUEST", NOTHING),),
    "more than 160 lines": ((candidates, "_within", _within_lines),),
    "an assistant's few words": ((features, "_says_something", lambda *_: True),),
    "no answer rather than a wrong one": ((certainty, "_is_far", lambda *_, **__: False),),
}


@contextmanager
def without(rule: str) -> Iterator[None]:
    """Switch off a rule."""
    with ExitStack() as stack:
        for target, name, value in RULES.get(rule, ()):
            stack.enter_context(patch.object(target, name, value))
        yield


def run(files: Sequence[Data]) -> Result:
    """Ask the questions of all files, with all rules and without each."""
    tables, figures = [], {}
    for data, asked in [*zip(files, mixed.mix(files), strict=True), (made.read(), made.read())]:
        metric = HEADLINE[data.format]
        taken = _ask(asked)
        fold_of = {question.id: corpus.id for corpus in data.corpora for question in corpus.questions}
        rows = []
        for rule in RULES:
            for part in (ALL, *data.categories):
                pair = compare(taken[rule], taken[""], part, metric)
                if pair is None or (part != ALL and pair.before == pair.after):
                    continue
                figures[f"{data.name}, {rule}, {part}"] = {"metric": metric, **asdict(pair)}
                worst = _find_worst(taken[rule], taken[""], part, metric, fold_of)
                rows.append([f"{rule}: {part}", *pair.cells(), worst])
        headings = ("rule", "questions", "without", "with", "difference", "95%", "worst conversation")
        tables.append(Table(f"{data.name}: {metric} in one home, without and with each rule", headings, rows))
    return Result("recall-rules", tables, figures)


def _ask(data: Data) -> dict[str, Taken]:
    """Return the results by the rule that was switched off; the empty one: with all of them."""
    (corpus,) = data.corpora
    taken: dict[str, Taken] = {}
    with open_home(corpus, embedder="static") as home:
        for rule in ("", *RULES):
            print(f"{data.name}: without {rule or 'nothing'}", file=sys.stderr, flush=True)
            taken[rule] = Taken()
            with without(rule):
                ask_all(corpus, lambda _: _keep_open(home), taken[rule])
    return taken


def _keep_open(home: Home) -> nullcontext[Home]:
    return nullcontext(home)


def _find_worst(before: Taken, after: Taken, part: str, metric: str, fold_of: Mapping[str, str]) -> str:
    """Return the change in the conversation that gains least, where conversations have several questions."""
    changes: dict[str, list[float]] = {}
    for asked, old, new in zip(before.questions, before.rows, after.rows, strict=True):
        if part in (ALL, asked.category) and metric in old:
            changes.setdefault(fold_of[asked.id], []).append(new[metric] - old[metric])
    means = [float(np.mean(some)) for some in changes.values() if len(some) >= FEWEST]
    return f"{100 * min(means):+.1f}" if means else "-"

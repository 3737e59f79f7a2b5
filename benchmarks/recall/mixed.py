"""Everything in one home: the conversations of all files together, as people's homes are.

Each question is asked twice: of its own conversation or pool, and of a home that holds every session of every
file. The difference is paired, question by question.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.report import Result, Table
from mnemos.faces.cli.bench import metrics
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, arrangements
from mnemos.faces.cli.bench.measurement import ALL, Load, Taken, ask_all
from mnemos.faces.cli.bench.report import HEADLINE

RESAMPLES = 2_000


def mix(files: Sequence[Data]) -> list[Data]:
    """Return the same questions, each asked of one corpus with the sessions of all files."""
    renamed = [_rename(data) for data in files]
    sessions = {s.id: s for data in renamed for corpus in data.corpora for s in corpus.sessions}
    whole = tuple(sorted(sessions.values(), key=lambda session: (session.started_at, session.id)))
    return [
        replace(
            data,
            corpora=(Corpus("one home", whole, tuple(q for c in data.corpora for q in c.questions)),),
        )
        for data in renamed
    ]


def _rename(data: Data) -> Data:
    """Give turns and sessions ids that are unique among files. Questions of LongMemEval share sessions."""
    corpora = []
    for corpus in data.corpora:
        prefix = data.name if data.format is Format.LONGMEMEVAL else f"{data.name}/{corpus.id}"
        corpora.append(
            Corpus(
                corpus.id,
                tuple(_rename_session(session, prefix) for session in corpus.sessions),
                tuple(_rename_question(question, prefix) for question in corpus.questions),
            )
        )
    return replace(data, corpora=tuple(corpora))


def _rename_session(session: Session, prefix: str) -> Session:
    turns = tuple(replace(turn, id=f"{prefix}/{turn.id}") for turn in session.turns)
    return Session(f"{prefix}/{session.id}", session.started_at, turns)


def _rename_question(question: Question, prefix: str) -> Question:
    return replace(
        question,
        turns=tuple(f"{prefix}/{turn}" for turn in question.turns),
        sessions=tuple(f"{prefix}/{session}" for session in question.sessions),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """A metric of the same questions, alone and mixed: means and the interval of the difference."""

    questions: int
    alone: float
    mixed: float
    low: float
    high: float


def run(files: Sequence[Data], able: Mapping[str, Load], missing: Mapping[str, str]) -> Result:
    """Ask everything both ways, by each way of finding things."""
    tables, figures = [], {}
    for data, mixed in zip(files, mix(files), strict=True):
        metric = HEADLINE[data.format]
        rows: list[list[str]] = []
        for name, load in able.items():
            print(f"{data.name}: {name}", file=sys.stderr, flush=True)
            alone, together = _ask(data, load), _ask(mixed, load)
            for part in (ALL, *data.categories):
                pair = _compare(alone, together, part, metric)
                if pair is None:
                    continue
                figures[f"{data.name}, {name}, {part}"] = {"metric": metric, **_plain(pair)}
                rows.append(
                    [
                        f"{name}: {part}",
                        str(pair.questions),
                        f"{100 * pair.alone:.1f}",
                        f"{100 * pair.mixed:.1f}",
                        f"{100 * (pair.mixed - pair.alone):+.1f}",
                        f"[{100 * pair.low:+.1f}, {100 * pair.high:+.1f}]",
                    ]
                )
        count = sum(len(session.turns) for session in mixed.corpora[0].sessions)
        title = f"{data.name}: {metric}, alone and in one home of {count:,} messages"
        tables.append(Table(title, ("way", "questions", "alone", "mixed", "difference", "95%"), rows))
    return Result("recall-mixed", tables, figures, missing=dict(missing))


def _ask(data: Data, load: Load) -> Taken:
    taken = Taken()
    first = next(iter(arrangements(data).values())) if len(data.corpora) > 1 else iter(data.corpora)
    for corpus in first:
        ask_all(corpus, load, taken)
    return taken


def _compare(alone: Taken, mixed: Taken, part: str, metric: str) -> Pair | None:
    by_id = {question.id: row for question, row in zip(mixed.questions, mixed.rows, strict=True)}
    pairs = [
        (row[metric], by_id[question.id][metric])
        for question, row in zip(alone.questions, alone.rows, strict=True)
        if part in (ALL, question.category) and metric in row
    ]
    if not pairs:
        return None
    table = np.array(pairs)
    differences = table[:, 1] - table[:, 0]
    drawn = np.random.default_rng(metrics.SEED).integers(len(pairs), size=(RESAMPLES, len(pairs)))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    means = table.mean(axis=0)
    return Pair(len(pairs), float(means[0]), float(means[1]), float(low), float(high))


def _plain(pair: Pair) -> dict[str, float]:
    return {name: getattr(pair, name) for name in ("questions", "alone", "mixed", "low", "high")}

"""Everything in one home: the conversations of all files together, as people's homes are.

Each question is asked twice: of its own conversation or pool, and of a home that holds every session of every
file. The difference is paired, question by question.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from benchmarks.recall.paired import Pair, compare
from benchmarks.report import Result, Table
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, arrangements
from mnemos.faces.cli.bench.measurement import ALL, Load, Taken, ask_all
from mnemos.faces.cli.bench.report import HEADLINE

MNEMOS = "mnemos"
ALONE, MIXED = "alone", "in one home"


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


def run(files: Sequence[Data], able: Mapping[str, Load], missing: Mapping[str, str]) -> Result:
    """Ask everything both ways, by each way of finding things; then compare Mnemos with the others."""
    tables, figures = [], {}
    for data, mixed in zip(files, mix(files), strict=True):
        metric = HEADLINE[data.format]
        rows: list[list[str]] = []
        taken: dict[str, dict[str, Taken]] = {ALONE: {}, MIXED: {}}
        for name, load in able.items():
            print(f"{data.name}: {name}", file=sys.stderr, flush=True)
            alone = taken[ALONE][name] = _ask(data, load, metric)
            together = taken[MIXED][name] = _ask(mixed, load, metric)
            for part, pair in _compare(alone, together, data, metric):
                figures[f"{data.name}, {name}, {part}"] = {"metric": metric, **asdict(pair)}
                rows.append([f"{name}: {part}", *pair.cells()])
        count = sum(len(session.turns) for session in mixed.corpora[0].sessions)
        title = f"{data.name}: {metric}, alone and in one home of {count:,} messages"
        tables.append(Table(title, ("way", "questions", "alone", "mixed", "difference", "95%"), rows))
        for where, by_name in taken.items():
            rows = []
            for name in [name for name in by_name if name != MNEMOS]:
                for part, pair in _compare(by_name[name], by_name[MNEMOS], data, metric):
                    key = f"{data.name}, {where}, {name} against {MNEMOS}, {part}"
                    figures[key] = {"metric": metric, **asdict(pair)}
                    rows.append([f"{name}: {part}", *pair.cells()])
            headings = ("against", "questions", "theirs", "Mnemos", "difference", "95%")
            tables.append(Table(f"{data.name}: {metric} {where}, Mnemos against others", headings, rows))
    return Result("recall-mixed", tables, figures, missing=dict(missing))


def _compare(before: Taken, after: Taken, data: Data, metric: str) -> Iterator[tuple[str, Pair]]:
    """Compare all questions, and those of each category."""
    for part in (ALL, *data.categories):
        pair = compare(before, after, part, metric)
        if pair is not None:
            yield part, pair


def _ask(data: Data, load: Load, metric: str) -> Taken:
    taken = Taken()
    first = next(iter(arrangements(data).values())) if len(data.corpora) > 1 else iter(data.corpora)
    for corpus in first:
        ask_all(corpus, load, taken, by_session=metric.startswith("session"))
    return taken

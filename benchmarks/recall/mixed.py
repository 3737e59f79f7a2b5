"""Everything in one home: the conversations of all files together, as people's homes are.

Each question is asked twice: of its own conversation or pool, and of a home that holds every session of every
file. The difference is paired, question by question.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from benchmarks.recall.paired import compare
from benchmarks.report import Result, Table
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, arrangements
from mnemos.faces.cli.bench.measurement import ALL, Load, Taken, ask_all
from mnemos.faces.cli.bench.report import HEADLINE

MNEMOS = "mnemos"


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
        in_one_home: dict[str, Taken] = {}
        for name, load in able.items():
            print(f"{data.name}: {name}", file=sys.stderr, flush=True)
            alone, together = _ask(data, load, metric), _ask(mixed, load, metric)
            in_one_home[name] = together
            for part in (ALL, *data.categories):
                pair = compare(alone, together, part, metric)
                if pair is None:
                    continue
                figures[f"{data.name}, {name}, {part}"] = {"metric": metric, **asdict(pair)}
                rows.append([f"{name}: {part}", *pair.cells()])
        count = sum(len(session.turns) for session in mixed.corpora[0].sessions)
        title = f"{data.name}: {metric}, alone and in one home of {count:,} messages"
        tables.append(Table(title, ("way", "questions", "alone", "mixed", "difference", "95%"), rows))
        rows = []
        for name in [name for name in in_one_home if name != MNEMOS]:
            for part in (ALL, *data.categories):
                pair = compare(in_one_home[name], in_one_home[MNEMOS], part, metric)
                if pair is not None:
                    figures[f"{data.name}, {name} against {MNEMOS}, {part}"] = {
                        "metric": metric,
                        **asdict(pair),
                    }
                    rows.append([f"{name}: {part}", *pair.cells()])
        headings = ("against", "questions", "theirs", "Mnemos", "difference", "95%")
        tables.append(Table(f"{data.name}: {metric} in the same home, Mnemos against others", headings, rows))
    return Result("recall-mixed", tables, figures, missing=dict(missing))


def _ask(data: Data, load: Load, metric: str) -> Taken:
    taken = Taken()
    first = next(iter(arrangements(data).values())) if len(data.corpora) > 1 else iter(data.corpora)
    for corpus in first:
        ask_all(corpus, load, taken, by_session=metric.startswith("session"))
    return taken

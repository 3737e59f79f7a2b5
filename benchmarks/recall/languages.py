"""Other languages: files in SQuAD's format, each in a home of its own.

A paragraph is a message, an article a session. A question is answered when its paragraph comes first, or is
among the first five. Every question is asked by words alone and with vectors; the difference is paired.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import Result, Table
from mnemos.errors import InvalidInput
from mnemos.faces.cli.bench import metrics
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question, Session, Turn
from mnemos.faces.cli.bench.measurement import Load

CUTS = (1, 5)
# 2024-01-01: paragraphs are a minute apart, and questions are asked after all of them.
_START = 1_704_067_200.0


def read(path: Path) -> Data:
    """Read a file of articles, paragraphs and questions. A paragraph that comes twice is one message."""
    try:
        articles = json.loads(path.read_bytes())["data"]
        corpus = _corpus(path.stem, articles)
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise InvalidInput(f"{path} is not a file in SQuAD's format: {exc!r}") from exc
    if not corpus.questions:
        raise InvalidInput(f"{path} has no questions with answers")
    return Data(path.stem, Format.LINES, (corpus,), ())


def _corpus(name: str, articles: Sequence[Mapping[str, Any]]) -> Corpus:
    sessions: list[Session] = []
    asked: dict[tuple[str, str], None] = {}
    turn_of: dict[str, str] = {}
    for number, article in enumerate(articles):
        turns: list[Turn] = []
        for paragraph in article["paragraphs"]:
            text = paragraph["context"]
            if text not in turn_of:
                turn_of[text] = f"t{len(turn_of)}"
                turns.append(Turn(turn_of[text], "user", None, text, _START + 60 * len(turn_of)))
            for question in paragraph["qas"]:
                if not question.get("is_impossible"):
                    asked[question["question"], turn_of[text]] = None
        if turns:
            sessions.append(Session(f"s{number}", turns[0].at, tuple(turns)))
    now = _START + 60 * (len(turn_of) + 1)
    session_of = {turn.id: session.id for session in sessions for turn in session.turns}
    questions = tuple(
        Question(f"q{number}", text, "", now, (turn,), (session_of[turn],))
        for number, (text, turn) in enumerate(asked)
    )
    return Corpus(name, tuple(sessions), questions)


def run(files: Sequence[Data], able: Mapping[str, Load]) -> Result:
    """Ask the questions of each file in each way. The last way is compared with the first."""
    rows: list[list[str]] = []
    figures: dict[str, Any] = {}
    for data in files:
        (corpus,) = data.corpora
        columns = {}
        for name, load in able.items():
            print(f"{data.name}: {name}", file=sys.stderr, flush=True)
            columns[name] = _ask(corpus, load)
        first, *_, last = columns.values()
        spans = {
            **{name: _estimate(found) for name, found in columns.items()},
            "gain": _estimate(last - first),
        }
        figures[data.name] = {
            "questions": len(corpus.questions),
            "messages": corpus.message_count,
            **{
                name: {f"@{cut}": row for cut, row in zip(CUTS, span.tolist(), strict=True)}
                for name, span in spans.items()
            },
        }
        cells = [cell for name, span in spans.items() for cell in _cells(span, signed=name == "gain")]
        rows.append([data.name, f"{corpus.message_count:,}", f"{len(corpus.questions):,}", *cells])
    ways = [f"{name} @{cut}" for name in (*able, "gain") for cut in CUTS]
    title = "The right paragraph first, and among the first five: percent of questions, ± half a 95% interval"
    return Result("recall-languages", [Table(title, ("file", "messages", "questions", *ways), rows)], figures)


def _ask(corpus: Corpus, load: Load) -> NDArray[np.float64]:
    """Return a row per question, a column per cut: 1 where the paragraph was found."""
    rows = []
    with load(corpus) as home:
        for question in corpus.questions:
            found = home.ask(question.text, max(CUTS), question.asked_at)
            rows.append([metrics.any_of(found, question.turns, cut) for cut in CUTS])
    return np.array(rows)


def _estimate(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a row per cut: the mean, and the ends of its 95% interval."""
    random = np.random.default_rng(metrics.SEED)
    drawn = random.integers(len(found), size=(metrics.RESAMPLES, len(found)))
    ends = np.percentile(found[drawn].mean(axis=1), [2.5, 97.5], axis=0)
    return np.vstack([found.mean(axis=0), ends]).T


def _cells(span: NDArray[np.float64], *, signed: bool) -> list[str]:
    sign = "+" if signed else ""
    return [f"{100 * mean:{sign}.1f} ±{50 * (high - low):.1f}" for mean, low, high in span]

"""The benchmark's access to the engine: its ways to answer, its features, its weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from benchmarks.recall.baselines import Dense, Missing
from benchmarks.recall.features import Candidate
from mnemos.errors import Unavailable
from mnemos.faces.cli.bench.corpus import Corpus, Question
from mnemos.faces.cli.bench.measurement import Home, Load, open_home
from mnemos.recall.embedders.static import StaticEmbedder
from mnemos.recall.features import HYBRID, LEXICAL
from mnemos.recall.reranker import load as load_reranker
from mnemos.storage.base import Filters


def hybrid() -> Load:
    return partial(open_home, **flags(lexical=False))


def lexical() -> Load:
    return partial(open_home, **flags(lexical=True))


def on_server(*, lexical: bool) -> Load:
    """Answer from a PostgreSQL server, each corpus in a schema of its own."""
    # Installed by `make test-postgres` only.
    from benchmarks.postgres import new_schema_url

    @contextmanager
    def load(corpus: Corpus) -> Iterator[Home]:
        with new_schema_url() as url, open_home(corpus, database=url, **flags(lexical=lexical)) as home:
            yield home

    return load


def deep() -> Load:
    try:
        load_reranker()
    except Unavailable as exc:
        raise Missing(str(exc)) from exc
    return partial(open_home, depth="deep", **flags(lexical=False))


def dense() -> Load:
    try:
        embed = StaticEmbedder().embed
    except Unavailable as exc:
        raise Missing(str(exc)) from exc

    @contextmanager
    def load(corpus: Corpus) -> Iterator[Dense]:
        yield Dense(corpus, embed)

    return load


def flags(*, lexical: bool) -> dict[str, Any]:
    """The settings of a home that answers with or without vectors, regardless of the environment."""
    return {"embedder": "none" if lexical else "static"}


def weights(*, lexical: bool) -> Mapping[str, float]:
    return LEXICAL if lexical else HYBRID


def explain(home: Home, question: Question) -> Iterator[Candidate]:
    """Every candidate of a question with its features."""
    ranked = home.memory.recaller.rank(question.text, Filters(), now=question.asked_at)
    for candidate in ranked.candidates:
        if candidate.stretch is not None:
            yield candidate.line.id, candidate.stretch.session_id, candidate.features

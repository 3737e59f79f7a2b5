"""The obvious ways to find a turn again, each over exactly the text that Mnemos gets.

They rank turns, as Mnemos does; a turn's text begins with the name of who speaks where it is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from mnemos.faces.cli.bench.corpus import Corpus, Turn
from mnemos.faces.cli.bench.measurement import Load

WORD = re.compile(r"\w+")


class Missing(Exception):
    """A way that cannot take part here; the message says why."""


class FullText:
    """SQLite's FTS5: any of the words, ``ORDER BY bm25``."""

    mode = ""

    def __init__(self, corpus: Corpus, tokenizer: str) -> None:
        self._turns = _turns(corpus)
        self._db = apsw.Connection(":memory:")
        self._db.execute(f"CREATE VIRTUAL TABLE f USING fts5(text, tokenize='{tokenizer}')")
        rows = [(place, _spoken(turn)) for place, turn in enumerate(self._turns)]
        with self._db:
            self._db.executemany("INSERT INTO f (rowid, text) VALUES (?, ?)", rows)

    def ask(self, text: str, limit: int, now: float) -> list[str]:  # noqa: ARG002
        match = " OR ".join(f'"{word}"' for word in WORD.findall(text.lower()))
        if not match:
            return []
        found = self._db.execute(
            "SELECT rowid FROM f WHERE f MATCH ? ORDER BY bm25(f), rowid LIMIT ?", (match, limit)
        )
        return [self._turns[place].id for (place,) in found]

    @property
    def file_bytes(self) -> int:
        return int(self._db.pragma("page_count") * self._db.pragma("page_size"))


class Okapi:
    """The rank_bm25 package over lower-cased words."""

    mode = ""
    file_bytes = None

    def __init__(self, corpus: Corpus, ranker: Callable[[list[list[str]]], Any]) -> None:
        self._turns = _turns(corpus)
        self._scores = ranker([WORD.findall(_spoken(turn).lower()) for turn in self._turns])

    def ask(self, text: str, limit: int, now: float) -> list[str]:  # noqa: ARG002
        scores = self._scores.get_scores(WORD.findall(text.lower()))
        return [self._turns[place].id for place in _best(scores, limit)]


class Dense:
    """Only the cosine of the vectors that the default embedder makes."""

    mode = ""
    file_bytes = None

    def __init__(self, corpus: Corpus, embed: Callable[[list[str]], Any]) -> None:
        self._turns = _turns(corpus)
        self._embed = embed
        self._vectors = _normal(embed([_spoken(turn) for turn in self._turns]))

    def ask(self, text: str, limit: int, now: float) -> list[str]:  # noqa: ARG002
        scores = self._vectors @ _normal(self._embed([text]))[0]
        return [self._turns[place].id for place in _best(scores, limit)]


def full_text(tokenizer: str) -> Load:
    @contextmanager
    def load(corpus: Corpus) -> Iterator[FullText]:
        yield FullText(corpus, tokenizer)

    return load


def okapi() -> Load:
    try:
        from rank_bm25 import BM25Okapi
    except ImportError as exc:
        raise Missing("rank_bm25 is not installed: pip install -e '.[bench]'") from exc

    @contextmanager
    def load(corpus: Corpus) -> Iterator[Okapi]:
        yield Okapi(corpus, BM25Okapi)

    return load


def _turns(corpus: Corpus) -> list[Turn]:
    return [turn for session in corpus.sessions for turn in session.turns]


def _spoken(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text


def _best(scores: Any, limit: int) -> Sequence[int]:
    """The places of the highest scores that are above nothing; ties in the order of the conversation."""
    order = (-scores).argsort(kind="stable")[:limit]
    return [int(place) for place in order if scores[place] > 0]


def _normal(vectors: Any) -> Any:
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9)

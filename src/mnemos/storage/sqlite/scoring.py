"""Ranking inside FTS5: a function called for each candidate row."""

from __future__ import annotations

from typing import Any

import apsw

from mnemos.storage.sqlite.match import Plan

_K1 = 1.2
_B = 0.75
_SHORTEST = _K1 * (1 - _B)
_SAID, _TOOL, _BESIDE = 0, 1, 2
# Brings the sum of the clauses below one; any constant of the size of a usual sum will do.
_HALF = 10.0


class Scorer:
    """The SQL functions ``score``, ``score_all`` and ``seed`` of one connection, for one plan at a time.

    A score's whole part is the number of clauses the row fulfils; its fraction is BM25, squeezed below one.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._plan = Plan("", (), (), every=True)
        self._phrases: list[tuple[int, int, float]] = []
        self._clauses = 0
        # What a word more in the text takes from the score; 0 until the first row tells the average length.
        self._slope = 0.0
        connection.register_fts5_function("score", self._score)
        connection.register_fts5_function("score_all", self._score_all)
        connection.register_fts5_function("seed", self._seed)

    def use(self, plan: Plan) -> None:
        self._plan = plan
        self._phrases = [
            (number, phrase.clause, phrase.weight)
            for number, phrase in enumerate(plan.phrases)
            if phrase.weight
        ]
        self._clauses = len(plan.idf)
        self._slope = 0.0

    def _score(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        hits = [0.0] * len(self._plan.idf)
        offsets = row.phrase_column_offsets
        for number, clause, weight in self._phrases:
            count = len(offsets(number, _SAID)) + len(offsets(number, _TOOL)) + len(offsets(number, _BESIDE))
            if count:
                hits[clause] += count * weight
        norm = self._norm(row)
        matched = 0
        total = 0.0
        for frequency, idf in zip(hits, self._plan.idf, strict=True):
            if frequency:
                matched += 1
                total += idf * frequency * (_K1 + 1) / (frequency + norm)
        return matched + total / (total + _HALF)

    def _score_all(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        """For rows that fulfil every clause: how often they do, in how long a text."""
        # Called for hundreds of rows in a search, so the norm is not another call.
        slope = self._slope or self._slope_of(row)
        count = row.inst_count
        return self._clauses + 0.5 * count / (count + _SHORTEST + slope * row.column_size(_SAID))

    def _seed(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        """What the words of a row are worth, each counted once: cheap enough for thousands of rows."""
        columns = row.phrase_columns
        idf = self._plan.idf
        total = 0.0
        for number, clause, _weight in self._phrases:
            if columns(number):
                total += idf[clause]
        return total

    def _norm(self, row: apsw.FTS5ExtensionApi) -> float:
        return _SHORTEST + (self._slope or self._slope_of(row)) * row.column_size(_SAID)

    def _slope_of(self, row: apsw.FTS5ExtensionApi) -> float:
        average = max(row.column_total_size(_SAID) / max(row.row_count, 1), 1.0)
        self._slope = _K1 * _B / average
        return self._slope

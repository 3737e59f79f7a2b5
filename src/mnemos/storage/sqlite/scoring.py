"""Ranking inside FTS5: a function called for each candidate row."""

from __future__ import annotations

from typing import Any

import apsw

from mnemos.storage.sqlite.match import Plan

_K1 = 1.2
_B = 0.75
_SAID, _TOOL, _BESIDE = 0, 1, 2
_TEXT = (_SAID, _TOOL, _BESIDE)
# Brings the sum of the clauses below one; any constant of the size of a usual sum will do.
_HALF = 10.0


class Scorer:
    """The SQL function ``score`` of one connection, for one plan at a time.

    A score's whole part is the number of clauses the row fulfils; its fraction is BM25, squeezed below one.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._plan = Plan("", (), ())
        self._average = 0.0
        connection.register_fts5_function("score", self._score)

    def use(self, plan: Plan) -> None:
        self._plan = plan
        self._average = 0.0

    def _score(self, row: apsw.FTS5ExtensionApi, *_: Any) -> float:
        hits = [0.0] * len(self._plan.idf)
        offsets = row.phrase_column_offsets
        for number, phrase in enumerate(self._plan.phrases):
            if phrase.weight:
                count = len(offsets(number, _SAID)) + len(offsets(number, _TOOL))
                count += len(offsets(number, _BESIDE))
                if count:
                    hits[phrase.clause] += count * phrase.weight
        norm = _K1 * (1 - _B + _B * row.column_size(_SAID) / (self._average or self._mean(row)))
        matched = 0
        sum_ = 0.0
        for frequency, idf in zip(hits, self._plan.idf, strict=True):
            if frequency:
                matched += 1
                sum_ += idf * frequency * (_K1 + 1) / (frequency + norm)
        return matched + sum_ / (sum_ + _HALF)

    def _mean(self, row: apsw.FTS5ExtensionApi) -> float:
        self._average = max(row.column_total_size(_SAID) / max(row.row_count, 1), 1.0)
        return self._average

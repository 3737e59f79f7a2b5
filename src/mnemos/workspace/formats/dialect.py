r"""Dialect of delimited text: its delimiter, its quotes, how many fields its records have.

The delimiter is the one with which most of the first records have the same number of fields, and the fields
look least as if they contained other delimiters: ``1,5;2,5`` is two decimal numbers and not three cells.
Quotes are double ones, unless they are inches.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from mnemos.workspace.formats.source import CUT

# Fields of a sample that are looked at.
_FIELDS = 10_000
_DELIMITERS = ",;\t|"
# Share of the records: if fewer agree, the text has no columns.
_ENOUGH = 0.5
# Not found in data, so that each line is one cell.
NO_DELIMITER = "\x1f"

_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,' ]*\)?\s?[%$€£¥]?")
# In prose a blank follows a comma or a semicolon.
_FOREIGN_DELIMITER = re.compile(r"[,;|](?! )|\t")
_OPENING = re.compile(r'(?m)(?:^|[,;\t|]) ?"')
# At the end of a cell, the backslash is a part of it.
_ESCAPED = re.compile(r'(?m)\\"(?![,;\t|]|\r?$)')
_CLOSING = re.compile(r'(?m)"(?=[,;\t|]|\r?$)')


@dataclass(frozen=True, slots=True)
class Dialect:
    delimiter: str = ","
    is_quoted: bool = True
    """Cells may be in double quotes, and a quote within them is written twice."""
    is_escaped: bool = False
    """A quote within quotes has a backslash before it, as MySQL writes it."""
    blanks_after_delimiter: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Options of csv.reader."""
        return {
            "delimiter": self.delimiter,
            "quoting": csv.QUOTE_MINIMAL if self.is_quoted else csv.QUOTE_NONE,
            "escapechar": "\\" if self.is_escaped else None,
            "doublequote": not self.is_escaped,
            "skipinitialspace": self.blanks_after_delimiter,
        }


@dataclass(frozen=True, slots=True)
class Sniffed:
    """``width`` is the number of fields of most records, ``first_width`` of the first, without empty ones."""

    dialect: Dialect
    width: int
    first_width: int


@dataclass(frozen=True, slots=True)
class _Trial:
    """A sample parsed in a dialect."""

    dialect: Dialect
    records: Sequence[Sequence[str]]
    width: int
    agreeing: float
    """Share of the records that have the most common number of fields."""

    @property
    def score(self) -> float:
        if self.width < 2:
            return 0.0
        return self.agreeing * (self.width - 1) / self.width * (0.05 + self._share_of_whole())

    def _share_of_whole(self) -> float:
        """Return the share of fields that look whole."""
        fields = list(islice(chain.from_iterable(self.records), _FIELDS))
        return sum(map(_looks_whole, fields)) / len(fields)


def sniff(lines: Iterable[str], *, is_all: bool = True, delimiter: str | None = None) -> Sniffed:
    """Detect the dialect of a text from its first lines. ``is_all`` if there are no others."""
    sample = _Sample([line for line in lines if line.rstrip() != CUT], is_all=is_all)
    best, *others = [_find_quoting(sample, candidate) for candidate in delimiter or _DELIMITERS]
    for other in others:
        if other.score > best.score:
            best = other
    if not best.records:
        return Sniffed(Dialect(delimiter or ","), 1, 1)
    if delimiter is None and (best.width < 2 or best.agreeing < _ENOUGH):
        return Sniffed(Dialect(NO_DELIMITER, is_quoted=best.dialect.is_quoted), 1, 1)
    width = _count_fields(best)
    first = best.records[0]
    while len(first) > width and not first[-1]:
        first = first[:-1]
    return Sniffed(best.dialect, width, len(first))


class _Sample:
    def __init__(self, lines: Sequence[str], *, is_all: bool) -> None:
        self.lines = lines
        self.text = "".join(lines)
        self.is_all = is_all
        # Several quotes that open and never close are inches; one was forgotten.
        self.has_stray_quotes = len(_OPENING.findall(self.text)) > 2 * len(_CLOSING.findall(self.text)) + 1


def _find_quoting(sample: _Sample, delimiter: str) -> _Trial:
    usual = _try(sample, Dialect(delimiter, is_escaped=_ESCAPED.search(sample.text) is not None))
    if f'{delimiter}"' not in sample.text and _has_blanks_before_quotes(usual.records):
        return _try(sample, Dialect(delimiter, blanks_after_delimiter=True))
    if sample.has_stray_quotes:
        unquoted = _try(sample, Dialect(delimiter, is_quoted=False))
        if unquoted.agreeing >= usual.agreeing:
            return unquoted
    return usual


def _has_blanks_before_quotes(records: Sequence[Sequence[str]]) -> bool:
    return any(
        field.startswith(" ") and field.lstrip(" ").startswith('"')
        for record in records
        for field in record[1:]
    )


def _try(sample: _Sample, dialect: Dialect) -> _Trial:
    records: list[list[str]] = []
    try:
        records.extend(record for record in csv.reader(sample.lines, **dialect.options) if record)
    except csv.Error:
        pass  # A field exceeds the limit. The records before it are enough.
    if len(records) > 1 and not sample.is_all:
        # The sample may end in the middle of the last record.
        records.pop()
    widths = Counter(map(len, records))
    # The first of equally common widths, because the first record is usually the header.
    width, count = max(widths.items(), key=lambda item: item[1], default=(0, 0))
    agreeing = count / len(records) if records else 0.0
    return _Trial(dialect, records, width, agreeing)


def _count_fields(trial: _Trial) -> int:
    """Return the number of columns. Records that end in a delimiter have an empty field more than the
    header."""
    named = len(trial.records[0])
    if 1 < named < trial.width and not any(any(record[named:]) for record in trial.records):
        return named
    return trial.width


def _looks_whole(field: str) -> bool:
    if field[:1] in "\"'" or field[-1:] in "\"'":
        return not field
    return not _FOREIGN_DELIMITER.search(field) or bool(_NUMBER.fullmatch(field))

r"""Dialect of delimited text: its delimiter, its quotes, how many fields its records have.

The delimiter is the one with which most of the first records have the same number of fields, and the fields
look least as if they contained other delimiters: ``1,5;2,5`` is two decimal numbers and not three cells.
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
_CLOSING = re.compile(r'(?m)"(?=[,;\t|]|\r?$)')
_SINGLE_QUOTED = re.compile(r"(?m)(?:^|[,;\t|]) ?'(?:[^'\n]|'')*'(?=[,;\t|]|\r?$)")


@dataclass(frozen=True, slots=True)
class Dialect:
    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    """Written before a quote inside of quotes. Without it such a quote is doubled."""
    blanks_after_delimiter: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Options of csv.reader."""
        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote,
            "quoting": csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            "escapechar": self.escape,
            "doublequote": self.escape is None,
            "skipinitialspace": self.blanks_after_delimiter,
        }

    @property
    def tells_empty_from_null(self) -> bool:
        return self.quote == '"' and self.escape is None and not self.blanks_after_delimiter


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
    flawless: bool
    """True if every quote is where it belongs."""

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
        return Sniffed(Dialect(NO_DELIMITER, quote=best.dialect.quote, escape=best.dialect.escape), 1, 1)
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
        self.opening_quotes = len(_OPENING.findall(self.text))
        self.closing_quotes = len(_CLOSING.findall(self.text))
        # Every record including the first. Anything less are apostrophes.
        self.is_single_quoted = all(map(_SINGLE_QUOTED.search, filter(str.strip, lines)))


def _find_quoting(sample: _Sample, delimiter: str) -> _Trial:
    usual = _try(sample, Dialect(delimiter))
    if '"' not in sample.text:
        if sample.is_single_quoted:
            return _choose(usual, [_try(sample, Dialect(delimiter, quote="'"))])
        return usual
    if f'{delimiter}"' not in sample.text and _has_blanks_before_quotes(usual.records):
        return _try(sample, Dialect(delimiter, blanks_after_delimiter=True))
    if usual.flawless or not sample.opening_quotes:
        return usual
    unquoted = _try(sample, Dialect(delimiter, quote=None))
    if sample.closing_quotes * 2 < sample.opening_quotes and unquoted.agreeing >= usual.agreeing:
        return unquoted
    if '\\"' in sample.text:
        return _choose(usual, [_try(sample, Dialect(delimiter, escape="\\")), unquoted])
    return _choose(usual, [unquoted])


def _has_blanks_before_quotes(records: Sequence[Sequence[str]]) -> bool:
    return any(
        field.startswith(" ") and field.lstrip(" ").startswith('"')
        for record in records
        for field in record[1:]
    )


def _choose(usual: _Trial, others: Sequence[_Trial]) -> _Trial:
    """Return another quoting only if it is flawless where the usual one is not, or far more regular."""
    for other in others:
        if other.width >= usual.width and other.flawless and not usual.flawless and other.dialect.quote:
            return other
        if other.agreeing > usual.agreeing + 0.1 or (other.dialect.quote == "'" and other.flawless):
            return other
    return usual


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
    return _Trial(dialect, records, width, agreeing, _is_flawless(sample.lines, dialect))


def _is_flawless(lines: Sequence[str], dialect: Dialect) -> bool:
    if dialect.quote is None:
        return False
    reader = csv.reader(lines, **dialect.options, strict=True)
    try:
        for _ in reader:
            pass
    except csv.Error:
        # The sample may end inside of quotes.
        return reader.line_num >= len(lines)
    return True


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

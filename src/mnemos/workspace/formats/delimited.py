"""Tables of comma-, semicolon-, tab- or pipe-separated text.

Decisions that the csv module leaves open:

- A record with too few or too many fields is a bad line and left out. Empty fields after the last column are
  dropped. Blank lines are ignored, except in a file of one column, where they are NULL.
- An empty cell is NULL, quoted or not.
- The apostrophe that keeps spreadsheets from running a cell is removed.
- Numbers stay texts, for the affinity of their columns to convert.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from mnemos.errors import InvalidInput
from mnemos.workspace.formats import columns as names
from mnemos.workspace.formats.columns import (
    BadLines,
    Column,
    Kind,
    Limits,
    Row,
    Scan,
    Survey,
    Value,
    find_guards,
    remove_guard,
    row_size,
)
from mnemos.workspace.formats.dialect import Dialect, Sniffed, sniff
from mnemos.workspace.formats.source import (
    CUT,
    END,
    Encoding,
    LineBlocks,
    RecordTooLong,
    Source,
    count_ends,
    decode,
    split_lines,
    whole_lines,
)

_SAMPLE = 64 * 1024
_SAMPLE_LINES = 20
_SPELLED = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "pipes"}

Record = Sequence[str]


class DelimitedTable:
    """A ``Table`` of delimited text. Opening it reads the whole file once."""

    def __init__(
        self, source: Source, encoding: Encoding, *, format: str, header: bool | None, limits: Limits
    ) -> None:
        # The limit of the csv module is one for the process, and 128 KB by default.
        csv.field_size_limit(limits.item)
        self.format = format
        self.encoding = encoding.name
        self._source = source
        self._encoding = encoding
        self._limits = limits
        sniffed = self._sniff("\t" if format == "tsv" else None)
        self._width = names.check_count(sniffed.first_width if header else sniffed.width, limits)
        self._dialect = sniffed.dialect
        self._guards = find_guards(sniffed.dialect.delimiter)
        self._is_guarded = False
        bad = BadLines()
        survey = self._survey(bad)
        found = survey.find_header(asked=header, read=remove_guard)
        self._has_header = found is not None
        given = names.clean_names(found or [""] * self._width, limits)
        self.columns = tuple(Column(name, scan.kind) for name, scan in zip(given, survey.scans, strict=True))
        self.rows = survey.count - self._has_header
        self.bad = sorted(bad.kept, key=lambda line: line.number)
        self.bad_total = bad.total
        self.empty_is_null = not self._is_guarded
        self.notes = self._make_notes(header_was_asked=header is None)

    def batches(self) -> Iterator[Sequence[Row]]:
        self._source.next_pass()
        skip = self._has_header
        for good in self._read_good(BadLines()):
            rows = good[1:] if skip else good
            skip = skip and not good
            if rows:
                yield self._convert(rows) if self._is_guarded else rows

    def _sniff(self, delimiter: str | None) -> Sniffed:
        """Detect the dialect from whole lines, and enough of them to see what is regular."""
        lines: list[str] = []
        size = 0
        for line in chain.from_iterable(map(split_lines, self._pieces())):
            lines.append(line)
            size += len(line)
            if size >= self._limits.item or (size >= _SAMPLE and len(lines) >= _SAMPLE_LINES):
                return sniff(lines, is_all=False, delimiter=delimiter)
        return sniff(lines, delimiter=delimiter)

    def _survey(self, bad: BadLines) -> Survey[Scan]:
        """Read the file once for the types of columns, the number of records and the bad lines."""
        survey = Survey(Scan, may_name=True)
        for good in self._read_good(bad):
            survey.feed(good)
        if not any(survey.first) and not any(scan.has_values for scan in survey.scans):
            raise InvalidInput(
                f"no record has {self._width} fields: {bad.kept[0].reason}"
                if bad.kept
                else "the file is empty"
            )
        return survey

    def _make_notes(self, *, header_was_asked: bool) -> list[str]:
        notes = [self._encoding.note] if self._encoding.note else []
        if self._dialect.delimiter in _SPELLED and self._dialect.delimiter != ",":
            notes.append(f"Cells are separated by {_SPELLED[self._dialect.delimiter]}.")
        if header_was_asked and not self._has_header:
            notes.append("The first record is data: no header was seen, so columns are numbered.")
        if self._is_guarded:
            notes.append("An apostrophe before = + - @ at the start of a cell was removed.")
        return notes

    def _pieces(self) -> Iterator[str]:
        return whole_lines(decode(self._source.chunks(), self._encoding), self._limits.item)

    def _notice_guards(self, piece: str) -> str:
        if "'" in piece and not self._is_guarded:
            self._is_guarded = self._guards.search(piece) is not None
        return piece

    def _read_good(self, bad: BadLines) -> Iterator[list[list[str]]]:
        """Yield the records that fit the table, in batches."""
        fitting, blank = {self._width}, {0}
        for batch in read_batches(map(self._notice_guards, self._pieces()), self._dialect, self._limits, bad):
            widths = set(map(len, batch.records))
            if not batch.is_ordinary or not widths <= fitting | blank:
                yield self._sort_out(batch, bad)
            elif widths == fitting:
                yield batch.records
            elif self._width == 1:
                yield [record or [""] for record in batch.records]
            else:
                yield [record for record in batch.records if record]

    def _sort_out(self, batch: Batch, bad: BadLines) -> list[list[str]]:
        good: list[list[str]] = []
        line = batch.line
        for record in batch.records:
            fitting = record or self._blank_line()
            if len(fitting) > self._width and not any(fitting[self._width :]):
                fitting = fitting[: self._width]
            reason = self._find_flaw(fitting, is_ordinary=batch.is_ordinary) if fitting else ""
            lines = count_lines(record)
            if reason:
                bad.add(line, reason if lines == 1 else f"{reason} (it goes on to line {line + lines - 1:,})")
            elif fitting:
                good.append(fitting)
            line += lines
        return good

    def _blank_line(self) -> list[str]:
        return [""] if self._width == 1 else []

    def _find_flaw(self, record: Record, *, is_ordinary: bool) -> str:
        if not is_ordinary:
            if any(CUT in cell for cell in record):
                return f"longer than {self._limits.item:,} characters"
            size = row_size(record)
            if size > self._limits.item:
                return f"{size:,} bytes; a row has at most {self._limits.item:,}"
        if len(record) != self._width:
            return f"{len(record)} field{'s' * (len(record) != 1)} where {self._width} were expected"
        return ""

    def _convert(self, rows: Sequence[Record]) -> list[Row]:
        columns = [
            self._convert_column(cells, column.type)
            for cells, column in zip(zip(*rows, strict=True), self.columns, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def _convert_column(self, cells: Sequence[str], kind: Kind) -> Sequence[Value]:
        if kind is not Kind.TEXT:
            return [cell or None for cell in cells]
        return [remove_guard(cell) if cell else None for cell in cells]


@dataclass(frozen=True, slots=True)
class Batch:
    records: list[list[str]]
    line: int
    """Line on which the first record begins."""
    is_ordinary: bool
    """True if no record can exceed the limit or have lost a line."""


def read_batches(pieces: Iterator[str], dialect: Dialect, limits: Limits, bad: BadLines) -> Iterator[Batch]:
    """Yield all records, with blank lines as empty ones. Records too long to parse are added to ``bad``.

    A batch ends with the first record that is complete after another block was begun.
    """
    blocks = LineBlocks(pieces, limits.item, end=END + dialect.delimiter + END)
    reader = csv.reader(chain.from_iterable(blocks), **dialect.options)
    lines_before = 0
    while not blocks.ended:
        line = lines_before + reader.line_num + 1
        handed_out = blocks.handed_out
        records: list[list[str]] = []
        try:
            for record in reader:
                records.append(record)
                if blocks.handed_out != handed_out:
                    break
        except csv.Error:
            bad.add(_line_after(records, line), _too_long("a cell", limits, lines_before + reader.line_num))
        except RecordTooLong:
            lines_before += reader.line_num
            bad.add(_line_after(records, line), _too_long("a record", limits, lines_before))
            # chain() does not survive an exception. A new one goes on at the same place.
            reader = csv.reader(chain.from_iterable(blocks), **dialect.options)
        blocks.record_done()
        if blocks.ended:
            _remove_end(records, line, bad)
        if records:
            yield Batch(records, line, blocks.are_ordinary)


def count_lines(record: Sequence[str]) -> int:
    """Return how many lines of the file a record takes."""
    return 1 + sum(count_ends(cell) + cell.count(CUT) for cell in record) - (record == [CUT])


def _remove_end(records: list[list[str]], line: int, bad: BadLines) -> None:
    """Remove the end mark. It is a separate record unless a quote is still open."""
    if not records or not any(END in cell for cell in records[-1]):
        return
    last = records.pop()
    if last != [END, END]:
        lines = count_lines(last)
        bad.add(
            _line_after(records, line),
            "a quote is never closed" + (f"; it swallows the last {lines:,} lines" if lines > 1 else ""),
        )


def _too_long(what: str, limits: Limits, last: int) -> str:
    return f"{what} of more than {limits.item:,} characters, up to line {last:,}; is a quote missing?"


def _line_after(records: Sequence[Sequence[str]], line: int) -> int:
    return line + sum(map(count_lines, records))

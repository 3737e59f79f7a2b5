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
    Lines,
    Source,
    read_lines,
)

_SAMPLE = 64 * 1024
_SAMPLE_LINES = 20
_BATCH_CHARACTERS = 100_000
_SPELLED = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "pipes"}


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
            skip = False
            if rows:
                yield self._convert(rows) if self._is_guarded else rows

    def _sniff(self, delimiter: str | None) -> Sniffed:
        """Detect the dialect from whole lines, and enough of them to see what is regular."""
        lines: list[str] = []
        size = 0
        for line in self._lines():
            lines.append(line)
            size += len(line)
            if size >= self._limits.item or (size >= _SAMPLE and len(lines) >= _SAMPLE_LINES):
                return sniff(lines, is_all=False, delimiter=delimiter)
        return sniff(lines, delimiter=delimiter)

    def _survey(self, bad: BadLines) -> Survey:
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

    def _lines(self) -> Iterator[str]:
        return read_lines(self._source.text(self._encoding), self._limits.item)

    def _notice_guards(self, line: str) -> str:
        if "'" in line and not self._is_guarded:
            self._is_guarded = self._guards.search(line) is not None
        return line

    def _read_good(self, bad: BadLines) -> Iterator[list[list[str]]]:
        """Yield the records that fit the table, some at a time."""
        width, good = self._width, list[list[str]]()
        lines = Lines(map(self._notice_guards, self._lines()), self._limits.item)
        given = 0
        for begins, ends, record in read_records(lines, self._dialect, bad):
            if len(record) != width or lines.may_be_odd:
                record, flaw = self._fit(record)
                if flaw:
                    after = f" (it goes on to line {ends:,})" if ends > begins else ""
                    bad.add(begins, flaw + after)
                    continue
                if not record:
                    continue
            good.append(record)
            if lines.given > given + _BATCH_CHARACTERS:
                given = lines.given
                yield good
                good = []
        if good:
            yield good

    def _fit(self, record: list[str]) -> tuple[list[str], str]:
        """Return a record as the table takes it, empty for a blank line, and what is wrong with it."""
        width = self._width
        if not record:
            return ([""] if width == 1 else []), ""
        if len(record) > width and not any(record[width:]):
            record = record[:width]
        if any(CUT in cell for cell in record):
            return record, f"longer than {self._limits.item:,} characters"
        if (size := row_size(record)) > self._limits.item:
            return record, f"{size:,} bytes; a row has at most {self._limits.item:,}"
        if len(record) != width:
            return record, f"{len(record)} field{'s' * (len(record) != 1)} where {width} were expected"
        return record, ""

    def _convert(self, rows: Sequence[Sequence[str]]) -> list[Row]:
        columns = [
            self._convert_column(cells, column.type)
            for cells, column in zip(zip(*rows, strict=True), self.columns, strict=True)
        ]
        return list(zip(*columns, strict=True))

    def _convert_column(self, cells: Sequence[str], kind: Kind) -> Sequence[Value]:
        if kind is not Kind.TEXT:
            return [cell or None for cell in cells]
        return [remove_guard(cell) if cell else None for cell in cells]


def read_records(lines: Lines, dialect: Dialect, bad: BadLines) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the records with their first and last line, blank lines as empty ones.

    A record too long to parse, and one whose quote is never closed, are added to ``bad``.
    """
    end = END + dialect.delimiter + END
    reader = csv.reader(lines.iterate(end), **dialect.options)
    while True:
        begins = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error:
            most = f"a record of more than {lines.limit:,} characters"
            bad.add(begins, f"{most}, up to line {reader.line_num:,}; is a quote missing?")
        else:
            if not record or END not in record[-1]:
                yield begins, reader.line_num, record
            elif record != [END, END]:
                lost = reader.line_num - begins
                more = f"; it swallows the last {lost:,} lines" if lost > 1 else ""
                bad.add(begins, f"a quote is never closed{more}")
        lines.record_done()

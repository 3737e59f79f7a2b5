"""Records of delimited text, in batches, with the lines they stand on and in bounded memory."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from mnemos.workspace.formats.dialect import Dialect
from mnemos.workspace.formats.lines import CUT, END, LineBlocks, RecordTooLong, count_ends
from mnemos.workspace.formats.model import BadLines, Limits


@dataclass(frozen=True, slots=True)
class Batch:
    records: list[list[str]]
    line: int
    """The line on which the first of them begins."""
    is_ordinary: bool
    """No record can be longer than the limit or have lost a line."""


def batches(pieces: Iterator[str], dialect: Dialect, limits: Limits, bad: BadLines) -> Iterator[Batch]:
    """All records, blank lines as empty ones. What was too long to parse is told to ``bad``.

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
            # chain() does not survive an exception; another one goes on where it stood.
            reader = csv.reader(chain.from_iterable(blocks), **dialect.options)
        blocks.record_done()
        if blocks.ended:
            _take_end_off(records, line, bad)
        if records:
            yield Batch(records, line, blocks.are_ordinary)


def lines_of(record: Sequence[str]) -> int:
    """How many lines of the file a record takes."""
    return 1 + sum(count_ends(cell) + cell.count(CUT) for cell in record) - (record == [CUT])


def _take_end_off(records: list[list[str]], line: int, bad: BadLines) -> None:
    """What comes after the last line is a record of its own, unless a quote was still open."""
    if not records or not any(END in cell for cell in records[-1]):
        return
    last = records.pop()
    if last != [END, END]:
        lines = lines_of(last)
        bad.add(
            _line_after(records, line),
            "a quote is never closed" + (f"; it swallows the last {lines:,} lines" if lines > 1 else ""),
        )


def _too_long(what: str, limits: Limits, last: int) -> str:
    return f"{what} of more than {limits.item:,} characters, up to line {last:,}; is a quote missing?"


def _line_after(records: Sequence[Sequence[str]], line: int) -> int:
    return line + sum(map(lines_of, records))

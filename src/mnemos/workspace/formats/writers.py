"""Writers of rows to files, batch by batch.

Limits of the formats:

- CSV and TSV have no types: a text that looks like a number is read back as one, and a column of mixed types
  as text. Infinities are ``9e999``, as SQLite writes them; texts that a spreadsheet would run get an
  apostrophe. All of this is read back unchanged. NULL is an empty cell and the empty text ``""``, which is
  read back as NULL; a blob is the text ``x'00ff'``.
- JSON has neither blobs (``{"$blob": "<base64>"}``, read back as such) nor infinities (the text
  ``"Infinity"``). Integers next to decimal numbers are read back as those.
- Markdown is for reading: line breaks become ``<br>``, long blobs their size.

Characters that are not Unicode become U+FFFD everywhere.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from math import isinf, isnan
from typing import Any

import msgspec

from mnemos.workspace.formats.columns import Row, Value, make_distinct, wants_guard
from mnemos.workspace.formats.json_table import BLOB_KEY

_SURROGATES = re.compile("[\ud800-\udfff]")
# Every delimiter that a reader might guess is quoted, so that the right one is unambiguous.
_QUOTED = re.compile(r"""[",;\t|\r\n\x1f]|\A[ ']|[ ]\Z""")
_MARKED = re.compile(r"[\\|<]")
_LINE_END = re.compile(r"\r\n|\r|\n")
_LONGEST_BLOB = 64


Batches = Iterable[Sequence[Row]]


def write(format: str, columns: Sequence[str], batches: Batches) -> Iterator[bytes]:
    """Return the file of some rows, piece by piece. Equal column names become ``name`` and ``name_2``."""
    return _FORMATS[format](make_distinct(columns), filter(None, batches))


def _write_delimited(columns: Sequence[str], batches: Batches, *, delimiter: str) -> Iterator[bytes]:
    join = delimiter.join
    for batch in chain([[columns]], batches):
        yield _encode("".join([join([_CELLS[type(cell)](cell) for cell in row]) + "\n" for row in batch]))


def _write_json_lines(columns: Sequence[str], batches: Batches) -> Iterator[bytes]:
    names = [_SURROGATES.sub("\ufffd", name) for name in columns]
    for batch in batches:
        converted = [_convert_column(values) for values in zip(*batch, strict=True)]
        rows = [dict(zip(names, row, strict=True)) for row in zip(*converted, strict=True)]
        try:
            yield _encode_lines(rows)
        except UnicodeEncodeError:
            yield _encode_lines([{name: _replace_halves(cell) for name, cell in row.items()} for row in rows])


def _write_json_array(columns: Sequence[str], batches: Batches) -> Iterator[bytes]:
    yield b"["
    before = b"\n"
    for lines in _write_json_lines(columns, batches):
        # Line ends inside of texts are escaped, so that any other is between two rows.
        yield before + lines.removesuffix(b"\n").replace(b"\n", b",\n")
        before = b",\n"
    yield b"\n]\n"


def _write_markdown(columns: Sequence[str], batches: Batches) -> Iterator[bytes]:
    rule = "|" + " --- |" * len(columns) + "\n"
    yield _encode(f"| {' | '.join(map(_render_markdown, columns))} |\n{rule}")
    for batch in batches:
        yield _encode("".join(f"| {' | '.join(map(_render_markdown, row))} |\n" for row in batch))


_FORMATS: dict[str, Callable[[Sequence[str], Batches], Iterator[bytes]]] = {
    "csv": partial(_write_delimited, delimiter=","),
    "tsv": partial(_write_delimited, delimiter="\t"),
    "json": _write_json_array,
    "jsonl": _write_json_lines,
    "markdown": _write_markdown,
}


def _text_cell(text: str) -> str:
    if not text:
        return '""'
    if wants_guard(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text


def _float_cell(number: float) -> str:
    if isinf(number):
        return "9e999" if number > 0 else "-9e999"
    return "" if isnan(number) else repr(number)


_CELLS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "",
    str: _text_cell,
    int: str,
    bool: lambda truth: str(int(truth)),
    float: _float_cell,
    bytes: lambda blob: f"x'{blob.hex()}'",
}

_encode_lines = msgspec.json.Encoder().encode_lines


def _convert_column(values: Sequence[Value]) -> Sequence[Any]:
    """Convert the values of a column that JSON has no words for."""
    if not {bytes, float}.isdisjoint(map(type, values)):
        return list(map(_convert_value, values))
    return values


def _convert_value(value: Value) -> Any:
    if isinstance(value, bytes):
        return {BLOB_KEY: b64encode(value).decode()}
    if isinstance(value, float) and isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _replace_halves(value: Any) -> Any:
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else value


def _render_markdown(value: Value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'" if len(value) <= _LONGEST_BLOB else f"blob of {len(value):,} bytes"
    if isinstance(value, str):
        return _LINE_END.sub("<br>", _MARKED.sub(r"\\\g<0>", value.replace("\0", "\ufffd")))
    return str(value)


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text).encode()

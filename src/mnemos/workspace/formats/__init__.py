"""Files of rows, read and written: CSV, TSV, JSON, JSON lines, and Markdown for people.

Everything here works on streams in constant memory and does not know databases. It runs in the sandboxed
worker, because the files are hostile input.
"""

from __future__ import annotations

import re
from typing import BinaryIO

from mnemos.errors import InvalidInput
from mnemos.workspace.formats.columns import BadLine, Column, Kind, Limits, Row, Table
from mnemos.workspace.formats.delimited import DelimitedTable
from mnemos.workspace.formats.json_document import BadElement, decode_line
from mnemos.workspace.formats.json_table import JsonTable
from mnemos.workspace.formats.source import (
    Encoding,
    OnProgress,
    Source,
    decide_encoding,
    guess_encoding,
)
from mnemos.workspace.formats.writers import write

__all__ = ["BadLine", "Column", "Kind", "Limits", "Row", "Table", "open_table", "write"]

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_HEAD = 64 * 1024
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"\d\-\]tfn])')
_JSON_LINES = re.compile(r"\s*([\[{][^\n]*)\n\s*[\[{]")


def open_table(
    stream: BinaryIO,
    *,
    format: str | None,
    name: str,
    limits: Limits,
    header: bool | None = None,
    on_progress: OnProgress | None = None,
) -> Table:
    """Return the table in a file, after reading the whole file once.

    ``stream`` must be seekable; the caller closes it. Without a ``format``, the ending of ``name`` or else
    the content decides. ``header`` says whether the first record names the columns, and None guesses.
    ``on_progress`` is called with the share done: this call is the first half, and ``batches`` the second.

    InvalidInput if there is no table in it, and TooLarge as soon as a limit is exceeded.
    """
    source = Source(stream, name=name, limit=limits.size, on_progress=on_progress)
    head = source.head(_HEAD)
    if not head:
        raise InvalidInput(f"{name} is empty")
    encoding = guess_encoding(head)
    try:
        table = _open(source, encoding, head, format=format, name=name, header=header, limits=limits)
    except UnicodeDecodeError:
        encoding = decide_encoding(source)
        table = _open(source, encoding, head, format=format, name=name, header=header, limits=limits)
    if source.garbage_after:
        table.notes.append("Something else follows the gzip data; it was left out.")
    return table


def _open(
    source: Source,
    encoding: Encoding,
    head: bytes,
    *,
    format: str | None,
    name: str,
    header: bool | None,
    limits: Limits,
) -> Table:
    text = head.decode(encoding.name, "replace")
    found = _detect_format(text, format or _guess_by_name(name))
    kind = DelimitedTable if found in ("csv", "tsv") else JsonTable
    return kind(source, encoding, format=found, header=header, limits=limits)


def _guess_by_name(name: str) -> str:
    plain = name.lower().removesuffix(".gz")
    return next((format for ending, format in _ENDINGS.items() if plain.endswith(ending)), "")


def _detect_format(text: str, stated: str) -> str:
    """Return the stated format, or what the text looks like. JSON lines are often called JSON."""
    if stated in ("csv", "tsv"):
        return stated
    if stated == "jsonl" or _are_json_lines(text):
        return "jsonl"
    return "json" if stated == "json" or _JSON.match(text) else "csv"


def _are_json_lines(text: str) -> bool:
    found = _JSON_LINES.match(text)
    if found is None:
        return False
    try:
        decode_line(found[1])
    except BadElement:
        return False
    return True

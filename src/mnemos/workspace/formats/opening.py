"""Which format a file has, and its table."""

from __future__ import annotations

import re
from typing import BinaryIO

from mnemos.errors import InvalidInput
from mnemos.workspace.formats import encoding as encodings
from mnemos.workspace.formats.delimited import DelimitedTable
from mnemos.workspace.formats.encoding import Encoding, NotUtf8
from mnemos.workspace.formats.jsons import JsonTable
from mnemos.workspace.formats.model import Limits, OnProgress, Table
from mnemos.workspace.formats.source import Source
from mnemos.workspace.formats.values import BadElement, decode_leniently

READABLE = ("csv", "tsv", "json", "jsonl", "ndjson")
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
    encoding: str | None = None,
    on_progress: OnProgress | None = None,
) -> Table:
    """The table in a file, all of which is read once before this returns.

    ``stream`` can seek, and stays the caller's to close. Without a ``format``, the ending of ``name`` or else
    the content tells it. ``header`` says whether the first record names the columns, where that is not to be
    guessed, and ``encoding`` how the bytes are to be read. ``on_progress`` is called with the share that is
    done, to which this call contributes the first half and ``batches`` the second.

    InvalidInput when there is no table in it; TooLarge beyond the limits, as soon as they are reached.
    """
    if format is not None and format not in READABLE:
        raise InvalidInput(f"format is {format[:60]!r}; use {', '.join(READABLE)}, or leave it out")
    source = Source(stream, name=name, limit=limits.size, on_progress=on_progress)
    head, _ = source.head(_HEAD)
    if not head:
        raise InvalidInput(f"{name} is empty; there is nothing to make a table of")
    chosen = encodings.named(encoding) if encoding else encodings.first_guess(head)
    try:
        table = _opened(source, chosen, head, format=format, name=name, header=header, limits=limits)
    except NotUtf8:
        chosen = encodings.decided(source)
        table = _opened(source, chosen, head, format=format, name=name, header=header, limits=limits)
    if source.garbage_after:
        table.notes.append("What follows the gzip data is not gzip; it was left out.")
    return table


def _opened(
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
    found = _format_of(text, format or _by_name(name))
    kind = DelimitedTable if found in ("csv", "tsv") else JsonTable
    return kind(source, encoding, format=found, header=header, limits=limits)


def _by_name(name: str) -> str:
    plain = name.lower().removesuffix(".gz")
    return next((format for ending, format in _ENDINGS.items() if plain.endswith(ending)), "")


def _format_of(text: str, said: str) -> str:
    """What was said, except that JSON lines are often said to be JSON; else what the text looks like."""
    if said in ("csv", "tsv"):
        return said
    if said in ("jsonl", "ndjson"):
        return "jsonl"
    if _are_json_lines(text):
        return "jsonl"
    return "json" if said == "json" or _JSON.match(text) else "csv"


def _are_json_lines(text: str) -> bool:
    found = _JSON_LINES.match(text)
    if found is None:
        return False
    try:
        decode_leniently(found[1])
    except BadElement:
        return False
    return True

"""The rows of a statement: counted, and cut to the room there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw
import msgspec

_encoder = msgspec.msgpack.Encoder()
_FIRST_BATCH = 4
_A_BATCH = 128
_BATCH_BYTES = 1_000_000
_SHOWN_BYTES = 16


@dataclass(slots=True)
class Room:
    """The room left for rows in a call's answer."""

    rows: int
    bytes: int
    cell: int | None
    """A longer text is cut in the middle and a blob described; None: values as they are."""
    given: int = 0
    """Bytes given so far, including a single row that did not fit."""

    def copy(self) -> Room:
        return Room(self.rows, self.bytes, self.cell, self.given)

    def count(self, values: Sequence[Any]) -> None:
        self.given += len(_encoder.encode(values))


@dataclass(frozen=True, slots=True)
class Fetched:
    rows: list[Sequence[Any]]
    more: bool
    """There were further rows than there was room for."""


def fetch(cursor: Iterator[Sequence[Any]], room: Room, *, skip: int, most: int) -> Fetched:
    """Fetch up to ``most`` rows after the first ``skip``, as many as fit, one at least."""
    for _ in islice(cursor, skip):
        pass
    rows: list[Sequence[Any]] = []
    most = min(most, room.rows)
    step = _FIRST_BATCH
    while len(rows) < most:
        batch = list(islice(cursor, min(step, most - len(rows))))
        if not batch:
            return Fetched(rows, more=False)
        if room.cell is not None:
            cell = max(min(room.cell, room.bytes // max(len(batch[0]), 1)), 24)
            batch = [[_show(value, cell) for value in row] for row in batch]
        given = room.given
        fitting = _count_fitting(batch, room, must=not rows)
        rows += batch[:fitting]
        # Long rows are taken few at a time: a batch of them is held twice.
        step = max(min(_A_BATCH, _BATCH_BYTES * len(batch) // (room.given - given + 1)), 1)
        room.rows -= fitting
        if fitting < len(batch):
            return Fetched(rows, more=True)
    return Fetched(rows, more=next(cursor, None) is not None)


def _count_fitting(batch: Sequence[Sequence[Any]], room: Room, *, must: bool) -> int:
    size = len(_encoder.encode(batch))
    if size <= room.bytes:
        room.bytes -= size
        room.given += size
        return len(batch)
    for place, row in enumerate(batch):
        size = len(_encoder.encode(row))
        if size > room.bytes and not (must and place == 0):
            return place
        room.bytes = max(room.bytes - size, 0)
        room.given += size
    return len(batch)


def _show(value: Any, most: int) -> Any:
    if isinstance(value, str) and len(value) > most:
        return shorten_middle(value, most)
    if isinstance(value, bytes):
        return describe_blob(value)
    return value


def shorten_middle(text: str, most: int) -> str:
    """Return the two ends of a text, with the number of bytes between them."""
    half = max((most - 24) // 2, 4)
    left_out = len(text[half:-half].encode("utf-8", "replace"))
    return f"{text[:half]}…[{left_out} bytes left out]…{text[-half:]}"


def describe_blob(blob: bytes) -> str:
    more = "…" if len(blob) > _SHOWN_BYTES else ""
    return f"<blob, {len(blob)} bytes: {blob[:_SHOWN_BYTES].hex()}{more}>"


def select_as_bytes(sql: str, columns: int) -> str:
    """Return a SELECT of types and bytes, for a result in which some text is not UTF-8."""
    names = [f"c{number}" for number in range(columns)]
    kinds = ", ".join(f"typeof({name})" for name in names)
    values = ", ".join(
        f"CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END" for name in names
    )
    return f"WITH given({', '.join(names)}) AS (\n{sql}\n) SELECT {kinds}, {values} FROM given"


def decode_rows(cursor: apsw.Cursor, columns: int) -> Iterator[list[Any]]:
    """Yield the rows of ``select_as_bytes`` as their values, with � for what is not UTF-8."""
    for row in cursor:
        kinds, values = row[:columns], row[columns:]
        yield [
            value.decode("utf-8", "replace") if kind == "text" and isinstance(value, bytes) else value
            for kind, value in zip(kinds, values, strict=True)
        ]

"""Files of JSON lines that grow while they are read."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

LONGEST: Final = 64 << 20
"""Bytes of a line. A longer one is passed over, in pieces, so that memory stays small."""
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its end. ``data`` None: it is longer than any that is read."""

    data: bytes | None
    number: int
    start: int
    end: int
    is_whole: bool
    """Whether it has an end: the last line of a file may still be being written."""


def lines(file: BinaryIO, position: int, number: int) -> Iterator[Line]:
    """The lines from a position on that have something in them; ``number`` lines stand before it."""
    file.seek(position)
    start = position
    while piece := file.readline(_PIECE):
        number += 1
        pieces, length = [piece], len(piece)
        while not piece.endswith(b"\n") and (piece := file.readline(_PIECE)):
            length += len(piece)
            if length <= LONGEST:
                pieces.append(piece)
            else:
                pieces.clear()
        data = b"".join(pieces)
        is_whole = piece.endswith(b"\n")
        end = start + length
        if length > LONGEST:
            yield Line(None, number, start, end, is_whole)
        else:
            data = data.strip()
            if start == 0:
                data = data.removeprefix(codecs.BOM_UTF8).strip()
            if data:
                yield Line(data, number, start, end, is_whole)
        start = end

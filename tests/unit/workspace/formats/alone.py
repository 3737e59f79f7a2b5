"""Reads long files in a process of its own, and prints by how much its memory grew, in bytes.

Run as a script: the peak of a process that does other things too would say nothing.
"""

from __future__ import annotations

import io
import resource
import sys
from collections.abc import Iterator

from mnemos.workspace.formats import Limits, open_table

# A format, how the file begins, what is repeated, for how many bytes, and how it ends. Where little is kept
# of what is read, the file is longer.
FILES: dict[str, tuple[str, bytes, bytes, int, bytes]] = {
    "rows of csv": ("csv", b"id,name\n", b"12345,some name or other\n", 6_000_000, b""),
    "rows of jsonl": ("jsonl", b"", b'{"id": 12345, "name": "some name or other"}\n', 6_000_000, b""),
    "rows of json": (
        "json",
        b"[",
        b'{"id": 12345, "name": ["some", {"name": "or other"}]},',
        6_000_000,
        b"{}]",
    ),
    "long rows of csv": ("csv", b"id,name\n", b"12345," + b"x" * 400_000 + b"\n", 40_000_000, b""),
    "long rows of json": ("json", b"[", b'["a", "' + b"x" * 400_000 + b'"],', 40_000_000, b'["a", "b"]]'),
    "an open quote": ("csv", b'id,name\n1,2\n1,"', b"this quote is never closed\n", 4_000_000, b""),
    "an endless line": ("csv", b"id,name\n1,2\n", b"one line without an end, ", 60_000_000, b""),
    "an endless line of json": ("jsonl", b'{"id": 1}\n', b"one line without an end, ", 60_000_000, b""),
    "a long other member": ("json", b'{"x": [1', b", 10, 11, 12", 6_000_000, b'], "rows": [{"id": 1}]}'),
}


class Repeated(io.RawIOBase):
    """A file that repeats one piece between its beginning and its end, and is nowhere as a whole."""

    def __init__(self, beginning: bytes, piece: bytes, size: int, end: bytes) -> None:
        times = size // len(piece)
        self._parts = [(beginning, 1), (piece, times), (end, 1)]
        self._size = len(beginning) + len(piece) * times + len(end)
        self._left = self._bytes()

    def seek(self, offset: int, whence: int = 0) -> int:
        self._left = self._bytes()
        return self._size if whence else 0

    def read(self, size: int = -1) -> bytes:
        return next(self._left, b"")

    def _bytes(self) -> Iterator[bytes]:
        for part, times in self._parts:
            left = times if part else 0
            while left:
                count = min(left, 1 + 60_000 // len(part))
                left -= count
                yield part * count


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(name: str) -> None:
    format, *parts = FILES[name]
    before = peak()
    table = open_table(Repeated(*parts), format=format, name=name, limits=Limits(item=1_000_000))
    assert sum(map(len, table.batches())) == table.rows > 0
    print(peak() - before)


if __name__ == "__main__":
    main(sys.argv[1])

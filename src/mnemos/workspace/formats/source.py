"""The bytes of a file from its beginning, unpacked and counted while they stream."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace.formats.model import OnProgress

if TYPE_CHECKING:
    from zlib import _Decompress as Member

CHUNK = 64 * 1024
_GZIP = b"\x1f\x8b"
# How zlib is told to expect the header and the checksum of gzip.
_GZIP_WINDOW = 31

# Files that are often tried and hold no rows of text.
_FOREIGN = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook: save the sheet as CSV, or unpack the archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word file: save the sheet as CSV"),
    (b"SQLite format 3\0", "a SQLite database: export the table as CSV or JSON"),
    (b"PAR1", "a Parquet file: convert it to CSV or JSON lines"),
    (b"%PDF", "a PDF: extract its table as CSV"),
    (b"BZh", "packed with bzip2: unpack it, or pack it with gzip"),
    (b"\xfd7zXZ\0", "packed with xz: unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it, or pack it with gzip"),
)


class Source:
    """A file that can be read several times. Gzip is known by its first bytes, whatever the name."""

    def __init__(
        self, stream: BinaryIO, *, name: str, limit: int, on_progress: OnProgress | None = None
    ) -> None:
        self._stream = stream
        self._name = name
        self._limit = limit
        self._on_progress = on_progress
        self._size = stream.seek(0, 2)
        self._passes_done = 0
        self.garbage_after = False
        """Something that is not gzip follows the packed data; it is not read."""
        self._packed = self._begins_with(_GZIP)

    def chunks(self) -> Iterator[bytes]:
        """All bytes, from the beginning; none is empty. TooLarge as soon as there are more than the limit."""
        self._stream.seek(0)
        given = 0
        for chunk in _gathered(self._unpacked()) if self._packed else self._raw():
            if given == 0:
                self._refuse_foreign(chunk)
            given += len(chunk)
            if given > self._limit:
                raise TooLarge(
                    f"{self._name} has more than {self._limit:,} bytes"
                    f"{' once unpacked' if self._packed else ''}; split it into smaller files"
                )
            yield chunk

    def head(self, size: int) -> tuple[bytes, bool]:
        """The first bytes, and whether they are all there is."""
        parts: list[bytes] = []
        have = 0
        for chunk in self.chunks():
            parts.append(chunk)
            have += len(chunk)
            if have > size:
                return b"".join(parts)[:size], False
        return b"".join(parts), True

    def next_pass(self) -> None:
        """Progress goes from the first half (looking) to the second (giving rows)."""
        self._passes_done = 1

    def _begins_with(self, magic: bytes) -> bool:
        self._stream.seek(0)
        return self._stream.read(len(magic)) == magic

    def _refuse_foreign(self, first: bytes) -> None:
        for magic, what in _FOREIGN:
            if first.startswith(magic):
                raise InvalidInput(f"{self._name} is {what}")
        if self._packed and first.startswith(_GZIP):
            raise InvalidInput(f"{self._name} is packed with gzip twice; unpack it once")

    def _raw(self) -> Iterator[bytes]:
        done = 0
        while chunk := self._stream.read(CHUNK):
            done += len(chunk)
            if self._on_progress is not None:
                self._on_progress((self._passes_done + min(1.0, done / self._size)) / 2)
            yield chunk

    def _unpacked(self) -> Iterator[bytes]:
        """One gzip member after the other, as ``cat a.gz b.gz`` makes them."""
        member: Member | None = None
        members_done = 0
        for packed in self._raw():
            # Tools that write whole blocks pad the end with zeros.
            data = packed if member or not members_done else packed.lstrip(b"\0")
            while data:
                if member is None:
                    if members_done and not data.startswith(_GZIP[:1]):
                        self.garbage_after = True
                        return
                    member = zlib.decompressobj(_GZIP_WINDOW)
                yield from self._inflated(member, data)
                data = b""
                if member.eof:
                    data = member.unused_data.lstrip(b"\0")
                    members_done += 1
                    member = None
        if member is not None:
            raise InvalidInput(f"{self._name} ends in the middle of its gzip data; fetch or pack it again")

    def _inflated(self, member: Member, data: bytes) -> Iterator[bytes]:
        """What the member makes of the data, never more than a chunk at a time: that is what stops a bomb."""
        full = False
        while (data or full) and not member.eof:
            try:
                out = member.decompress(data, CHUNK)
            except zlib.error as exc:
                raise InvalidInput(f"{self._name} is damaged gzip ({exc}); fetch or pack it again") from exc
            data = member.unconsumed_tail
            full = len(out) == CHUNK
            if out:
                yield out


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pieces of a fair size: many small members would cost more than what they hold."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= CHUNK // 2:
            yield b"".join(held)
            held.clear()
            size = 0
    if held:
        yield b"".join(held)

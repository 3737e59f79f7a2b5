"""Text of a file: decompressed, decoded and cut into lines while it streams.

The encoding is decided on the whole file, since an é may come after 40 MB. Nearly every file is UTF-8, so it
is read as that, and only if that fails the bytes are counted and the file is read again. Decoded text
contains no surrogates, because some of them are used as marks.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, TextIO

from mnemos.errors import InvalidInput, TooLarge

OnProgress = Callable[[float], None]

CHUNK = 64 * 1024
_GZIP = b"\x1f\x8b"

# Files that people often try, and that contain no text.
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

_SAMPLE = 64 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPED = re.compile("[\udc80-\udcff]")
# Windows-1252 leaves five bytes undefined; they are read as the control characters of Latin-1.
_WINDOWS = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
_AS_WINDOWS = "mnemos-windows"
"""The name of the handler that reads bytes which do not fit as Windows-1252."""

# Marks in the text. Decoded text has no surrogates.
CUT = "\ud801"
"""Replaces a line that was too long to keep."""
END = "\ud802"
"""Follows the last line, to tell whether the last record is complete."""

# Bytes of a character in UTF-8.
_MOST_BYTES = 4


class Source:
    """A file that can be read several times. Gzip is recognised by its first bytes, not by the name."""

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
        """True if something else follows the gzip data. It is not read."""
        stream.seek(0)
        self._is_packed = stream.read(len(_GZIP)) == _GZIP

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in chunks that are not empty. TooLarge as soon as the limit is exceeded."""
        self._stream.seek(0)
        given = 0
        for chunk in self._unpack() if self._is_packed else iter(lambda: self._stream.read(CHUNK), b""):
            if given == 0:
                self._refuse_foreign(chunk)
            given += len(chunk)
            if given > self._limit:
                raise TooLarge(
                    f"{self._name} has more than {self._limit:,} bytes"
                    f"{' once decompressed' if self._is_packed else ''}. Split it into smaller files."
                )
            if self._on_progress is not None:
                self._on_progress((self._passes_done + min(1.0, self._stream.tell() / self._size)) / 2)
            yield chunk

    def text(self, encoding: Encoding) -> io.TextIOWrapper:
        """Return the text from the beginning. Reading it raises UnicodeDecodeError if UTF-8 was wrong."""
        raw = io.BufferedReader(_Raw(self.chunks()), CHUNK)
        return io.TextIOWrapper(raw, encoding.name, encoding.errors, newline="")

    def head(self, size: int) -> bytes:
        """Return the first bytes."""
        head = b""
        for chunk in self.chunks():
            head += chunk
            if len(head) > size:
                break
        return head[:size]

    def next_pass(self) -> None:
        """Switch progress to its second half: the survey is done, and rows follow."""
        self._passes_done = 1

    def _refuse_foreign(self, first: bytes) -> None:
        for magic, what in _FOREIGN:
            if first.startswith(magic):
                raise InvalidInput(f"{self._name} is {what}")
        if self._is_packed and first.startswith(_GZIP):
            raise InvalidInput(f"{self._name} is compressed with gzip twice. Decompress it once.")

    def _unpack(self) -> Iterator[bytes]:
        """Decompress a chunk at a time: that is what stops a bomb."""
        unpacked = gzip.GzipFile(fileobj=self._stream)
        given = False
        try:
            while chunk := unpacked.read1(CHUNK):
                given = True
                yield chunk
        except EOFError as exc:
            raise InvalidInput(
                f"{self._name} ends in the middle of its gzip data. Download or compress it again."
            ) from exc
        except (gzip.BadGzipFile, zlib.error) as exc:
            if not given or not isinstance(exc, gzip.BadGzipFile) or "Not a gzipped" not in str(exc):
                raise InvalidInput(
                    f"{self._name} is damaged gzip data ({exc}). Download or compress it again."
                ) from exc
            self.garbage_after = True


class _Raw(io.RawIOBase):
    """Chunks of bytes as a file."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._left = self._left or next(self._chunks, b"")
        taken = self._left[: len(buffer)]
        buffer[: len(taken)] = taken
        self._left = self._left[len(taken) :]
        return len(taken)


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding, and the handler of bytes that do not fit."""

    name: str
    errors: str = "strict"
    note: str = ""


def guess_encoding(head: bytes) -> Encoding:
    """Guess from the first bytes: a byte order mark, the NULs of UTF-16, otherwise UTF-8 until it fails."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return Encoding(name, "strict" if name == "utf-8-sig" else "replace")
    name = _guess_utf16(head[: _SAMPLE // 2 * 2])
    if name:
        return Encoding(name, "replace", f"Read as {name}, because every other byte is NUL.")
    return Encoding("utf-8")


def decide_encoding(source: Source) -> Encoding:
    """Decide on all bytes of a file that is not valid UTF-8.

    With more valid multi-byte characters than invalid bytes it is UTF-8, and the invalid bytes are read as
    Windows-1252, where they usually come from. Otherwise all of it is Windows-1252.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    good = bad = 0
    for chunk in source.chunks():
        if not chunk.isascii() or decoder.getstate()[0]:
            text = decoder.decode(chunk)
            flaws = len(_ESCAPED.findall(text))
            bad += flaws
            good += len(text) - len(text.encode("ascii", "ignore")) - flaws
    # A character cut off by the end of the file says nothing about the rest.
    if good > bad or not bad:
        note = f"{bad or 1:,} bytes are not valid UTF-8; they were read as Windows-1252."
        return Encoding("utf-8-sig", _AS_WINDOWS, note)
    note = "Not UTF-8: read as Windows-1252 (Latin-1). If letters look wrong, save it as UTF-8."
    return Encoding("cp1252", _AS_WINDOWS, note)


def _read_as_windows(exc: UnicodeError) -> tuple[str, int]:
    if not isinstance(exc, UnicodeDecodeError):
        raise exc
    return _WINDOWS[exc.object[exc.start]], exc.start + 1


codecs.register_error(_AS_WINDOWS, _read_as_windows)


def _guess_utf16(head: bytes) -> str:
    """Recognise UTF-16 without a byte order mark by NULs on one side of many byte pairs."""
    pairs = len(head) // 2
    if not pairs:
        return ""
    high_first, low_first = head[0::2].count(0), head[1::2].count(0)
    if low_first > pairs * 0.3 and high_first < low_first * 0.1:
        return "utf-16-le"
    if high_first > pairs * 0.3 and low_first < high_first * 0.1:
        return "utf-16-be"
    return ""


def read_lines(text: TextIO, limit: int) -> Iterator[str]:
    r"""Yield the lines with their ends, which are \n, \r and \r\n. One longer than the limit is CUT."""
    while line := text.readline(limit + 1):
        if len(line) > limit and line[-1] not in "\r\n":
            while (rest := text.readline(limit)) and rest[-1] not in "\r\n":
                pass
            line = f"{CUT}\n"
        yield line


class Lines:
    """The lines of a text for the csv module."""

    def __init__(self, lines: Iterator[str], limit: int) -> None:
        self._lines = lines
        self.limit = limit
        self.given = 0
        """Number of characters handed out."""
        self.pending = 0
        """Characters handed out since the caller, which sets it, had a complete record."""
        self.may_be_odd = False
        """True if a line since then was cut, or the record may have too many bytes."""

    def iterate(self, end: str) -> Iterator[str]:
        """Yield the lines, and ``end`` after the last one."""
        for line in self._lines:
            if self.pending > self.limit:
                self.pending = 0
                # Not a line: the csv module gives up the record, and what follows can still be read.
                yield None  # type: ignore[misc]
            self.given += len(line)
            self.pending += len(line)
            if self.pending * _MOST_BYTES > self.limit or line[0] == CUT:
                self.may_be_odd = True
            yield line
        yield end

    def record_done(self) -> None:
        self.pending = 0
        self.may_be_odd = False

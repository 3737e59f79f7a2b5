"""Text cut into lines, in blocks, with a bound on how long a line may be."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

# Stand in the text for what is not text; decoded text has no surrogates (see encoding.py).
CUT = "\ud801"
"""A line that was too long to keep."""
END = "\ud802"
"""After the last line: it tells whether the last record was complete."""

# str.splitlines takes these for line ends, which CSV does not.
_NO_LINE_ENDS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"

# Of a character, in UTF-8.
_MOST_BYTES = 4


class RecordTooLong(Exception):
    """Lines were handed out beyond the limit, and they still belong to one record."""


class LineBlocks:
    """Lists of lines, each with its end; after the last comes the line ``end``.

    Whoever parses them says ``record_done`` when a record is complete; when none is for longer than the
    limit, RecordTooLong is raised, and what follows can still be read.
    """

    def __init__(self, pieces: Iterator[str], limit: int, *, end: str) -> None:
        self._pieces = pieces
        self._limit = limit
        self._end = end
        self._pending = 0
        self.handed_out = 0
        self.ended = False
        self.are_ordinary = True
        """No line was cut, and no record was so long that it might exceed the limit in bytes."""

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        if self._pending > self._limit:
            self._pending = 0
            raise RecordTooLong
        if self.ended:
            raise StopIteration
        self.handed_out += 1
        piece = next(self._pieces, None)
        if piece is None:
            self.ended = True
            return [self._end]
        self._pending += len(piece)
        if self._pending * _MOST_BYTES > self._limit or CUT in piece:
            self.are_ordinary = False
        return split(piece)

    def record_done(self) -> None:
        self._pending = 0


def split(text: str) -> list[str]:
    r"""Lines with their ends, which are \n, \r and \r\n and nothing else."""
    if any(character in text for character in _NO_LINE_ENDS):
        return list(io.StringIO(text, newline=""))
    return text.splitlines(keepends=True)


def whole_lines(texts: Iterable[str], limit: int) -> Iterator[str]:
    """The same text, cut at line ends only. A line longer than the limit is replaced by CUT."""
    rest = ""
    skipping = False
    for text in texts:
        piece = rest + text
        if skipping:
            start = _after_first_end(piece)
            if not start:
                rest = _open_end(piece)
                continue
            skipping = False
            piece = f"{CUT}\n{piece[start:]}"
        end = _after_last_end(piece)
        if end:
            yield piece[:end]
        rest = piece[end:]
        if len(rest) > limit:
            skipping = True
            rest = _open_end(rest)
    if skipping:
        yield CUT
    elif rest:
        yield rest


def count_ends(text: str) -> int:
    if "\r" not in text:
        return text.count("\n")
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def _open_end(text: str) -> str:
    r"""A final \r may be the first half of \r\n."""
    return "\r" if text.endswith("\r") else ""


def _after_last_end(text: str) -> int:
    known = len(text) - 1 if text.endswith("\r") else len(text)
    return max(text.rfind("\n", 0, known), text.rfind("\r", 0, known)) + 1


def _after_first_end(text: str) -> int:
    known = len(text) - 1 if text.endswith("\r") else len(text)
    ends = [at for at in (text.find("\n", 0, known), text.find("\r", 0, known)) if at >= 0]
    if not ends:
        return 0
    at = min(ends)
    return at + 2 if text.startswith("\r\n", at) else at + 1

"""Exports of chat services, as a zip or conversations.json.

An export may have gigabytes, so it is never in memory as a whole. Nothing is unpacked to the disk, so paths
in a zip can do no harm.
"""

from __future__ import annotations

import codecs
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final
from zipfile import BadZipFile, ZipFile, ZipInfo

from mnemos.errors import InvalidInput
from mnemos.files import open_regular
from mnemos.transfer.foreign_files import LONGEST, decode_object, find_files, is_file, is_folder, stat_sources
from mnemos.transfer.reader import Item, Mark, OnProblem, Reader, SourceFile, Unreadable

_MAX_ENTRIES: Final = 200_000
_MAX_EXPANDED: Final = 16 << 30
# Zips shrink conversations to between a fifth and a tenth. Only a zip bomb shrinks more.
_MAX_RATIO: Final = 200
_SMALL: Final = 16 << 20
_PIECE: Final = 1 << 18
_HEAD: Final = 1 << 16
# Large exports have several files: conversations-000.json and so on.
_NAMED: Final = re.compile(r"conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_LIST: Final = re.compile(rb'"conversations"\s*:\s*\[')
_ENCRYPTED: Final = 0x1
_DAMAGE: Final = (BadZipFile, zlib.error, LZMAError, EOFError)
# The errors of zipfile for an inconsistent zip or one it can't unpack.
_NO_ZIP: Final = (BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, struct.error)
_BLANK: Final = b" \t\r\n,"
# Matches up to the next bracket outside strings, or up to a string that this piece cuts off.
_TO_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_TO_QUOTE: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_SIGN_BYTES: Final = 100_000


def find_exports(path: Path, on_problem: OnProblem) -> Iterator[SourceFile]:
    """Yield an export's files: the path itself, or those in a folder."""
    if is_file(path):
        files = [path]
    else:
        files = [file for file in find_files(path, ".json", on_problem) if _NAMED.fullmatch(file.name)]
        files = files or list(find_files(path, ".zip", on_problem))
        if not files and is_folder(path):
            on_problem(path, "it has no conversations.json and no zip")
    return stat_sources(files, on_problem)


def read_conversations(path: Path) -> Iterator[tuple[bytes | None, str, int]]:
    """Yield each conversation (or why it was skipped) and the position after it.

    A file that is not an export raises InvalidInput.
    """
    with open_regular(path) as file:
        for read in _streams(path, file):
            for data, why in split_elements(read):
                yield data, why, file.tell()


def split_elements(read: Callable[[int], bytes]) -> Iterator[tuple[bytes | None, str]]:
    """Yield the values of a JSON array or a single value, or None and what is broken."""
    head = _read_head(read)
    start = head[:1]
    if start == b"{":
        # Some exports put the list in an object.
        listed = _LIST.search(head)
        head = head[listed.end() - 1 :] if listed else b"[" + head
    elif start != b"[":
        raise InvalidInput("it is not JSON; import the zip of an export, or the conversations.json in it")
    splitter = _Splitter()
    try:
        piece = head
        while piece and not splitter.is_finished:
            yield from splitter.feed(piece)
            piece = read(_PIECE)
    except _DAMAGE as exc:
        yield None, f"the zip is damaged from here on: {exc or type(exc).__name__}"
        return
    if splitter.is_inside:
        yield None, "the file ends in the middle of it"


class _Splitter:
    """Splits a JSON array into its values by counting brackets, in any pieces.

    ijson would replace it, but ends at the first conversation that is not valid JSON or UTF-8, holds a string
    of any length in memory, and replaces lone surrogates. Here a broken or oversized conversation is skipped
    and the next one is read.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = b""
        self._kept: list[bytes] = []
        self._length = 0
        self.is_finished = False

    @property
    def is_inside(self) -> bool:
        return self._depth > 1

    def feed(self, piece: bytes) -> Iterator[tuple[bytes | None, str]]:
        # The two bytes of an escape must be in one piece.
        piece, self._escaped = self._escaped + piece, b""
        at = begin = 0
        end = len(piece)
        while at < end:
            if self._in_string:
                at = self._skip_string(piece, at)
                continue
            found = _TO_BRACKET.match(piece, at)
            stop = found.end() if found else at
            if self._depth == 1 and piece[at:stop].strip(_BLANK):
                yield None, "it is not a conversation"
            at = stop
            if at == end:
                break
            sign = piece[at : at + 1]
            at += 1
            if sign == b'"':
                self._in_string = True
                if self._depth == 1:
                    begin = at
            elif sign in b"[{":
                self._depth += 1
                if self._depth == 2:
                    begin = at - 1
            else:
                self._depth -= 1
                if self._depth == 1:
                    self._keep(piece[begin:at])
                    yield self._finish()
                elif self._depth < 1:
                    self.is_finished = True
                    return
        if self._depth > 1:
            self._keep(piece[begin : end - len(self._escaped)])

    def _skip_string(self, piece: bytes, at: int) -> int:
        found = _TO_QUOTE.match(piece, at)
        stop = found.end() if found else at
        if piece[stop : stop + 1] == b'"':
            self._in_string = False
            return stop + 1
        if stop < len(piece):
            # A backslash is the last byte.
            self._escaped = piece[stop:]
        return len(piece)

    def _keep(self, data: bytes) -> None:
        self._length += len(data)
        if self._length <= LONGEST:
            self._kept.append(data)
        else:
            self._kept.clear()

    def _finish(self) -> tuple[bytes | None, str]:
        data, length = b"".join(self._kept), self._length
        self._kept, self._length = [], 0
        if length > LONGEST:
            return None, f"it has {length >> 20} MB; at most {LONGEST >> 20} MB are read"
        return data, ""


def _read_head(read: Callable[[int], bytes]) -> bytes:
    head = b""
    try:
        while len(head) < _HEAD and (piece := read(_HEAD)):
            head = (head + piece).removeprefix(codecs.BOM_UTF8).lstrip()
    except _DAMAGE as exc:
        raise InvalidInput(f"The zip is damaged: {exc or type(exc).__name__}.") from exc
    return head


def _streams(path: Path, file: IO[bytes]) -> Iterator[Callable[[int], bytes]]:
    is_zip = file.read(2) == b"PK"
    file.seek(0)
    if not is_zip:
        yield file.read
        return
    try:
        archive = ZipFile(file)
    except _NO_ZIP as exc:
        raise InvalidInput(f"{path} is a damaged zip: {exc}. Download the export again.") from exc
    with archive:
        for entry in choose_entries(path, archive):
            try:
                stream = archive.open(entry)
            except _NO_ZIP as exc:
                raise InvalidInput(f"{entry.filename!r} in {path} can't be read: {exc}. Unpack it.") from exc
            with stream:
                yield stream.read


def choose_entries(path: Path, archive: ZipFile) -> list[ZipInfo]:
    """Return the names of a zip's conversation files.

    Raises InvalidInput if there are none, or for a zip bomb.
    """
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES:
        raise InvalidInput(f"{path} has {len(entries):,} files. The limit is {_MAX_ENTRIES:,}.")
    chosen = sorted(
        (entry for entry in entries if _NAMED.fullmatch(PurePosixPath(entry.filename).name)),
        key=lambda entry: entry.filename,
    )
    if not chosen:
        nested = next((entry.filename for entry in entries if entry.filename.endswith(".zip")), None)
        hint = f"; unpack it and import {nested!r} from it" if nested else ""
        raise InvalidInput(f"{path} has no conversations.json{hint}")
    for entry in chosen:
        if entry.flag_bits & _ENCRYPTED:
            raise InvalidInput(f"{entry.filename!r} in {path} is encrypted. Unpack it first.")
        if entry.file_size > _SMALL and entry.file_size > _MAX_RATIO * entry.compress_size:
            raise InvalidInput(
                f"{entry.filename!r} in {path} has {entry.compress_size:,} bytes and claims to expand to "
                f"{entry.file_size:,}. Refusing a zip bomb."
            )
    if sum(entry.file_size for entry in chosen) > _MAX_EXPANDED:
        raise InvalidInput(f"{path} has more than {_MAX_EXPANDED >> 30} GB of conversations")
    return chosen


Items = Callable[[Mapping[str, Any], bytes, int, float], Iterator[Item]]
"""Yields a conversation's items, given its bytes, its number and the time of the export."""


def chat_reader(
    kind: str, title: str, field: str, holder: type[Any], items: Items, other: tuple[bytes, str]
) -> Reader:
    """Return a service's reader, whose conversations have messages in a field.

    ``other``: a key that only another service uses, and what to do then. An export of which nothing is
    understood raises InvalidInput.
    """

    def read(source: SourceFile, _: Mark) -> Iterator[Item]:
        number = understood = 0
        sign, advice = other
        for number, (data, why, position) in enumerate(read_conversations(source.path), 1):
            if data is None:
                yield Unreadable(number, why)
                continue
            try:
                conversation = decode_object(data)
                if not isinstance(conversation.get(field), holder):
                    raise ValueError(f"it has no {field!r}")  # noqa: TRY004 - it is about the text
            except ValueError as exc:
                if sign in data[:_SIGN_BYTES] and not understood:
                    raise InvalidInput(f"{source.path} is {advice}") from exc
                yield Unreadable(number, f"it is not a {title} conversation: {exc}")
            else:
                understood += 1
                yield from items(conversation, data, number, source.changed_ns / 1e9)
            # Yielded before the end, because only the last mark may say that everything was read.
            yield Mark(min(position, source.size - 1), number)
        if number and not understood:
            raise InvalidInput(f"{source.path} is not a {title} export: no conversation in it can be read")
        yield Mark(source.size, number)

    return Reader(kind, title, find_exports, read, resumes=False)


def follow_branch(parents: Mapping[str, str | None], current: Any) -> tuple[list[str], int]:
    """Return the messages from the root to the current one, and how many other branches.

    Without a valid current message, the newest is used.
    """
    above = set(parents.values())
    leaves = [one for one in parents if one not in above]
    at = current if isinstance(current, str) else None
    if at not in parents:
        # A cycle has no leaves.
        at = next(reversed(leaves or list(parents)), None)
    path: dict[str, None] = {}
    while at is not None and at in parents and at not in path:
        path[at] = None
        at = parents[at]
    return list(reversed(path)), sum(leaf not in path for leaf in leaves)


def join_content(text: str, parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Return a message's content: its text, or a list if it has other parts."""
    text = text if text.strip() else ""
    return [*([{"type": "text", "text": text}] if text else []), *parts] if parts else text


def hash_conversation(kind: str, data: bytes) -> str:
    """Make an id for a conversation without one."""
    return f"{kind}-{blake2b(data, digest_size=12).hexdigest()}"

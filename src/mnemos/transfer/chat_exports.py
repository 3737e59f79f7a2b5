"""The conversations in an export of a chat service, one by one: from a zip, or the JSON that it holds.

An export may have gigabytes, so neither a file nor its list of conversations is ever in memory as a whole.
Nothing is unpacked to the disk: what paths a zip names does not matter.
"""

from __future__ import annotations

import codecs
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from typing import IO, Final, Generic, TypeVar
from zipfile import BadZipFile, ZipFile, ZipInfo

from mnemos.errors import InvalidInput
from mnemos.transfer.foreign_files import Tell, files_below, is_file, is_folder, source_of
from mnemos.transfer.reader import Item, Mark, Source, Unread

LONGEST: Final = 24 << 20
"""Bytes of a conversation. A longer one is passed over, in pieces."""
_MOST_ENTRIES: Final = 200_000
_MOST_EXPANDED: Final = 16 << 30
# Conversations are a fifth to a tenth of their size in a zip; nothing but a trap is so much less.
_MOST_RATIO: Final = 200
_SMALL: Final = 16 << 20
_PIECE: Final = 1 << 18
_HEAD: Final = 1 << 16
# A large export is in several files: conversations-000.json and so on.
_NAMED: Final = re.compile(r"conversations(?:[-_]\d+)?\.json", re.IGNORECASE)
_LIST: Final = re.compile(rb'"conversations"\s*:\s*\[')
_ENCRYPTED: Final = 0x1
_DAMAGE: Final = (BadZipFile, zlib.error, LZMAError, EOFError)
# What the standard library raises for a zip whose parts contradict each other, or that it cannot unpack.
_NO_ZIP: Final = (BadZipFile, NotImplementedError, RuntimeError, ValueError, OverflowError, struct.error)
_BLANK: Final = b" \t\r\n,"
# Up to the next bracket, past whole strings; or to a string that does not end in this piece.
_TO_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_TO_QUOTE: Final = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
T = TypeVar("T")
_SIGN_BYTES: Final = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """A conversation as it is written. ``data`` None: ``why`` it was passed over.

    ``number`` counts from 1; ``position`` is how far its file was read, of a zip the packed bytes.
    """

    number: int
    data: bytes | None
    why: str
    position: int


def find(path: Path, tell: Tell) -> Iterator[Source]:
    """An export: a file, or what is one in a folder."""
    if is_file(path):
        files = [path]
    else:
        files = [file for file in files_below(path, ".json", tell) if _NAMED.fullmatch(file.name)]
        files = files or list(files_below(path, ".zip", tell))
        if not files and is_folder(path):
            tell(path, "it holds no conversations.json and no zip")
    yield from (source for file in files if (source := source_of(file, tell)))


def conversations(path: Path) -> Iterator[Found]:
    """Each conversation of an export, in order. A file that is no export raises InvalidInput."""
    number = 0
    with path.open("rb") as file:
        for read in _streams(path, file):
            for data, why in elements(read):
                number += 1
                yield Found(number, data, why, file.tell())


def elements(read: Callable[[int], bytes]) -> Iterator[tuple[bytes | None, str]]:
    """The values of a JSON array, or the only one; of what cannot be had, why."""
    head = _read_head(read)
    start = head[:1]
    if start == b"{":
        # Others put the list into an object.
        listed = _LIST.search(head)
        head = head[listed.end() - 1 :] if listed else b"[" + head
    elif start != b"[":
        raise InvalidInput("it holds no JSON; give the zip of an export, or the conversations.json in it")
    splitter = _Splitter()
    try:
        piece = head
        while piece and not splitter.is_over:
            yield from splitter.feed(piece)
            piece = read(_PIECE)
    except _DAMAGE as exc:
        yield None, f"the zip is damaged from here on: {exc or type(exc).__name__}"
        return
    if splitter.is_amid:
        yield None, "the file ends in the middle of it"


class _Splitter:
    """Cuts a JSON array into its values by counting brackets, whatever pieces it comes in."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = b""
        self._kept: list[bytes] = []
        self._length = 0
        self.is_over = False

    @property
    def is_amid(self) -> bool:
        return self._depth > 1

    def feed(self, piece: bytes) -> Iterator[tuple[bytes | None, str]]:
        # An escape is two bytes, which must come together.
        piece, self._escaped = self._escaped + piece, b""
        at = begin = 0
        end = len(piece)
        while at < end:
            if self._in_string:
                at = self._past_string(piece, at)
                continue
            found = _TO_BRACKET.match(piece, at)
            stop = found.end() if found else at
            if self._depth == 1 and piece[at:stop].strip(_BLANK):
                yield None, "it is no conversation"
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
                    yield self._whole()
                elif self._depth < 1:
                    self.is_over = True
                    return
        if self._depth > 1:
            self._keep(piece[begin : end - len(self._escaped)])

    def _past_string(self, piece: bytes, at: int) -> int:
        found = _TO_QUOTE.match(piece, at)
        stop = found.end() if found else at
        if piece[stop : stop + 1] == b'"':
            self._in_string = False
            return stop + 1
        if stop < len(piece):
            # A backslash that is the last byte.
            self._escaped = piece[stop:]
        return len(piece)

    def _keep(self, data: bytes) -> None:
        self._length += len(data)
        if self._length <= LONGEST:
            self._kept.append(data)
        else:
            self._kept.clear()

    def _whole(self) -> tuple[bytes | None, str]:
        data, length = b"".join(self._kept), self._length
        self._kept, self._length = [], 0
        if length > LONGEST:
            return None, f"it has {length >> 20} MB, and more than {LONGEST >> 20} MB are not read"
        return data, ""


def _read_head(read: Callable[[int], bytes]) -> bytes:
    head = b""
    try:
        while len(head) < _HEAD and (piece := read(_HEAD)):
            head = (head + piece).removeprefix(codecs.BOM_UTF8).lstrip()
    except _DAMAGE as exc:
        raise InvalidInput(f"the zip is damaged: {exc or type(exc).__name__}") from exc
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
        raise InvalidInput(f"{path} is a damaged zip: {exc}; download the export again") from exc
    with archive:
        for entry in chosen_in(path, archive):
            try:
                stream = archive.open(entry)
            except _NO_ZIP as exc:
                raise InvalidInput(f"{entry.filename!r} in {path} cannot be read: {exc}; unpack it") from exc
            with stream:
                yield stream.read


def chosen_in(path: Path, archive: ZipFile) -> list[ZipInfo]:
    """The files of conversations in a zip, by name. None, and one that is a trap, raise InvalidInput."""
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise InvalidInput(f"{path} holds {len(entries):,} files; at most {_MOST_ENTRIES:,} are looked at")
    chosen = sorted(
        (entry for entry in entries if _NAMED.fullmatch(PurePosixPath(entry.filename).name)),
        key=lambda entry: entry.filename,
    )
    if not chosen:
        nested = next((entry.filename for entry in entries if entry.filename.endswith(".zip")), None)
        hint = f"; unpack it and give {nested!r} in it" if nested else ""
        raise InvalidInput(f"{path} holds no conversations.json{hint}")
    for entry in chosen:
        if entry.flag_bits & _ENCRYPTED:
            raise InvalidInput(f"{entry.filename!r} in {path} is encrypted; unpack it first")
        if entry.file_size > _SMALL and entry.file_size > _MOST_RATIO * entry.compress_size:
            raise InvalidInput(
                f"{entry.filename!r} in {path} has {entry.compress_size:,} bytes and claims to become "
                f"{entry.file_size:,}; no text does"
            )
    if sum(entry.file_size for entry in chosen) > _MOST_EXPANDED:
        raise InvalidInput(f"{path} holds more than {_MOST_EXPANDED >> 30} GB of conversations")
    return chosen


@dataclass(frozen=True, slots=True)
class Service(Generic[T]):
    """How the conversations of a service are read."""

    title: str
    decode: Callable[[bytes], T]
    """Raises ValueError for what is no conversation of it."""
    items: Callable[[T, bytes, int, float], Iterator[Item]]
    """What a conversation tells; besides it, its bytes, its number, and when the export was made."""
    of_another: tuple[bytes, str]
    """What stands in the conversations of the other service only, and what to do then."""


def told(service: Service[T], source: Source) -> Iterator[Item]:
    """Every conversation, a mark after each. A file in which none is understood raises InvalidInput."""
    number = understood = 0
    sign, advice = service.of_another
    for found in conversations(source.path):
        number = found.number
        if found.data is None:
            yield Unread(number, found.why)
            continue
        try:
            conversation = service.decode(found.data)
        except (ValueError, RecursionError) as exc:
            if sign in found.data[:_SIGN_BYTES] and not understood:
                raise InvalidInput(f"{source.path} is {advice}") from exc
            yield Unread(number, f"it is no conversation of {service.title}: {exc}")
        else:
            understood += 1
            yield from service.items(conversation, found.data, number, source.changed_ns / 1e9)
        # Before the end: only the last mark says that all was read.
        yield Mark(min(found.position, source.size - 1), number)
    if number and not understood:
        raise InvalidInput(
            f"{source.path} is no export of {service.title}: none of its {number:,} parts is a conversation"
        )
    yield Mark(source.size, number)

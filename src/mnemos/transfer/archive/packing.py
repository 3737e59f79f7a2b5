"""Archives as one file: a plain tar, as it is or compressed."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, Final, cast

from mnemos.errors import InvalidInput
from mnemos.files import zstd

_BLOCK: Final = tarfile.BLOCKSIZE
_CHUNK: Final = 1 << 18
_MODE: Final = 0o600
_MAGIC: Final = {b"\x28\xb5\x2f\xfd": "zst", b"\x1f\x8b": "gz"}
# What a compressed file may ask for to be read: ours need 8 MB at most.
_WINDOW: Final = 27
_MOST_FOLDERS: Final = 10_000
_NOT_OURS: Final = (
    ".zip",
    ".zst",
    ".gz",
    ".bz2",
    ".xz",
    ".7z",
    ".rar",
    ".json",
    ".jsonl",
    ".db",
    ".md",
    ".txt",
)


class Form(StrEnum):
    FOLDER = "folder"
    TAR = "tar"
    GZIP = "gz"
    ZSTD = "zst"


def form_of(path: Path) -> Form:
    """What an archive of that name is written as."""
    name = path.name.lower()
    for ending, form in (
        (".tar.zst", Form.ZSTD), (".tzst", Form.ZSTD), (".tar.gz", Form.GZIP), (".tgz", Form.GZIP),
        (".tar", Form.TAR),
    ):  # fmt: skip
        if name.endswith(ending):
            return form
    if name.endswith(_NOT_OURS):
        raise InvalidInput(
            f"{path.name!r} is no name for an archive; end it with .tar.zst, .tar.gz or .tar, or name a "
            "folder"
        )
    return Form.FOLDER


def pack(
    folder: Path, names: Sequence[str], target: Path, form: Form, *, at: float, advance: Callable[[int], None]
) -> None:
    """Write files of a folder to one file, in this order."""
    with (
        _compressed(target, form) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.GNU_FORMAT) as tar,
    ):
        for name in names:
            path = folder / name
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = path.stat().st_size, int(at), _MODE
            with path.open("rb") as file:
                tar.addfile(info, file)
            advance(info.size)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The tar in a file, whatever it is compressed with: its first bytes tell."""
    with path.open("rb") as raw:
        first = raw.read(4)
        raw.seek(0)
        form = next((form for magic, form in _MAGIC.items() if first.startswith(magic)), "tar")
        if form == Form.ZSTD:
            packing = zstd()
            options = {packing.DecompressionParameter.window_log_max: _WINDOW}
            with packing.ZstdFile(raw, "r", options=options) as stream:
                yield cast(IO[bytes], stream)
        elif form == Form.GZIP:
            with gzip.open(raw, "rb") as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


class Cut(Exception):
    """The file ends, or makes no sense any more, before the archive does."""


class Member:
    """A file within a tar that is read from its beginning to its end."""

    def __init__(self, stream: IO[bytes], name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._stream = stream

    def chunks(self) -> Iterator[bytes]:
        """Its contents; all must be read before the next member."""
        left = self.size
        while left:
            chunk = _read(self._stream, min(left, _CHUNK))
            left -= len(chunk)
            yield chunk
        padding = -self.size % _BLOCK
        if padding:
            _read(self._stream, padding)


def members(stream: IO[bytes]) -> Iterator[Member]:
    """The files of a tar, in order. Anything but files and folders raises InvalidInput.

    Only headers are left to ``tarfile``: what it does with long names and extended headers holds as much in
    memory as the archive wants it to, and we write neither.
    """
    folders = 0
    while True:
        block = _read(stream, _BLOCK)
        if not any(block):
            return
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as exc:
            raise InvalidInput(f"it is no tar ({exc})") from exc
        shown = repr(info.name[:100])
        if info.size < 0:
            raise InvalidInput(f"it says that {shown} has {info.size} bytes")
        if info.type == tarfile.DIRTYPE:
            folders += 1
            if folders > _MOST_FOLDERS:
                # Folders cost nothing to name, and a compressed file can name them without end.
                raise InvalidInput(f"it has more than {_MOST_FOLDERS:,} folders")
            continue
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise InvalidInput(
                f"it has {shown} of the type {info.type!r}, which is no plain file; an archive of ours has "
                "nothing else"
            )
        yield Member(stream, info.name.removeprefix("./"), info.size)


def _read(stream: IO[bytes], size: int) -> bytes:
    pieces: list[bytes] = []
    left = size
    while left:
        try:
            piece = stream.read(left)
        except _broken() as exc:
            raise Cut(str(exc)) from exc
        if not piece:
            raise Cut("the file ends in the middle")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


@contextmanager
def _compressed(target: Path, form: Form) -> Iterator[IO[bytes]]:
    with target.open("xb") as raw:
        target.chmod(_MODE)
        if form is Form.ZSTD:
            with zstd().ZstdFile(raw, "w") as stream:
                yield stream
        elif form is Form.GZIP:
            # No name and no time in it: the same memory gives the same file.
            with gzip.GzipFile("", "wb", 6, raw, 0) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


def _broken() -> tuple[type[Exception], ...]:
    """What reading a compressed file raises that is not whole."""
    return EOFError, zlib.error, gzip.BadGzipFile, zstd().ZstdError

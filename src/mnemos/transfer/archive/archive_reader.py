"""Archive reader: checks everything before use, and writes nothing outside."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

import msgspec

from mnemos import files
from mnemos.errors import Corrupt, DiskFull, InvalidInput, NotFound, PermissionDenied, SchemaTooNew, TooLarge
from mnemos.files import open_regular, scratch_folder, zstd
from mnemos.structs import convert
from mnemos.transfer.archive.manifest import (
    FORMAT,
    KIND,
    MANIFEST,
    File,
    Manifest,
    Progress,
    is_valid_path,
    track,
)

LONGEST_LINE: Final = 160 * 1024 * 1024
T = TypeVar("T")
_BLOCK: Final = tarfile.BLOCKSIZE
_CHUNK: Final = 1 << 18
# Maximum zeros after the end of a tar. Ours have up to 10 KB.
_MAX_PADDING: Final = 1 << 21
_MAGIC: Final = {b"\x28\xb5\x2f\xfd": "zst", b"\x1f\x8b": "gz"}
# The largest window a compressed file may ask for. Ours need up to 8 MB.
_WINDOW: Final = 27
_MAX_FOLDERS: Final = 10_000
MAX_BYTES: Final = 64 * 1024**3
"""The limits of an unpacked archive."""
_MAX_MANIFEST: Final = 16 * 1024**2
_MAX_FILES: Final = 10_000
_MAX_TEXT: Final = 1_000
# Text shrinks to a tenth, a single repeated line to a thousandth.
_MAX_RATIO: Final = 1_000
_SMALL: Final = 100 * 1024**2


def _parse_line(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise InvalidInput("it is too long" if len(line) == LONGEST_LINE else "it is cut off")
    try:
        # msgspec would refuse lone surrogates, which a message may have.
        row = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"it is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"it is not JSON: {exc}") from exc
    if not isinstance(row, dict):
        raise InvalidInput("it is not an object with named fields")
    return row


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@contextmanager
def open_tar(path: Path) -> Iterator[IO[bytes]]:
    """Open the tar in a file, recognising the compression by its first bytes."""
    with open_regular(path) as raw:
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


class CutOff(Exception):
    """The file is damaged, or ends before the archive does."""


class Member:
    """A file in a tar that is read sequentially."""

    def __init__(self, stream: IO[bytes], name: str, size: int) -> None:
        self.name = name
        self.size = size
        self._stream = stream

    def chunks(self) -> Iterator[bytes]:
        """Yield its content, which must be read before the next member."""
        left = self.size
        while left:
            chunk = _read_exactly(self._stream, min(left, _CHUNK))
            left -= len(chunk)
            yield chunk
        padding = -self.size % _BLOCK
        if padding:
            _read_exactly(self._stream, padding)


def read_members(stream: IO[bytes]) -> Iterator[Member]:
    """Yield the files of a tar. Anything but files and folders raises InvalidInput.

    ``tarfile`` only parses headers: for long names and extended headers it would use as much memory as the
    archive wants, and we write neither.
    """
    folders = 0
    while True:
        block = _read_exactly(stream, _BLOCK)
        if not any(block):
            _check_end(stream)
            return
        try:
            info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeDecodeError) as exc:
            raise InvalidInput(f"it is not a tar ({exc})") from exc
        shown = repr(info.name[:100])
        if info.size < 0:
            raise InvalidInput(f"{shown} has {info.size} bytes")
        if info.type == tarfile.DIRTYPE:
            folders += 1
            if folders > _MAX_FOLDERS:
                # A small compressed file can name any number of folders.
                raise InvalidInput(f"it has more than {_MAX_FOLDERS:,} folders")
            continue
        if info.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise InvalidInput(
                f"it has {shown} of type {info.type!r}; Mnemos archives have only regular files"
            )
        yield Member(stream, info.name.removeprefix("./"), info.size)


def _check_end(stream: IO[bytes]) -> None:
    """Read the zeros after the last file, as only the end shows if a file is whole."""
    block = _read_exactly(stream, _BLOCK)
    padding = 0
    while not any(block):
        block = _read(stream, _CHUNK)
        padding += len(block)
        if not block and not padding % _BLOCK:
            return
        if not block:
            raise CutOff("the file ends in the middle of a block")
        if padding > _MAX_PADDING:
            break
    raise InvalidInput("it continues after its end")


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    pieces: list[bytes] = []
    left = size
    while left:
        piece = _read(stream, left)
        if not piece:
            raise CutOff("the file ends in the middle")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _read(stream: IO[bytes], size: int) -> bytes:
    try:
        return stream.read(size)
    except _read_errors() as exc:
        raise CutOff(str(exc)) from exc


def _read_errors() -> tuple[type[Exception], ...]:
    """Return the errors that reading a damaged or truncated file may raise."""
    return EOFError, zlib.error, gzip.BadGzipFile, zstd().ZstdError


class Form(StrEnum):
    FOLDER = "folder"
    TAR = "tar"
    GZIP = "gz"
    ZSTD = "zst"


class Archive:
    """An archive whose files are on disk, with verified sizes and checksums."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.manifest = manifest
        self._folder = folder
        self._files = {file.file: file for file in manifest.files}
        self._known: set[str] = set()
        self.is_imported = False
        """True to import it, False to only compare it."""
        self.allow = False
        """True if a person allows notes and templates that look like prompt injections."""
        self.advance: Callable[[int], None] = lambda _: None
        """Called with the number of bytes read."""

    def path(self, name: str) -> Path:
        return self._folder / name

    def has(self, name: str) -> bool:
        self._known.add(name)
        return name in self._files

    def list_files(self, part: str) -> list[str]:
        return [name for name, file in self._files.items() if file.part == part and self.has(name)]

    def read(self, name: str, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """Yield the parsed rows of a file; nothing if it does not exist.

        A line that is not a row, or that ``parse`` refuses, raises InvalidInput with its place.
        """
        if not self.has(name):
            return
        number = 0
        with self.path(name).open("rb") as stream:
            while line := stream.readline(LONGEST_LINE):
                number += 1
                try:
                    row = parse(_parse_line(line))
                except InvalidInput as exc:
                    raise type(exc)(f"{name}, line {number}: {exc}") from exc
                except (msgspec.ValidationError, UnicodeEncodeError) as exc:
                    raise InvalidInput(f"{name}, line {number} has wrong fields: {exc}") from exc
                yield row
                self.advance(len(line))
        self.check_rows(name, number)

    def check_rows(self, name: str, rows: int) -> None:
        """Raise Corrupt if a file's rows are not as many as in the manifest."""
        expected = self._files[name].rows
        if rows != expected:
            raise Corrupt(f"{name} has {rows:,} rows instead of {expected:,}. Nothing was imported.")

    def list_unknown(self) -> tuple[str, ...]:
        """Return the files that no part has asked for."""
        return tuple(name for name in self._files if name not in self._known)


@contextmanager
def open_archive(path: Path, beside: Path, progress: Progress) -> Iterator[Archive]:
    """Open and check an archive, unpacking a file into a temporary folder in ``beside``.

    Raises if it is not an archive, damaged, or too large, and leaves nothing behind.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise NotFound(f"{path} does not exist") from None
    except OSError as exc:
        raise PermissionDenied(f"{path} can't be read: {exc.strerror}") from exc
    if stat.S_ISDIR(found.st_mode):
        yield _open_folder(path, progress)
        return
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is not a regular file. Choose an archive written by `mnemos export`.")
    with scratch_folder(beside) as folder:
        yield _open_file(path, found.st_size, folder, progress)


def _open_folder(folder: Path, progress: Progress) -> Archive:
    place = folder / MANIFEST
    if not os.path.lexists(place):
        raise InvalidInput(f"{folder} has no {MANIFEST}. Choose a folder or file written by `mnemos export`.")
    with _open_plain(place) as stream:
        manifest = _parse_manifest(stream.read(_MAX_MANIFEST + 1), folder)
    advance = track(progress, 0.0, 1.0, manifest.size())
    for file in manifest.files:
        try:
            with _open_plain(folder / file.file) as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
                _check_file(file, os.fstat(stream.fileno()).st_size, digest, folder)
        except FileNotFoundError:
            raise Corrupt(f"{folder} does not have {file.file}, which is in its manifest") from None
        advance(file.bytes)
    return Archive(folder, manifest)


def _open_plain(path: Path) -> BufferedReader:
    """Open a regular file; a link, a pipe or a device raises."""
    if path.parent.is_symlink():
        raise InvalidInput(f"{path.parent} is a link. An archive has only regular files.")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as exc:
        raise InvalidInput(f"{path} can't be read as a regular file: {exc.strerror}") from exc
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput(f"{path} is not a regular file. An archive has only regular files.")
    return os.fdopen(handle, "rb")


def _open_file(path: Path, size: int, folder: Path, progress: Progress) -> Archive:
    try:
        with open_tar(path) as stream:
            members = read_members(stream)
            manifest = _read_manifest(members, path)
            _check_size(manifest, size, path, folder)
            _unpack(members, manifest, path, folder, progress)
    except CutOff as exc:
        raise Corrupt(f"{path} is damaged or truncated: {exc}. Copy or export it again.") from exc
    except InvalidInput as exc:
        if str(path) in str(exc):
            raise
        raise type(exc)(f"{path} is not a Mnemos archive: {exc}") from exc
    except OSError as exc:
        raise files.write_error(exc, folder) from exc
    return Archive(folder, manifest)


def _read_manifest(members: Iterator[Member], path: Path) -> Manifest:
    first = next(members, None)
    if first is None or first.name != MANIFEST:
        found = "nothing" if first is None else repr(first.name[:100])
        raise InvalidInput(f"it starts with {found}, not with {MANIFEST}")
    if first.size > _MAX_MANIFEST:
        raise TooLarge(f"its {MANIFEST} has {first.size:,} bytes. The limit is {_MAX_MANIFEST:,}.")
    return _parse_manifest(b"".join(first.chunks()), path)


def _check_size(manifest: Manifest, packed: int, path: Path, folder: Path) -> None:
    whole = manifest.size()
    if whole > _SMALL and whole > _MAX_RATIO * packed:
        raise TooLarge(
            f"{path} has {packed:,} bytes and claims to have {whole:,} unpacked. Refusing an archive bomb."
        )
    free = shutil.disk_usage(folder).free
    if whole > free:
        raise DiskFull(f"{path} needs {whole:,} bytes unpacked, but {folder.parent} has {free:,} left")


def _unpack(
    members: Iterator[Member], manifest: Manifest, path: Path, folder: Path, progress: Progress
) -> None:
    wanted = {file.file: file for file in manifest.files}
    advance = track(progress, 0.0, 1.0, manifest.size())
    for member in members:
        file = wanted.pop(member.name, None)
        if file is None:
            known = any(member.name == one.file for one in manifest.files)
            why = "twice" if known else "which is not in its manifest"
            raise InvalidInput(f"it has {member.name[:100]!r} {why}")
        if member.size != file.bytes:
            raise Corrupt(
                f"{path}: {file.file} has {member.size:,} bytes, but {file.bytes:,} in the manifest"
            )
        _check_file(file, member.size, _write_member(member, folder / file.file), path)
        advance(file.bytes)
    if wanted:
        raise Corrupt(f"{path} does not have {', '.join(sorted(wanted)[:5])}, which are in its manifest")


def _write_member(member: Member, target: Path) -> str:
    """Write a member to a new file and return its checksum."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest = hashlib.sha256()
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in member.chunks():
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


def _check_file(file: File, size: int, digest: str, where: Path) -> None:
    if size != file.bytes or digest != file.sha256:
        raise Corrupt(f"{where}: {file.file} was changed: its checksum is wrong")


def _parse_manifest(data: bytes, where: Path) -> Manifest:
    if len(data) > _MAX_MANIFEST:
        raise TooLarge(f"{where}: its {MANIFEST} has more than {_MAX_MANIFEST:,} bytes")
    try:
        head = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise InvalidInput(f"{where}: its {MANIFEST} can't be read: {exc}") from exc
    if head.get("kind") != KIND:
        raise InvalidInput(f"{where} is not a Mnemos archive: the kind in its {MANIFEST} is not {KIND!r}")
    _check_format(head.get("format"), str(head.get("mnemos"))[:20], where)
    try:
        manifest = convert(head, Manifest)
    except msgspec.ValidationError as exc:
        raise InvalidInput(f"{where}: its {MANIFEST} can't be read: {exc}") from exc
    for text in (manifest.space, manifest.made_at, manifest.mnemos):
        if len(text) > _MAX_TEXT or not text.isprintable():
            raise InvalidInput(f"{where}: its {MANIFEST} has the invalid text {text[:100]!r}")
    _check_names(manifest, where)
    # These are shown to people, one line each.
    reasons = [" ".join(reason.split()) for reason in manifest.left_out]
    return msgspec.structs.replace(manifest, left_out=reasons)


def _check_format(version: Any, writer: str, where: Path) -> None:
    shown = repr(version)[:20]
    # In Python, True is an int, too.
    if type(version) is not int or version < 1:
        raise InvalidInput(
            f"{where}: the format in its {MANIFEST} is {shown}, which no version of Mnemos writes"
        )
    if version > FORMAT:
        raise SchemaTooNew(
            f"{where} was written by a newer Mnemos ({writer}) in format {shown}. This one reads up to "
            f"{FORMAT}. Upgrade first: pip install -U mnemos."
        )


def _check_names(manifest: Manifest, where: Path) -> None:
    if len(manifest.files) > _MAX_FILES:
        raise TooLarge(f"{where} names {len(manifest.files):,} files. The limit is {_MAX_FILES:,}.")
    seen: set[str] = {MANIFEST}
    for file in manifest.files:
        if not is_valid_path(file.file):
            raise InvalidInput(f"{where} names {file.file[:100]!r}, which is not a plain path inside it")
        # Some file systems ignore case.
        if file.file.casefold() in seen:
            raise InvalidInput(f"{where} names {file.file[:100]!r} twice")
        seen.add(file.file.casefold())
        if min(file.bytes, file.rows) < 0:
            raise InvalidInput(f"{where}: {file.file} has negative sizes")
    if manifest.size() > MAX_BYTES:
        raise TooLarge(f"{where} claims to have {manifest.size():,} bytes. The limit is {MAX_BYTES:,}.")

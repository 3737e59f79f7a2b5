"""Opening an archive: nothing in it is believed before it is checked, and nothing is written outside."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from io import BufferedReader
from pathlib import Path
from typing import IO, Any, Final, TypeVar, cast

import msgspec

from mnemos import files
from mnemos.errors import Corrupt, DiskFull, InvalidInput, NotFound, PermissionDenied, SchemaTooNew, TooLarge
from mnemos.files import is_running, zstd
from mnemos.transfer.archive.manifest import FORMAT, KIND, MANIFEST, File, Manifest, can_be_name

_UNFINISHED: Final = ".unfinished"
LONGEST_LINE: Final = 160 * 1024 * 1024
T = TypeVar("T")
_BLOCK: Final = tarfile.BLOCKSIZE
_CHUNK: Final = 1 << 18
_MAGIC: Final = {b"\x28\xb5\x2f\xfd": "zst", b"\x1f\x8b": "gz"}
# What a compressed file may ask for to be read: ours need 8 MB at most.
_WINDOW: Final = 27
_MOST_FOLDERS: Final = 10_000
MOST_BYTES: Final = 64 * 1024**3
"""What an archive may hold, unpacked."""
_MOST_MANIFEST: Final = 16 * 1024**2
_MOST_FILES: Final = 10_000
_LONGEST_TEXT: Final = 1_000
# Text is packed to a tenth of its size, the same line over and over to a thousandth.
_TIMES: Final = 1_000
_SMALL: Final = 100 * 1024**2
Progress = Callable[[float], None]


@contextmanager
def temporary_folder(parent: Path, name: str) -> Iterator[Path]:
    """A new folder of our own in ``parent``, hidden, named for what it is for."""
    for left in parent.glob(f".*{_UNFINISHED}"):
        process = left.name.removesuffix(_UNFINISHED).rpartition(".")[2]
        if left.name.startswith(f".{name}.") and process.isdecimal() and not is_running(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    made = parent / f".{name}.{os.urandom(4).hex()}.{os.getpid()}{_UNFINISHED}"
    made.mkdir(mode=0o700)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def read_rows(path: Path, name: str, advance: Callable[[int], None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows, each with its place for people; a line that is none raises InvalidInput."""
    with path.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            place = f"{name}, line {number}"
            if not line.endswith(b"\n"):
                cut = "is longer than any line of ours" if len(line) == LONGEST_LINE else "is cut off"
                raise InvalidInput(f"{place} {cut}")
            yield place, _object(line, place)
            advance(len(line))


def parse_row(row: Mapping[str, Any], kind: type[T], place: str) -> T:
    """A row as a struct; one of another shape raises InvalidInput."""
    try:
        return msgspec.convert(row, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as exc:
        raise InvalidInput(f"{place} is not as it should be: {exc}") from exc


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        # Not msgspec: it refuses the lone surrogates that a message may hold.
        row = json.loads(line.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{place} is not UTF-8 text ({exc.reason} at byte {exc.start})") from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"{place} is not JSON: {exc}") from exc
    if not isinstance(row, dict):
        raise InvalidInput(f"{place} is no object with named fields")
    return row


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@contextmanager
def open_tar(path: Path) -> Iterator[IO[bytes]]:
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
            chunk = _read_exactly(self._stream, min(left, _CHUNK))
            left -= len(chunk)
            yield chunk
        padding = -self.size % _BLOCK
        if padding:
            _read_exactly(self._stream, padding)


def members(stream: IO[bytes]) -> Iterator[Member]:
    """The files of a tar, in order. Anything but files and folders raises InvalidInput.

    Only headers are left to ``tarfile``: what it does with long names and extended headers holds as much in
    memory as the archive wants it to, and we write neither.
    """
    folders = 0
    while True:
        block = _read_exactly(stream, _BLOCK)
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


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
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


def _broken() -> tuple[type[Exception], ...]:
    """What reading a compressed file raises that is not whole."""
    return EOFError, zlib.error, gzip.BadGzipFile, zstd().ZstdError


class Form(StrEnum):
    FOLDER = "folder"
    TAR = "tar"
    GZIP = "gz"
    ZSTD = "zst"


class Archive:
    """An archive whose files are on disk, of the sizes and checksums that its manifest says."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder
        self.manifest = manifest
        self.known: set[str] = set()
        """The files that some part asked for."""
        self.is_coming_in = False
        """Whether it is to be stored, and not only compared."""
        self.advance: Callable[[int], None] = lambda _: None
        """Called with the bytes that were read since."""

    def path(self, name: str) -> Path:
        self.known.add(name)
        return self.folder / name

    def has(self, name: str) -> bool:
        self.known.add(name)
        return any(file.file == name for file in self.manifest.files)

    def rows(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The lines of a file, each with its place for people; none when the archive has no such file."""
        if self.has(name):
            yield from read_rows(self.path(name), name, self.advance)


@contextmanager
def open_archive(path: Path, beside: Path, progress: Progress) -> Iterator[Archive]:
    """An archive, checked: a file is unpacked into a folder in ``beside``, which is gone afterwards.

    What is no archive, damaged, or larger than it should be raises, and nothing stays.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        raise NotFound(f"there is no file {path}") from None
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc
    if stat.S_ISDIR(found.st_mode):
        yield _from_folder(path, progress)
        return
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is no plain file; name an archive that `mnemos export` wrote")
    with temporary_folder(beside, "incoming") as folder:
        yield _unpacked(path, found.st_size, folder, progress)


# --- a folder -------------------------------------------------------------------------------


def _from_folder(folder: Path, progress: Progress) -> Archive:
    place = folder / MANIFEST
    if not os.path.lexists(place):
        raise InvalidInput(f"{folder} has no {MANIFEST}; name a folder or a file that `mnemos export` wrote")
    with _plain(place) as stream:
        manifest = _manifest(stream.read(_MOST_MANIFEST + 1), folder)
    whole, done = max(1, manifest.size()), 0
    for file in manifest.files:
        try:
            with _plain(folder / file.file) as stream:
                _check_file(file, os.fstat(stream.fileno()).st_size, _sum_of(stream), folder)
        except FileNotFoundError:
            raise Corrupt(f"{folder} lacks {file.file}, which its manifest names") from None
        done += file.bytes
        progress(done / whole)
    return Archive(folder, manifest)


def _plain(path: Path) -> BufferedReader:
    """An open file; a link, on the way or at the end, a pipe or a device raises."""
    if path.parent.is_symlink():
        raise InvalidInput(f"{path.parent} is a link; an archive has nothing but plain files")
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read as a plain file: {exc.strerror}") from exc
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise InvalidInput(f"{path} is no plain file; an archive has nothing else")
    return os.fdopen(handle, "rb")


def _sum_of(stream: BufferedReader) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()


# --- a file ---------------------------------------------------------------------------------


def _unpacked(path: Path, size: int, folder: Path, progress: Progress) -> Archive:
    try:
        with open_tar(path) as stream:
            coming = members(stream)
            manifest = _first(coming, path)
            _check_size(manifest, size, path, folder)
            _unpack(coming, manifest, path, folder, progress)
    except Cut as exc:
        raise Corrupt(f"{path} is damaged or cut off: {exc}; nothing was changed") from exc
    except InvalidInput as exc:
        if str(path) in str(exc):
            raise
        raise type(exc)(f"{path} is no archive of ours: {exc}") from exc
    except OSError as exc:
        raise files.write_error(exc, folder) from exc
    return Archive(folder, manifest)


def _first(members: Iterator[Member], path: Path) -> Manifest:
    first = next(members, None)
    if first is None or first.name != MANIFEST:
        found = "nothing" if first is None else repr(first.name[:100])
        raise InvalidInput(f"it begins with {found} and not with {MANIFEST}")
    if first.size > _MOST_MANIFEST:
        raise TooLarge(f"its {MANIFEST} has {first.size:,} bytes; at most {_MOST_MANIFEST:,} make sense")
    return _manifest(b"".join(first.chunks()), path)


def _check_size(manifest: Manifest, packed: int, path: Path, folder: Path) -> None:
    whole = manifest.size()
    if whole > _SMALL and whole > _TIMES * packed:
        raise TooLarge(
            f"{path} has {packed:,} bytes and claims to hold {whole:,}; no memory packs that well, so it is "
            "not unpacked"
        )
    free = shutil.disk_usage(folder).free
    if whole > free:
        raise DiskFull(f"{path} takes {whole:,} bytes unpacked, and {folder.parent} has {free:,} left")


def _unpack(
    members: Iterator[Member], manifest: Manifest, path: Path, folder: Path, progress: Progress
) -> None:
    wanted = {file.file: file for file in manifest.files}
    whole, done = max(1, manifest.size()), 0
    for member in members:
        file = wanted.pop(member.name, None)
        if file is None:
            known = any(member.name == one.file for one in manifest.files)
            why = "twice" if known else "which its manifest does not name"
            raise InvalidInput(f"it has {member.name[:100]!r} {why}")
        if member.size != file.bytes:
            raise Corrupt(
                f"{path}: {file.file} has {member.size:,} bytes, and {file.bytes:,} in the manifest"
            )
        _check_file(file, member.size, _put(member, folder / file.file), path)
        done += file.bytes
        progress(done / whole)
    if wanted:
        raise Corrupt(f"{path} lacks {', '.join(sorted(wanted)[:5])}, which its manifest names")


def _put(member: Member, target: Path) -> str:
    """Write a member to a new file; its checksum."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    digest = hashlib.sha256()
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in member.chunks():
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest()


# --- what both have -------------------------------------------------------------------------


def _check_file(file: File, size: int, digest: str, where: Path) -> None:
    if size != file.bytes or digest != file.sha256:
        raise Corrupt(f"{where}: {file.file} is not as it was written: its checksum is another")


def _manifest(data: bytes, where: Path) -> Manifest:
    if len(data) > _MOST_MANIFEST:
        raise TooLarge(f"{where}: its {MANIFEST} has more than {_MOST_MANIFEST:,} bytes")
    try:
        head = msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise InvalidInput(f"{where}: its {MANIFEST} makes no sense: {exc}") from exc
    if head.get("kind") != KIND:
        raise InvalidInput(f"{where} is no archive of ours: its {MANIFEST} does not say {KIND!r}")
    version = head.get("format")
    if isinstance(version, int) and version > FORMAT:
        raise SchemaTooNew(
            f"{where} was written by a newer Mnemos ({str(head.get('mnemos'))[:20]}) in format {version}; "
            f"this one reads up to {FORMAT}. Upgrade first: pip install -U mnemos"
        )
    try:
        manifest = msgspec.convert(head, Manifest)
    except msgspec.ValidationError as exc:
        raise InvalidInput(f"{where}: its {MANIFEST} makes no sense: {exc}") from exc
    for text in (manifest.space, manifest.made_at, manifest.mnemos):
        if len(text) > _LONGEST_TEXT or not text.isprintable():
            raise InvalidInput(f"{where}: its {MANIFEST} makes no sense: it says {text[:100]!r}")
    _check_names(manifest, where)
    # Told to people, line by line.
    told = [" ".join(reason.split()) for reason in manifest.left_out]
    return msgspec.structs.replace(manifest, left_out=told)


def _check_names(manifest: Manifest, where: Path) -> None:
    if len(manifest.files) > _MOST_FILES:
        raise TooLarge(f"{where} names {len(manifest.files):,} files; at most {_MOST_FILES:,} make sense")
    seen: set[str] = {MANIFEST}
    for file in manifest.files:
        if not can_be_name(file.file):
            raise InvalidInput(f"{where} names {file.file[:100]!r}, which is no plain path inside of it")
        # Some file systems know no case.
        if file.file.casefold() in seen:
            raise InvalidInput(f"{where} names {file.file[:100]!r} twice")
        seen.add(file.file.casefold())
        if min(file.bytes, file.rows) < 0:
            raise InvalidInput(f"{where}: {file.file} has sizes below nothing")
    if manifest.size() > MOST_BYTES:
        raise TooLarge(f"{where} claims to hold {manifest.size():,} bytes; at most {MOST_BYTES:,} are read")

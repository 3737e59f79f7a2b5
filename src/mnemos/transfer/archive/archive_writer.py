"""Archive writer: writes next to the target, which is named when complete."""

from __future__ import annotations

import gzip
import hashlib
import os
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, cast

import msgspec

from mnemos import __version__, files
from mnemos.errors import AlreadyExists, InvalidInput, NotFound
from mnemos.files import zstd
from mnemos.sessions.records import dump_json
from mnemos.transfer.archive.archive_import import list_parts
from mnemos.transfer.archive.archive_reader import Form
from mnemos.transfer.archive.manifest import FORMAT, KIND, MANIFEST, Exported, File, Manifest, Progress, track

if TYPE_CHECKING:
    from mnemos.memory import Memory

_MODE: Final = 0o600
_NOT_OURS: Final = tuple(".zip .zst .gz .bz2 .xz .7z .rar .json .jsonl .db .md .txt".split())
_FORMS: Final = {
    ".tar.zst": Form.ZSTD,
    ".tzst": Form.ZSTD,
    ".tar.gz": Form.GZIP,
    ".tgz": Form.GZIP,
    ".tar": Form.TAR,
}
# Reading's share of the work. The rest is packing.
_READ: Final = 0.7


class RowWriter:
    """Writes and counts rows, one JSON object per line."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.rows = 0

    def write(self, row: Mapping[str, Any]) -> None:
        self._stream.write(dump_json(row).encode() + b"\n")
        self.rows += 1


def choose_form(path: Path) -> Form:
    """Return the form of an archive, going by its name."""
    name = path.name.lower()
    for ending, form in _FORMS.items():
        if name.endswith(ending):
            return form
    if name.endswith(_NOT_OURS):
        raise InvalidInput(
            f"{path.name!r} is not a valid archive name. Use one that ends with .tar.zst, .tar.gz or .tar, "
            "or a folder."
        )
    return Form.FOLDER


def pack(
    folder: Path, names: Sequence[str], target: Path, form: Form, *, at: float, advance: Callable[[int], None]
) -> None:
    """Pack files of a folder into one file, in this order."""
    with (
        _compress(target, form) as stream,
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
def _compress(target: Path, form: Form) -> Iterator[IO[bytes]]:
    with target.open("xb") as raw:
        target.chmod(_MODE)
        if form is Form.ZSTD:
            with zstd().ZstdFile(raw, "w") as stream:
                yield stream
        elif form is Form.GZIP:
            # No name and time, so that the same memory always gives the same file.
            with gzip.GzipFile("", "wb", 6, raw, 0) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


class ArchiveFolder:
    """The folder in which the files of an archive are written."""

    def __init__(self, folder: Path, advance: Callable[[int], None]) -> None:
        self.folder = folder
        self.advance = advance
        """Called with the progress, in rows as ``Part.size`` counts them."""
        self.files: list[File] = []
        self.counts: dict[str, int] = {}
        self.left_out: list[str] = []

    @contextmanager
    def lines(self, part: str, name: str) -> Iterator[RowWriter]:
        """Create a file with one JSON object per line."""
        with self.path(name).open("xb") as stream:
            writer = RowWriter(stream)
            yield writer
        self.note(part, name, writer.rows)

    def path(self, name: str) -> Path:
        """Return the path for a new file, which the caller writes and reports to ``note``."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    def note(self, part: str, name: str, rows: int = 1) -> None:
        """Add a file that was written."""
        path = self.folder / name
        path.chmod(_MODE)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        self.files.append(File(name, part, rows, path.stat().st_size, digest))

    def count(self, what: str, number: int) -> None:
        self.counts[what] = self.counts.get(what, 0) + number


def write_archive(memory: Memory, target: Path, progress: Progress) -> Exported:
    """Export the open space. Writes ``target`` completely or not at all.

    An existing file is never overwritten.
    """
    memory.settings.check_enabled("no file was written")
    form = choose_form(target)
    if os.path.lexists(target):
        raise AlreadyExists(f"{target} already exists. Choose another name.")
    if not target.parent.is_dir():
        raise NotFound(f"The folder {target.parent} does not exist. Create it or choose another.")
    try:
        with files.scratch_folder(target.parent) as folder:
            manifest = _write_parts(memory, folder, progress)
            _put_in_place(folder, manifest, target, form, memory.clock(), progress)
    except OSError as exc:
        raise files.write_error(exc, target) from exc
    progress(1.0)
    size = manifest.size() if form is Form.FOLDER else target.stat().st_size
    return Exported(target, size, manifest.counts, tuple(manifest.left_out))


def _write_parts(memory: Memory, folder: Path, progress: Progress) -> Manifest:
    parts = list_parts(memory)
    advance = track(progress, 0.0, _READ, sum(part.size() for part in parts))
    contents = folder / "contents"
    contents.mkdir(mode=0o700)
    out = ArchiveFolder(contents, advance)
    for part in parts:
        part.write(out)
    manifest = Manifest(
        kind=KIND,
        format=FORMAT,
        mnemos=__version__,
        space=memory.settings.space,
        made_at=datetime.fromtimestamp(memory.clock(), UTC).isoformat(timespec="seconds"),
        counts=out.counts,
        files=out.files,
        left_out=out.left_out,
    )
    written = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    files.write_new(contents / MANIFEST, written)
    return manifest


def _put_in_place(
    folder: Path, manifest: Manifest, target: Path, form: Form, at: float, progress: Progress
) -> None:
    contents = folder / "contents"
    if form is Form.FOLDER:
        if os.path.lexists(target):
            raise AlreadyExists(f"{target} was created by another process. Choose another name.")
        contents.rename(target)
        return
    names = [MANIFEST, *(file.file for file in manifest.files)]
    archive = folder / "archive"
    pack(contents, names, archive, form, at=at, advance=track(progress, _READ, 1.0, manifest.size()))
    with archive.open("rb") as file:
        os.fsync(file.fileno())
    try:
        # Use a link, because renaming would replace a file that was created in the meantime.
        os.link(archive, target)
    except FileExistsError:
        raise AlreadyExists(f"{target} was created by another process. Choose another name.") from None
    except OSError:
        # The file system does not support hard links.
        archive.rename(target)

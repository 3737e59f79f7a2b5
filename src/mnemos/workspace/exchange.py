"""Files that an agent imports and exports: kept inside one folder, whole or not at all.

The host opens them, and the worker reads or writes the open file.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemos import files
from mnemos.errors import AlreadyExists, InvalidInput, NotFound, PermissionDenied
from mnemos.inputs import suggest

IMPORT_FORMATS: Final = ("csv", "tsv", "json", "jsonl")
EXPORT_FORMATS: Final = (*IMPORT_FORMATS, "markdown")
MODES: Final = ("create", "append", "replace", "upsert")
# A person at a command line may name any file, relative to the current folder.
ANYWHERE: Final = Path("/")
_FORMAT_BY_SUFFIX: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
}


class Files:
    """Resolves file names relative to one folder, and never outside of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resolve(self, name: str | os.PathLike[str]) -> Path:
        """Return the path of a file. PermissionDenied outside of the folder, also through a link."""
        try:
            given = Path(name).expanduser()
            root = self.folder.resolve()
            base = Path.cwd() if self.folder == ANYWHERE else root
            path = (base / given).resolve()
            path.exists()
        except (ValueError, TypeError, RuntimeError, OSError) as exc:
            raise InvalidInput(f"path is {str(name)[:200]!r}, which is not a file name: {exc}") from exc
        if not path.is_relative_to(root) or path == root:
            raise PermissionDenied(
                f"{str(name)[:200]!r} is outside {self.folder}, the folder for imports and exports. Use a "
                "name inside it, or set MNEMOS_FILES to another folder."
            )
        return path

    def find(self, name: str | os.PathLike[str]) -> Path:
        """Return the path of an existing plain file."""
        path = self.resolve(name)
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder. Choose a file in it.")
        if not path.exists():
            raise NotFound(f"There is no file {path}.")
        _check_plain(path, "Pass its content as text, or save it to a file first")
        return path

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """Make a folder for files that are imported or exported soon; it is deleted at the end."""
        if self.folder == ANYWHERE:
            with tempfile.TemporaryDirectory() as folder:
                yield Path(folder)
            return
        try:
            files.make_private(self.folder)
            with files.scratch_folder(self.folder) as made:
                yield made
        except OSError as exc:
            raise files.write_error(exc, self.folder) from exc

    def prepare(self, path: Path) -> None:
        """Make the folder that a new file goes into."""
        if path.is_dir():
            raise InvalidInput(f"{path} is a folder. Choose a file in it.")
        if path.exists():
            _check_plain(path, "Choose another name")
        try:
            path.parent.mkdir(parents=True, mode=0o700, exist_ok=True)
        except OSError as exc:
            raise PermissionDenied(f"{path.parent} cannot be created: {exc.strerror}") from exc


def export_format(name: str, chosen: str | None) -> str:
    """Return the chosen export format, or else the one that the file name ends with."""
    format = chosen or _FORMAT_BY_SUFFIX.get(Path(name).suffix.lower())
    if format not in EXPORT_FORMATS:
        wrong = (
            f"format is {chosen!r}" if chosen else f"{name!r} does not end with .csv, .json, .jsonl or .md"
        )
        meant = suggest(chosen or "", EXPORT_FORMATS)
        raise InvalidInput(f"{wrong}.{meant} Pass a format: {', '.join(EXPORT_FORMATS)}.")
    return format


@contextmanager
def open_file(path: Path) -> Iterator[int]:
    """Open a plain file for reading. A pipe or a device, which may never end, is refused."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise InvalidInput(f"{path} is not a regular file")
        yield file
    finally:
        os.close(file)


@contextmanager
def open_text(text: str) -> Iterator[int]:
    """Open a text as a temporary file without a name."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        yield file.fileno()


@contextmanager
def replace_file(path: Path, *, overwrite: bool) -> Iterator[int]:
    """Open a new file that takes its name once all of it is written. A failure leaves nothing behind."""
    if path.exists() and not overwrite:
        raise AlreadyExists(f"{path} already exists. Choose another name, or pass overwrite.")
    try:
        with files.scratch_folder(path.parent) as folder:
            unfinished = folder / path.name
            with unfinished.open("xb") as file:
                unfinished.chmod(0o600)
                yield file.fileno()
                os.fsync(file)
            unfinished.replace(path)
    except OSError as exc:
        raise files.write_error(exc, path) from exc


def _check_plain(path: Path, advice: str) -> None:
    """Refuse pipes and devices: reading one may never end, and an export would replace it."""
    if not path.is_file():
        raise InvalidInput(f"{path} is a pipe or a device, not a regular file. {advice}.")

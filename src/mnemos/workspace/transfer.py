"""Files on their way in and out: opened here, read and written by the worker, whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemos.errors import AlreadyExists, InvalidInput, PermissionDenied

READ: Final = ("csv", "tsv", "json", "jsonl")
FORMATS: Final = (*READ, "markdown")
MODES: Final = ("create", "append", "replace", "upsert")
_BY_SUFFIX: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
}


def format_of(name: str, given: str | None) -> str:
    """What an export is written as: what was asked for, else what the name of the file says."""
    form = given or _BY_SUFFIX.get(Path(name).suffix.lower())
    if form not in FORMATS:
        wrong = f"format is {given!r}" if given else f"{name!r} does not end with .csv, .json, .jsonl or .md"
        raise InvalidInput(f"{wrong}; pass a format: {', '.join(FORMATS)}")
    return form


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A file to be read, which must be one: a pipe or a device would never end."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise InvalidInput(f"{path} is no plain file")
        yield file
    finally:
        os.close(file)


@contextmanager
def held(text: str) -> Iterator[int]:
    """A text as a file that nobody else sees."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        yield file.fileno()


@contextmanager
def replaced(path: Path, *, overwrite: bool) -> Iterator[int]:
    """A new file that takes its name when all of it is written; a failure leaves nothing behind."""
    if path.exists() and not overwrite:
        raise AlreadyExists(f"{path} is there already; choose another name, or pass overwrite")
    try:
        file, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as exc:
        raise PermissionDenied(f"{path} cannot be written: {exc.strerror}") from exc
    unfinished = Path(name)
    try:
        yield file
        os.fsync(file)
        unfinished.replace(path)
    finally:
        os.close(file)
        unfinished.unlink(missing_ok=True)

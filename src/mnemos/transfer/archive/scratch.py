"""Folders to work in, gone afterwards; what a killed process left goes with the next one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mnemos.files import is_running

_UNFINISHED: Final = ".unfinished"


@contextmanager
def folder(parent: Path, name: str) -> Iterator[Path]:
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

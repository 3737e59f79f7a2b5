"""Files as they are, or packed by zstd: Codex packs rollouts that are old."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from mnemos.errors import InvalidInput
from mnemos.files import zstd

PACKED: Final = ".zst"


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to read from, unpacked on the way; one that is packed and damaged raises InvalidInput."""
    if path.suffix != PACKED:
        with path.open("rb") as file:
            yield file
        return
    packing = zstd()
    try:
        with packing.ZstdFile(path) as unpacked:
            yield unpacked
    except (packing.ZstdError, EOFError) as exc:
        raise InvalidInput(f"it cannot be unpacked: {exc}") from exc

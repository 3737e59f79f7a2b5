"""Which notes were looked at before and try to give no orders.

To look for orders, hundreds of expressions are compiled, which takes longer than all else when a session
begins. So the digests of harmless entries are kept in ``<home>/hooks``: nothing that a note says.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

import mnemos
from mnemos import text
from mnemos.errors import MnemosError
from mnemos.files import replace

_FILE: Final = "harmless"
_MOST: Final = 500


class Harmless:
    """The entries that may be shown as they are."""

    def __init__(self, home: Path) -> None:
        self._file = home / "hooks" / _FILE
        self._rules = _rules()
        self._known = self._read()
        self._new: list[str] = []

    def __contains__(self, entry: str) -> bool:
        return self._digest(entry) in self._known

    def add(self, entry: str) -> None:
        self._new.append(self._digest(entry))

    def keep(self) -> None:
        """Remember what was added; a disk that cannot be written costs time and nothing else."""
        if not self._new:
            return
        known = "\n".join([*self._known, *self._new][-_MOST:])
        try:
            self._file.parent.mkdir(mode=0o700, exist_ok=True)
            replace(self._file, known.encode(), durable=False)
        except (OSError, MnemosError):
            return

    def _read(self) -> Sequence[str]:
        try:
            return self._file.read_text("ascii").split()
        except (OSError, ValueError):
            return ()

    def _digest(self, entry: str) -> str:
        said = f"{self._rules}\0{entry}".encode("utf-8", "surrogatepass")
        return blake2b(said, digest_size=16).hexdigest()


def _rules() -> str:
    """Says which rules were applied: other rules, other digests."""
    folder = Path(text.__file__).parent
    changed = sorted((file.name, file.stat().st_mtime_ns) for file in folder.glob("threat*"))
    return f"{mnemos.__version__} {changed}"

"""SQL queries loaded from files by name.

Each query follows a line ``-- name: the_name``. Other comment lines are dropped.
"""

from __future__ import annotations

import re
from pathlib import Path

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Queries:
    """The queries of one file as attributes."""

    def __init__(self, path: Path) -> None:
        parts = _NAME.split(path.read_text(encoding="utf-8"))
        self._path = path
        # Real attributes, because __getattr__ takes as long as some of the queries.
        for name, text in zip(parts[1::2], parts[2::2], strict=True):
            setattr(self, name, _strip_comments(text))

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"{self._path.name} has no query named {name!r}")


def _strip_comments(text: str) -> str:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return "\n".join(lines).strip()

"""Files of labelled texts: a line each, its columns with tabs between them, and shares of what was found.

Empty lines and lines that begin with ``#`` are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from mnemos.errors import InvalidInput, NotFound

T = TypeVar("T")

_SHOWN = 80


def examples(path: Path, columns: str, read: Callable[[list[str]], T | None]) -> list[T]:
    """What ``read`` makes of each line; ``columns`` says what a line is, for people.

    A missing file raises NotFound; a line that ``read`` answers None to, or none at all, InvalidInput.
    """
    found = [_read(path, number, row, columns, read) for number, row in _rows(path, columns)]
    if not found:
        raise InvalidInput(f"{path} holds no labelled text; a line is {columns}, with tabs between them")
    return found


def share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _rows(path: Path, columns: str) -> Iterator[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as exc:
        raise NotFound(f"there is no file {path}; name one with --data FILE ({columns})") from exc
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text: {exc}") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read: {exc.strerror}") from exc
    for number, row in enumerate(text.split("\n"), start=1):
        if row.strip() and not row.startswith("#"):
            yield number, row.rstrip("\r")


def _read(path: Path, number: int, row: str, columns: str, read: Callable[[list[str]], T | None]) -> T:
    made = read(row.split("\t"))
    if made is None:
        raise InvalidInput(
            f"{path}: line {number} is {row[:_SHOWN]!r}; it has to be {columns}, with tabs between them"
        )
    return made

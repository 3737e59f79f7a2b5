"""Files of labelled texts: a line each, its columns with tabs between them, and counts of what was found.

Empty lines and lines that begin with ``#`` are left out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Final, Self, TypeVar

from mnemos.errors import InvalidInput, NotFound

T = TypeVar("T")
C = TypeVar("C", bound="Counts")

EVERYTHING: Final = "all"
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class Counts:
    """Of what is sought, how much was found and missed; of the rest, how much was found and passed over."""

    found: int = 0
    missed: int = 0
    wrong: int = 0
    passed: int = 0

    @classmethod
    def of(cls, *, is_sought: bool, is_found: bool) -> Self:
        """The counts of one text."""
        if is_sought:
            return cls(found=int(is_found), missed=int(not is_found))
        return cls(wrong=int(is_found), passed=int(not is_found))

    @property
    def precision(self) -> float | None:
        """The share of the found that was sought; None when nothing was found."""
        return share(self.found, self.found + self.wrong)

    @property
    def recall(self) -> float | None:
        """The share of the sought that was found; None when there is none."""
        return share(self.found, self.found + self.missed)

    @property
    def misses(self) -> float | None:
        """The share of the sought that was not found; None when there is none."""
        return share(self.missed, self.found + self.missed)

    @property
    def false_positives(self) -> float | None:
        """The share of the rest that was found; None when there is none."""
        return share(self.wrong, self.wrong + self.passed)


def add(parts: dict[str, C], counts: C, *names: str) -> None:
    """Add counts to those of each of the parts."""
    for name in names:
        known = parts.get(name, type(counts)())
        parts[name] = type(counts)(*map(operator.add, astuple(known), astuple(counts)))


def in_repository(name: str) -> Path:
    """The labelled texts of a checked-out repository; an installed package does not have them."""
    return Path(__file__).parents[1] / "tests" / "data" / name / "labelled.tsv"


def examples(path: Path, columns: str, read: Callable[[list[str]], T | None]) -> list[T]:
    """Return the results of ``read`` for each line; ``columns`` describes a line, for people.

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

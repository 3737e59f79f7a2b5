"""Tables of JSON: an array, an object around an array, an object of columns, or JSON lines.

Rows are objects (the columns are all keys of the file, in the order of their first appearance), arrays (the
first may name the columns) or single values: what most of the first ones are. The others are bad lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Protocol

from mnemos.errors import InvalidInput
from mnemos.workspace.formats import layouts, names
from mnemos.workspace.formats.encoding import Encoding, texts
from mnemos.workspace.formats.layouts import Values
from mnemos.workspace.formats.model import BadLines, Column, Limits, Row
from mnemos.workspace.formats.source import Source
from mnemos.workspace.formats.values import ValueScan

# A key is a column's name; beyond this it is data.
_LONGEST_KEY = 1_000


class JsonTable:
    """See ``model.Table``. Opening it reads all of the file once; twice when the rows are in an object."""

    empty_is_null = False

    def __init__(
        self, source: Source, encoding: Encoding, *, format: str, header: bool | None, limits: Limits
    ) -> None:
        self.format = format
        self.encoding = encoding.name
        self._source = source
        read = lambda: texts(source.chunks(), encoding)  # noqa: E731
        self._layout = (
            layouts.of_lines(read, limits) if format == "jsonl" else layouts.of_document(read, limits)
        )
        bad = BadLines()
        survey = _surveyed(self._layout.values(bad), bad, limits)
        if survey is None:
            raise InvalidInput(_no_rows(bad, format))
        self._shape = survey.shape
        self._skips_first = survey.find_header(asked=header, beside=self._layout.names)
        self.columns = tuple(
            Column(name, scan.kind) for name, scan in zip(survey.names(limits), survey.scans, strict=True)
        )
        self._converters = [scan.converter for scan in survey.scans]
        self.rows = survey.count - self._skips_first
        self.bad = sorted(bad.kept, key=lambda line: line.number)
        self.bad_total = bad.total
        self.notes = [note for note in (encoding.note, self._layout.note) if note]

    def batches(self) -> Iterator[Sequence[Row]]:
        self._source.next_pass()
        skip = self._skips_first
        ignored = BadLines()
        for batch in self._layout.values(ignored):
            rows = self._shape.rows(batch, ignored)
            if skip and rows:
                del rows[0]
                skip = False
            if rows:
                yield self._converted(rows) if any(self._converters) else rows

    def _converted(self, rows: list[tuple[Any, ...]]) -> list[Row]:
        columns = [
            values if convert is None else list(map(convert, values))
            for values, convert in zip(zip(*rows, strict=True), self._converters, strict=True)
        ]
        return list(zip(*columns, strict=True))


class _Shape(Protocol):
    """How a row is made of a value."""

    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        """One tuple for each good value, as long as there are columns by then."""

    def names(self) -> list[str]: ...


class _Objects:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._keys: dict[str, None] = {}
        self._pick: Callable[[Any], tuple[Any, ...]] = tuple
        self.is_learning = True

    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        values = batch.values
        if set(map(type, values)) == {dict} and set(map(len, values)) == {len(self._keys)}:
            try:
                return list(map(self._pick, values))
            except KeyError:
                pass
        good = self._good(batch, bad)
        keys = tuple(self._keys)
        return [tuple(map(value.get, keys)) for value in good]

    def names(self) -> list[str]:
        return list(self._keys)

    def _good(self, batch: Values, bad: BadLines) -> list[dict[str, Any]]:
        good: list[dict[str, Any]] = []
        for place, value in enumerate(batch.values):
            if type(value) is not dict:
                bad.add(batch.line_of(place), f"{_named(value)} where an object was expected")
            elif value.keys() <= self._keys.keys() or self._learn(value):
                good.append(value)
            else:
                bad.add(batch.line_of(place), f"a key has more than {_LONGEST_KEY:,} characters")
        return good

    def _learn(self, value: dict[str, Any]) -> bool:
        """False for a key that can be no column; in the second pass, these are the only unknown ones."""
        if not self.is_learning or any(len(key) > _LONGEST_KEY for key in value):
            return False
        self._keys.update(dict.fromkeys(value))
        names.checked_count(len(self._keys), self._limits)
        pick = itemgetter(*self._keys)
        self._pick = pick if len(self._keys) > 1 else lambda value: (pick(value),)
        return True


class _Arrays:
    def __init__(self, first: Sequence[Any], limits: Limits) -> None:
        widths = Counter(len(value) for value in first if type(value) is list)
        self._width = names.checked_count(widths.most_common(1)[0][0], limits)

    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        good: list[tuple[Any, ...]] = []
        for place, value in enumerate(batch.values):
            if type(value) is list and len(value) == self._width:
                good.append(tuple(value))
            elif type(value) is list:
                bad.add(batch.line_of(place), f"{len(value)} values where {self._width} were expected")
            else:
                bad.add(batch.line_of(place), f"{_named(value)} where an array was expected")
        return good

    def names(self) -> list[str]:
        return [""] * self._width


class _Singles:
    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        good: list[tuple[Any, ...]] = []
        for place, value in enumerate(batch.values):
            if type(value) in (dict, list):
                bad.add(batch.line_of(place), f"{_named(value)} where a single value was expected")
            else:
                good.append((value,))
        return good

    def names(self) -> list[str]:
        return ["value"]


class _Survey:
    """What the first pass sees."""

    def __init__(self, shape: _Shape) -> None:
        self.shape = shape
        self.scans: list[ValueScan] = []
        self.count = 0
        self._first: tuple[Any, ...] = ()
        self._following: list[tuple[Any, ...]] = []
        self._names: Sequence[str] | None = None

    def feed(self, rows: list[tuple[Any, ...]]) -> None:
        self.count += len(rows)
        if isinstance(self.shape, _Arrays) and rows and not self._first:
            self._first = rows.pop(0)
            self._following = [tuple(map(_start, row)) for row in rows[: names.FOLLOWING]]
        self._scan(rows)

    def find_header(self, *, asked: bool | None, beside: Sequence[str]) -> bool:
        """Whether the first row, of those that are arrays, names the columns."""
        if not isinstance(self.shape, _Arrays):
            return False
        is_header = asked if asked is not None else not beside and self._first_is_header()
        if is_header:
            self._names = ["" if value is None else str(value) for value in self._first]
        else:
            self._names = beside if len(beside) == len(self._first) else None
            self._scan([self._first])
        return is_header

    def names(self, limits: Limits) -> list[str]:
        return names.tidy(self.shape.names() if self._names is None else self._names, limits)

    def _first_is_header(self) -> bool:
        if not all(isinstance(value, str) for value in self._first):
            return False
        return names.looks_like_header(self._first, [scan.is_number for scan in self.scans], self._following)

    def _scan(self, rows: list[tuple[Any, ...]]) -> None:
        width = len(rows[0]) if rows else len(self._first)
        self.scans += [ValueScan() for _ in range(width - len(self.scans))]
        for scan, values in zip(self.scans, zip(*rows, strict=True), strict=False):
            scan.feed(values)


def _surveyed(batches: Iterator[Values], bad: BadLines, limits: Limits) -> _Survey | None:
    """None when there are no rows."""
    survey: _Survey | None = None
    for batch in batches:
        if not batch.values:
            continue
        survey = survey or _Survey(_shape_of(batch.values, limits))
        survey.feed(survey.shape.rows(batch, bad))
    if survey is None or not survey.count or not survey.shape.names():
        return None
    if isinstance(survey.shape, _Objects):
        survey.shape.is_learning = False
    return survey


def _shape_of(values: Sequence[Any], limits: Limits) -> _Shape:
    counted = Counter(map(type, values))
    if counted[dict] and counted[dict] >= counted[list]:
        return _Objects(limits)
    return _Arrays(values, limits) if counted[list] else _Singles()


def _start(value: Any) -> Any:
    return value[: names.COMPARED] if isinstance(value, str) else None


def _named(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else "a number"


def _no_rows(bad: BadLines, format: str) -> str:
    if not bad.kept:
        return "the file has no rows, so there is nothing to make a table of"
    first = bad.kept[0]
    hint = "; if all of it is one JSON document, use format json" if format == "jsonl" else ""
    return f"no row of the file can be read; line {first.number:,}: {first.reason}{hint}"

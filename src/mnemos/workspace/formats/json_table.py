"""Tables in JSON files: an array, an object around an array, single objects, or JSON lines.

Rows are objects (the columns are all keys of the file in the order of their first appearance), arrays (the
first may name the columns) or single values. The majority of the first rows decides, and other rows are bad
lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Protocol

from mnemos.errors import InvalidInput
from mnemos.workspace.formats import columns as names
from mnemos.workspace.formats.columns import BadLines, Column, Limits, Row, Survey, row_size
from mnemos.workspace.formats.json_elements import (
    BadElement,
    Document,
    Elements,
    ValueScan,
    decode_all,
    decode_leniently,
    find_on_lines,
    storable,
)
from mnemos.workspace.formats.source import Encoding, Source, decode, whole_lines

Read = Callable[[], Iterator[str]]
"""Returns the text of the file from its beginning."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Values:
    values: list[Any]
    line_of: Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to read the rows of a file. Each call of ``values`` reads the file again."""

    values: Callable[[BadLines], Iterator[Values]]
    note: str = ""


def find_rows_on_lines(read: Read, limits: Limits) -> Layout:
    def values(bad: BadLines) -> Iterator[Values]:
        found = find_on_lines(whole_lines(read(), limits.item), limits.item, bad)
        return _decode(found, limits, bad)

    return Layout(values)


def find_rows_in_document(read: Read, limits: Limits) -> Layout:
    """Find the rows of a JSON document. InvalidInput if there are none, or several tables."""
    document = Document(read(), limits.item)
    opening = document.ahead()
    if opening == "[":
        return Layout(lambda bad: _decode(_read_array(read, limits, bad), limits, bad))
    if opening == "{":
        return _find_in_object(document, read, limits)
    if not opening:
        raise InvalidInput("The file is empty, so there is no table to create.")
    raise InvalidInput(
        f"The file starts with {opening!r}, not with an array or an object. Use the format csv or jsonl."
    )


def _read_array(read: Read, limits: Limits, bad: BadLines) -> Iterator[Elements]:
    document = Document(read(), limits.item)
    document.ahead()
    yield from document.elements(bad)
    if document.ahead():
        bad.add(document.line(), "text after the end of the array; it was left out")


def _read_values(read: Read, limits: Limits, bad: BadLines) -> Iterator[Elements]:
    document = Document(chain("[", read(), "]"), limits.item)
    document.ahead()
    return document.elements(bad)


def _find_in_object(document: Document, read: Read, limits: Limits) -> Layout:
    """Find the array of rows in an object. An object without one is a row, and so are several of them."""
    tables: list[str] = []
    others: list[str] = []
    for raw, kind in document.members():
        (tables if kind in ("[[", "[{") else others).append(_decode_name(raw))
        document.skip()
    if not tables or document.ahead():
        return Layout(lambda bad: _decode(_read_values(read, limits, bad), limits, bad))
    if len(tables) > 1:
        raise InvalidInput(
            f"The object contains several tables ({_enumerate(tables)}). Put each of them in a separate file."
        )
    note = f"The rows are those of {tables[0]!r}"
    note += f"; {_enumerate(others)} was left out." if others else "."
    return Layout(lambda bad: _decode(_read_member(read, limits, tables[0], bad), limits, bad), note)


def _read_member(read: Read, limits: Limits, wanted: str, bad: BadLines) -> Iterator[Elements]:
    document = Document(read(), limits.item)
    document.ahead()
    for raw, _ in document.members():
        if _decode_name(raw) == wanted:
            yield from document.elements(bad)
            return
        document.skip()


def _decode_name(name: str) -> str:
    """Return the name of a member from its JSON."""
    try:
        return str(decode_leniently(name))
    except BadElement as exc:
        raise InvalidInput(f"The name {name[:60]} in the JSON object is {exc}") from exc


def _decode(found: Iterable[Elements], limits: Limits, bad: BadLines) -> Iterator[Values]:
    for batch in found:
        if not batch.raws:
            continue
        try:
            # At most four bytes per character: only then may a row be too large for a table.
            if max(map(len, batch.raws)) * 4 > limits.item:
                raise BadElement
            values = Values(decode_all(batch.raws), batch.line_of)
        except BadElement:
            values = _decode_each(batch, limits, bad)
        yield values


def _decode_each(batch: Elements, limits: Limits, bad: BadLines) -> Values:
    values: list[Any] = []
    lines: list[int] = []
    for place, raw in enumerate(batch.raws):
        line = batch.line_of(place)
        try:
            value = decode_leniently(raw)
            if len(raw) * 4 > limits.item:
                _check_size(value, limits)
        except BadElement as exc:
            bad.add(line, str(exc))
            continue
        values.append(value)
        lines.append(line)
    return Values(values, lines.__getitem__)


def _check_size(value: Any, limits: Limits) -> None:
    row = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    size = row_size([storable(item) for item in row])
    if size > limits.item:
        raise BadElement(f"{size:,} bytes; a row has at most {limits.item:,}")


def _enumerate(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name[:60]) for name in names[:_SHOWN]) + more


# A key is a column's name; beyond this it is data.
_LONGEST_KEY = 1_000


class JsonTable:
    """A ``Table`` of JSON. Opening it reads the whole file once, or twice if the rows are in an object."""

    empty_is_null = False

    def __init__(
        self, source: Source, encoding: Encoding, *, format: str, header: bool | None, limits: Limits
    ) -> None:
        self.format = format
        self.encoding = encoding.name
        self._source = source
        find_rows = find_rows_on_lines if format == "jsonl" else find_rows_in_document
        self._layout = find_rows(lambda: decode(source.chunks(), encoding), limits)
        bad = BadLines()
        found = _read_all(self._layout.values(bad), bad, limits)
        if found is None:
            raise InvalidInput(_explain_no_rows(bad, format))
        self._shape, survey = found
        header_names = survey.find_header(asked=header)
        self._skips_first = header_names is not None
        given = names.clean_names(header_names or self._shape.names(), limits)
        self.columns = tuple(Column(name, scan.kind) for name, scan in zip(given, survey.scans, strict=True))
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
                yield self._convert(rows) if any(self._converters) else rows

    def _convert(self, rows: list[tuple[Any, ...]]) -> list[Row]:
        columns = [
            values if convert is None else list(map(convert, values))
            for values, convert in zip(zip(*rows, strict=True), self._converters, strict=True)
        ]
        return list(zip(*columns, strict=True))


class _Shape(Protocol):
    """The way a row is made of a value."""

    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        """Return one tuple per good value, with as many items as there are columns so far."""

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
                bad.add(batch.line_of(place), f"{_describe(value)} where an object was expected")
            elif value.keys() <= self._keys.keys() or self._learn(value):
                good.append(value)
            else:
                bad.add(batch.line_of(place), f"a key has more than {_LONGEST_KEY:,} characters")
        return good

    def _learn(self, value: dict[str, Any]) -> bool:
        """Add new columns. False if a key is too long for one; the second pass meets no other unknown
        keys."""
        if not self.is_learning or any(len(key) > _LONGEST_KEY for key in value):
            return False
        self._keys.update(dict.fromkeys(value))
        names.check_count(len(self._keys), self._limits)
        pick = itemgetter(*self._keys)
        self._pick = pick if len(self._keys) > 1 else lambda value: (pick(value),)
        return True


class _Arrays:
    def __init__(self, first: Sequence[Any], limits: Limits) -> None:
        widths = Counter(len(value) for value in first if type(value) is list)
        self._width = names.check_count(widths.most_common(1)[0][0], limits)

    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        good: list[tuple[Any, ...]] = []
        for place, value in enumerate(batch.values):
            if type(value) is list and len(value) == self._width:
                good.append(tuple(value))
            elif type(value) is list:
                bad.add(batch.line_of(place), f"{len(value)} values where {self._width} were expected")
            else:
                bad.add(batch.line_of(place), f"{_describe(value)} where an array was expected")
        return good

    def names(self) -> list[str]:
        return [""] * self._width


class _Singles:
    def rows(self, batch: Values, bad: BadLines) -> list[tuple[Any, ...]]:
        good: list[tuple[Any, ...]] = []
        for place, value in enumerate(batch.values):
            if type(value) in (dict, list):
                bad.add(batch.line_of(place), f"{_describe(value)} where a single value was expected")
            else:
                good.append((value,))
        return good

    def names(self) -> list[str]:
        return ["value"]


def _read_all(
    batches: Iterator[Values], bad: BadLines, limits: Limits
) -> tuple[_Shape, Survey[ValueScan]] | None:
    """Return the shape of the rows and what the first pass finds. None if there are no rows."""
    shape: _Shape | None = None
    survey = Survey(ValueScan, may_name=False)
    for batch in batches:
        if not batch.values:
            continue
        if shape is None:
            shape = _shape_of(batch.values, limits)
            survey = Survey(ValueScan, may_name=isinstance(shape, _Arrays))
        survey.feed(shape.rows(batch, bad))
    if shape is None or not survey.count or not shape.names():
        return None
    if isinstance(shape, _Objects):
        shape.is_learning = False
    return shape, survey


def _shape_of(values: Sequence[Any], limits: Limits) -> _Shape:
    counted = Counter(map(type, values))
    if counted[dict] and counted[dict] >= counted[list]:
        return _Objects(limits)
    return _Arrays(values, limits) if counted[list] else _Singles()


def _describe(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "a text"
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else "a number"


def _explain_no_rows(bad: BadLines, format: str) -> str:
    if not bad.kept:
        return "the file has no rows to make a table of"
    first = bad.kept[0]
    hint = "; if the file is one JSON document, use format json" if format == "jsonl" else ""
    return f"no row of the file can be read; line {first.number:,}: {first.reason}{hint}"

"""Tables in JSON files: an array, an object around an array, single objects, or JSON lines.

Rows are objects (the columns are all keys of the file in the order of their first appearance), arrays (the
first may name the columns) or single values. The majority of the first rows decides, and other rows are bad
lines. A document is read value by value, so that no more than one is in memory. If it breaks off or is not
JSON, it is refused with the line, because half of it would look like all of it. In JSON lines, a broken line
is left out.

Values in the table:

===================  ===========================================================================
true, false          1, 0
null, missing key    NULL
object, array        its JSON as text; ``{"$blob": "<base64>"}`` is a blob
integer              itself; one beyond 64 bits makes its column TEXT
Infinity, NaN        the infinities as numbers, NULL
===================  ===========================================================================

Integers and decimal numbers together make a REAL column if floats can hold them. Other mixtures make a column
without a type, in which values are not changed.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO

import msgspec

from mnemos.errors import InvalidInput
from mnemos.workspace.formats import columns as names
from mnemos.workspace.formats.columns import (
    LARGEST,
    SMALLEST,
    BadLines,
    Column,
    Kind,
    Limits,
    Row,
    Survey,
    Value,
    row_size,
)
from mnemos.workspace.formats.json_document import BadElement, Document, Element, decode_line
from mnemos.workspace.formats.source import CHUNK, CUT, Encoding, Source, read_lines

Layout = Callable[[BadLines], Iterator[Element]]
"""Reads the rows of a file from its beginning. Bad lines are added to the argument."""

_SHOWN = 5
_BATCH_CHARACTERS = 250_000
# A key is a column's name; beyond this it is data.
_LONGEST_KEY = 1_000

# Number of single values for each object or array from which on they are the rows.
_REMARKS = 10
_encode = msgspec.json.Encoder().encode

# Larger integers are changed by a float.
_EXACT = 2**53
_NUMBERS = {int, float, bool}
_TEXTS = {str, list, dict}
_NESTED = {list, dict}
BLOB_KEY = "$blob"


def _read_lines(read: Callable[[], TextIO], limits: Limits, bad: BadLines) -> Iterator[Element]:
    for number, line in enumerate(read_lines(read(), limits.item), 1):
        if line[0] == CUT:
            bad.add(number, f"longer than {limits.item:,} characters")
        elif not line.isspace():
            try:
                value = decode_line(line)
            except BadElement as exc:
                bad.add(number, str(exc))
            else:
                yield number, len(line), value


def _find_rows(read: Callable[[], TextIO], limits: Limits) -> tuple[Layout, str]:
    """Find the rows of a document, and say what was left out. InvalidInput if there are several tables."""

    def open_document() -> Document:
        return Document(iter(partial(read().read, CHUNK), ""), limits.item)

    document = open_document()
    opening = document.ahead()
    if opening == "[":
        return lambda _: _read_array(open_document()), ""
    if opening != "{":
        start = f"starts with {opening!r}, not with an array or an object" if opening else "is empty"
        raise InvalidInput(f"The file {start}. Use the format csv or jsonl.")
    tables: list[str] = []
    others: list[str] = []
    for name, is_array, inside in document.members():
        first = next(inside, None)
        has_rows = is_array and first is not None and isinstance(first[2], list | dict)
        (tables if has_rows else others).append(name)
    if not tables or document.ahead():
        # An object without a table is a row, and so are several objects.
        return lambda _: open_document().all_values(), ""
    if len(tables) > 1:
        raise InvalidInput(
            f"The object contains several tables ({_enumerate(tables)}). Put each of them in a separate file."
        )
    note = f"The rows are those of {tables[0]!r}"
    note += f"; {_enumerate(others)} was left out." if others else "."
    return lambda _: _read_member(open_document(), tables[0]), note


def _read_array(document: Document) -> Iterator[Element]:
    yield from document.elements()
    document.end()


def _read_member(document: Document, wanted: str) -> Iterator[Element]:
    for name, _, inside in document.members():
        if name == wanted:
            yield from inside


def _enumerate(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name[:60]) for name in names[:_SHOWN]) + more


@dataclass(slots=True)
class _Batch:
    values: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def _batch(elements: Iterable[Element], limits: Limits, bad: BadLines) -> Iterator[_Batch]:
    """Yield some hundred kilobytes at a time, without what is too long for a row."""
    batch, size = _Batch(), 0
    for line, length, value in elements:
        # At most four bytes per character: only then may it be too large.
        if length * 4 > limits.item and (measured := _measure(value)) > limits.item:
            bad.add(line, f"{measured:,} bytes; a row has at most {limits.item:,}")
            continue
        batch.values.append(value)
        batch.lines.append(line)
        size += length
        if size > _BATCH_CHARACTERS:
            yield batch
            batch, size = _Batch(), 0
    yield batch


def _measure(value: Any) -> int:
    """Return the bytes of a value as a row."""
    row = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return row_size([storable(item) for item in row])


class JsonTable:
    """A ``Table`` of JSON. Opening it reads the whole file once, or twice if it is an object."""

    empty_is_null = False

    def __init__(
        self, source: Source, encoding: Encoding, *, format: str, header: bool | None, limits: Limits
    ) -> None:
        self.format = format
        self.encoding = encoding.name
        self._source = source
        self._limits = limits

        read = partial(source.text, encoding)
        note = ""
        if format == "jsonl":
            self._layout: Layout = partial(_read_lines, read, limits)
        else:
            self._layout, note = _find_rows(read, limits)
        bad = BadLines()
        survey = self._survey(bad)
        header_names = survey.find_header(asked=header)
        self._skips_first = header_names is not None
        given = names.clean_names(header_names or self._shape.names, limits)
        self.columns = tuple(Column(name, scan.kind) for name, scan in zip(given, survey.scans, strict=True))
        self._converters = [scan.converter for scan in survey.scans]
        self.rows = survey.count - self._skips_first
        self.bad = sorted(bad.kept, key=lambda line: line.number)
        self.bad_total = bad.total
        self.notes = [note for note in (encoding.note, note) if note]

    def batches(self) -> Iterator[Sequence[Row]]:
        self._source.next_pass()
        skip = self._skips_first
        ignored = BadLines()
        for batch in _batch(self._layout(ignored), self._limits, ignored):
            rows = self._shape.rows(batch, ignored)
            if skip and rows:
                del rows[0]
                skip = False
            if rows:
                yield self._convert(rows) if any(self._converters) else rows

    def _survey(self, bad: BadLines) -> Survey:
        """Read the file once for the shape of its rows and their types. InvalidInput if there are none."""
        survey: Survey | None = None
        for batch in _batch(self._layout(bad), self._limits, bad):
            if batch.values:
                if survey is None:
                    self._shape = _Shape(batch.values, self._limits)
                    survey = Survey(ValueScan, may_name=self._shape.kind is list)
                survey.feed(self._shape.rows(batch, bad))
        if survey is None or not survey.count or not self._shape.names:
            raise InvalidInput(_explain_no_rows(bad, self.format))
        self._shape.is_learning = False
        return survey

    def _convert(self, rows: list[tuple[Any, ...]]) -> list[Row]:
        columns = [
            values if convert is None else list(map(convert, values))
            for values, convert in zip(zip(*rows, strict=True), self._converters, strict=True)
        ]
        return list(zip(*columns, strict=True))


class _Shape:
    """The way a row is made of a value: of an object, of an array, or of the value itself."""

    def __init__(self, first: Sequence[Any], limits: Limits) -> None:
        counted = Counter(kind if (kind := type(value)) in _NESTED else object for value in first)
        self._limits = limits
        self.is_learning = True
        # A few objects among many single values are rows, and the values remarks.
        weights = {dict: _REMARKS, list: _REMARKS, object: 1}
        self.kind: type = max(weights, key=lambda kind: weights[kind] * counted[kind])
        self.names = ["value"] if self.kind is object else []
        """Of the columns so far; empty ones for arrays."""
        if self.kind is list:
            widths = Counter(len(value) for value in first if type(value) is list)
            self.names = [""] * names.check_count(widths.most_common(1)[0][0], limits)
        self._keys: dict[str, None] = {}

    def rows(self, batch: _Batch, bad: BadLines) -> list[tuple[Any, ...]]:
        """Return one tuple per good value, with as many items as there are columns so far."""
        good: list[Any] = []
        for value, line in zip(batch.values, batch.lines, strict=True):
            if flaw := self._find_flaw(value):
                bad.add(line, flaw)
            else:
                good.append(value)
        if self.kind is dict:
            return [tuple(map(value.get, self._keys)) for value in good]
        return list(map(tuple, good)) if self.kind is list else [(value,) for value in good]

    def _find_flaw(self, value: Any) -> str:
        if self.kind is dict:
            if type(value) is not dict:
                return f"{_describe(value)} where an object was expected"
            return "" if value.keys() <= self._keys.keys() else self._learn(value)
        if self.kind is not list:
            return f"{_describe(value)} where a single value was expected" if type(value) in _NESTED else ""
        if type(value) is not list:
            return f"{_describe(value)} where an array was expected"
        width = len(self.names)
        return "" if len(value) == width else f"{len(value)} values where {width} were expected"

    def _learn(self, value: dict[str, Any]) -> str:
        """Add new columns, unless a key is too long for one. The second pass meets no other unknown keys."""
        if not self.is_learning or any(len(key) > _LONGEST_KEY for key in value):
            return f"a key has more than {_LONGEST_KEY:,} characters"
        self._keys.update(dict.fromkeys(value))
        names.check_count(len(self._keys), self._limits)
        self.names = list(self._keys)
        return ""


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


# --- types and values ---------------------------------------------------------------------------


class ValueScan:
    """Narrows down the type of a column, batch by batch."""

    __slots__ = ("_blobs", "_highest", "_lowest", "_other_objects", "_types")

    def __init__(self) -> None:
        self._types: set[type] = set()
        self._lowest = 0
        self._highest = 0
        self._blobs = False
        self._other_objects = False

    def feed(self, values: Sequence[Any]) -> None:
        types = set(map(type, values))
        self._types |= types
        if int in types:
            integers = values if types == {int} else [value for value in values if type(value) is int]
            self._lowest = min(self._lowest, min(integers))
            self._highest = max(self._highest, max(integers))
        if dict in types:
            blobs = {_decode_blob(value) is not None for value in values if type(value) is dict}
            self._blobs = self._blobs or True in blobs
            self._other_objects = self._other_objects or False in blobs

    @property
    def kind(self) -> Kind:
        types = self._types - {type(None)}
        if types and types <= _NUMBERS:
            return self._kind_of_numbers(types)
        if self._blobs:
            return Kind.BLOB if types == {dict} and not self._other_objects else Kind.ANY
        return Kind.TEXT if types and types <= _TEXTS else Kind.ANY

    @property
    def is_number(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.REAL)

    @property
    def is_settled(self) -> bool:
        return False

    @property
    def converter(self) -> Callable[[Any], Value] | None:
        """The conversion of a value. None if SQLite takes all of them unchanged."""
        if self.kind is Kind.TEXT and self._types & _NUMBERS:
            return lambda value: value if value is None else str(int(value) if type(value) is bool else value)
        if self._types & {dict, list} or self._has_big_integers:
            return storable
        return None

    @property
    def _has_big_integers(self) -> bool:
        return self._lowest < SMALLEST or self._highest > LARGEST

    def _kind_of_numbers(self, types: set[type]) -> Kind:
        if self._has_big_integers:
            return Kind.TEXT
        if float not in types:
            return Kind.INTEGER
        return Kind.REAL if max(self._highest, -self._lowest) <= _EXACT else Kind.ANY


def _decode_blob(value: dict[str, Any]) -> bytes | None:
    """Return the blob that an object stands for. None for any other object."""
    text = value.get(BLOB_KEY) if len(value) == 1 else None
    if type(text) is not str:
        return None
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError):
        return None


def storable(value: Any) -> Value:
    """Return a JSON value as SQLite stores it."""
    if type(value) is dict:
        blob = _decode_blob(value)
        return _encode(value).decode() if blob is None else blob
    if type(value) is list:
        return _encode(value).decode()
    if type(value) is int and not SMALLEST <= value <= LARGEST:
        return str(value)
    return value  # type: ignore[no-any-return]

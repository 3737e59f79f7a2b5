"""Places of rows in a JSON file: on lines, in an array, in a member of an object, or across columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from mnemos.errors import InvalidInput, TooLarge
from mnemos.workspace.formats.columns import BadLines, Limits, row_size
from mnemos.workspace.formats.json_elements import Document, Elements, find_on_lines
from mnemos.workspace.formats.json_values import BadElement, decode_all, decode_leniently, storable
from mnemos.workspace.formats.source import whole_lines

Read = Callable[[], Iterator[str]]
"""Returns the text of the file from its beginning."""

# Members with the names of columns, for rows that are arrays.
_NAMES = ("columns", "fields", "header", "headers")
_BATCH = 1_000
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Values:
    values: list[Any]
    line_of: Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to read the rows of a file. Each call of ``values`` reads the file again."""

    values: Callable[[BadLines], Iterator[Values]]
    names: tuple[str, ...] = ()
    """Names of the columns, if the file has them beside the rows."""
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
        raise InvalidInput("the file is empty; there is nothing to make a table of")
    raise InvalidInput(
        f"the file begins with {opening!r}, which is neither an array nor an object; use format csv, or jsonl"
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
    tables: list[str] = []
    others: list[str] = []
    names: tuple[str, ...] = ()
    for raw, kind in document.members():
        name = _decode_name(raw)
        if kind in ("[[", "[{"):
            tables.append(name)
            document.skip()
            continue
        others.append(name)
        if name.lower() in _NAMES and kind == '["':
            names = names or _decode_texts(document.take())
        else:
            document.skip()
    if document.ahead():
        return Layout(
            lambda bad: _decode(_read_values(read, limits, bad), limits, bad),
            note="The file contains several JSON values, one after the other.",
        )
    if len(tables) > 1:
        raise InvalidInput(
            f"the object contains several tables ({_enumerate(tables)}); put each of them in a separate file"
        )
    if not tables:
        return _find_in_whole(read, limits)
    note = f"The rows are those of {tables[0]!r}"
    note += f"; {_enumerate(others)} was left out." if others else "."
    return Layout(lambda bad: _decode(_read_member(read, limits, tables[0], bad), limits, bad), names, note)


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
        raise InvalidInput(f"the name {name[:60]} in the JSON object is {exc}") from exc


def _decode_texts(raw: str | None) -> tuple[str, ...]:
    try:
        value = decode_leniently(raw or "")
    except BadElement:
        return ()
    return tuple(value) if all(isinstance(name, str) for name in value) else ()


def _find_in_whole(read: Read, limits: Limits) -> Layout:
    """Read an object whose members are columns, or which is itself the only row, into memory."""
    parts: list[str] = []
    size = 0
    for text in read():
        parts.append(text)
        size += len(text)
        if size > limits.whole:
            raise TooLarge(
                f"an object without an array of rows has more than {limits.whole:,} characters; write its "
                "rows as JSON lines, one object per line"
            )
    try:
        whole = decode_leniently("".join(parts))
    except BadElement as exc:
        raise InvalidInput(f"the file is {exc}") from exc
    if not whole or not all(isinstance(column, list) for column in whole.values()):
        return Layout(lambda _: iter([Values([whole], lambda _place: 1)]))
    lengths = {name: len(column) for name, column in whole.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} {length:,}" for name, length in islice(lengths.items(), _SHOWN))
        raise InvalidInput(f"the columns have different lengths ({shown}); give each as many values")
    return Layout(lambda _: _transpose(whole), note="The members of the object are its columns.")


def _transpose(columns: dict[str, list[Any]]) -> Iterator[Values]:
    rows = zip(*columns.values(), strict=True)
    while batch := [dict(zip(columns, row, strict=True)) for row in islice(rows, _BATCH)]:
        yield Values(batch, lambda _place: 1)


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

"""Text: counted, cut, compared, and read as CSV.

Cells of CSV are text, so that leading zeros and long numbers are not changed. The delimiter is detected
from the first lines (comma, semicolon, tab or bar) unless it is given.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from io import StringIO
from typing import Any

from mnemos.workspace.functions.function import (
    LONGEST,
    Function,
    FunctionFailed,
    Value,
    as_json,
    as_text,
    as_whole,
    declare,
    expression,
    quote_value,
    refuse_longer,
)

FUNCTIONS: list[Function] = []

# Han, kana and bopomofo are written without blanks: as in word processors, each character is a word.
_UNSPACED = (
    "[\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
# Only tried at the beginning of a run, or a long run of signs would be read once for each of them.
_WORD = r"(?<!\S)(?:[^\w\s]|_)*+[^\W_]\S*+"

_ACCENTS = {*map(chr, range(0x300, 0x370))}
_WITHOUT_DECOMPOSITION = dict(zip("øđðłıħ", "oddlih", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th"}

# 20,000 by 20,000: about a third of a second and 50 MB at worst.
MOST_CELLS = 400_000_000

_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}

# Enough lines to tell a delimiter from a character inside of cells.
_SAMPLE_ROWS = 20
_SAMPLE = 50_000
# Each needs a name. More of them come from a wrong delimiter.
MOST_COLUMNS = 100_000


@declare(
    FUNCTIONS, "split_sections(text [, separator])", "split_sections('one--two', '--')", """'["one","two"]'"""
)
def split_sections(text: Value, separator: Value = None) -> Value:
    """JSON array of the sections: cut at Markdown headings, otherwise at blank lines, or at the separator
    ('\\n' is a line break)."""
    whole = as_text(text)
    if separator is not None:
        parts = whole.split(_unescape_separator(as_text(separator), whole))
    else:
        parts = _split_at_headings(whole) or expression(r"\n\s*\n").split(whole)
    return as_json([part for part in map(str.strip, parts) if part])


def _unescape_separator(separator: str, text: str) -> str:
    """Return the separator that is meant.

    SQL has no escapes, so ``\\n`` is two characters. It means a line break unless the text contains the two.
    """
    if not separator:
        raise FunctionFailed("separator is empty; give the text between the parts, such as ','")
    if "\\" not in separator or separator in text:
        return separator
    return expression(r"\\[nrt]").sub(lambda found: _ESCAPES[found[0]], separator)


def _split_at_headings(text: str) -> list[str]:
    """Cut the text before each Markdown heading. Empty if there is none."""
    is_heading = expression(r"[ ]{0,3}#{1,6}[ \t]+\S").match
    is_fence = expression(r"[ ]{0,3}(?:```|~~~)").match
    sections: list[list[str]] = [[]]
    fenced = False
    for line in text.split("\n"):
        if is_fence(line):
            fenced = not fenced
        elif not fenced and is_heading(line):
            sections.append([])
        sections[-1].append(line)
    return ["\n".join(section) for section in sections] if len(sections) > 1 else []


@declare(FUNCTIONS, "json_length(json [, path])", """json_length('{"items": [1, 2, 3]}', '$.items')""", "3")
def json_length(json: Value, path: Value = "$") -> Value:
    """Number of elements of an array or members of an object, 1 for a scalar, NULL for invalid JSON."""
    # apsw: where SQL calls this, it is loaded.
    from apsw import SQLError

    try:
        found: Value = _count_json()(_JSON_LENGTH, (as_text(json), as_text(path))).get
    except SQLError as exc:
        if "path" in str(exc):
            raise FunctionFailed(
                f"path is {quote_value(path)}; write it as '$', '$.key' or '$.items[0]'"
            ) from exc
        return None
    return found


_JSON_LENGTH = """
SELECT CASE json_type(?1, ?2)
    WHEN 'array' THEN json_array_length(?1, ?2)
    WHEN 'object' THEN (SELECT count(*) FROM json_each(?1, ?2))
    ELSE iif(json_type(?1, ?2) IS NULL, NULL, 1)
END
"""


@cache
def _count_json() -> Any:
    from apsw import Connection

    return Connection(":memory:").execute


@declare(FUNCTIONS, "word_count(text)", "word_count('It''s a well-known fact.')", "4")
def word_count(text: Value) -> Value:
    """Number of words; each Chinese or Japanese character is one."""
    rest, unspaced = expression(_UNSPACED).subn(" ", as_text(text))
    return unspaced + len(expression(_WORD).findall(rest))


@declare(FUNCTIONS, "char_count(text)", "char_count('naïve')", "5")
def char_count(text: Value) -> Value:
    """Number of characters (code points)."""
    return len(as_text(text))


@declare(FUNCTIONS, "split_part(text, separator, number)", "split_part('a,b,c', ',', 2)", "'b'")
def split_part(text: Value, separator: Value, number: Value) -> Value:
    """The part with that number, counted from 1, or from -1 at the end; '' if there is none."""
    whole, nth = as_text(text), as_whole(number, "number")
    if nth == 0:
        raise FunctionFailed("number is 0; parts count from 1, or from -1 at the end")
    if as_text(separator) == "":
        return whole if nth in {1, -1} else ""
    between = _unescape_separator(as_text(separator), whole)
    parts = whole.split(between, nth if 0 < nth <= LONGEST else -1)
    place = nth - 1 if nth > 0 else len(parts) + nth
    return parts[place] if 0 <= place < len(parts) else ""


@declare(FUNCTIONS, "substr_range(text, start [, end])", "substr_range('abcdef', 1, 3)", "'bc'")
def substr_range(text: Value, start: Value, end: Value = LONGEST) -> Value:
    """Characters from start up to but not including end, counted from 0; negative from the end."""
    return as_text(text)[as_whole(start, "start") : as_whole(end, "end")]


@declare(FUNCTIONS, "slugify(text)", "slugify('Crème Brûlée, 2 eggs!')", "'creme-brulee-2-eggs'")
def slugify(text: Value) -> Value:
    """Lower-case words joined by hyphens, without accents; other scripts are kept."""
    # unicodedata: loaded by the first function that needs it.
    from unicodedata import category, normalize

    def plain(character: str) -> str:
        # One character at a time: the normal form of a long run of accents takes the square of its length.
        bare = "".join(c for c in normalize("NFKD", character.casefold()) if c not in _ACCENTS)
        kept = "".join(
            _WITHOUT_DECOMPOSITION.get(c, c) if c.isalnum() or category(c)[0] == "M" else "-" for c in bare
        )
        return normalize("NFC", kept)

    whole = as_text(text)
    table = {ord(character): plain(character) for character in set(whole)}
    # Apostrophes are part of words: don't is dont, not don-t.
    table.update({ord("'"): "", ord("\u2019"): ""})
    return expression("-+").sub("-", whole.translate(table)).strip("-")


@declare(FUNCTIONS, "levenshtein(text1, text2)", "levenshtein('kitten', 'sitting')", "3")
def levenshtein(first: Value, second: Value) -> Value:
    """Number of characters to insert, delete or replace to turn one text into the other."""
    return _measure_distance(as_text(first), as_text(second))


@declare(FUNCTIONS, "similarity(text1, text2)", "similarity('grey', 'gray')", "0.75")
def similarity(first: Value, second: Value) -> Value:
    """From 0 (nothing in common) to 1 (equal): 1 - levenshtein / length of the longer text."""
    one, other = as_text(first), as_text(second)
    longer = max(len(one), len(other))
    return 1 - _measure_distance(one, other) / longer if longer else 1.0


def _measure_distance(one: str, other: str) -> int:
    """Return the edit distance, one row of the table at a time as the bits of an integer (Myers, Hyyrö)."""
    short, long = sorted(_trim_common(one, other), key=len)
    if not short:
        return len(long)
    if len(short) * len(long) > MOST_CELLS:
        raise FunctionFailed(
            f"texts of {len(short):,} and {len(long):,} characters are too long to compare: the product may"
            f" be {MOST_CELLS:,}; compare their beginnings with substr(...)"
        )
    places = {character: _mark_places(long, character) for character in set(short)}
    every = (1 << len(long)) - 1
    last = 1 << (len(long) - 1)
    more, less, distance = every, 0, len(long)
    for character in short:
        same = places[character]
        diagonal = (((same & more) + more) ^ more) | same | less
        right = less | (every & ~(diagonal | more))
        left = diagonal & more
        if right & last:
            distance += 1
        elif left & last:
            distance -= 1
        right = (right << 1) | 1
        more = ((left << 1) | ~(diagonal | right)) & every
        less = right & diagonal & every
    return distance


def _trim_common(one: str, other: str) -> tuple[str, str]:
    """Return both texts without their common beginning and end."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return one[start : len(one) - end], other[start : len(other) - end]


def _mark_places(text: str, character: str) -> int:
    """Return an integer whose bits are the places of the character."""
    digits = bytearray(b"0") * len(text)
    place = text.find(character)
    while place >= 0:
        digits[-1 - place] = 49
        place = text.find(character, place + 1)
    return int(digits, 2)


@declare(
    FUNCTIONS,
    "csv_parse(text [, header [, delimiter]])",
    "csv_parse('id;name' || char(10) || '07;Ada', 1, ';')",
    """'[{"id":"07","name":"Ada"}]'""",
)
def csv_parse(text: Value, header: Value = 1, delimiter: Value = None) -> Value:
    """JSON array for json_each: one object per row, or with header 0 one array per row. The delimiter is
    detected unless it is given."""
    has_header, between = _read_options(header, delimiter)
    rows = _parse_rows(as_text(text), between)
    names = _name_columns(next(rows, [])) if has_header else []
    overhead = sum(map(len, names)) + 4 * len(names)
    kept: list[dict[str, str | None] | list[str]] = []
    length = 0
    for cells in rows:
        # Never more than the JSON will have, and known before a wide header is repeated.
        length += overhead + sum(map(len, cells)) + 3
        refuse_longer(length, "the JSON of all rows")
        kept.append(_make_object(names, cells) if has_header else cells)
    return as_json(kept)


@declare(
    FUNCTIONS,
    "csv_column(text, column [, header [, delimiter]])",
    "csv_column('id,name' || char(10) || '1,Ada' || char(10) || '2,Bo', 'name')",
    """'["Ada","Bo"]'""",
)
def csv_column(text: Value, column: Value, header: Value = 1, delimiter: Value = None) -> Value:
    """JSON array of the cells of one column, chosen by header or by number from 1."""
    has_header, between = _read_options(header, delimiter)
    rows = _parse_rows(as_text(text), between)
    names = _name_columns(next(rows, [])) if has_header else []
    place = _find_column(names, column) if has_header else as_whole(column, "column") - 1
    if place < 0:
        raise FunctionFailed(f"column is {quote_value(column)}; columns count from 1")
    return as_json([cells[place] if place < len(cells) else None for cells in rows])


@declare(
    FUNCTIONS,
    "csv_headers(text [, delimiter])",
    "csv_headers('id,name' || char(10) || '1,Ada')",
    """'["id","name"]'""",
)
def csv_headers(text: Value, delimiter: Value = None) -> Value:
    """JSON array of the cells of the first row."""
    return as_json(next(_parse_rows(as_text(text), _check_delimiter(delimiter)), []))


def _read_options(header: Value, delimiter: Value) -> tuple[bool, str | None]:
    """Return whether there is a header, and the delimiter, which may be given instead of the header."""
    if isinstance(header, str | bytes) and delimiter is None and as_text(header).strip() not in {"0", "1"}:
        return True, _check_delimiter(header)
    return as_whole(header, "header") != 0, _check_delimiter(delimiter)


def _check_delimiter(value: Value) -> str | None:
    if value is None:
        return None
    between = {"\\t": "\t", "tab": "\t"}.get(as_text(value), as_text(value))
    if len(between) != 1 or between == '"' or (between < " " and between != "\t"):
        raise FunctionFailed(
            f"delimiter is {quote_value(value)}; give one character such as ',' or ';' or 'tab'"
        )
    return between


def _parse_rows(text: str, delimiter: str | None) -> Iterator[list[str]]:
    """Yield the rows that are not empty."""
    # csv and formats: loaded by the first function that needs them.
    import csv

    from mnemos.workspace.formats.dialect import sniff

    # A cell may be as long as a value. The module has one limit for the process.
    csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    # A lone carriage return ends a line, too, but the csv module refuses it.
    lines = expression("\r\n?").sub("\n", text.removeprefix("\ufeff"))
    if delimiter is None:
        sample = lines[:_SAMPLE].splitlines(keepends=True)[:_SAMPLE_ROWS]
        delimiter = sniff(sample, is_all=len(lines) <= _SAMPLE).dialect.delimiter
    return (cells for cells in csv.reader(StringIO(lines, newline="\n"), delimiter=delimiter) if cells)


def _name_columns(header: list[str]) -> list[str]:
    """Return distinct names: an empty one becomes a number, a repeated one gets a number at its end."""
    if len(header) > MOST_COLUMNS:
        raise FunctionFailed(
            f"a row has {len(header):,} cells, over {MOST_COLUMNS:,}; give the right delimiter"
        )
    # formats: loaded by the first function that needs it.
    from mnemos.workspace.formats.columns import make_distinct

    return make_distinct(cell.strip() or f"column_{number}" for number, cell in enumerate(header, start=1))


def _make_object(names: list[str], cells: list[str]) -> dict[str, str | None]:
    """Return a row as an object. Missing cells are null; cells without a header are kept by number."""
    row: dict[str, str | None] = dict(zip(names, cells, strict=False))
    for name in names[len(cells) :]:
        row[name] = None
    if len(cells) > len(names):
        every = _name_columns([*names, *[""] * (len(cells) - len(names))])
        row.update(zip(every[len(names) :], cells[len(names) :], strict=True))
    return row


def _find_column(names: list[str], column: Value) -> int:
    if isinstance(column, str | bytes):
        wanted = as_text(column).strip()
        folded = wanted.casefold()
        for same in (wanted.__eq__, lambda name: name.casefold() == folded):
            for place, name in enumerate(names):
                if same(name):
                    return place
    number = as_whole(column, "column") if not isinstance(column, str | bytes) else 0
    if not 1 <= number <= len(names):
        known = ", ".join(names[:20])
        raise FunctionFailed(
            f"column is {quote_value(column)}; there are {len(names)} from 1 on: {known[:500]}"
        )
    return number - 1

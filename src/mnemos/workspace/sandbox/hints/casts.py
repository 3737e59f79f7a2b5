"""Casts to types of other databases: what SQLite has instead."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

_FUNCTIONS = {"DATE": "date", "TIMESTAMP": "datetime", "TIMESTAMPTZ": "datetime", "DATETIME": "datetime"}
_FUNCTIONS |= {"DATETIME2": "datetime", "SMALLDATETIME": "datetime", "TIME": "time"}
_TEXT = re.compile(r"N?(VAR)?CHAR|N?TEXT|STRING|CHARACTER|CITEXT|UUID|NAME|BPCHAR|UNIQUEIDENTIFIER|CLOB")
_WHOLE = re.compile(
    r"U?(BIG|SMALL|TINY|MEDIUM)?INT(EGER)?\d*|(UN)?SIGNED|BOOL(EAN)?|BIT|(BIG|SMALL)?SERIAL|OID"
)
_BROKEN = re.compile(r"FLOAT\d*|DOUBLE|REAL|(SMALL)?MONEY")
_EXACT = re.compile(r"NUMERIC|DECIMAL|DEC|NUMBER|BIGNUMERIC")
_NONE = re.compile(r"JSONB?|REGCLASS|XML|VARIANT")
_BINARY = re.compile(r"BYTEA|(VAR)?BINARY|BLOB|BYTES")
_TYPE = re.compile(r"\s*([A-Za-z_]\w*)[^(]*(?:\(\s*(\w+)\s*(?:,\s*(\d+)\s*)?\))?", re.DOTALL)
# Words that belong to a type after its first.
_TAIL = frozenset(
    {"PRECISION", "VARYING", "WITH", "WITHOUT", "TIME", "ZONE", "LOCAL", "UNSIGNED", "SIGNED", "INTEGER"}
)

CASTS = "SQLite has no `::`; a cast is CAST(x AS TYPE), and date(x) or datetime(x) for dates"


def is_type(word: str) -> bool:
    """Whether a word in capitals names a type in some database."""
    patterns = (_TEXT, _WHOLE, _BROKEN, _EXACT, _NONE, _BINARY)
    return word in _FUNCTIONS or any(pattern.fullmatch(word) for pattern in patterns)


def cast(value: str, kind: str) -> str | None:
    """An expression of SQLite's for a value as a type; None for a type that says nothing."""
    match = _TYPE.match(kind)
    if match is None:
        return None
    name, digits = match[1].upper(), match[3]
    if name in _FUNCTIONS:
        return f"{_FUNCTIONS[name]}({value})"
    if name == "INTERVAL":
        return f"INTERVAL {value}"
    if _EXACT.fullmatch(name):
        return f"round({value}, {digits})" if digits else f"CAST({value} AS NUMERIC)"
    for pattern, type_ in ((_TEXT, "TEXT"), (_WHOLE, "INTEGER"), (_BROKEN, "REAL"), (_BINARY, "BLOB")):
        if pattern.fullmatch(name):
            return f"CAST({value} AS {type_})"
    return value if _NONE.fullmatch(name) else None


def colons(text: Text, _schema: Schema) -> Iterable[Change]:
    """``x::type``, which the lexer takes for a stray colon and a parameter, ``x`` ``:`` ``:type``."""
    for index in text.places(":"):
        following = text.word(index + 1)
        if text.kind(index) is not Kind.ILLEGAL or not following.startswith(":"):
            continue
        first, last = text.operand_before(index), _end_of_type(text, index + 1)
        if first is None:
            continue
        made: str | None = text.source(first, index)
        for kind in text.source(index + 1, last)[1:].split("::"):
            made = cast(made, kind) if made else None
        yield Change(CASTS, (Edit(first, last, made),) if made else ())


def _end_of_type(text: Text, index: int) -> int:
    last = index + 1
    if text.kind(index) is Kind.ILLEGAL and "(" in text.word(index):
        # `:numeric(10, 2)` falls apart at its blank.
        while last < len(text) and text.word(last - 1) != ")":
            last += 1
    elif text.word(last) == "(":
        last = text.closes.get(last, last - 1) + 1
    while text.word(last) in _TAIL or text.word(last) == "[]":
        last += 1
    return last


def functions(text: Text, schema: Schema) -> Iterable[Change]:
    """``CONVERT(type, x)``, ``CONVERT(x, type)``, ``CONVERT(x USING charset)`` and the forgiving casts."""
    for index, word in enumerate(text.words):
        if word not in _CASTING or text.word(index + 1) != "(" or schema.has_function(word):
            continue
        closed = text.closes.get(index + 1)
        if closed is None:
            continue
        made = _casted(text, word, index + 1, closed)
        if made and made != text.source(index, closed + 1):
            yield Change(_CASTING[word], (Edit(index, closed + 1, made),))


def _casted(text: Text, word: str, opened: int, closed: int) -> str | None:
    using = text.find(opened + 1, closed, "AS", "USING")
    if using is not None:
        value = text.source(opened + 1, using)
        if text.word(using) == "USING":
            return value
        kind = text.source(using + 1, closed)
        return cast(value, kind) if word != "CAST" or "MAX" in text.words[using:closed] else None
    arguments = text.arguments(opened)
    if len(arguments) not in (2, 3):
        return None
    one, two = (text.source(*arguments[0]), text.source(*arguments[1]))
    return cast(two, one) if is_type(text.word(arguments[0][0])) else cast(one, two)


_FORGIVING = "SQLite has CAST(x AS TYPE) only; text that is no number becomes 0 and not NULL"
_CASTING = {
    "CAST": "a type has no MAX in SQLite; TEXT holds any length",
    "CONVERT": "SQLite has no CONVERT; use CAST(x AS TYPE), and date(x) or strftime(format, x) for dates",
    "TRY_CAST": _FORGIVING,
    "SAFE_CAST": _FORGIVING,
    "TRY_CONVERT": _FORGIVING,
}

RULES = (
    (frozenset({":"}), colons),
    (frozenset(_CASTING), functions),
)

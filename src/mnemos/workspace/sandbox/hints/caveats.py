"""Warnings about SQL that SQLite accepts but understands differently.

They are looked for in every statement that worked. A few searches for literal text decide whether a statement
is tokenized at all. SQL that is merely unusual is left alone: an alarm about correct SQL teaches the reader
to ignore alarms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mnemos.workspace.sandbox.hints.sql_text import Text
from mnemos.workspace.sandbox.lexer import Kind

# Data may follow; what is misunderstood comes before it.
_LONGEST = 10_000
_MOST = 5

_COMPARES = frozenset({"=", "==", "<>", "!="})
_DECIDES = frozenset({"WHERE", "ON", "HAVING", "WHEN", "AND", "OR", "NOT"})
_NUMERIC = re.compile(r"'\s*[+-]?[\d.]+\s*'")
_TIMES = {"DATE": "date(x)", "DATETIME": "datetime(x)", "TIMESTAMP": "datetime(x)", "TIME": "time(x)"}
_SHORT = re.compile(r"[1-9]\d{0,14}", re.ASCII)
_DATE = re.compile(r"(\d{4})-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])", re.ASCII)
_AFTER_CONDITION = frozenset({"", ")", "OR", "AND", "GROUP", "ORDER", "LIMIT"})
_AFTER_TERM = frozenset({"", ")", ",", "ASC", "DESC", "LIMIT", "HAVING", "ORDER"})
_NUMBERING = frozenset("SERIAL BIGSERIAL SMALLSERIAL SERIAL4 SERIAL8 AUTO_INCREMENT IDENTITY".split())
_TYPES = frozenset(
    """BIGINT BLOB BOOL BOOLEAN DATE DATETIME DECIMAL DOUBLE FLOAT INT INTEGER JSON NUMERIC REAL SMALLINT TEXT
    TIMESTAMP VARCHAR""".split()
)
_WITHIN_TYPES = frozenset("PRECISION VARYING UNSIGNED SIGNED BIG WITH WITHOUT ZONE LONG".split())
_CONSTRAINTS = frozenset(
    "AS CHECK COLLATE CONSTRAINT DEFAULT FOREIGN GENERATED NOT NULL PRIMARY REFERENCES UNIQUE".split()
)


def _find_null_comparisons(text: Text) -> Iterator[str]:
    """Find ``x = NULL`` in a condition; after SET it is an assignment."""
    for index in text.places("NULL"):
        sign = text.word(index - 1)
        first = text.operand_before(index - 1) if sign in _COMPARES else None
        if first is None:
            continue
        while text.word(first - 1) == "(":
            first -= 1
        if text.word(first - 1) in _DECIDES:
            right = "IS NULL" if sign in ("=", "==") else "IS NOT NULL"
            yield f"{sign} NULL is never true: write {right}"


def _find_text_additions(text: Text) -> Iterator[str]:
    for index in text.places("+"):
        beside = [text.word(one) for one in (index - 1, index + 1) if text.kind(one) is Kind.STRING]
        if string := next((word for word in beside if not _NUMERIC.fullmatch(word)), None):
            yield f"+ adds numbers, and {string[:30]} is not one: || joins text"


def _find_casts(text: Text) -> Iterator[str]:
    for index in text.places("AS"):
        kind = text.word(index + 1)
        opened = text.word(index + 2) == ")" and text.opens.get(index + 2)
        if not opened or text.word(opened - 1) != "CAST":
            continue
        if kind in _TIMES:
            yield f"CAST(x AS {kind}) makes a number of the text, 2024 of '2024-05-01': use {_TIMES[kind]}"
        elif kind == "STRING":
            yield "CAST(x AS STRING) makes a number: the type is TEXT"
        elif kind in ("SIGNED", "UNSIGNED"):
            yield f"CAST(x AS {kind}) keeps fractions: the type is INTEGER"


def _find_whole_divisions(text: Text) -> Iterator[str]:
    """Find whole numbers divided where a fraction must be meant."""
    for index in text.places("/"):
        first, last = text.operand_before(index), text.operand_after(index + 1)
        if first is None or last is None or text.word(first - 1) in ("*", "/", "%"):
            continue
        left, right = text.source(first, index), text.source(index + 1, last)
        if _SHORT.fullmatch(left) and _SHORT.fullmatch(right) and int(left) % int(right):
            yield f"{left}/{right} is {int(left) // int(right)}, a whole number: write {left}.0/{right}"
        elif text.word(index + 1) == "COUNT" and _is_count(text, first, index):
            yield "dividing two counts gives a whole number: write 1.0 * count(...) / count(...)"


def _is_count(text: Text, first: int, last: int) -> bool:
    if text.word(first) == "FILTER" and text.word(first - 1) == ")":
        last, first = first, text.operand_before(first) or first
        if text.word(first - 1) in ("*", "/", "%"):
            return False
    tail = text.words[last - 6 : last]
    is_sum = text.has(first, "SUM", "(", "CASE") and tail == ["THEN", "1", "ELSE", "0", "END", ")"]
    return is_sum or text.word(first) == "COUNT"


def _find_bare_dates(text: Text) -> Iterator[str]:
    for index in text.places("-"):
        date = "".join(text.words[index - 1 : index + 4]) if index else ""
        if match := _DATE.fullmatch(date):
            result = int(match[1]) - int(match[2]) - int(match[3])
            yield f"{date} without quotes is a subtraction, {result}: write '{date}'"


def _find_string_conditions(text: Text) -> Iterator[str]:
    """Find ``x = 'a' OR 'b'``."""
    for index in text.places("OR"):
        if text.kind(index + 1) is Kind.STRING and text.word(index + 2) in _AFTER_CONDITION:
            string = text.word(index + 1)[:30]
            yield f"OR {string} is not a comparison, and a text counts as false: write x IN (..., {string})"


def _find_string_terms(text: Text) -> Iterator[str]:
    for index in text.places("BY"):
        before, following = text.word(index - 1), text.word(index + 2)
        if before in ("ORDER", "GROUP") and text.kind(index + 1) is Kind.STRING and following in _AFTER_TERM:
            string = text.word(index + 1)[:40]
            yield f"{before} BY {string} is the same text for every row: a column has no single quotes"


def _find_formats(text: Text) -> Iterator[str]:
    """Find T-SQL's ``FORMAT(x, 'yyyy-MM')``; SQLite's own has its format first."""
    for index in text.places("FORMAT", "("):
        arguments = text.arguments(index + 1)
        if len(arguments) == 2 and text.kind(arguments[0][0]) is not Kind.STRING:
            first, last = arguments[1]
            if last - first == 1 and text.kind(first) is Kind.STRING:
                yield "format(x, 'format') gives x as it is: use strftime('%Y-%m', x) or printf('%.2f', x)"


def _find_alternatives(text: Text) -> Iterator[str]:
    """Find MySQL's ``a = 1 || b = 2``."""
    for index in text.places("||"):
        last = text.operand_after(index + 1)
        is_condition = text.kind(index - 1) is Kind.NUMBER and text.word(index - 2) in _COMPARES
        if is_condition and last is not None and text.word(last) in _COMPARES:
            yield "|| joins text: write OR"


def _find_column_types(text: Text) -> Iterator[str]:
    """Find types that mean nothing to SQLite, which accepts any words as one."""
    definitions: list[tuple[int, int]] = []
    if text.word(0) == "CREATE" and "TABLE" in text.words[1:6]:
        name = text.words.index("TABLE") + 1
        name += 3 * text.has(name, "IF", "NOT", "EXISTS")
        opened = next((index for index in range(name, name + 5) if text.word(index) == "("), len(text))
        definitions = text.arguments(opened)
    elif text.has(0, "ALTER", "TABLE") and (added := text.find(2, len(text), "ADD")) is not None:
        definitions = [(added + 1 + (text.word(added + 1) == "COLUMN"), len(text))]
    for first, last in definitions:
        if first < last and text.word(first) not in _CONSTRAINTS:
            ends = (index for index in range(first + 1, last) if text.words[index] in _CONSTRAINTS)
            words = text.words[first + 1 : next(ends, last)]
            yield from _check_type(
                text.tokens[first].text[:60], [word for word in words if word.isidentifier()]
            )


def _check_type(column: str, words: list[str]) -> Iterator[str]:
    numbering = next((word for word in words if word in _NUMBERING), None)
    if numbering:
        yield f"{numbering} numbers nothing in SQLite: declare {column} INTEGER PRIMARY KEY, or it stays NULL"
    elif words[:1] == ["STRING"]:
        yield f"STRING makes numbers of texts like '007' in {column}: the type is TEXT"
    elif words[-2:-1] == ["AFTER"]:
        yield f"AFTER {words[-1]} was taken for a part of the type of {column}: a new column comes last"
    elif len(words) > 2 and {words[0], words[2]} <= _TYPES and words[1] not in _TYPES | _WITHIN_TYPES:
        yield f"{words[1]} {words[2]} became a part of the type of {column}: a comma is missing before it"


# Capitals that a statement must contain before it is tokenized; a pattern if they alone are common.
_LOOKS: tuple[tuple[str, str, Callable[[Text], Iterator[str]]], ...] = (
    ("NULL", r"[=>]\s*NULL", _find_null_comparisons),
    ("+", r"'\s*\+|\+\s*'", _find_text_additions),
    (" AS ", r"\sAS\s+(?:DATE|TIME|STRING|SIGNED|UNSIGNED)", _find_casts),
    ("/", r"[\d)]\s*/\s*[\dC]", _find_whole_divisions),
    ("-", r"(?<!['\d-])\d{4}\s*-\s*\d", _find_bare_dates),
    ("OR '", "", _find_string_conditions),
    ("BY '", "", _find_string_terms),
    ("FORMAT(", "", _find_formats),
    ("||", r"=\s*[\d.]+\s*\|\|", _find_alternatives),
    ("TABLE", r"CREATE\s|ALTER\s", _find_column_types),
)
_PATTERNS = [re.compile(pattern) for _, pattern, _ in _LOOKS]


def warnings(sql: str) -> list[str]:
    """Return what SQLite did differently from what the statement suggests; nothing for most."""
    capitals = sql[:_LONGEST].upper()
    looks = [
        look
        for (sign, _, look), pattern in zip(_LOOKS, _PATTERNS, strict=True)
        if sign in capitals and pattern.search(capitals)
    ]
    if not looks:
        return []
    text = Text(sql[:_LONGEST])
    return list(dict.fromkeys(warning for look in looks for warning in look(text)))[:_MOST]

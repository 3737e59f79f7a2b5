"""SQL that SQLite takes for something else than was meant.

It runs on every statement that worked: a few searches for literal text decide whether the statement is
looked at more closely, and then a string or a comment is never taken for SQL. What is merely unusual is left
alone: an alarm about correct SQL teaches the reader to ignore them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mnemos.workspace.sandbox.hints.reading import Text
from mnemos.workspace.sandbox.hints.tables import SERIALS, creation
from mnemos.workspace.sandbox.lexer import Kind

# Data may follow; what is misunderstood stands before it.
_LONGEST = 10_000
_MOST = 5

_COMPARES = frozenset({"=", "==", "<>", "!="})
_DECIDES = frozenset({"WHERE", "ON", "HAVING", "WHEN", "AND", "OR", "NOT"})


def _nulls(text: Text) -> Iterator[str]:
    """``x = NULL`` in a condition; after SET it is an assignment."""
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


_NUMERIC = re.compile(r"'\s*[+-]?[\d.]+\s*'")


def _additions(text: Text) -> Iterator[str]:
    """``'a' + x``, which adds 0 and a number."""
    for index in text.places("+"):
        beside = [text.word(one) for one in (index - 1, index + 1) if text.kind(one) is Kind.STRING]
        if string := next((word for word in beside if not _NUMERIC.fullmatch(word)), None):
            yield f"+ adds numbers, and {string[:30]} is none: || joins text"


_TIMES = {"DATE": "date(x)", "DATETIME": "datetime(x)", "TIMESTAMP": "datetime(x)", "TIME": "time(x)"}


def _casts(text: Text) -> Iterator[str]:
    for index in text.places("AS"):
        type_ = text.word(index + 1)
        opened = text.word(index + 2) == ")" and text.opens.get(index + 2)
        if not opened or text.word(opened - 1) != "CAST":
            continue
        if type_ in _TIMES:
            yield f"CAST(x AS {type_}) makes a number of the text, of '2024-05-01' 2024: use {_TIMES[type_]}"
        elif type_ == "STRING":
            yield "CAST(x AS STRING) makes a number: the type is TEXT"
        elif type_ in ("SIGNED", "UNSIGNED"):
            yield f"CAST(x AS {type_}) keeps fractions: the type is INTEGER"


_SHORT = re.compile(r"[1-9]\d{0,14}", re.ASCII)


def _divisions(text: Text) -> Iterator[str]:
    """Whole numbers divided, where a fraction must have been meant."""
    for index in text.places("/"):
        first, last = text.operand_before(index), text.operand_after(index + 1)
        if first is None or last is None or text.word(first - 1) in ("*", "/", "%"):
            continue
        left, right = text.source(first, index), text.source(index + 1, last)
        if _SHORT.fullmatch(left) and _SHORT.fullmatch(right) and int(left) % int(right):
            yield f"{left}/{right} is {int(left) // int(right)}, a whole number: write {left}.0/{right}"
        elif text.word(index + 1) == "COUNT" and _counts(text, first, index):
            yield "dividing two counts gives a whole number: write 1.0 * count(...) / count(...)"


def _counts(text: Text, first: int, last: int) -> bool:
    """Whether an expression gives a whole number for certain."""
    if text.word(first) == "FILTER" and text.word(first - 1) == ")":
        last = first
        first = text.operand_before(first) or first
        if text.word(first - 1) in ("*", "/", "%"):
            return False
    if text.word(first) == "COUNT":
        return True
    tail = text.words[last - 6 : last]
    return text.has(first, "SUM", "(", "CASE") and tail == ["THEN", "1", "ELSE", "0", "END", ")"]


_DATE = re.compile(r"(\d{4})-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])", re.ASCII)


def _dates(text: Text) -> Iterator[str]:
    """``2024-01-31`` without quotes."""
    for index in text.places("-"):
        written = "".join(text.words[index - 1 : index + 4]) if index else ""
        if match := _DATE.fullmatch(written):
            result = int(match[1]) - int(match[2]) - int(match[3])
            yield f"{written} without quotes is a subtraction, {result}: write '{written}'"


def _conditions(text: Text) -> Iterator[str]:
    """``x = 'a' OR 'b'``."""
    for index in text.places("OR"):
        if text.kind(index + 1) is Kind.STRING and text.word(index + 2) in _AFTER_CONDITION:
            string = text.word(index + 1)[:30]
            yield f"OR {string} is no comparison, and a text counts as false: write x IN (..., {string})"


_AFTER_CONDITION = frozenset({"", ")", "OR", "AND", "GROUP", "ORDER", "LIMIT"})


def _orders(text: Text) -> Iterator[str]:
    for index in text.places("BY"):
        before, following = text.word(index - 1), text.word(index + 2)
        if before in ("ORDER", "GROUP") and text.kind(index + 1) is Kind.STRING and following in _AFTER_TERM:
            string = text.word(index + 1)[:40]
            yield f"{before} BY {string} is the same text for every row: a column has no single quotes"


_AFTER_TERM = frozenset({"", ")", ",", "ASC", "DESC", "LIMIT", "HAVING", "ORDER"})


def _formats(text: Text) -> Iterator[str]:
    """T-SQL's ``FORMAT(x, 'yyyy-MM')``; SQLite's own has its format first."""
    for index in text.places("FORMAT", "("):
        arguments = text.arguments(index + 1)
        if len(arguments) == 2 and text.kind(arguments[0][0]) is not Kind.STRING:
            first, last = arguments[1]
            if last - first == 1 and text.kind(first) is Kind.STRING:
                yield "format(x, 'format') gives x as it is: use strftime('%Y-%m', x) or printf('%.2f', x)"


def _alternatives(text: Text) -> Iterator[str]:
    """MySQL's ``a = 1 || b = 2``."""
    for index in text.places("||"):
        if text.kind(index - 1) is Kind.NUMBER and text.word(index - 2) in _COMPARES:
            last = text.operand_after(index + 1)
            if last is not None and text.word(last) in _COMPARES:
                yield "|| joins text: write OR"


_TYPES = frozenset(
    """BIGINT BLOB BOOL BOOLEAN DATE DATETIME DECIMAL DOUBLE FLOAT INT INTEGER JSON NUMERIC REAL SMALLINT TEXT
    TIMESTAMP VARCHAR""".split()
)
_WITHIN_TYPES = frozenset("PRECISION VARYING UNSIGNED SIGNED BIG WITH WITHOUT ZONE LONG".split())
_NUMBERING = SERIALS | {"AUTO_INCREMENT", "IDENTITY"}
_CONSTRAINTS = frozenset(
    "AS CHECK COLLATE CONSTRAINT DEFAULT FOREIGN GENERATED NOT NULL PRIMARY REFERENCES UNIQUE".split()
)


def _columns(text: Text) -> Iterator[str]:
    """Types that mean nothing to SQLite, which takes any words for one."""
    made = creation(text)
    definitions = text.arguments(made.opened) if made else []
    if text.has(0, "ALTER", "TABLE") and (added := text.find(2, len(text), "ADD")) is not None:
        definitions = [(added + 1 + (text.word(added + 1) == "COLUMN"), len(text))]
    for first, last in definitions:
        if first < last and text.word(first) not in _CONSTRAINTS:
            ends = (index for index in range(first + 1, last) if text.words[index] in _CONSTRAINTS)
            yield from _type(text.tokens[first].text[:60], text, first + 1, next(ends, last))


def _type(column: str, text: Text, first: int, last: int) -> Iterator[str]:
    words = [text.words[index] for index in range(first, last) if text.kind(index) is Kind.WORD]
    numbering = next((word for word in words if word in _NUMBERING), None)
    if numbering:
        yield f"{numbering} numbers nothing in SQLite: declare {column} INTEGER PRIMARY KEY, or it stays NULL"
    elif words[:1] == ["STRING"]:
        yield f"STRING makes numbers of texts like '007' in {column}: the type is TEXT"
    elif words[-2:-1] == ["AFTER"]:
        yield f"AFTER {words[-1]} was taken for a part of the type of {column}: a new column comes last"
    elif (
        len(words) > 2
        and words[0] in _TYPES
        and words[2] in _TYPES
        and words[1] not in _TYPES | _WITHIN_TYPES
    ):
        yield f"{words[1]} {words[2]} became a part of the type of {column}: a comma is missing before it"


Look = Callable[[Text], Iterator[str]]
# What must occur in a statement, in capitals, before it is looked at; a pattern where that alone is common.
_LOOKS: tuple[tuple[str, re.Pattern[str] | None, Look], ...] = (
    ("NULL", re.compile(r"[=>]\s*NULL"), _nulls),
    ("+", re.compile(r"'\s*\+|\+\s*'"), _additions),
    (" AS ", re.compile(r"\sAS\s+(?:DATE|TIME|STRING|SIGNED|UNSIGNED)"), _casts),
    ("/", re.compile(r"[\d)]\s*/\s*[\dC]"), _divisions),
    ("-", re.compile(r"(?<!['\d-])\d{4}\s*-\s*\d"), _dates),
    ("OR '", None, _conditions),
    ("BY '", None, _orders),
    ("FORMAT(", None, _formats),
    ("||", re.compile(r"=\s*[\d.]+\s*\|\|"), _alternatives),
    ("TABLE", re.compile(r"CREATE\s|ALTER\s"), _columns),
)


def warnings(sql: str) -> list[str]:
    """What SQLite did otherwise than the statement looks; nothing for most."""
    capitals = sql[:_LONGEST].upper()
    looks = [
        look
        for sign, pattern, look in _LOOKS
        if sign in capitals and (pattern is None or pattern.search(capitals))
    ]
    if not looks:
        return []
    text = Text(sql[:_LONGEST])
    return list(dict.fromkeys(said for look in looks for said in look(text)))[:_MOST]

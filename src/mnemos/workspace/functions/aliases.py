"""Functions under the names of other databases, which models write: one row of a table each.

Other names of other databases are in ``hints/equivalents.txt``, with what SQLite has in their place.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from mnemos.workspace.functions.function import (
    Function,
    Value,
    as_text,
    as_whole,
    count_arguments,
    refuse_longer,
)


def _right(text: Value, count: Value) -> Value:
    whole, size = as_text(text), as_whole(count, "count")
    return whole[max(len(whole) - size, 0) :] if size >= 0 else whole[-size:]


def _lpad(text: Value, length: Value, fill: Value = " ") -> Value:
    whole, padding = _cut_and_fill(text, length, fill)
    return padding + whole


def _rpad(text: Value, length: Value, fill: Value = " ") -> Value:
    whole, padding = _cut_and_fill(text, length, fill)
    return whole + padding


def _cut_and_fill(text: Value, length: Value, fill: Value) -> tuple[str, str]:
    """Return the text cut to the length, and the padding that it lacks."""
    wanted = max(as_whole(length, "length"), 0)
    refuse_longer(wanted, "the result")
    whole, unit = as_text(text)[:wanted], as_text(fill)
    missing = wanted - len(whole)
    return whole, (unit * (missing // len(unit) + 1))[:missing] if unit else ""


def _now() -> Value:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())


# Signature, documentation, example, its result, what is called.
_Row = tuple[str, str, str, str, Callable[..., Value]]
_PURE: tuple[_Row, ...] = (
    ("len(text)", "Number of characters.", "len('naïve')", "5", lambda text: len(as_text(text))),
    ("left(text, count)", "The first characters; a negative count leaves out the last ones.",
     "left('abcdef', 2)", "'ab'", lambda text, count: as_text(text)[: as_whole(count, "count")]),
    ("right(text, count)", "The last characters; a negative count leaves out the first ones.",
     "right('abcdef', 2)", "'ef'", _right),
    ("reverse(text)", "The characters in reverse order.", "reverse('abc')", "'cba'",
     lambda text: as_text(text)[::-1]),
    ("lpad(text, length [, fill])", "Padded on the left, or cut, to the length.", "lpad(7, 3, '0')",
     "'007'", _lpad),
    ("rpad(text, length [, fill])", "Padded on the right, or cut, to the length.", "rpad('ab', 4, '.')",
     "'ab..'", _rpad),
)  # fmt: skip
_OF_THE_CLOCK: tuple[_Row, ...] = (
    ("now()", "Date and time in UTC, YYYY-MM-DD HH:MM:SS.", "now()", "", _now),
    ("getdate()", "Same as now().", "getdate()", "", _now),
    ("curdate()", "Today in UTC, YYYY-MM-DD.", "curdate()", "",
     lambda: time.strftime("%Y-%m-%d", time.gmtime())),
)  # fmt: skip
_OF_NULL: _Row = (
    "nvl(value, other)", "The value, or the other one if it is NULL.", "nvl(NULL, 'none')", "'none'",
    lambda value, other: other if value is None else value,
)  # fmt: skip
# Listed, because models look for them.
_OF_SQLITE = (
    ("concat(value, ...)", "All values as one text; NULL is left out.", "concat('a', NULL, 1)", "'a1'"),
    ("concat_ws(separator, value, ...)", "The values that are not NULL, with the separator between them.",
     "concat_ws(', ', 'a', NULL, 'b')", "'a, b'"),
    ("if(condition, value, other)", "The value if the condition is true, otherwise the other; also iif().",
     "if(1 < 2, 'yes', 'no')", "'yes'"),
)  # fmt: skip


def _make(row: _Row) -> Function:
    signature, doc, example, gives, call = row
    name = signature.partition("(")[0]
    return Function(name, signature, doc, example, gives, call=call, arity=count_arguments(call))


FUNCTIONS = (
    *map(_make, _PURE),
    *(_make(row)._replace(pure=False) for row in _OF_THE_CLOCK),
    _make(_OF_NULL)._replace(wants_null=True),
    *(
        Function(signature.partition("(")[0], signature, doc, example, gives, builtin=True)
        for signature, doc, example, gives in _OF_SQLITE
    ),
)

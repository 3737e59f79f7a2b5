"""Operators and literals of other databases."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

_WORDS = {
    "ILIKE": ("LIKE", "SQLite has no ILIKE; LIKE ignores the case of ASCII letters already"),
    "RLIKE": ("REGEXP", "SQLite has no RLIKE; REGEXP does the same here"),
    "MINUS": ("EXCEPT", "SQLite says EXCEPT where others say MINUS"),
}


def words(text: Text, _schema: Schema) -> Iterable[Change]:
    for index, word in enumerate(text.words):
        if word in _WORDS and index:
            new, why = _WORDS[word]
            if word != "MINUS" or text.word(index + 1) in ("SELECT", "("):
                yield Change(why, (Edit(index, index + 1, new),))


# What two tokens of ours are one operator elsewhere.
_PAIRS = {
    ("&", "&"): ("AND", "SQLite has no &&; write AND"),
    ("<=", ">"): ("IS", "SQLite has no <=>; IS compares NULLs too"),
    ("=", ">"): (">=", "the operator is >="),
    ("=", "<"): ("<=", "the operator is <="),
    ("!", "~"): ("NOT REGEXP", "SQLite has no !~; NOT REGEXP does the same here"),
}


def pairs(text: Text, _schema: Schema) -> Iterable[Change]:
    for index in range(1, len(text) - 1):
        pair = (text.words[index], text.words[index + 1])
        if pair in _PAIRS and text.tokens[index].end == text.tokens[index + 1].start:
            new, why = _PAIRS[pair]
            yield Change(why, (Edit(index, index + 2, new),))


def patterns(text: Text, _schema: Schema) -> Iterable[Change]:
    """``x ~ 'p'`` and ``x ~* 'p'``; a ``~`` without an operand before it is SQLite's own."""
    for index in text.places("~"):
        if text.operand_before(index) is None:
            continue
        if text.word(index + 1) == "*":
            why = "SQLite has no ~*; REGEXP with (?i) in front ignores case"
            yield Change(why, (Edit(index, index + 2, "REGEXP '(?i)' ||"),))
        else:
            yield Change(
                "SQLite has no ~ between values; REGEXP does the same here",
                (Edit(index, index + 1, "REGEXP"),),
            )


_ARITHMETIC = {
    "DIV": ("CAST({0} / {1} AS INTEGER)", "SQLite has no DIV; dividing whole numbers gives a whole number"),
    "MOD": ("{0} % {1}", "SQLite says % where others say MOD"),
    "^": ("pow({0}, {1})", "SQLite has no ^; pow(x, y) is the power (it has no exclusive or)"),
    "XOR": ("({0}) <> ({1})", "SQLite has no XOR; compare two truth values with <>"),
}


def arithmetic(text: Text, _schema: Schema) -> Iterable[Change]:
    for index, word in enumerate(text.words):
        if word not in _ARITHMETIC:
            continue
        first, last = text.operand_before(index), text.operand_after(index + 1)
        if first is not None and last is not None:
            form, why = _ARITHMETIC[word]
            new = form.format(text.source(first, index), text.source(index + 1, last))
            yield Change(why, (Edit(first, last, new),))


_DATES = frozenset({"DATE", "TIMESTAMP", "DATETIME", "TIME"})
_CODES = {"n": "\n", "t": "\t", "r": "\r"}


def literals(text: Text, _schema: Schema) -> Iterable[Change]:
    """``DATE '2024-01-01'``, ``N'text'``, ``E'line\\n'``, ``B'101'``."""
    for index in range(len(text) - 1):
        if text.kind(index + 1) is not Kind.STRING or text.kind(index) is not Kind.WORD:
            continue
        word, string = text.words[index], text.words[index + 1]
        touches = text.tokens[index].end == text.tokens[index + 1].start
        if word in _DATES:
            why = f"SQLite keeps dates as text: write {string[:40]} without {word}"
            yield Change(why, (Edit(index, index + 2, string),))
        elif touches and (
            word in ("N", "U") or word.startswith("_UTF") or (word == "E" and "\\" not in string)
        ):
            yield Change("SQLite's strings have no prefix", (Edit(index, index + 2, string),))
        elif touches and word == "E":
            why = "SQLite's strings have no backslash escapes; a line break is char(10), a tab char(9)"
            yield Change(why, (Edit(index, index + 2, _unescaped(string)),))
        elif touches and word == "B" and set(string) <= set("01'"):
            why = "SQLite has no bit strings; write the number"
            yield Change(why, (Edit(index, index + 2, str(int(string.strip("'") or "0", 2))),))


def _unescaped(string: str) -> str:
    """A string with backslash escapes as a chain of strings and characters."""
    made, plain, inside = [], "", iter(string[1:-1])
    for character in inside:
        if character != "\\":
            plain += character
            continue
        code = next(inside, "\\")
        if code in _CODES:
            made += [f"'{plain}'"] * bool(plain) + [f"char({ord(_CODES[code])})"]
            plain = ""
        else:
            plain += code
    made += [f"'{plain}'"] * bool(plain or not made)
    return " || ".join(made)


_LOWEST = {(">", "ALL"): "max", (">=", "ALL"): "max", ("<", "ALL"): "min", ("<=", "ALL"): "min"}
_LOWEST |= {(">", "ANY"): "min", (">=", "ANY"): "min", ("<", "ANY"): "max", ("<=", "ANY"): "max"}


def quantified(text: Text, _schema: Schema) -> Iterable[Change]:
    """``= ANY (...)`` and ``> ALL (SELECT ...)``."""
    for index, word in enumerate(text.words):
        if word not in ("ANY", "SOME", "ALL") or text.word(index + 1) != "(" or not index:
            continue
        closed = text.closes.get(index + 1)
        if closed is None:
            continue
        sign, word = text.words[index - 1], "ANY" if word == "SOME" else word
        if (sign, word) in (("=", "ANY"), ("<>", "ALL"), ("!=", "ALL")):
            new = "IN" if sign == "=" else "NOT IN"
            why = f"SQLite has no {sign} {word}(...); use {new} (...)"
            yield Change(why, (Edit(index - 1, closed + 1, f"{new} ({_listed(text, index + 2, closed)})"),))
        elif (sign, word) in _LOWEST and text.word(index + 2) == "SELECT":
            last = text.find(index + 3, closed, "FROM", "WHERE")
            if last is not None and len(text.parts(index + 3, last)) == 1:
                name = _LOWEST[sign, word]
                new = f"{name}({text.source(index + 3, last)})"
                why = f"SQLite has no {sign} {word}(...); compare with the {name}() of it"
                yield Change(why, (Edit(index - 1, index + 1, f"{sign} "), Edit(index + 3, last, new)))


def _listed(text: Text, first: int, last: int) -> str:
    inside = text.source(first, last)
    if text.word(first) in ("SELECT", "WITH", "VALUES"):
        return inside
    if text.word(first) == "ARRAY" and text.word(first + 1).startswith("["):
        return text.word(first + 1)[1:-1]
    if last - first == 1 and inside.startswith("'{") and inside.endswith("}'") and '"' not in inside:
        return ", ".join(f"'{item.strip()}'" for item in inside[2:-2].split(","))
    return f"SELECT value FROM json_each({inside})"


def arrays(text: Text, _schema: Schema) -> Iterable[Change]:
    """``ARRAY[1, 2]``, of which SQLite takes ``[1, 2]`` for a name in brackets."""
    for index in text.places("ARRAY"):
        if text.word(index + 1).startswith("[") and text.word(index - 2) not in ("ANY", "ALL"):
            new = f"json_array({text.word(index + 1)[1:-1]})"
            yield Change(
                "SQLite has no arrays; a JSON list and json_each() do", (Edit(index, index + 2, new),)
            )


def collations(text: Text, _schema: Schema) -> Iterable[Change]:
    """``COLLATE utf8_general_ci`` and ``BINARY x``."""
    for index, word in enumerate(text.words):
        if (
            word == "COLLATE"
            and text.word(index + 1) not in ("NOCASE", "BINARY", "RTRIM", "")
            and text.word(0) != "CREATE"
        ):
            name = "NOCASE" if text.word(index + 1).strip("\"'").endswith(("_CI", "_AS")) else "BINARY"
            why = "the collations are BINARY, NOCASE (ignores the case of ASCII letters) and RTRIM"
            yield Change(why, (Edit(index + 1, index + 2, name),))
        elif (
            word == "BINARY" and text.word(index - 1) in _BEFORE and text.operand_after(index + 1) is not None
        ):
            yield Change("SQLite tells upper and lower case apart with =", (Edit(index, index + 1, ""),))


_BEFORE = frozenset({"WHERE", "AND", "OR", "ON", "=", "LIKE", "(", "BY"})


def additions(text: Text, _schema: Schema) -> Iterable[Change]:
    """``x + ' text'``, as T-SQL joins strings."""
    for index in text.places("+"):
        beside = (text.word(index - 1), text.word(index + 1))
        if any(word.startswith("'") and not _NUMERIC.fullmatch(word) for word in beside):
            yield Change("+ adds numbers; || joins text", (Edit(index, index + 1, "||"),))


_NUMERIC = re.compile(r"'\s*[+-]?[\d.]+\s*'")


def placeholders(text: Text, _schema: Schema) -> Iterable[Change]:
    """``%s`` and ``%(name)s`` of Python's other drivers."""
    for index in text.places("%"):
        if text.operand_before(index) is not None:
            continue
        if text.word(index + 1) == "S":
            yield Change("a parameter is ? or :name here", (Edit(index, index + 2, "?"),))
        elif text.word(index + 1) == "(" and text.word(index + 4) == "S" and text.word(index + 3) == ")":
            name = text.tokens[index + 2].text
            yield Change("a parameter is ? or :name here", (Edit(index, index + 5, f":{name}"),))


RULES = (
    (frozenset(_WORDS), words),
    (frozenset({"&", "<=", "=", "!"}), pairs),
    (frozenset({"~"}), patterns),
    (frozenset(_ARITHMETIC), arithmetic),
    (frozenset({"DATE", "TIMESTAMP", "DATETIME", "TIME", "N", "U", "E", "B", "_UTF8", "_UTF8MB4"}), literals),
    (frozenset({"ANY", "SOME", "ALL"}), quantified),
    (frozenset({"ARRAY"}), arrays),
    (frozenset({"%"}), placeholders),
    (frozenset({"COLLATE", "BINARY"}), collations),
    (frozenset({"+"}), additions),
)

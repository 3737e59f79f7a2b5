"""Statements that SQLite could read and did not carry out: constraints, counts, misplaced aggregates."""

from __future__ import annotations

import re
from collections.abc import Callable

from mnemos.workspace.sandbox.hints.answers import ANSWERS
from mnemos.workspace.sandbox.hints.known import Schema, bare, written
from mnemos.workspace.sandbox.hints.names import listed, nearest
from mnemos.workspace.sandbox.hints.reading import LONGEST, Text

Explain = Callable[[re.Match[str], Text, Schema], str | None]
OFFER = "\nTry: "


def _values(match: re.Match[str], _text: Text, schema: Schema) -> str | None:
    name, wanted = match[1], match[2]
    columns = schema.columns.get(name.lower(), ())
    if not columns:
        return None
    return (
        f"name the columns you give values for: INSERT INTO {written(name)} (a, b) VALUES (...); "
        f"{written(name)} has {wanted}: {listed(columns)}"
    )


def _counted(match: re.Match[str], _text: Text, _schema: Schema) -> str:
    return f"the column list names {match[2]}, and VALUES or SELECT gives {match[1]}: give a value for each"


def _same_key(match: re.Match[str], text: Text, schema: Schema) -> str:
    """A row with this key is there: what to do with the new one."""
    columns = [part.strip().rpartition(".")[2] for part in match[1].split(",")]
    key = ", ".join(written(column) for column in columns)
    said = (
        f"a row with this {key} is there already: ON CONFLICT({key}) DO NOTHING keeps it, "
        "DO UPDATE SET x = excluded.x changes it"
    )
    opened = next((index for index in range(2, 8) if text.word(index) == "("), None)
    if text.word(0) != "INSERT" or opened is None or len(text.sql) > LONGEST or "CONFLICT" in text.words:
        return said
    given = [bare(text.tokens[first].text) for first, _ in text.arguments(opened)]
    if text.word(opened - 1) == "VALUES":
        given = list(schema.columns.get(bare(text.tokens[opened - 2].text).lower(), ()))
    others = [name for name in given if name.lower() not in {column.lower() for column in columns}]
    sets = ", ".join(f"{written(name)} = excluded.{written(name)}" for name in others)
    action = f"DO UPDATE SET {sets}" if sets else "DO NOTHING"
    where = " WHERE true" if "SELECT" in text.words and "WHERE" not in text.words else ""
    returning = text.find(0, len(text), "RETURNING")
    end = returning if returning is not None else len(text)
    tail = f" {text.source(end, len(text))}" if returning is not None else ""
    return f"{said}{OFFER}{text.source(0, end)}{where} ON CONFLICT({key}) {action}{tail}"


def _null(match: re.Match[str], _text: Text, _schema: Schema) -> str:
    column = match[1].rpartition(".")[2]
    return f"{written(column)} must have a value: give one, or ifnull(x, '') in its place"


def _mismatch(_match: re.Match[str], text: Text, _schema: Schema) -> str:
    if text.word(0) in ("INSERT", "UPDATE", "REPLACE"):
        return "an INTEGER PRIMARY KEY takes whole numbers only: give one, or NULL to have the row numbered"
    return "LIMIT and OFFSET take whole numbers"


def _aggregate(match: re.Match[str], text: Text, _schema: Schema) -> str:
    name = match[1].strip("()")
    where = text.find(0, len(text), "WHERE")
    if where is None:
        return (
            f"{name}() cannot stand here; compute it in a subquery: "
            "SELECT max(n) FROM (SELECT count(*) AS n FROM t GROUP BY x)"
        )
    said = f"{name}() cannot stand in WHERE; HAVING {name}(x) > 1 after GROUP BY chooses groups"
    made = _grouped(text, where)
    return f"{said}{OFFER}{made}" if made else said


def _grouped(text: Text, where: int) -> str | None:
    """``SELECT a FROM t WHERE count(*) > 1`` with HAVING, where that is all there is to it."""
    source = text.find(0, where, "FROM")
    last = text.find(where, len(text), "GROUP", "ORDER", "LIMIT") or len(text)
    condition = text.words[where:last]
    if text.word(0) != "SELECT" or source is None or {"AND", "OR"} & set(condition):
        return None
    if text.word(last) == "GROUP":
        end = text.find(last, len(text), "ORDER", "LIMIT") or len(text)
        if text.find(last, end, "HAVING") is not None:
            return None
        rest = f" {text.source(end, len(text))}" if end < len(text) else ""
        return f"{text.source(0, where)} {text.source(last, end)} HAVING {text.source(where + 1, last)}{rest}"
    plain = [text.source(*part) for part in text.parts(1, source) if "(" not in text.words[part[0] : part[1]]]
    if any("*" in item or " " in item for item in plain):
        return None
    groups = f" GROUP BY {', '.join(plain)}" if plain else ""
    rest = f" {text.source(last, len(text))}" if last < len(text) else ""
    return f"{text.source(0, where)}{groups} HAVING {text.source(where + 1, last)}{rest}"


def _window(match: re.Match[str], text: Text, _schema: Schema) -> str:
    name = match[1].strip("()")
    said = f"{name} is computed after WHERE: put it in a subquery and choose its rows outside"
    where = text.find(0, len(text), "WHERE")
    later = text.find(where, len(text), "GROUP", "ORDER", "LIMIT", "HAVING") if where is not None else None
    if match[0].startswith("misuse of aliased") and where is not None and text.word(0) == "SELECT":
        inside = text.source(0, where)
        rest = f" {text.source(later, len(text))}" if later is not None else ""
        outside = text.source(where, later if later is not None else len(text))
        return f"{said}{OFFER}SELECT * FROM ({inside}) {outside}{rest}"
    if "OVER" not in text.words:
        return f"{name}() needs a window: {name}() OVER (ORDER BY x)"
    inside = "SELECT *, row_number() OVER (PARTITION BY a ORDER BY b) AS n FROM t"
    return f"{said}: SELECT * FROM ({inside}) WHERE n = 1"


def _having(_match: re.Match[str], text: Text, _schema: Schema) -> str:
    said = "without GROUP BY it is WHERE, not HAVING"
    place = text.find(0, len(text), "HAVING")
    if place is None or "WHERE" in text.words:
        return said
    return f"{said}{OFFER}{text.sql[: text.tokens[place].start]}WHERE{text.sql[text.tokens[place].end :]}"


def _exists(match: re.Match[str], text: Text, schema: Schema) -> str:
    kind, name = match[1], match[2]
    columns = schema.columns.get(name.strip('"').lower(), ())
    has = f"; {written(name)} has the columns {listed(columns)}" if columns else ""
    place = text.find(0, len(text), kind.upper())
    if place is None:
        return f"{written(name)} is a {kind}{has}: choose another name"
    said = f"leave it, or say CREATE {kind.upper()} IF NOT EXISTS{has}"
    if text.has(place + 1, "IF"):
        return said
    end = text.tokens[place].end
    return f"{said}{OFFER}{text.sql[:end]} IF NOT EXISTS{text.sql[end:]}"


def _view(match: re.Match[str], text: Text, _schema: Schema) -> str:
    made = re.sub(r"(?i)\b(table|view)\b", match[1].upper(), text.source(0, 2))
    return f"{match[2]} is a {match[1].lower()}{OFFER}{made} {text.source(2, len(text))}"


def _collation(_match: re.Match[str], _text: Text, _schema: Schema) -> str:
    return "the collations are BINARY, NOCASE (ignores the case of ASCII letters) and RTRIM"


def _arguments(match: re.Match[str], _text: Text, schema: Schema) -> str | None:
    name = match[1].lower()
    signature = schema.signatures.get(name) or _SIGNATURES.get(name)
    if signature:
        return f"it is {signature}"
    return (
        f"the tool sqlite_schema with functions shows what {name} takes" if name in schema.functions else None
    )


_SIGNATURES = {
    signature.partition("(")[0]: signature
    for signature in (
        "abs(x)", "avg(x)", "coalesce(x, y, ...)", "count(x) or count(*)", "date(x, modifier, ...)", "hex(x)",
        "ifnull(x, other)", "iif(condition, value, other)", "instr(text, part)", "json_each(json, path)",
        "json_extract(json, path, ...)", "julianday(x, modifier, ...)", "lag(x, rows, other) OVER (...)",
        "length(text)", "lower(text)", "ltrim(text, characters)", "max(x) of rows, or max(x, y, ...)",
        "min(x) of rows, or min(x, y, ...)", "nullif(x, y)", "random()", "replace(text, old, new)",
        "round(x, digits)", "rtrim(text, characters)", "substr(text, start, length)", "sum(x)",
        "trim(text, characters)", "typeof(x)", "upper(text)", "group_concat(x, separator)", "sqrt(x)",
        "pow(x, y)", "log(x) or log(base, x)", "mod(x, y)", "printf(format, x, ...)",
        "unixepoch(x, modifier, ...)",
        "datetime(x, modifier, ...)", "strftime(format, x, modifier, ...)", "json_array_length(json, path)",
        "trunc(x)", "ceil(x)", "floor(x)", "char(code, ...)", "unicode(text)",
        "json_object(name, value, ...)",
    )
}  # fmt: skip


def _module(_match: re.Match[str], _text: Text, _schema: Schema) -> str:
    return "fts5 (full text) and rtree (boxes) are there"


def _joined(match: re.Match[str], _text: Text, schema: Schema) -> str:
    having = [
        name for key, name in schema.tables.items() if match[1].lower() in map(str.lower, schema.columns[key])
    ]
    only = f"; {written(match[1])} is in {listed(having)}" if having else ""
    return f"USING names a column of both tables; say ON a.x = b.y{only}"


def _result_column(_match: re.Match[str], _text: Text, _schema: Schema) -> str:
    return "after UNION, ORDER BY takes a column of the first SELECT, or its number: ORDER BY 1"


def _index(match: re.Match[str], _text: Text, schema: Schema) -> str | None:
    if match[1] == "view" and match[2].lower() in schema.tables:
        return f"{match[2]} is a table: DROP TABLE"
    found = nearest(match[2], schema.tables.values()) if match[1] == "view" else []
    if found:
        return f"did you mean {written(found[0][1])}?"
    return f"SELECT name FROM sqlite_schema WHERE type = '{match[1]}' lists those there are"


_EXPLAINED: list[tuple[re.Pattern[str], Explain]] = [
    (re.compile(pattern, re.DOTALL), explain)
    for pattern, explain in {
        r"table (\S+) has (\d+) columns but (\d+) values were supplied": _values,
        r"(\d+) values for (\d+) columns": _counted,
        r"UNIQUE constraint failed: (.+)": _same_key,
        r"NOT NULL constraint failed: (.+)": _null,
        r"datatype mismatch": _mismatch,
        r"misuse of aggregate(?: function)?:? (\S+)": _aggregate,
        r"misuse of (?:aliased )?window function (\S+)": _window,
        r"misuse of aliased aggregate (\S+)": _aggregate,
        r"HAVING clause on a non-aggregate query|a GROUP BY clause is required before HAVING": _having,
        r"(table|view|index|trigger) (.+) already exists": _exists,
        r"use DROP (TABLE|VIEW) to delete (?:table|view) (.+)": _view,
        r"no such collation sequence: (.+)": _collation,
        r"wrong number of arguments to function (\w+)\(\)": _arguments,
        r"no such module: (.+)": _module,
        r"cannot join using column (.+) - column not present in both tables": _joined,
        r"\w+ ORDER BY term does not match any column in the result set": _result_column,
        r"no such (index|view|trigger): (.+)": _index,
    }.items()
]
_ANSWERED = [(re.compile(pattern, re.DOTALL), answer) for pattern, answer in ANSWERS]


def explained(message: str, text: Text, schema: Schema) -> str | None:
    """What to do about a message that is not about syntax or names; None for one that is not known."""
    for pattern, explain in _EXPLAINED:
        if match := pattern.fullmatch(message):
            return explain(match, text, schema)
    return next((answer for pattern, answer in _ANSWERED if pattern.fullmatch(message)), None)

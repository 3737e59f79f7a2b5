"""Names that don't exist: the nearest one that does, or a list of those there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice

from apsw import keywords

from mnemos.workspace import functions
from mnemos.workspace.sandbox.guard import FUNCTIONS
from mnemos.workspace.sandbox.hints.sql_text import Text, write_name
from mnemos.workspace.sandbox.lexer import Kind, unquote

# A hostile database may have ten thousand tables with names a page long.
_MOST_TABLES = 2_000
_MOST_COLUMNS = 500
_LONGEST_NAME = 100
_MOST_SHOWN = 10
_MOST_CHARACTERS = 400
_LONGEST_SHOWN = 60
_NEAR = 0.7
_SURE = 0.8
_BEFORE_TABLES = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "EXISTS", "ON", ","})
_BEFORE_VALUES = frozenset({"=", "==", "<>", "!=", "LIKE", "(", ",", "IN", "THEN", "ELSE", "||"})


@dataclass(frozen=True, slots=True)
class Schema:
    """The known names in lower case, the way SQLite compares them."""

    tables: dict[str, str]
    columns: dict[str, tuple[str, ...]]
    signatures: dict[str, str]
    """Of the functions beyond SQLite's own."""

    @classmethod
    def of(cls, tables: Mapping[str, Sequence[str]]) -> Schema:
        """Return the names of a database: tables and views, with the names of their columns."""
        names = _usable(tables, _MOST_TABLES)
        return cls(
            tables={name.lower(): name for name in names},
            columns={name.lower(): _usable(tables[name], _MOST_COLUMNS) for name in names},
            signatures={function.name: function.signature for function in functions.FUNCTIONS},
        )

    def tables_with(self, column: str) -> list[str]:
        wanted = column.lower()
        return [self.tables[key] for key, names in self.columns.items() if wanted in map(str.lower, names)]

    def describe_columns(self, table: str) -> str:
        columns = self.columns.get(table.lower())
        name = self.tables.get(table.lower(), table)
        return f"{write_name(name)} has the columns {enumerate_names(columns)}" if columns else ""


def _usable(names: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(islice((name for name in names if len(name) <= _LONGEST_NAME and "\0" not in name), most))


def _key(name: str) -> str:
    """Return a name without case, underscores and plural."""
    plain = re.sub(r"[\W_]+", "", name).lower()[:_LONGEST_SHOWN]
    if plain.endswith("ies") and len(plain) > 4:
        return plain[:-3] + "y"
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def find_nearest(name: str, names: Iterable[str]) -> list[tuple[float, str]]:
    """Return up to three similar names, the most similar first, with their similarity from 0 to 1."""
    key = _key(name)
    if not key:
        return []
    matcher = SequenceMatcher(b=key, autojunk=False)
    scored: dict[str, float] = {}
    for other in names:
        found = _key(other)
        matcher.set_seq1(found)
        if found == key:
            scored[other] = 1.0
        elif matcher.real_quick_ratio() >= _NEAR and matcher.quick_ratio() >= _NEAR:
            scored[other] = matcher.ratio()
        if len(key) > 2 and len(found) > 2 and (key in found or found in key):
            scored[other] = max(scored.get(other, 0.0), 0.75)
    best = sorted(scored.items(), key=lambda item: (-item[1], item[0]))
    return [(score, other) for other, score in best if score >= _NEAR][:3]


def _pick_sure(found: Sequence[tuple[float, str]]) -> str | None:
    if not found or found[0][0] < _SURE or (len(found) > 1 and found[1][0] > found[0][0] - 0.05):
        return None
    return found[0][1]


def _ask(found: Sequence[tuple[float, str]], form: str = "{}") -> str:
    sure = _pick_sure(found)
    likely = [sure] if sure else [name for _, name in found]
    return "did you mean " + " or ".join(form.format(write_name(name)) for name in likely) + "?"


def _choose(name: str, names: Iterable[str], has: str) -> str:
    """Advise the nearest of some names, and say what there is."""
    found = find_nearest(name, names)
    return f"{_ask(found)} {has}" if found else has


def enumerate_names(names: Iterable[str]) -> str:
    """Return a few names separated by commas, and the number of those left out."""
    every, shown, room = list(names), [], _MOST_CHARACTERS
    for name in every[:_MOST_SHOWN]:
        piece = write_name(name if len(name) <= _LONGEST_SHOWN else name[: _LONGEST_SHOWN - 1] + "…")
        room -= len(piece) + 2
        if room < 0:
            break
        shown.append(piece)
    beyond = len(every) - len(shown)
    return ", ".join(shown) + (f" and {beyond} more" if beyond else "")


def find_aliases(text: Text, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield the tables of a statement: the name used there, and the real one in lower case."""
    for index, token in enumerate(text.tokens):
        name = unquote(token.text).lower()
        is_name = token.kind in (Kind.WORD, Kind.NAME) and name in schema.tables
        before = index - 1 - 2 * (text.word(index - 1) == ".")
        if not is_name or text.word(index + 1) == "." or text.word(before) not in _BEFORE_TABLES:
            continue
        follows = index + 1 + (text.word(index + 1) == "AS")
        renamed = text.kind(follows) in (Kind.WORD, Kind.NAME) and text.word(follows) not in keywords
        yield (text.tokens[follows].text if renamed else token.text), name


# --- advice by kind of name ---------------------------------------------------------------------


def advise_table(name: str, text: Text, schema: Schema) -> str:
    prefix, _, plain = name.rpartition(".")
    if plain.lower() in schema.tables and prefix.lower() not in ("", "main", "temp"):
        real = write_name(schema.tables[plain.lower()])
        return f"this database has no schema {prefix}: write {real} alone"
    for alias, real in find_aliases(text, schema):
        if real == plain.lower() != alias:
            return f"{plain} is called {alias} in this statement: write {alias}"
    if not schema.tables:
        return "the database has no tables yet: CREATE TABLE comes first"
    found = find_nearest(plain, schema.tables.values())
    if not found:
        return f"the tables are {enumerate_names(schema.tables.values())}"
    return _choose(plain, schema.tables.values(), schema.describe_columns(found[0][1]))


def advise_column(name: str, text: Text, place: int, schema: Schema) -> str:
    """Advise on a column that no table of the statement has; ``place`` is its token, or -1."""
    prefix, _, plain = name.strip('"').rpartition(".")
    scope = list(find_aliases(text, schema))
    if prefix:
        return _advise_qualified(prefix.rpartition(".")[2], plain, scope, schema)
    as_text = f"if {plain[:40]} is a text, write '{plain[:40]}'"
    having = schema.tables_with(plain)
    if not any(schema.columns[real] for _, real in scope):
        if "FROM" in text.words or not (having or text.kind(place) is Kind.WORD):
            return ""
        where = f"{write_name(plain)} is a column of {enumerate_names(having)}" if having else as_text
        return f"the statement has no FROM; {where}"
    columns = dict.fromkeys(column for _, real in scope for column in schema.columns[real])
    has = "; ".join(
        schema.describe_columns(real) for real in list(dict.fromkeys(real for _, real in scope))[:3]
    )
    advice = _choose(plain, columns, has)
    if advice != has:
        return advice
    if having:
        return f"{write_name(plain)} is a column of {enumerate_names(having)}: join it"
    return f"{has}; {as_text}" if text.word(place - 1) in _BEFORE_VALUES else has


def _advise_qualified(prefix: str, plain: str, scope: Sequence[tuple[str, str]], schema: Schema) -> str:
    real = {unquote(alias).lower(): real for alias, real in scope}.get(prefix.lower())
    if real is not None:
        return _choose(plain, schema.columns[real], schema.describe_columns(real))
    for alias, real in scope:
        if real == prefix.lower():
            return f"{prefix} is called {alias} in this statement: write {alias}.{plain}"
    fitting = [alias for alias, real in scope if plain.lower() in map(str.lower, schema.columns[real])]
    unknown = f"{prefix} is not a table of this statement"
    if len(fitting) == 1:
        return f"{unknown}; {plain} is in {fitting[0]}"
    names = ", ".join(dict.fromkeys(alias for alias, _ in scope)) or "unknown"
    return f"{unknown}; its tables are {names[:_MOST_CHARACTERS]}"


def advise_ambiguous(name: str, text: Text, schema: Schema) -> str:
    plain = name.rpartition(".")[2]
    having = {
        f"{alias}.{plain}": None
        for alias, real in find_aliases(text, schema)
        if plain.lower() in map(str.lower, schema.columns[real])
    }
    if len(having) < 2:
        return "put the table and a point in front of the column: t.x"
    return f"write {' or '.join(list(having)[:4])}"


def advise_target_column(table: str, name: str, schema: Schema) -> str:
    """Advise on ``table t has no column named x``."""
    return _choose(name, schema.columns.get(table.lower(), ()), schema.describe_columns(table))


def advise_function(name: str, schema: Schema) -> str:
    found = find_nearest(name, sorted(schema.signatures.keys() | FUNCTIONS))
    # A short name resembles many others.
    found = [pair for pair in found if pair[0] > 0.75 or len(name) > 4]
    if not found:
        return "the tool sqlite_schema with functions lists the available functions"
    return _ask(found, "{}()")

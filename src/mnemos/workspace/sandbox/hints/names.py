"""Tables, columns and functions that do not exist: the one that was meant, or what there is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from apsw import keywords

from mnemos.workspace.sandbox.hints.known import BUILT_IN, Schema, bare, written
from mnemos.workspace.sandbox.hints.reading import LONGEST, Text, reads
from mnemos.workspace.sandbox.lexer import Kind

_MOST_NAMES = 10
_MOST_CHARACTERS = 400
_LONGEST = 60
_NEAR = 0.7
_SURE = 0.8
_TABLE_WORDS = frozenset({"FROM", "JOIN", "INTO", "UPDATE", "TABLE", "EXISTS", "ON", ","})


@dataclass(frozen=True, slots=True)
class Said:
    """What to tell of a name, and what stands in its place if it is as good as certain."""

    text: str
    instead: str | None = None


# --- which names are near ---------------------------------------------------------------------


def _key(name: str) -> str:
    """What is left of a name when case, underscores and the plural do not count."""
    plain = re.sub(r"[\W_]+", "", name).lower()[:_LONGEST]
    if plain.endswith("ies") and len(plain) > 4:
        return plain[:-3] + "y"
    return plain[:-1] if plain.endswith("s") and len(plain) > 3 else plain


def nearest(name: str, names: Iterable[str]) -> list[tuple[float, str]]:
    """Up to three names like this one, the likeliest first, with how alike they are, from 0 to 1."""
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


def _sure(found: Sequence[tuple[float, str]]) -> str | None:
    """The one name that is as good as certain."""
    if not found or found[0][0] < _SURE or (len(found) > 1 and found[1][0] > found[0][0] - 0.05):
        return None
    return found[0][1]


def listed(names: Iterable[str]) -> str:
    """Names one after the other, no more than a few; how many there are beyond."""
    every, shown, room = list(names), [], _MOST_CHARACTERS
    for name in every[:_MOST_NAMES]:
        piece = written(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…")
        room -= len(piece) + 2
        if room < 0:
            break
        shown.append(piece)
    beyond = len(every) - len(shown)
    return ", ".join(shown) + (f" and {beyond} more" if beyond else "")


def _meant(found: Sequence[tuple[float, str]]) -> str:
    sure = _sure(found)
    likely = [sure] if sure else [name for _, name in found]
    return "did you mean " + " or ".join(map(written, likely)) + "?"


# --- tables -----------------------------------------------------------------------------------


def table(name: str, text: Text, schema: Schema) -> Said:
    plain = name.rpartition(".")[2]
    prefix = name.rpartition(".")[0].lower()
    if plain.lower() in schema.tables and prefix not in ("", "main", "temp"):
        real = written(schema.tables[plain.lower()])
        return Said(f"this database has no schema {prefix}: write {real} alone", real)
    if plain.lower() in schema.tables and (alias := _alias_of(plain, text, schema)):
        return Said(f"{plain} is called {alias} in this statement: write {alias}")
    if not schema.tables:
        return Said("the database has no tables yet: CREATE TABLE comes first")
    found = nearest(plain, schema.tables.values())
    if not found:
        return Said(f"the tables are {listed(schema.tables.values())}")
    first = found[0][1]
    columns = listed(schema.columns[first.lower()])
    sure = _sure(found)
    return Said(f"{_meant(found)} {written(first)} has the columns {columns}", sure and written(sure))


def _alias_of(name: str, text: Text, schema: Schema) -> str | None:
    return next(
        (alias for alias, real in aliases(text, schema) if real == name.lower() and alias != real), None
    )


def aliases(text: Text, schema: Schema) -> Iterator[tuple[str, str]]:
    """The tables of a statement: what each is called there, and its own name in lower case."""
    for index, token in enumerate(text.tokens):
        name = bare(token.text).lower()
        if (
            name not in schema.tables
            or token.kind not in (Kind.WORD, Kind.NAME)
            or text.word(index + 1) == "."
        ):
            continue
        before = index - 1
        if text.word(before) == ".":
            before -= 2
        if text.word(before) not in _TABLE_WORDS:
            continue
        follows = index + 1 + (text.word(index + 1) == "AS")
        renamed = text.kind(follows) in (Kind.WORD, Kind.NAME) and text.word(follows) not in keywords
        yield (text.tokens[follows].text if renamed else token.text), name


# --- columns ----------------------------------------------------------------------------------


def column(name: str, text: Text, place: int, schema: Schema) -> Said:
    """Of a column that no table of the statement has; ``place`` is its token, -1 if that is not known."""
    prefix, _, plain = name.strip('"').rpartition(".")
    scope = list(aliases(text, schema))
    if prefix:
        return _qualified(prefix.rpartition(".")[2], plain, scope, schema)
    columns = list(dict.fromkeys(column for _, real in scope for column in schema.columns[real]))
    if not columns:
        return _without_table(plain, text, place, schema)
    found = nearest(plain, columns)
    if found:
        sure = _sure(found)
        return Said(f"{_meant(found)} {_tables_with_columns(scope, schema)}", sure and written(sure))
    elsewhere = [table for table, names in schema.columns.items() if plain.lower() in map(str.lower, names)]
    if elsewhere:
        return Said(
            f"{written(plain)} is a column of {listed(schema.tables[one] for one in elsewhere)}: join it"
        )
    said = _tables_with_columns(scope, schema)
    if text.word(place - 1) in ("=", "==", "<>", "!=", "LIKE", "(", ",", "IN", "THEN", "ELSE", "||"):
        said = f"{said}; if {plain[:40]} is a text, write '{plain[:40]}'"
    return Said(said)


def _tables_with_columns(scope: Sequence[tuple[str, str]], schema: Schema) -> str:
    real = list(dict.fromkeys(real for _, real in scope))[:3]
    return "; ".join(
        f"{written(schema.tables[one])} has the columns {listed(schema.columns[one])}" for one in real
    )


def _without_table(plain: str, text: Text, place: int, schema: Schema) -> Said:
    having = [table for table, names in schema.columns.items() if plain.lower() in map(str.lower, names)]
    if having and "FROM" not in text.words:
        tables = listed(schema.tables[table] for table in having)
        return Said(f"the statement has no FROM; {written(plain)} is a column of {tables}")
    if text.kind(place) is Kind.WORD and "FROM" not in text.words:
        return Said(f"the statement has no FROM; if {plain[:40]} is a text, write '{plain[:40]}'")
    return Said("")


def _qualified(prefix: str, plain: str, scope: Sequence[tuple[str, str]], schema: Schema) -> Said:
    called = {bare(alias).lower(): real for alias, real in scope}
    real = called.get(prefix.lower())
    if real is not None:
        found = nearest(plain, schema.columns[real])
        has = f"{written(schema.tables[real])} has the columns {listed(schema.columns[real])}"
        sure = _sure(found)
        return Said(f"{_meant(found)} {has}" if found else has, sure and f"{prefix}.{written(sure)}")
    alias = next((alias for alias, real in scope if real == prefix.lower()), None)
    if alias is not None:
        return Said(
            f"{prefix} is called {alias} in this statement: write {alias}.{plain}", f"{alias}.{plain}"
        )
    fitting = [alias for alias, real in scope if plain.lower() in map(str.lower, schema.columns[real])]
    if len(fitting) == 1:
        return Said(
            f"{prefix} is no table of this statement; {plain} is in {fitting[0]}", f"{fitting[0]}.{plain}"
        )
    names = ", ".join(dict.fromkeys(alias for alias, _ in scope)) or "none that is known"
    return Said(f"{prefix} is no table of this statement; its tables are {names[:_MOST_CHARACTERS]}")


def ambiguous(name: str, text: Text, schema: Schema) -> Said:
    plain = name.rpartition(".")[2]
    having = [
        f"{alias}.{plain}"
        for alias, real in aliases(text, schema)
        if plain.lower() in map(str.lower, schema.columns[real])
    ]
    if len(having) < 2:
        return Said("put the table and a point in front of the column")
    return Said(f"write {' or '.join(dict.fromkeys(having[:4]))}", having[0])


def new_column(table_name: str, name: str, schema: Schema) -> Said:
    """Of ``table t has no column named x``."""
    columns = schema.columns.get(table_name.lower(), ())
    found = nearest(name, columns)
    has = f"{written(table_name)} has the columns {listed(columns)}" if columns else ""
    return Said(f"{_meant(found)} {has}" if found else has)


# --- functions --------------------------------------------------------------------------------


def function(name: str, schema: Schema) -> Said:
    found = nearest(name, sorted(schema.functions | BUILT_IN))
    # A short name is like many others.
    found = [pair for pair in found if pair[0] > 0.75 or len(name) > 4]
    if not found:
        return Said("the tool sqlite_schema with functions lists those there are")
    sure = _sure(found)
    likely = [sure] if sure else [name for _, name in found]
    return Said(f"did you mean {' or '.join(f'{name}()' for name in likely)}?", sure)


def corrected(text: Text, wrong: str, right: str) -> str | None:
    """A SELECT with another name in the place of every one that is wrong; None for what writes anything.

    The names of what is written to are never guessed.
    """
    if not reads(text) or len(text.sql) > LONGEST:
        return None
    parts = [bare(part).upper() for part in wrong.split(".")]
    pattern = [piece for part in parts for piece in (part, ".")][:-1]
    words = [bare(token.text).upper() if token.kind is not Kind.STRING else "" for token in text.tokens]
    pieces, position, index, count = [], 0, 0, len(pattern)
    while index < len(words):
        is_whole = words[index - 1] != "." if index else True
        if (
            is_whole
            and words[index : index + count] == pattern
            and words[index + count : index + count + 1] != ["."]
        ):
            pieces += [text.sql[position : text.tokens[index].start], right]
            position = text.tokens[index + count - 1].end
            index += count
        else:
            index += 1
    return "".join([*pieces, text.sql[position:]]) if pieces else None

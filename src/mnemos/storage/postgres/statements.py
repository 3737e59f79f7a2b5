"""Named queries with the parameters that PostgreSQL knows.

The files use ``?``, ``?1`` and ``:name`` as the SQLite engine's do, so that both run the same steps. A
statement also knows where ``:space``, ``:first`` and ``:last`` come from: the transaction's own space, unless
the caller binds them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from mnemos.storage.queries import Queries
from mnemos.storage.space import Space

SCHEMA = "mnemos"
FOLDER = Path(__file__).parent

# String literals are left alone; a cast has two colons.
_TOKEN = re.compile(r"'(?:[^']|'')*'|(?<![:\w]):([a-z_]+)\b|\?(\d*)|\bmnemos\.(?=[a-z_])")
_OWN: dict[int | str, str] = {"space": "id", "first": "first", "last": "last"}


class Statement(str):
    """The text of a query, as the driver takes it."""

    __slots__ = ("encoded", "sources")

    encoded: bytes
    sources: tuple[int | str, ...]
    """For each parameter, its position or its name in the bindings."""

    def bind(self, bindings: Any, space: Space) -> list[Any]:
        if isinstance(bindings, Mapping):
            return [
                bindings[source] if source in bindings else getattr(space, _OWN[source])
                for source in self.sources
            ]
        return [
            bindings[source] if isinstance(source, int) else getattr(space, _OWN[source])
            for source in self.sources
        ]


def make_statement(text: str, schema: str) -> Statement:
    """Return a query of our files as a statement on the tables of a schema."""
    sources: list[int | str] = []
    following = 0

    def number(source: int | str) -> str:
        if source not in sources:
            sources.append(source)
        return f"${sources.index(source) + 1}"

    def replace(match: re.Match[str]) -> str:
        nonlocal following
        found = match.group()
        if found.startswith("'"):
            return found
        if found == "mnemos.":
            return f'"{schema}".'
        if found.startswith(":"):
            return number(match.group(1))
        if match.group(2):
            return number(int(match.group(2)) - 1)
        following += 1
        return number(following - 1)

    statement = Statement(_TOKEN.sub(replace, text))
    statement.encoded = statement.encode()
    statement.sources = tuple(sources)
    return statement


class PostgresQueries(Queries):
    """The queries of one file as statements on the tables of one schema."""

    def __init__(self, path: Path, schema: str) -> None:
        super().__init__(path)
        for name, text in list(vars(self).items()):
            if isinstance(text, str):
                setattr(self, name, make_statement(text, schema))


@lru_cache(maxsize=512)
def load(name: str, schema: str = SCHEMA) -> PostgresQueries:
    return PostgresQueries(FOLDER / "sql" / f"{name}.sql", schema)

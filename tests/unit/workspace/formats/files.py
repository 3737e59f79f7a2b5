"""Files made of bytes, read into a table of a real database, as an import does."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import apsw

from mnemos.workspace.formats import Kind, Limits, Table, open_table, write

LIMITS = Limits()


def opened(
    data: bytes | str, *, name: str = "", limits: Limits = LIMITS, format: str | None = None, **options: Any
) -> Table:
    content = data.encode() if isinstance(data, str) else data
    return open_table(io.BytesIO(content), format=format, name=name, limits=limits, **options)


def stored(table: Table) -> list[tuple[Any, ...]]:
    """Return the rows of a table after all batches were stored in the columns that were found."""
    database = apsw.Connection(":memory:")
    columns = ", ".join(
        f'"{column.name.replace(chr(34), chr(34) * 2)}" {column.type}' for column in table.columns
    )
    database.execute(f"CREATE TABLE t({columns})")
    place = "NULLIF(?, '')" if table.empty_is_null else "?"
    places = ", ".join([place] * len(table.columns))
    count = 0
    for batch in table.batches():
        count += len(batch)
        database.executemany(f"INSERT INTO t VALUES({places})", batch)
    assert count == table.rows
    return list(database.execute("SELECT * FROM t"))


def rows(data: bytes | str, **options: Any) -> list[tuple[Any, ...]]:
    return stored(opened(data, **options))


def names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def kinds(table: Table) -> list[Kind]:
    return [column.type for column in table.columns]


def bad_numbers(table: Table) -> list[int]:
    return [line.number for line in table.bad]


def written(format: str, columns: Sequence[str], *batches: Sequence[Sequence[Any]]) -> bytes:
    return b"".join(write(format, columns, batches))

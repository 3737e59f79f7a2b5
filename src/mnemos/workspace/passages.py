"""Tables as passages of recall, so that "where did I put the competitor prices" finds the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemos.storage.base import Storage, Writes

KIND = "table"
_MOST_TABLES = 300
_MOST_CHARACTERS = 2_000


def ref_of(database: str, table: str) -> str:
    return f"{database}.{table}"


def feed(storage: Storage, database: str, tables: Sequence[Mapping[str, Any]], now: float) -> None:
    """Tell recall which tables a database has now: names, columns, what their comments say."""
    wanted = {ref_of(database, table["name"]): _text(database, table) for table in tables[:_MOST_TABLES]}

    def work(tx: Writes) -> None:
        there = {
            passage.ref: passage.text
            for passage in tx.passages.of_kind(KIND)
            if passage.ref.startswith(f"{database}.")
        }
        for ref in there.keys() - wanted.keys():
            tx.passages.remove(KIND, ref)
        for ref, text in wanted.items():
            if there.get(ref) != text:
                tx.passages.put(KIND, ref, text=text, at=now, group=database)

    storage.write(work)


def _text(database: str, table: Mapping[str, Any]) -> str:
    said = f"{table['kind']} {table['name']} in the SQL database {database!r}: {', '.join(table['columns'])}"
    if table["comments"]:
        said += f" ({'; '.join(table['comments'])})"
    return said[:_MOST_CHARACTERS]

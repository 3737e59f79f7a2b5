"""Searches use the index of words, however small the planner takes a space to be."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from mnemos.storage.base import Filters, Reads
from mnemos.storage.postgres.statements import load
from mnemos.text.query import parse
from postgres.conftest import Opens


@pytest.mark.parametrize(
    "name", ["best_of_all", "best", "seeds", "in_time", "count_matches", "sessions_matching"]
)
def test_a_search_reads_the_index_of_words(open_memory: Opens, url: str, name: str) -> None:
    memory = open_memory()
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_messages(
        "s", [{"role": "user", "content": f"parrot number {n}"} for n in range(300)]
    )

    def explain(tx: Reads) -> str:
        handle: Any = tx
        search = handle.sessions.index.searching()
        scope = search.scope(Filters())
        plan = search.plans.all_of(parse("parrot number"))
        asked = search._bind(plan, scope) | {"match": plan.match, "cap": 100, "limit": 20, "newest": True}
        statement = getattr(load("search", url.rpartition("schema=")[2]), name)
        cursor = psycopg.RawCursor(handle.tx.connection)
        cursor.execute(b"SET LOCAL enable_seqscan = off")
        cursor.execute(b"EXPLAIN " + statement.encoded, statement.bind(asked, handle.space))
        return "\n".join(line for (line,) in cursor.fetchall())

    plan = memory.storage.read(explain)
    assert "words_by_word" in plan
    assert "words_by_time" not in plan
    assert "words_pkey" not in plan.replace("long_words_pkey", "")

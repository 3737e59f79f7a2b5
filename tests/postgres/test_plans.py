"""Searches use the index of words, however small the planner takes a space to be."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from mnemos.storage.base import Filters, Reads
from mnemos.storage.postgres.connection import PostgresTransaction
from mnemos.storage.postgres.statements import load
from mnemos.storage.postgres.tsqueries import make_array
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
        asked = search._bind(plan, scope) | {"match": plan.match, "matches": make_array([plan.match])}
        asked |= {"cap": 100, "limit": 20, "newest": True}
        statement = getattr(load("search", url.rpartition("schema=")[2]), name)
        cursor = psycopg.RawCursor(handle.tx.connection)
        cursor.execute(b"SET LOCAL enable_seqscan = off")
        cursor.execute(b"EXPLAIN " + statement.encoded, statement.bind(asked, handle.space))
        return "\n".join(line for (line,) in cursor.fetchall())

    plan = memory.storage.read(explain)
    assert "words_by_word" in plan
    assert "words_by_time" not in plan
    assert "words_pkey" not in plan.replace("long_words_pkey", "")


def test_a_recall_takes_few_round_trips(open_memory: Opens, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes as long as the way to the server and back."""
    memory = open_memory()
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_messages(
        "s", [{"role": "user", "content": f"the parrot of Ada said {n}"} for n in range(3_000)]
    )
    memory.sessions.append_message("s", "user", "The hotel in Lisbon costs 90 euros.")
    memory.facts.write("V[parrot.port]: 8042")
    memory.sessions.optimize()
    memory.recall("what does the hotel in Lisbon cost?")
    asked: list[int] = []
    for name in ("send", "_run"):
        real = getattr(PostgresTransaction, name)

        def count(*given: Any, real: Any = real) -> Any:
            asked.append(threading.get_ident())
            return real(*given)

        monkeypatch.setattr(PostgresTransaction, name, count)
    assert memory.recall("what does the hotel in Lisbon cost?").hits
    # Others are the background's.
    assert asked.count(threading.get_ident()) <= 50

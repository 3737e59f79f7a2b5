"""No way from one space into another, neither by our queries nor by a query that forgets the space."""

from __future__ import annotations

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.storage.base import Filters, Order
from mnemos.text.query import parse
from postgres.conftest import Opens
from postgres_server import server_url

pytestmark = pytest.mark.area("spaces")


def _schema(url: str) -> str:
    return url.rpartition("schema=")[2]


def test_a_query_that_forgets_the_space_finds_only_its_own_rows(open_memory: Opens, url: str) -> None:
    for name in ("alice", "bob"):
        memory = open_memory(name)
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", f"a parrot of {name}")
    with psycopg.connect(server_url()) as connection:
        schema = _schema(url)
        spaces = connection.execute(f"SELECT id, name FROM {schema}.spaces").fetchall()
        for number, name in spaces:
            connection.execute("SELECT set_config('mnemos.space', %s, true)", (str(number),))
            found = connection.execute(f"SELECT content FROM {schema}.messages").fetchall()
            assert found == [(f"a parrot of {name}",)]
            others = connection.execute(
                f"UPDATE {schema}.messages SET role = 'x' WHERE space <> %s", (number,)
            )
            assert others.rowcount == 0
        connection.rollback()


def test_without_the_setting_there_is_an_error_and_no_answer(open_memory: Opens, url: str) -> None:
    open_memory().sessions.create_session("s", "cli")
    with psycopg.connect(server_url()) as connection, pytest.raises(psycopg.Error):
        connection.execute(f"SELECT * FROM {_schema(url)}.sessions").fetchall()


def test_rows_of_another_space_cannot_be_inserted(open_memory: Opens, url: str) -> None:
    open_memory("alice").sessions.create_session("s", "cli")
    open_memory("bob").sessions.create_session("s", "cli")
    with psycopg.connect(server_url()) as connection:
        connection.execute("SELECT set_config('mnemos.space', '0', true)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"INSERT INTO {_schema(url)}.imported (space, key, session) VALUES (1, 1, 1)")


ODD = st.lists(
    st.sampled_from([*"'\\:*<->!|&()%#\" ", "parrot", "0:", "1:parrot", "#ruser", "#long", "京", "🎉"]),
    max_size=12,
).map("".join)


def test_no_text_reaches_the_words_of_a_neighbour(open_memory: Opens) -> None:
    """Neither the text of a query nor that of a message."""
    theirs, ours = open_memory("theirs"), open_memory("ours")
    for memory, said in ((theirs, "a parrot that is theirs"), (ours, "nothing to see")):
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", said)

    @given(query=ODD, said=ODD)
    def look(query: str, said: str) -> None:
        for memory in (theirs, ours):
            memory.sessions.append_message("s", "user", said)
            found = memory.storage.read(
                lambda tx: tx.sessions.search(
                    parse(query), Filters(), order=Order.RELEVANCE, limit=9, offset=0
                )
            )
            owned = {message["id"] for message in memory.sessions.get_messages("s")}
            assert {hit.message_id for hit in found.hits} <= owned

    look()
    assert len(theirs.search("parrot that is theirs", limit=1)) == 1
    assert ours.search("theirs") == []

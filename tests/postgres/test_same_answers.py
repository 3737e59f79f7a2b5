"""The same queries and vectors find the same messages in SQLite and in PostgreSQL."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contract.storage.openers import DAY, NOW, message, session_row
from contract.storage.vectors import embed_all, nearest
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Filters, Order, Results, Storage
from mnemos.storage.postgres.engine import PostgresStorage
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.text.query import parse

MESSAGES = 4_000
ROLES = ("user", "assistant", "tool")


def _vocabulary(chance: random.Random) -> list[str]:
    syllables = ["ka", "lo", "mir", "ten", "ush", "bra", "vel", "dor", "ni", "qua", "sto", "ping"]
    words = {"".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(3_000)}
    return ["the", "and", "deploy", "deployed", "server", *sorted(words)]


def _texts(chance: random.Random) -> list[str]:
    words = _vocabulary(chance)
    weights = [1 / (rank + 3) for rank in range(len(words))]
    texts = [" ".join(chance.choices(words, weights, k=chance.randint(3, 60))) for _ in range(MESSAGES)]
    texts[17] = "数据库连接池 is exhausted"
    texts[1_900] = "the user's getUserName call in gateway/run.py: C++ and café"
    texts[3_777] = "memory leak in the memory pool; the leak is small"
    return texts


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Storage, Storage]]:
    from postgres_server import drop_schema, new_schema, url_of

    chance = random.Random(24)
    texts = _texts(chance)
    schema = new_schema()
    folder: Path = tmp_path_factory.mktemp("same")
    opened: tuple[Storage, Storage] = (
        SqliteStorage(folder / "mnemos.db", space="default", documents=document_of),
        PostgresStorage(url_of(schema), space="default", documents=document_of),
    )
    for storage in opened:
        for session in range(8):
            row = session_row(f"s{session}", source=("cli", "web")[session % 2])
            storage.write(lambda tx: tx.sessions.create(row))  # noqa: B023
            new = [
                message(text, ROLES[number % 3], timestamp=NOW + number * DAY / 40)
                for number, text in enumerate(texts)
                if number % 8 == session
            ]
            for start in range(0, len(new), 100):
                storage.write(lambda tx: tx.sessions.append(f"s{session}", new[start : start + 100], NOW))  # noqa: B023
        storage.catch_up()
    yield opened
    for storage in opened:
        storage.close()
    drop_schema(schema)


QUERIES = (
    "deploy", "deployed", '"deployed"', "server deploy", "the and", "kalo", "mirten vel", "ka*", "dor* ushni",
    '"the server"', '"memory leak"', '"leak memory"', "kalo OR mirten", "deploy -server", "数据库", "连接池",
    "库连", "getUserName", "username", "run.py", "C++", "cafe", "nothinghasthis", "kalo nothinghasthis",
    "tenush quavel dorni",
)  # fmt: skip
FILTERS = (
    Filters(),
    Filters(roles=["user"]),
    Filters(sources=["web"], exclude_session_ids=["s3"]),
    Filters(since=NOW + 20 * DAY, until=NOW + 60 * DAY),
)


def _search(storage: Storage, text: str, filters: Filters, order: Order, limit: int) -> Results:
    return storage.read(
        lambda tx: tx.sessions.search(parse(text), filters, order=order, limit=limit, offset=0)
    )


@pytest.mark.parametrize("order", list(Order))
def test_the_same_queries_find_the_same_messages(engines: tuple[Storage, Storage], order: Order) -> None:
    different = []
    for text in QUERIES:
        for filters in FILTERS:
            answers = [_search(storage, text, filters, order, MESSAGES) for storage in engines]
            ids = [[hit.message_id for hit in answer.hits] for answer in answers]
            if order is Order.RELEVANCE:
                same = set(ids[0]) == set(ids[1]) and answers[0].partial == answers[1].partial
                # Beyond this many, the newest are scored, and engines may differ in how many that are.
                same = same or min(map(len, ids)) >= 300
            else:
                same = ids[0] == ids[1]
            if not same:
                different.append((text, filters, len(ids[0]), len(ids[1]), len(set(ids[0]) ^ set(ids[1]))))
    assert different == []


def test_a_clear_winner_is_the_first_in_both(engines: tuple[Storage, Storage]) -> None:
    different = []
    for text in QUERIES:
        first = [_search(storage, text, Filters(), Order.RELEVANCE, 2).hits for storage in engines]
        if len(first[0]) == 2 and first[0][0].matched == first[0][1].matched:
            clear = first[0][0].score > 1.25 * first[0][1].score
        else:
            clear = bool(first[0])
        if clear and first[0][0].message_id != first[1][0].message_id:
            different.append(text)
    assert different == []


def test_the_same_vectors_are_near_to_the_digit(engines: tuple[Storage, Storage]) -> None:
    for storage in engines:
        assert embed_all(storage, dim=64, embed=_random_vector)
    different = []
    for text in ("deploy", "kalo", "mirten vel", "the and"):
        for filters in ({}, {"roles": ["user"]}, {"since": NOW + 20 * DAY}):
            found = [nearest(storage, _random_vector(text, 64), limit=10, **filters) for storage in engines]
            if found[0] != found[1] or len(found[0]) != 10:
                different.append((text, filters))
    assert different == []


def _random_vector(text: str, dim: int) -> Any:
    vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(dim).astype(np.float32)
    return vector / np.linalg.norm(vector)


@pytest.mark.nightly
def test_every_kind_of_query_finds_the_same_in_the_corpus(tmp_path: Path) -> None:
    """10,000 messages: sets are equal, and of several words the first hit that is more than 5% ahead."""
    from benchmarks import queries
    from benchmarks.corpus import Corpus

    from postgres_server import drop_schema, new_schema, url_of

    corpus, schema = Corpus(10_000), new_schema()
    opened: tuple[Storage, Storage] = (
        SqliteStorage(tmp_path / "mnemos.db", space="default", documents=document_of),
        PostgresStorage(url_of(schema), space="default", documents=document_of),
    )
    for storage in opened:
        for session in corpus.sessions():
            row = session_row(session.id)
            storage.write(lambda tx: tx.sessions.create(row))  # noqa: B023
            new = [
                message(str(one["content"]), str(one["role"]), timestamp=NOW + number)
                for number, one in enumerate(session.messages)
            ]
            storage.write(lambda tx: tx.sessions.append(session.id, new, NOW))  # noqa: B023
        storage.catch_up()
    other_sets, other_first = [], []
    for kind, asked in queries.draw(queries.read(corpus), 20, seed=24).items():
        for text in asked:
            answers = [_search(storage, text, Filters(), Order.NEWEST, 10_000).hits for storage in opened]
            if [hit.message_id for hit in answers[0]] != [hit.message_id for hit in answers[1]]:
                other_sets.append((kind, text, *map(len, answers)))
            best = [_search(storage, text, Filters(), Order.RELEVANCE, 2).hits for storage in opened]
            if len(best[0]) == 2 and best[0][0].score <= 1.05 * best[0][1].score:
                continue
            # For one word alone, counts saturate sooner in PostgreSQL's rank: the best are close together.
            is_clear = bool(best[0]) and len(parse(text).clauses) > 1
            if is_clear and best[0][0].message_id != best[1][0].message_id:
                other_first.append((kind, text))
    for storage in opened:
        storage.close()
    drop_schema(schema)
    assert (other_sets, other_first) == ([], [])

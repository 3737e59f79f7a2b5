"""The full-text index of SQLite: what a long message costs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.storage.openers import found_whole, settle, tell
from mnemos.sessions.message_text import document_of
from mnemos.storage import terms
from mnemos.storage.base import Order
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.upkeep import Upkeep

# Every word once: the worst that can be said to an index.
DISTINCT = " ".join(f"{n * 2654435761 % (1 << 32):08x}" for n in range(150_000))


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SqliteStorage]:
    opened = SqliteStorage(tmp_path / "x.db", space="default", documents=document_of)
    yield opened
    opened.close()


def test_each_character_of_a_long_message_is_looked_at_a_few_times_only(
    storage: SqliteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indexing goes in steps; a step must not begin the message again."""
    looked_at: list[int] = []
    original = terms.index_words

    def count(text: str) -> tuple[str, str]:
        looked_at.append(len(text))
        return original(text)

    monkeypatch.setattr(terms, "index_words", count)
    tell(storage, "s", DISTINCT)
    settle(storage)
    assert sum(looked_at) <= 3 * len(DISTINCT)


def test_the_index_of_a_long_message_is_not_much_larger_than_its_text(storage: SqliteStorage) -> None:
    tell(storage, "s", DISTINCT)
    settle(storage)
    # Distinct words of eight characters cost an index more than language does.
    assert storage.usage().parts["messages_fts"] <= 3 * len(DISTINCT)


def test_every_part_of_a_very_long_message_is_found(storage: SqliteStorage) -> None:
    words = DISTINCT.split()
    (own,) = tell(storage, "s", DISTINCT)
    settle(storage)
    for word in words[: -30 : len(words) // 20]:
        assert found_whole(storage, word) == [own]
        assert found_whole(storage, f"{word} {words[words.index(word) + 30]}") == [own]


def test_a_search_finds_the_same_at_every_step_of_the_index(
    storage: SqliteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a long message is partly in the index and partly pending, too."""
    monkeypatch.setattr(Upkeep, "notice", lambda _self, _count: None)
    thin = "on a day like every other day " * 50 + "parrot"
    ids = tell(
        storage, "s", thin, "parrot " * 350_000, thin, "a parrot and a pigeon", "x" * 250_000 + " parrot"
    )
    steps = 0
    while True:
        for order in Order:
            assert sorted(found_whole(storage, "parrot", order=order)) == ids, (steps, order)
            pages = [found_whole(storage, "parrot", order=order, limit=1, offset=n) for n in range(6)]
            assert sorted(one for page in pages for one in page) == ids, (steps, order)
            assert found_whole(storage, "parrot pigeon", order=order) == ids[3:4], (steps, order)
        if not storage._index_step():
            break
        steps += 1
    assert steps > 5
    assert storage.usage().pending == 0


def test_a_step_is_written_as_one_piece(storage: SqliteStorage) -> None:
    """FTS5 begins a new piece whenever a row comes before the one that it was given last."""
    tell(storage, "s", *(f"parrot number{n}" for n in range(200)))
    settle(storage)
    pieces = storage.read(
        lambda tx: tx.connection.execute("SELECT count(DISTINCT segid) FROM messages_fts_idx").get  # type: ignore[attr-defined]
    )
    assert pieces == 1

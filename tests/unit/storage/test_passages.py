"""Passages in SQLite: bytes, repair, salvage, and files of before there were any."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from contract.storage.openers import NOW, append, create, found, message, settle, tell
from contract.storage.passages import best, find, put, remove
from contract.storage.vectors import coverage, embed_all, near_ids, pending
from mnemos.sessions.message_text import document_of
from mnemos.storage.sqlite import index
from mnemos.storage.sqlite.doctor import salvage
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.terms import passage_row
from mnemos.storage.upkeep import Upkeep
from unit.storage.former_files import write_former_file

Opens = Callable[..., SqliteStorage]
PAGE = 4096
LETTERS = "bcdfghjklmnpqrstvwxz"


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    opened: list[SqliteStorage] = []

    def open_it(space: str = "default", **options: Any) -> SqliteStorage:
        opened.append(SqliteStorage(tmp_path / "x.db", space=space, documents=document_of, **options))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


def random_words(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(LETTERS, k=16)) for _ in range(count)]


def traces(folder: Path, words: list[str]) -> set[str]:
    """The words of which a file of the folder still has eight letters or more in a row."""
    data = b"".join(path.read_bytes().lower() for path in folder.iterdir() if path.is_file())
    return {word for word in words if any(word[at : at + 8].encode() in data for at in range(0, 9, 4))}


def execute(storage: SqliteStorage, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
    return storage.write(lambda tx: tx.connection.execute(sql, bindings).fetchall())  # type: ignore[attr-defined]


def complaints(storage: SqliteStorage, *, repair: bool = False) -> list[str]:
    return [check.name for check in storage.examine(repair=repair) if not check.ok]


# --- bytes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tidied", [False, True])
def test_removed_passages_leave_no_trace(opens: Opens, tmp_path: Path, tidied: bool) -> None:
    storage = opens()
    removed, replaced, noted, kept = (random_words(seed, 150) for seed in range(4))
    create(storage, "s")
    for n in range(150):
        append(storage, "s", f"talk about number {n} and other things")
        put(storage, "fact", f"a{n}", f"Note {removed[n]} here", speaker=noted[n])
        put(storage, "fact", f"b{n}", f"Note {replaced[n]} here")
        put(storage, "note", f"c{n}", f"Note {kept[n]} here")
        if n % 40 == 0:
            settle(storage)
    if tidied:
        storage.optimize()
    gone = [*removed, *replaced, *noted]
    storage.scrub()
    assert traces(tmp_path, gone) == set(gone)
    for n in range(150):
        remove(storage, "fact", f"a{n}")
        put(storage, "fact", f"b{n}", "something else")
    assert storage.scrub() is True
    assert traces(tmp_path, gone) == set()
    assert traces(tmp_path, kept) == set(kept)
    assert best(storage, kept[70]) != []


def test_the_text_of_a_passage_is_stored_once(opens: Opens, tmp_path: Path) -> None:
    storage = opens()
    text = "A Sentence That Nobody Else Would Write, ever"
    put(storage, "note", "a", text)
    settle(storage)
    storage.close()
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert data.count(text.encode()) == 1


def test_ids_are_not_given_again_by_the_next_process(opens: Opens) -> None:
    first = opens()
    given = [put(first, "fact", "a", "one"), put(first, "fact", "b", "two")]
    remove(first, "fact", "a")
    remove(first, "fact", "b")
    first.close()
    assert put(opens(), "fact", "c", "three") > max(given)


# --- repair -----------------------------------------------------------------------------------


def test_an_index_that_lacks_a_passage_is_reported_and_repaired(opens: Opens) -> None:
    storage = opens()
    own = put(storage, "fact", "a", "green parrot")
    other = put(storage, "fact", "b", "red parrot")
    (said,) = tell(storage, "s", "blue parrot")
    settle(storage)
    passage = find(storage, "fact", "a")
    assert passage is not None
    storage.write(lambda tx: tx.connection.execute(index.SQL.remove_other, passage_row(passage)))  # type: ignore[attr-defined]
    assert best(storage, "green") == []
    assert complaints(storage) == ["index"]
    assert complaints(storage) == ["index"], "looking repairs nothing"
    list(storage.examine(repair=True))
    assert complaints(storage) == []
    assert best(storage, "green") == [own]
    assert sorted(best(storage, "parrot")) == [said, own, other]
    assert found(storage, "parrot") == [said]


def test_an_index_that_has_a_passage_too_many_is_reported_and_repaired(opens: Opens) -> None:
    storage = opens()
    put(storage, "fact", "a", "green parrot")
    kept = put(storage, "fact", "b", "red parrot")
    execute(storage, "DELETE FROM passages WHERE ref = 'a'")
    assert complaints(storage) == ["index"]
    list(storage.examine(repair=True))
    assert complaints(storage) == []
    assert best(storage, "parrot") == [kept]


def test_passages_are_there_again_when_the_rule_of_words_changed(opens: Opens) -> None:
    storage = opens()
    own = put(storage, "fact", "a", "green parrot")
    theirs = put(opens("theirs"), "fact", "a", "green parrot")
    (said,) = tell(storage, "s", "blue parrot")
    settle(storage)
    execute(storage, "UPDATE properties SET value = '0' WHERE name = 'words'")
    again = opens()
    settle(again)
    assert sorted(best(again, "parrot")) == [said, own]
    assert best(opens("theirs"), "parrot") == [theirs]
    assert complaints(again) == []
    assert remove(again, "fact", "a") is True
    assert best(again, "green") == []
    assert complaints(again) == []


# --- salvage ----------------------------------------------------------------------------------


def damage(path: Path, table: str) -> int:
    """Overwrite the last page of a table that has rows; how many."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno DESC"
    (page, cells), *_ = connection.execute(sql, (table,)).fetchall()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xa5" * PAGE)
    return int(cells)


@pytest.mark.parametrize("table", ["messages", "passages", "vectors"])
def test_salvage_keeps_passages(opens: Opens, tmp_path: Path, table: str) -> None:
    storage = opens()
    texts = [f"fact number{n} " + "x" * 80 for n in range(300)]
    given = [put(storage, "fact", f"f{n}", text, speaker="Ada") for n, text in enumerate(texts)]
    neighbour = opens("theirs")
    theirs = put(neighbour, "note", "a", "their note")
    tell(storage, "s", *(f"message number{n} " + "y" * 80 for n in range(300)))
    embed_all(storage)
    settle(storage)
    for one in (storage, neighbour):
        one.close()
    damaged = damage(tmp_path / "x.db", table)
    lost = damaged if table == "passages" else 0
    assert salvage(tmp_path / "x.db").rows["passages"] == 301 - lost
    again = opens()
    settle(again)
    there = [n for n in range(300) if find(again, "fact", f"f{n}") is not None]
    assert len(there) >= 300 - lost
    for n in there[::50]:
        passage = find(again, "fact", f"f{n}")
        assert passage is not None
        assert (passage.id, passage.text, passage.speaker) == (given[n], texts[n], "Ada")
        assert best(again, f"number{n}", kinds=["fact"]) == [given[n]]
    if table != "passages":
        assert best(opens("theirs"), "note") == [theirs]
    assert complaints(again) == []
    # Vectors are made anew.
    assert coverage(again) == []
    embed_all(again)
    assert near_ids(again, texts[there[-1]], limit=1) == [given[there[-1]]]
    assert put(again, "fact", "new", "new") > max(given)


# --- files of before --------------------------------------------------------------------------


def old_file(path: Path) -> list[int]:
    """A file of the first schema with some messages, as a former version left it."""
    return write_former_file(path, 1, [f"parrot number{n} " + "y" * 80 for n in range(300)])


def test_a_file_of_the_first_schema_gets_passages_and_vectors(opens: Opens, tmp_path: Path) -> None:
    ids = old_file(tmp_path / "x.db")
    storage = opens()
    assert coverage(storage) == []
    own = put(storage, "fact", "a", "green parrot")
    assert best(storage, "green") == [own]
    assert best(storage, "number7", kinds=["message"]) == [ids[7]]
    embed_all(storage)
    assert coverage(storage)[0].share == 1.0
    assert complaints(storage) == []


def test_a_damaged_file_of_the_first_schema_can_be_salvaged(opens: Opens, tmp_path: Path) -> None:
    old_file(tmp_path / "x.db")
    lost = damage(tmp_path / "x.db", "messages")
    result = salvage(tmp_path / "x.db")
    assert result.rows["messages"] == 300 - lost
    assert len(best(opens(), "parrot", limit=500)) == 300 - lost


# --- the whole, against a plain model of it ----------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_what_is_proposed_is_what_is_there(
    opens: Opens, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Messages and facts come, go and are indexed in any order; two openers agree with a dictionary."""
    monkeypatch.setattr(Upkeep, "notice", lambda _self, _count: None)
    chance = random.Random(seed)
    words = ["parrot", "pigeon", "quetzal", "macaw", "京都", "srv.prod", "C++"]
    one, two = opens(), opens()
    create(one, "s")
    there: dict[int, set[str]] = {}
    facts: dict[str, int] = {}
    for n in range(200):
        storage = chance.choice((one, two))
        said = set(chance.sample(words, chance.randint(1, 4)))
        what = chance.random()
        if what < 0.4:
            (own,) = append(storage, "s", message(" and ".join(said), timestamp=NOW - n * 40_000))
            there[own] = said
        elif what < 0.6:
            ref = f"f{chance.randint(0, 30)}"
            there.pop(facts.get(ref, 0), None)
            facts[ref] = put(storage, "fact", ref, " and ".join(said))
            there[facts[ref]] = said
        elif what < 0.7 and facts:
            ref = chance.choice(list(facts))
            there.pop(facts.pop(ref))
            assert remove(storage, "fact", ref)
        elif what < 0.85 and there:
            gone = chance.choice(list(there))
            if gone not in facts.values():
                there.pop(gone)
                storage.write(
                    lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW)  # noqa: B023
                )
        else:
            storage._index_step()
        if n % 10 == 0:
            word, other = chance.sample(words, 2)
            for opener in (one, two):
                assert set(best(opener, word, limit=900)) == {i for i, has in there.items() if word in has}
                either = {i for i, has in there.items() if {word, other} & has}
                assert set(best(opener, f"{word} {other}", limit=900)) == either
    for opener in (one, two):
        settle(opener)
        assert complaints(opener) == []
        for word in words:
            assert set(best(opener, word, limit=900)) == {i for i, has in there.items() if word in has}
    assert pending(one) is not None

"""Entries: a user's keys and values, found by their words and never by another user."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from contract.storage.openers import NOW, Contract, Opener
from mnemos.storage.base import Storage
from mnemos.storage.entries import EntryRow, Place, Settled, kind_of

ODD_TEXTS = [
    "plain",
    "quotes \" and ' -- ; DROP TABLE entries",
    "日本語 🎉 \u202e",
    "%_*?[a]",
    "x" * 5_000,
    "\n",
]


def put(storage: Storage, key: str, value: str = "one", user: str = "alice", at: float = NOW) -> EntryRow:
    return storage.write(lambda tx: tx.entries.put(user, key, value, None, at))


def settle_entries(storage: Storage, model: str = "m", vector: Sequence[int] | None = None) -> int:
    """Let every pending entry be found by the words of its key and value, as they are between blanks."""
    rows = storage.read(lambda tx: tx.entries.pending(1_000))
    codes = b"" if vector is None else bytes(n % 256 for n in vector)
    bits = b"" if vector is None else bytes(_signs(vector))
    prepared = [
        Settled(
            row,
            dict.fromkeys(row.value.split(), int(Place.VALUE))
            | dict.fromkeys(row.key.split(), int(Place.KEY)),
            f"{row.key}: {row.value}",
            codes,
            bits,
        )
        for row in rows
    ]
    return storage.write(lambda tx: tx.entries.settle(prepared, model))


def _signs(vector: Sequence[int]) -> list[int]:
    return [
        sum((1 << 7 - n) for n in range(8) if vector[start + n] > 0) for start in range(0, len(vector), 8)
    ]


def value_of(storage: Storage, key: str, user: str = "alice") -> str | None:
    row = storage.read(lambda tx: tx.entries.get(user, key))
    return None if row is None else row.value


class EntryContract(Contract):
    def test_an_entry_comes_back_as_it_was_put(self, storage: Storage) -> None:
        for text in ODD_TEXTS:
            row = storage.write(lambda tx: tx.entries.put(text[:400], text, text, '{"a": 1}', NOW))  # noqa: B023
            assert storage.read(lambda tx: tx.entries.get(text[:400], text)) == row  # noqa: B023
            assert (row.user, row.key, row.value, row.metadata) == (text[:400], text, text, '{"a": 1}')

    def test_replacing_a_key_keeps_its_creation_time(self, storage: Storage) -> None:
        first = put(storage, "theme", "dark")
        again = put(storage, "theme", "light", at=NOW + 5)
        assert (again.id, again.created_at, again.updated_at) == (first.id, NOW, NOW + 5)
        assert again.version > first.version
        assert value_of(storage, "theme") == "light"

    def test_keys_are_listed_the_most_recently_updated_first(self, storage: Storage) -> None:
        for number, key in enumerate(["a", "b", "c"]):
            put(storage, key, at=NOW + number)
        put(storage, "a", at=NOW + 9)
        assert storage.read(lambda tx: tx.entries.keys("alice")) == ["a", "c", "b"]

    def test_users_do_not_reach_each_other(self, storage: Storage) -> None:
        put(storage, "theme", "dark", user="alice")
        bobs = put(storage, "theme", "light", user="bob")
        settle_entries(storage)
        assert value_of(storage, "theme", "alice") == "dark"

        def seen_by_alice(tx):  # type: ignore[no-untyped-def]
            return (
                tx.entries.of_ids("alice", [bobs.id]),
                tx.entries.postings("alice", ["light"]),
                tx.entries.newest_with("alice", "light", 10),
                tx.entries.among("alice", ["light", "theme"], [bobs.id]),
                tx.entries.counts("alice", ["light"]),
                tx.entries.holding("alice", "light", 10),
                "light" in tx.entries.vocabulary("alice").split("\n"),
            )

        assert storage.read(seen_by_alice) == ([], [], [], [], {}, [], False)
        assert storage.write(lambda tx: tx.entries.delete("carol", "theme")) is None
        assert storage.read(lambda tx: tx.entries.users(10)) == {"alice": 1, "bob": 1}

    def test_spaces_do_not_reach_each_other(self, open_another: Opener) -> None:
        here, there = open_another(), open_another("other")
        made = put(here, "theme", "dark")
        settle_entries(here)
        assert value_of(there, "theme") is None
        assert there.read(lambda tx: tx.entries.owner(made.id)) is None
        assert there.read(lambda tx: tx.entries.pending(10)) == []
        assert there.write(lambda tx: tx.entries.delete("alice", "theme")) is None
        put(there, "theme", "light")
        assert (value_of(here, "theme"), value_of(there, "theme")) == ("dark", "light")
        assert there.read(lambda tx: tx.entries.count()) == 1

    def test_an_entry_is_pending_until_its_words_are_known(self, storage: Storage) -> None:
        made = put(storage, "theme", "dark blue")
        assert storage.read(lambda tx: tx.entries.pending(10)) == [made]
        assert storage.read(lambda tx: tx.entries.fresh("alice", 10)) == [made]
        assert settle_entries(storage) == 1
        assert storage.read(lambda tx: tx.entries.pending(10)) == []
        found = storage.read(lambda tx: tx.entries.postings("alice", ["dark", "theme", "none"]))
        assert sorted(found) == [("dark", made.id, Place.VALUE), ("theme", made.id, Place.KEY)]

    def test_a_change_is_pending_again_and_takes_the_old_words_with_it(self, storage: Storage) -> None:
        put(storage, "theme", "dark blue")
        settle_entries(storage)
        put(storage, "theme", "light blue")
        settle_entries(storage)
        assert storage.read(lambda tx: tx.entries.counts("alice", ["dark", "light", "blue"])) == {
            "light": 1,
            "blue": 1,
        }
        assert "dark" not in storage.read(lambda tx: tx.entries.vocabulary("alice")).split("\n")

    def test_an_entry_changed_since_it_was_prepared_is_not_settled(self, storage: Storage) -> None:
        before = put(storage, "theme", "dark")
        now = put(storage, "theme", "light")
        late = Settled(before, {"dark": int(Place.VALUE)}, "theme: dark")
        assert storage.write(lambda tx: tx.entries.settle([late], "m")) == 0
        assert storage.read(lambda tx: tx.entries.pending(10)) == [now]

    def test_settling_twice_counts_once(self, storage: Storage) -> None:
        made = put(storage, "theme", "dark")
        ready = Settled(made, {"dark": int(Place.VALUE)}, "theme: dark")
        assert storage.write(lambda tx: tx.entries.settle([ready], "m")) == 1
        assert storage.write(lambda tx: tx.entries.settle([ready], "m")) == 0
        assert storage.read(lambda tx: tx.entries.counts("alice", ["dark"])) == {"dark": 1}

    def test_the_vocabulary_mark_changes_with_the_vocabulary(self, storage: Storage) -> None:
        def mark() -> int:
            return storage.read(lambda tx: tx.entries.vocabulary_mark("alice"))

        assert mark() == 0
        put(storage, "theme", "dark")
        settle_entries(storage)
        before = mark()
        put(storage, "drink", "tea")
        settle_entries(storage)
        assert mark() != before

    def test_an_entry_is_a_passage_of_its_users_kind(self, storage: Storage) -> None:
        mine = put(storage, "theme", "dark", user="default")
        hers = put(storage, "theme", "light", user="alice")
        settle_entries(storage)

        def passages(tx):  # type: ignore[no-untyped-def]
            return [tx.passages.find(kind_of(row.user), str(row.id)) for row in (mine, hers)]

        found = storage.read(passages)
        assert [(one.kind, one.text, one.group) for one in found] == [
            ("entry", "theme: dark", "default"),
            ("entry:alice", "theme: light", "alice"),
        ]

    def test_deleting_leaves_nothing_to_be_found(self, storage: Storage) -> None:
        made = put(storage, "theme", "dark", user="default")
        put(storage, "drink", "tea", user="default")
        settle_entries(storage, vector=[1] * 64)
        assert storage.write(lambda tx: tx.entries.delete("default", "theme")) == made.id
        assert storage.write(lambda tx: tx.entries.delete("default", "theme")) is None
        assert storage.read(lambda tx: tx.passages.find("entry", str(made.id))) is None
        assert storage.read(lambda tx: tx.entries.vocabulary("default")).split("\n") == ["drink", "tea"]
        assert storage.read(lambda tx: tx.entries.keys("default")) == ["drink"]

    def test_ids_are_never_given_twice(self, storage: Storage) -> None:
        first = put(storage, "theme")
        storage.write(lambda tx: tx.entries.delete("alice", "theme"))
        assert put(storage, "theme").id > first.id
        assert storage.read(lambda tx: tx.entries.has_others("bob"))
        assert not storage.read(lambda tx: tx.entries.has_others("alice"))

    def test_punctuation_is_found_exactly(self, storage: Storage) -> None:
        put(storage, "a", "100% sure")
        put(storage, "b_c", "no")

        def holding(sign: str) -> list[str]:
            found = storage.read(lambda tx: tx.entries.holding("alice", sign, 10))
            return [row.key for row in found]

        assert [holding(sign) for sign in ("%", "_", "sure", "x")] == [["a"], ["b_c"], ["a"], []]

    def test_the_nearest_vectors_are_the_users_own_and_not_below_the_least(self, storage: Storage) -> None:
        np = pytest.importorskip("numpy")
        near = [1] * 64
        put(storage, "near")
        settle_entries(storage, vector=near)
        put(storage, "far")
        settle_entries(storage, vector=[-1] * 64)
        put(storage, "hers", user="bob")
        settle_entries(storage, vector=near)
        asked = np.ones(64, np.float32) / 8

        def nearest(user: str, model: str = "m", least: float = 0.5) -> list[float]:
            found = storage.read(lambda tx: tx.entries.nearest(user, model, asked, limit=5, least=least))
            return [round(one.cosine, 3) for one in found]

        assert nearest("alice") == [1.0]
        assert nearest("alice", least=-1.0) == [1.0, -1.0]
        assert nearest("carol") == []
        assert nearest("alice", model="another") == []
        storage.write(lambda tx: tx.entries.delete("alice", "near"))
        assert nearest("alice") == []

    def test_another_model_makes_every_vector_of_a_user_again(self, storage: Storage) -> None:
        for key in ("a", "b"):
            put(storage, key)
        settle_entries(storage, model="old", vector=[1] * 64)
        put(storage, "c")
        settle_entries(storage, model="new", vector=[1] * 64)
        assert {row.key for row in storage.read(lambda tx: tx.entries.pending(10))} == {"a", "b"}
        settle_entries(storage, model="new", vector=[1] * 64)
        assert storage.read(lambda tx: tx.entries.pending(10)) == []
        assert storage.read(lambda tx: tx.entries.counts("alice", ["one"])) == {"one": 3}

    def test_a_failed_change_to_entries_changes_nothing(self, storage: Storage) -> None:
        put(storage, "theme", "dark")

        def work(tx):  # type: ignore[no-untyped-def]
            tx.entries.put("alice", "theme", "light", None, NOW)
            tx.entries.delete("alice", "theme")
            raise RuntimeError("stop")

        with pytest.raises(RuntimeError):
            storage.write(work)
        assert value_of(storage, "theme") == "dark"

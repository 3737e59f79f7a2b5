"""Entries in namespaces: JSON values, filters, expiry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contract.storage.entries import settle_entries
from contract.storage.openers import NOW, Contract, Opener
from mnemos.storage.base import Storage
from mnemos.storage.entries import EntryFilters, join_labels, owner_of, split_labels

AB = join_labels(("a", "b"))


def put(storage: Storage, user: str, key: str, value: Any = "x", at: float = NOW, **options: Any) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    encoded = not isinstance(value, str)
    storage.write(lambda tx: tx.entries.put(user, key, text, None, at, encoded=encoded, **options))


def chosen(storage: Storage, *, limit: int = 99, offset: int = 0, **filters: Any) -> list[str]:
    asked = EntryFilters(**filters)
    return [row.key for row in storage.read(lambda tx: tx.entries.select(asked, limit=limit, offset=offset))]


class NamespaceContract(Contract):
    @pytest.mark.parametrize("labels", [("a",), ("a", "b"), ("a\nb", "\x1f", "\x1e", "\x1eb", "日本")])
    def test_labels_come_back_as_they_were_joined(self, storage: Storage, labels: tuple[str, ...]) -> None:
        name = join_labels(labels)
        assert (split_labels(name), owner_of(name)) == (labels, labels[0])
        put(storage, name, "k")
        assert storage.read(lambda tx: tx.entries.users_below(None)) == [name]

    def test_a_json_value_and_its_fields_come_back(self, storage: Storage) -> None:
        put(storage, AB, "k", {"text": "a", "n": [1]}, fields='["text"]', expires_at=NOW + 5)
        row = storage.read(lambda tx: tx.entries.get(AB, "k"))
        assert row is not None
        assert (json.loads(row.value), row.encoded) == ({"text": "a", "n": [1]}, True)
        assert (row.readable, row.expires_at, row.is_searched) == ("a", NOW + 5, True)
        put(storage, AB, "k", "text")
        row = storage.read(lambda tx: tx.entries.get(AB, "k"))
        assert row is not None
        assert (row.encoded, row.fields, row.expires_at, row.readable) == (False, None, None, "text")

    def test_a_prefix_reaches_whole_labels_below(self, storage: Storage, open_another: Opener) -> None:
        names = [("a",), ("a", "b"), ("a", "b", "c"), ("a", "bc"), ("ab",), ("b", "a"), ("a!",)]
        for at, labels in enumerate(names):
            put(storage, join_labels(labels), "/".join(labels), at=NOW + at)
        put(open_another("elsewhere"), AB, "other")
        assert chosen(storage, user=AB) == ["a/b/c", "a/b"]
        assert chosen(storage, user=AB, below=False) == ["a/b"]
        assert chosen(storage, user="a") == ["a/bc", "a/b/c", "a/b", "a"]
        assert len(chosen(storage)) == len(names)
        assert chosen(storage, limit=2, offset=1) == ["b/a", "ab"]
        below = storage.read(lambda tx: tx.entries.users_below("a"))
        assert sorted(map(split_labels, below)) == [("a",), ("a", "b"), ("a", "b", "c"), ("a", "bc")]

    @pytest.mark.parametrize(
        ("path", "op", "value", "expected"),
        [
            ("n", "eq", 1, "a"),
            ("n", "eq", 1.0, "a"),
            ("n", "eq", "1", ""),
            ("n", "gt", 1, "b"),
            ("n", "gte", 1, "ba"),
            ("n", "lt", 2.5, "ba"),
            ("n", "lte", 1, "a"),
            ("n", "gt", "0", ""),
            ("s", "lt", "x", "b"),
            ("s", "eq", 'it\'s "y" é', "b"),
            ("t", "eq", True, "a"),
            ("t", "eq", 1, ""),
            ("d.e", "eq", None, "cb"),
            ("d.e", "eq", "deep", "a"),
            ("l", "eq", [1, "x"], "a"),
            ("no", "gt", 0, ""),
        ],
    )
    def test_conditions_compare_fields(
        self, storage: Storage, path: str, op: str, value: Any, expected: str
    ) -> None:
        put(storage, "u", "a", {"n": 1, "s": "x", "t": True, "d": {"e": "deep"}, "l": [1, "x"]}, at=NOW)
        put(storage, "u", "b", {"n": 2, "s": 'it\'s "y" é', "d": {"e": None}}, at=NOW + 1)
        put(storage, "u", "c", "plain", at=NOW + 2)
        where = "$" + "".join(f'."{one}"' for one in path.split("."))
        condition = {"path": where, "op": op, "value": value, "not": 0}
        asked = json.dumps([[condition]], ensure_ascii=False, separators=(",", ":"))
        assert chosen(storage, conditions=asked) == list(expected)
        opposite = json.dumps([[condition | {"not": 1}]], ensure_ascii=False, separators=(",", ":"))
        assert chosen(storage, conditions=opposite) == [key for key in "cba" if key not in expected]

    def test_alternatives_and_conditions_combine(self, storage: Storage) -> None:
        for number in range(4):
            put(storage, "u", str(number), {"n": number}, at=NOW + number)

        def equal(number: int) -> dict[str, Any]:
            return {"path": '$."n"', "op": "eq", "value": number, "not": 0}

        for conditions, expected in (
            ([[equal(1)], [equal(3)]], ["3", "1"]),
            ([[equal(1), equal(3)]], []),
            ([[]], ["3", "2", "1", "0"]),
            ([], []),
        ):
            assert chosen(storage, conditions=json.dumps(conditions)) == expected

    def test_expired_entries_are_left_out_and_listed(self, storage: Storage) -> None:
        put(storage, AB, "soon", expires_at=NOW + 1)
        put(storage, AB, "later", expires_at=NOW + 9)
        put(storage, AB, "never")
        assert sorted(chosen(storage, now=NOW + 1)) == ["later", "never"]
        assert storage.read(lambda tx: tx.entries.keys(AB, NOW + 1)) == ["never", "later"]
        assert [key for _, _, key in storage.read(lambda tx: tx.entries.find_expired(NOW + 1, 9))] == ["soon"]
        assert storage.write(lambda tx: tx.entries.set_expiry(AB, "later", NOW))
        assert not storage.write(lambda tx: tx.entries.set_expiry(AB, "unknown", NOW))
        assert len(storage.read(lambda tx: tx.entries.find_expired(NOW + 1, 9))) == 2
        storage.write(lambda tx: tx.entries.set_expiry(AB, "later", None))
        assert len(chosen(storage, now=NOW + 99)) == 2

    def test_what_is_below_a_user_belongs_to_the_user(self, storage: Storage) -> None:
        put(storage, join_labels(("default", "tool")), "parrot", "words")
        put(storage, join_labels(("ada", "tool")), "parrot", "words")
        settle_entries(storage)
        found = storage.read(lambda tx: [tx.passages.of_kind("entry"), tx.passages.of_kind("entry:ada")])
        assert [len(passages) for passages in found] == [1, 1]
        storage.write(lambda tx: tx.entries.delete(join_labels(("ada", "tool")), "parrot"))
        assert storage.read(lambda tx: list(tx.passages.of_kind("entry:ada"))) == []

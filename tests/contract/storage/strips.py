"""Strips: the neighbours of a message in its own session."""

from __future__ import annotations

from collections.abc import Sequence

from contract.storage.openers import NOW, Contract, Opener, append, create, message, tell
from contract.storage.passages import put
from mnemos.storage.base import MessageRow, Storage
from mnemos.storage.passages import Strip


def strips(
    storage: Storage, ids: Sequence[int], *, reach: int = 1, characters: int = 2_000
) -> dict[str, list[list[int]]]:
    """The ids of the strips, of each session."""
    by_session: dict[str, list[list[int]]] = {}
    for strip in _strips(storage, ids, reach=reach, characters=characters):
        by_session.setdefault(strip.session_id, []).append([row.id for row in strip.messages])
    return by_session


def _strips(storage: Storage, ids: Sequence[int], *, reach: int = 1, characters: int = 2_000) -> list[Strip]:
    return storage.read(lambda tx: tx.passages.strips(ids, reach=reach, characters=characters))


def _rows(storage: Storage, ids: Sequence[int], **how: int) -> dict[int, MessageRow]:
    return {row.id: row for strip in _strips(storage, ids, **how) for row in strip.messages}


class StripContract(Contract):
    def test_neighbours_come_from_the_same_session_however_they_interleave(self, storage: Storage) -> None:
        for name in "abc":
            create(storage, name)
        ids: dict[str, list[int]] = {"a": [], "b": [], "c": []}
        for n in range(8):
            for name in "abc"[: 1 + n % 3]:
                ids[name] += append(storage, name, f"{name} {n}")
        a, b = ids["a"], ids["b"]
        assert strips(storage, [a[4]], reach=2) == {"a": [a[2:7]]}
        assert strips(storage, [b[2], a[1]], reach=1) == {"a": [a[0:3]], "b": [b[1:4]]}

    def test_overlapping_neighbourhoods_are_one_strip(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"line {n}" for n in range(30)))
        assert strips(storage, [ids[10], ids[13]], reach=2) == {"s": [ids[8:16]]}
        assert strips(storage, [ids[10], ids[12], ids[14], ids[11]], reach=1) == {"s": [ids[9:16]]}
        assert strips(storage, [ids[20], ids[5]], reach=2) == {"s": [ids[3:8], ids[18:23]]}
        assert strips(storage, [ids[7], ids[7]], reach=1) == {"s": [ids[6:9]]}

    def test_strips_end_where_the_session_does(self, storage: Storage) -> None:
        tell(storage, "before", "one", "two")
        ids = tell(storage, "s", "first", "second", "third")
        tell(storage, "after", "one", "two")
        for one in (ids[0], ids[2]):
            assert strips(storage, [one], reach=5) == {"s": [ids]}
        assert strips(storage, [ids[0]], reach=1) == {"s": [ids[:2]]}
        assert strips(storage, [ids[2]], reach=1) == {"s": [ids[1:]]}

    def test_a_strip_says_which_conversation_it_is_from(self, storage: Storage) -> None:
        ids = tell(
            storage,
            "s",
            message("question"),
            message("answer", role="assistant"),
            title="Birds",
        )
        (strip,) = _strips(storage, ids[:1], reach=4)
        assert (strip.session_id, strip.title, strip.project) == ("s", "Birds", None)
        assert [(row.id, row.session_id, row.role, row.content) for row in strip.messages] == [
            (ids[0], "s", "user", "question"),
            (ids[1], "s", "assistant", "answer"),
        ]

    def test_texts_of_neighbours_are_cut_and_the_asked_ones_are_not(self, storage: Storage) -> None:
        long = "0123456789" * 50
        ids = tell(storage, "s", long, long, "short", message(None, role="assistant"))
        rows = _rows(storage, [ids[1]], reach=3, characters=20)
        assert rows[ids[0]].content == long[:20]
        assert rows[ids[1]].content == long
        assert rows[ids[2]].content == "short"
        assert not rows[ids[3]].content

    def test_encoded_texts_of_neighbours_stay_whole(self, storage: Storage) -> None:
        parts = '[{"type": "text", "text": "a drawing of a parrot"}]'
        ids = tell(storage, "s", message(parts, encoded=True), "question")
        row = _rows(storage, [ids[1]], characters=10)[ids[0]]
        assert (row.content, row.encoded) == (parts, True)

    def test_a_forgotten_neighbour_keeps_its_place_and_says_nothing(self, storage: Storage) -> None:
        ids = tell(storage, "s", "before", message("secret", metadata='{"a": "secret"}'), "after")
        storage.write(lambda tx: tx.sessions.forget_message(ids[1], tool_calls=None, at=NOW))
        rows = _rows(storage, [ids[0]], reach=2)
        assert list(rows) == ids
        assert rows[ids[1]].forgotten
        assert "secret" not in repr(rows[ids[1]])

    def test_deleted_sessions_and_unknown_messages_have_no_strips(self, storage: Storage) -> None:
        gone = tell(storage, "gone", "one", "two")
        kept = tell(storage, "s", "one", "two")
        passage = put(storage, "fact", "a", "parrot")
        storage.write(lambda tx: tx.sessions.begin_delete("gone"))
        for _ in range(2):
            asked = [*gone, kept[0], 1 << 31, 1 << 52, 0, passage]
            assert strips(storage, asked, reach=3) == {"s": [kept]}
            storage.finish_deletes()
        assert _strips(storage, []) == []

    def test_strips_of_another_space_are_empty(self, open_another: Opener) -> None:
        theirs, ours = open_another("theirs"), open_another("ours")
        ids = tell(theirs, "s", "one", "two", "three")
        assert _strips(ours, ids) == []

    def test_sizes_are_bytes_of_own_messages(self, open_another: Opener) -> None:
        theirs, ours = open_another("theirs"), open_another("ours")
        ids = tell(theirs, "s", "one", "茶 🍵", "x" * 100_000)
        fact = put(theirs, "fact", "a", "parrot")
        sizes = theirs.read(lambda tx: tx.passages.sizes([*ids, fact, 0, 1 << 52]))
        assert sizes == dict(zip(ids, (3, 8, 100_000), strict=True))
        assert ours.read(lambda tx: tx.passages.sizes(ids)) == {}

"""The working history of a session: host keys, retired messages, the newest removed, revisions."""

from __future__ import annotations

import json

import pytest

from contract.storage.openers import (
    NOW,
    Contract,
    Opener,
    append,
    call,
    contents,
    create,
    found,
    message,
    messages,
    session,
    settle,
    tell,
)
from contract.storage.vectors import embed_all, near_ids
from mnemos.errors import NotFound
from mnemos.storage.base import SessionFilters, Storage


def working(storage: Storage, **options: object) -> list[str | None]:
    asked = {"after": 0, "limit": 99, "working": True} | options
    rows = storage.read(lambda tx: tx.sessions.messages("s", **asked))  # type: ignore[arg-type]
    return [row.content for row in rows]


def listed(storage: Storage, *, by_update: bool = False, **filters: object) -> list[str]:
    asked = SessionFilters(**filters)  # type: ignore[arg-type]
    rows = storage.read(lambda tx: tx.sessions.recent(asked, limit=9, offset=0, by_update=by_update))
    assert storage.read(lambda tx: tx.sessions.count(asked)) == len(rows)
    return [row.id for row in rows]


class WorkingHistoryContract(Contract):
    def test_a_message_with_a_known_key_is_not_stored_again(self, storage: Storage) -> None:
        first, second = tell(storage, "s", message("one", key="k1"), message("two", key="K1"))
        before = session(storage)
        assert append(storage, "s", message("other", key="k1")) == [first]
        assert session(storage) == before
        mixed = append(storage, "s", "three", message("no", key="K1"), message("four", key="k"), "five")
        assert mixed[1] == second
        assert contents(storage) == ["one", "two", "three", "four", "five"]
        assert [row.key for row in messages(storage)] == ["k1", "K1", None, "k", None]
        assert session(storage).message_count == 5

    def test_a_key_given_twice_in_one_append_is_stored_once(self, storage: Storage) -> None:
        first, last, again = tell(storage, "s", message("a", key="k"), "b", message("c", key="k"))
        assert first == again < last
        assert contents(storage) == ["a", "b"]

    def test_keys_belong_to_their_session(self, storage: Storage, open_another: Opener) -> None:
        tell(storage, "s", message("one", key="k"))
        tell(storage, "t", message("two", key="k"))
        tell(open_another("elsewhere"), "s", message("three", key="k"))
        assert contents(storage) == ["one"]
        assert contents(storage, "t") == ["two"]

    def test_a_forgotten_message_keeps_its_key(self, storage: Storage) -> None:
        (first,) = tell(storage, "s", message("secret", key="k"))
        storage.write(lambda tx: tx.sessions.forget_message(first, tool_calls=None, at=NOW))
        assert append(storage, "s", message("secret", key="k")) == [first]
        assert found(storage, "secret") == []

    def test_retired_messages_leave_the_working_history_and_are_found(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot one", "two", "three", "four")
        settle(storage)
        storage.write(lambda tx: tx.sessions.retire("s", ids[0], ids[1]))
        assert working(storage) == ["three", "four"]
        assert working(storage, limit=1, last=True) == ["four"]
        assert working(storage, limit=9, last=True) == ["three", "four"]
        assert [row.retired for row in messages(storage)] == [True, True, False, False]
        assert found(storage, "parrot") == [ids[0]]
        assert session(storage).message_count == 4

    def test_retiring_reaches_only_its_session(self, storage: Storage, open_another: Opener) -> None:
        for one in (storage, open_another("elsewhere")):
            tell(one, "s", "one")
            tell(one, "t", "two")
        storage.write(lambda tx: tx.sessions.retire("s", 0, 1 << 62))
        assert working(storage) == []
        assert working(open_another("elsewhere")) == ["one"]
        assert [row.retired for row in messages(storage, "t")] == [False]

    def test_a_retired_message_keeps_its_key_unless_it_is_freed(self, storage: Storage) -> None:
        first, second = tell(storage, "s", message("one", key="a"), message("two", key="b"))
        storage.write(lambda tx: tx.sessions.retire("s", first, second, free=["b", "unknown"]))
        assert append(storage, "s", message("again", key="a")) == [first]
        (third,) = append(storage, "s", message("again", key="b"))
        assert third > second
        storage.write(lambda tx: tx.sessions.retire("s", 0, 0, free=["b"]))
        assert append(storage, "s", message("working messages keep it", key="b")) == [third]

    def test_messages_can_be_read_from_a_time_on(self, storage: Storage) -> None:
        tell(storage, "s", *(message(str(n), timestamp=NOW + n) for n in range(5)))
        assert working(storage, since=NOW + 3) == ["3", "4"]
        assert working(storage, since=NOW + 1, limit=2, last=True) == ["3", "4"]
        assert working(storage, since=NOW + 9) == []

    @pytest.mark.parametrize("indexed", [False, True])
    def test_a_popped_message_is_gone_everywhere(self, storage: Storage, *, indexed: bool) -> None:
        calls = [call("look", q="macaw"), call("look", "c2")]
        first, last = tell(storage, "s", "one", message("a parrot", "assistant", tool_calls=calls, key="k"))
        if indexed:
            settle(storage)
            embed_all(storage)
        popped = storage.write(lambda tx: tx.sessions.pop("s"))
        assert popped is not None
        assert (popped.id, popped.content, popped.key) == (last, "a parrot", "k")
        assert contents(storage) == ["one"]
        row = session(storage)
        assert (row.message_count, row.tool_call_count) == (1, 0)
        assert found(storage, "parrot") == found(storage, "macaw") == []
        if indexed:
            assert last not in near_ids(storage, "parrot", limit=9)
        assert append(storage, "s", message("again", key="k"))[0] > last
        settle(storage)
        assert found(storage, "parrot") == []
        assert found(storage, "one") == [first]
        assert [check.name for check in storage.examine(repair=False) if not check.ok] == []

    def test_popping_passes_over_retired_messages_and_ends(self, storage: Storage) -> None:
        ids = tell(storage, "s", "one", "two", "three")
        storage.write(lambda tx: tx.sessions.retire("s", ids[1], ids[2]))
        row = storage.write(lambda tx: tx.sessions.pop("s"))
        assert row is not None
        assert row.content == "one"
        assert storage.write(lambda tx: tx.sessions.pop("s")) is None
        assert storage.write(lambda tx: tx.sessions.pop("unknown")) is None
        assert contents(storage) == ["two", "three"]

    def test_appends_and_nothing_else_count_themselves(self, storage: Storage) -> None:
        create(storage, "s", updated_at=NOW)
        start = session(storage).revision
        assert storage.write(lambda tx: tx.sessions.hold("s")) == start
        assert storage.write(lambda tx: tx.sessions.hold("unknown")) is None
        storage.write(lambda tx: tx.sessions.append("s", [message("one")], NOW + 0.125))
        row = session(storage)
        assert (row.revision, row.updated_at) == (start + 1, NOW + 0.125)
        storage.write(lambda tx: tx.sessions.append("s", [message("two"), message("three")], NOW - 5))
        row = session(storage)
        assert (row.revision, row.updated_at) == (start + 2, NOW + 0.125)
        append(storage, "s")
        storage.write(lambda tx: tx.sessions.set_title("s", "title"))
        storage.write(lambda tx: tx.sessions.pop("s"))
        assert session(storage).revision == start + 2
        assert storage.write(lambda tx: tx.sessions.revise("s", NOW + 7))
        row = session(storage)
        assert (row.revision, row.updated_at) == (start + 3, NOW + 7)
        assert not storage.write(lambda tx: tx.sessions.revise("unknown", NOW))

    def test_an_append_to_an_unknown_session_with_a_key_is_not_found(self, storage: Storage) -> None:
        with pytest.raises(NotFound):
            append(storage, "nobody", message("hello", key="k"))

    def test_sessions_are_listed_by_parent_metadata_and_last_write(self, storage: Storage) -> None:
        about = {"a": 'x "y"', "n": 1, "t": True, "o": None, "deep": {"a": 1}}
        create(storage, "old", metadata=json.dumps(about), updated_at=NOW + 9)
        create(storage, "child", parent_session_id="old", started_at=NOW + 1, updated_at=NOW + 1)
        create(storage, "list", metadata="[1]", started_at=NOW + 2, updated_at=NOW + 2)
        create(storage, "none", started_at=NOW + 3, metadata='{"n": 2, "o": 0}', updated_at=NOW + 3)
        assert listed(storage) == ["none", "list", "child", "old"]
        assert listed(storage, by_update=True) == ["old", "none", "list", "child"]
        assert listed(storage, parent="old") == ["child"]
        assert listed(storage, parent="unknown") == []
        for wanted, expected in (
            ({"a": 'x "y"'}, ["old"]),
            ({"n": 1.0, "t": True}, ["old"]),
            ({"o": None}, ["old"]),
            ({"t": 1}, []),
            ({"n": "1"}, []),
            ({"deep.a": 1}, []),
            ({"n": 1, "a": "other"}, []),
            ({}, ["none", "list", "child", "old"]),
        ):
            assert listed(storage, metadata=json.dumps(wanted)) == expected, wanted

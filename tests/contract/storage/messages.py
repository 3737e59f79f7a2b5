"""Messages: appended in order, under ids that are never reused."""

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
    settle,
    tell,
)
from mnemos.errors import NotFound
from mnemos.storage.base import Glimpse, MessageRow, Reads, Storage


class MessageContract(Contract):
    def test_a_message_comes_back_as_it_was_appended(self, storage: Storage) -> None:
        calls = [call("search_web", query="cats"), call("read_file", "call_2", path="a.py")]
        create(storage, "s")
        (first,) = append(
            storage,
            "s",
            message(
                "Looking.\n\tTwo tools.",
                role="assistant",
                tool_calls=calls,
                token_count=17,
                timestamp=NOW + 0.0625,
                metadata=json.dumps({"finish": "tool_calls"}),
            ),
        )
        (second,) = append(
            storage, "s", message("found", role="tool", tool_name="search_web", tool_call_id="call_1")
        )
        assert messages(storage) == [
            MessageRow(
                id=first,
                session_id="s",
                role="assistant",
                content="Looking.\n\tTwo tools.",
                encoded=False,
                tool_name=None,
                tool_calls=json.dumps(calls),
                tool_call_id=None,
                token_count=17,
                timestamp=NOW + 0.0625,
                metadata=json.dumps({"finish": "tool_calls"}),
                forgotten=False,
            ),
            MessageRow(
                id=second,
                session_id="s",
                role="tool",
                content="found",
                encoded=False,
                tool_name="search_web",
                tool_calls=None,
                tool_call_id="call_1",
                token_count=None,
                timestamp=NOW,
                metadata=None,
                forgotten=False,
            ),
        ]

    def test_a_message_is_found_by_its_position_and_back(self, storage: Storage) -> None:
        ids = []
        for number in range(3):
            ids += (
                tell(storage, "s", message("é" * number))
                if number == 0
                else append(storage, "s", message("é" * number))
            )
            tell(storage, f"other-{number}", message("in between"))

        def places(tx: Reads) -> list[tuple[int | None, int]]:
            return [(tx.sessions.message_at("s", n), tx.sessions.position("s", ids[n])) for n in range(3)]

        assert storage.read(places) == [(number, place) for place, number in enumerate(ids)]
        assert storage.read(lambda tx: tx.sessions.message_at("s", 3)) is None
        assert storage.read(lambda tx: tx.sessions.message_at("unknown", 0)) is None
        assert storage.read(lambda tx: tx.sessions.position("s", 1 << 40)) == 3
        outline = storage.read(lambda tx: tx.sessions.outline("s"))
        assert outline == [(ids[number], "user", 2 * number, NOW) for number in range(3)]

    def test_the_origin_of_a_message_is_kept(self, storage: Storage) -> None:
        ids = tell(storage, "s", message("said"), message("recalled", "tool", origin="memory"))
        assert [row.origin for row in messages(storage)] == [None, "memory"]
        for hit, origin in zip(
            storage.read(lambda tx: tx.sessions.hits(ids, 9)), (None, "memory"), strict=True
        ):
            assert hit.message.origin == origin

    @pytest.mark.parametrize("call_id", ["c1", 'odd "id" \\'])
    def test_a_call_is_found_behind_its_results(self, storage: Storage, call_id: str) -> None:
        def find(session_id: str = "s") -> int | None:
            row = storage.read(lambda tx: tx.sessions.find_call(session_id, call_id))
            return None if row is None else row.id

        create(storage, "s")
        assert find() is find("unknown") is None
        made = [call("one", "other"), call("two", call_id)]
        first, second, _ = append(
            storage,
            "s",
            message(None, "assistant", tool_calls=made),
            message("text", "assistant", tool_calls=[call("two", call_id)]),
            message("text", "assistant", tool_calls=[call("three", "another")]),
        )
        tell(storage, "elsewhere", message(None, "assistant", tool_calls=[call("three", call_id)]))
        append(storage, "s", *(message("result", "tool") for _ in range(20)))
        assert find() == second > first
        append(storage, "s", *(message("chat") for _ in range(60)))
        assert find() is None

    def test_a_call_whose_origin_is_set_is_found_by_its_text_alone(self, storage: Storage) -> None:
        calls = [call("recall", query="parrot")]
        (asked,) = tell(storage, "s", message("Looking.", "assistant", tool_calls=calls))
        settle(storage)
        assert found(storage, "parrot") == [asked]
        storage.write(lambda tx: tx.sessions.set_origin(asked, "memory"))
        storage.write(lambda tx: tx.sessions.set_origin(1 << 40, "memory"))
        assert found(storage, "parrot") == []
        assert found(storage, "looking") == [asked]
        assert messages(storage)[0].origin == "memory"

    def test_encoded_content_stays_encoded(self, storage: Storage) -> None:
        parts = json.dumps([{"type": "text", "text": "seen"}, {"type": "image_url", "image_url": {}}])
        tell(storage, "s", message(parts, encoded=True))
        (row,) = messages(storage)
        assert (row.content, row.encoded) == (parts, True)

    def test_an_empty_text_and_no_text_are_two_things(self, storage: Storage) -> None:
        tell(storage, "s", message(""), message(None))
        assert contents(storage) == ["", None]

    def test_messages_keep_the_order_they_were_appended_in(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(message(str(n), timestamp=NOW - n) for n in range(25)))
        assert ids == sorted(set(ids))
        assert contents(storage) == [str(n) for n in range(25)]
        assert [row.id for row in messages(storage)] == ids

    def test_appending_nothing_to_a_session_answers_nothing(self, storage: Storage) -> None:
        create(storage, "s")
        assert append(storage, "s") == []
        assert messages(storage) == []

    def test_appending_to_an_unknown_session_is_not_found(self, storage: Storage) -> None:
        with pytest.raises(NotFound):
            append(storage, "nobody", "hello")
        assert storage.read(lambda tx: tx.sessions.message_count(None)) == 0

    def test_ids_are_above_zero(self, storage: Storage) -> None:
        assert tell(storage, "s", "one")[0] > 0

    def test_ids_ascend_across_sessions(self, storage: Storage) -> None:
        create(storage, "a")
        create(storage, "b")
        ids = [append(storage, "ab"[n % 2], str(n))[0] for n in range(10)]
        assert ids == sorted(set(ids))

    def test_an_id_is_never_given_twice(self, storage: Storage) -> None:
        used = tell(storage, "s", "one", "two", "three")
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        storage.finish_deletes()
        assert min(tell(storage, "s", "four")) > max(used)

    def test_an_id_is_never_given_twice_after_reopening(self, open_another: Opener) -> None:
        first = open_another()
        used = tell(first, "s", "one", "two", "three")
        first.write(lambda tx: tx.sessions.begin_delete("s"))
        first.finish_deletes()
        first.close()
        assert min(tell(open_another(), "s", "four")) > max(used)

    def test_pages_of_messages_go_through_all_of_them(self, storage: Storage) -> None:
        create(storage, "other")
        create(storage, "s")
        ids: list[int] = []
        for n in range(23):
            ids += append(storage, "s", str(n))
            append(storage, "other", "between")
        seen: list[int] = []
        after = 0
        while page := storage.read(
            lambda tx: tx.sessions.messages("s", after=after, limit=5)  # noqa: B023
        ):
            assert len(page) <= 5
            seen += [row.id for row in page]
            after = seen[-1]
        assert seen == ids

    def test_the_last_messages_are_in_order_too(self, storage: Storage) -> None:
        ids = tell(storage, "s", *map(str, range(9)))
        last = storage.read(lambda tx: tx.sessions.messages("s", after=0, limit=3, last=True))
        assert [row.id for row in last] == ids[-3:]
        few = storage.read(lambda tx: tx.sessions.messages("s", after=ids[-2], limit=3, last=True))
        assert [row.id for row in few] == ids[-1:]

    def test_messages_of_an_unknown_session_are_none(self, storage: Storage) -> None:
        assert messages(storage, "nobody") == []

    def test_a_message_is_found_by_its_id(self, storage: Storage) -> None:
        ids = tell(storage, "s", "one", "two")
        row = storage.read(lambda tx: tx.sessions.message(ids[1]))
        assert row is not None
        assert (row.id, row.session_id, row.content) == (ids[1], "s", "two")

    def test_an_unknown_message_is_none(self, storage: Storage) -> None:
        def look(tx: Reads) -> None:
            for unknown in (0, -1, 999_999, 1 << 52, 1 << 70):
                assert tx.sessions.message(unknown) is None, unknown
                assert tx.sessions.hits([unknown], 10) == [], unknown
                assert tx.sessions.around(unknown, before=2, after=2) == [], unknown

        tell(storage, "s", "one")
        storage.read(look)

    def test_hits_come_in_the_order_asked_for(self, storage: Storage) -> None:
        ids = tell(storage, "s", "one", "two", "three")
        hits = storage.read(lambda tx: tx.sessions.hits([ids[2], 0, ids[0]], 10))
        assert [hit.message for hit in hits] == [messages(storage)[2], messages(storage)[0]]
        assert storage.read(lambda tx: tx.sessions.hits([], 10)) == []

    def test_a_hit_describes_its_session(self, storage: Storage) -> None:
        create(storage, "parent")
        told = {"source": "web", "model": "some-model", "started_at": NOW - 5}
        ids = tell(storage, "s", "one", parent_session_id="parent", **told)
        ids += tell(storage, "alone", "two")
        first, second = storage.read(lambda tx: tx.sessions.hits(ids, 10))
        assert (first.source, first.model, first.session_started) == ("web", "some-model", NOW - 5)
        assert first.has_parent
        assert (second.source, second.model, second.has_parent) == ("cli", None, False)

    def test_a_hit_shows_the_beginning_of_its_neighbours(self, storage: Storage) -> None:
        parts = json.dumps([{"type": "text", "text": "longer than ten characters"}])
        create(storage, "s")
        create(storage, "other")
        ids: list[int] = []
        for one in (
            message("日本語の長い長い長い文章です", role="assistant"),
            message("hit"),
            message(parts, encoded=True),
            message("last", role="tool"),
        ):
            append(storage, "other", "between")
            ids += append(storage, "s", one)
        middle, edge = storage.read(lambda tx: tx.sessions.hits([ids[1], ids[3]], 10))
        assert middle.before == Glimpse("assistant", "日本語の長い長い長い", encoded=False, forgotten=False)
        assert middle.after == Glimpse("user", parts, encoded=True, forgotten=False)
        assert edge.before == Glimpse("user", parts, encoded=True, forgotten=False)
        assert edge.after is None

    def test_a_forgotten_neighbour_shows_nothing(self, storage: Storage) -> None:
        ids = tell(storage, "s", "secret", "hit")
        storage.write(lambda tx: tx.sessions.forget_message(ids[0], tool_calls=None, at=NOW))
        (hit,) = storage.read(lambda tx: tx.sessions.hits(ids[1:], 10))
        assert hit.before == Glimpse("user", None, encoded=False, forgotten=True)

    def test_neighbours_are_those_of_the_same_session(self, storage: Storage) -> None:
        create(storage, "a")
        create(storage, "b")
        ids = {"a": [], "b": []}  # type: dict[str, list[int]]
        for n in range(12):
            ids["ab"[n % 2]] += append(storage, "ab"[n % 2], str(n))
        around = storage.read(lambda tx: tx.sessions.around(ids["a"][3], before=2, after=1))
        assert [row.id for row in around] == ids["a"][1:5]
        assert {row.session_id for row in around} == {"a"}

    def test_neighbours_stop_at_the_ends(self, storage: Storage) -> None:
        ids = tell(storage, "s", "one", "two", "three")
        for one, before, after, expected in (
            (ids[0], 5, 1, ids[:2]),
            (ids[2], 1, 5, ids[1:]),
            (ids[1], 0, 0, ids[1:2]),
        ):
            around = storage.read(
                lambda tx: tx.sessions.around(one, before=before, after=after)  # noqa: B023
            )
            assert [row.id for row in around] == expected

"""Forgetting and deleting: data is gone for every reader, and no other data is."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from contract.storage.openers import (
    EVERYTHING,
    NOW,
    Contract,
    Opener,
    append,
    call,
    contents,
    create,
    found,
    found_whole,
    message,
    messages,
    session,
    session_row,
    settle,
    tell,
)
from mnemos.errors import NotFound
from mnemos.storage.base import Order, SessionFilters, Storage, Writes


def _letters(first: str, last: str) -> str:
    return "".join(map(chr, range(ord(first), ord(last) + 1)))


PHRASES = 250
# The letters of a script, how many make a word, and what is between words.
SCRIPTS = {
    "Chinese": (_letters("\u4e00", "\u5200"), 2, ""),
    "Japanese": (_letters("\u3042", "\u308f") + _letters("\u30a2", "\u30ef"), 2, ""),
    "Thai": (_letters("\u0e01", "\u0e2e"), 3, ""),
    "Arabic": (_letters("\u0621", "\u063a") + _letters("\u0641", "\u064a"), 5, " "),
    "Hindi": (_letters("\u0905", "\u0939"), 4, " "),
    "emoji": (_letters("\U0001f300", "\U0001f5ff"), 1, " "),
    "accents": (
        "\u00e6\u00f8\u0142\u0111\u0127\u0153\u00df\u00fe\u00f0\u00e9\u00fc\u00e7\u0131\u0140",
        6,
        " ",
    ),
}


class RemovalContract(Contract):
    @pytest.fixture(params=["fresh", "indexed", "half indexed"])
    def stage(self, request: pytest.FixtureRequest) -> Callable[[Storage, str], object]:
        """Brings the index to a stage; the last one leaves it between two messages."""

        def bring(storage: Storage, session_id: str) -> None:
            if request.param != "fresh":
                settle(storage)
            if request.param == "half indexed":
                append(storage, session_id, "unrelated and pending")

        return bring

    # --- forgetting -------------------------------------------------------------------------

    def test_a_forgotten_message_keeps_its_place(
        self, storage: Storage, stage: Callable[[Storage, str], object]
    ) -> None:
        secret = message(
            "the secret parrot",
            role="assistant",
            tool_calls=[call("tell", word="hidden quetzal")],
            timestamp=NOW + 5,
            metadata='{"note": "secret"}',
        )
        before, gone, after = tell(storage, "s", "before", secret, "after the parrot")
        stage(storage, "s")
        skeleton = json.dumps([{"id": "call_1"}])
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=skeleton, at=NOW))
        row = storage.read(lambda tx: tx.sessions.message(gone))
        assert row is not None
        assert (row.id, row.role, row.timestamp, row.forgotten) == (gone, "assistant", NOW + 5, True)
        assert (row.content, row.metadata, row.tool_calls) == (None, None, skeleton)
        assert [row.id for row in messages(storage)][:3] == [before, gone, after]
        assert session(storage).message_count == len(messages(storage))

    def test_a_forgotten_message_is_not_found(
        self, storage: Storage, stage: Callable[[Storage, str], object]
    ) -> None:
        secret = message("the secret parrot", tool_calls=[call("tell", word="hidden quetzal")])
        gone, kept = tell(storage, "s", secret, "another parrot")
        stage(storage, "s")
        assert sorted(found(storage, "parrot")) == [gone, kept]
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        for _ in range(2):
            for order in Order:
                assert found(storage, "parrot", order=order) == [kept]
                for query in ("secret", "hidden", "quetzal", "secr*", "tell", '"secret parrot"'):
                    assert gone not in found(storage, query, order=order), query
            settle(storage)

    def test_forgetting_twice_changes_nothing(
        self, storage: Storage, stage: Callable[[Storage, str], object]
    ) -> None:
        gone, kept = tell(storage, "s", "secret parrot", "parrot")
        stage(storage, "s")
        for _ in range(2):
            storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
            assert found(storage, "parrot") == [kept]
        settle(storage)
        assert found(storage, "parrot") == [kept]

    def test_other_messages_stay_when_one_is_forgotten(
        self, storage: Storage, stage: Callable[[Storage, str], object]
    ) -> None:
        ids = tell(storage, "s", *(f"parrot number{n}" for n in range(10)))
        stage(storage, "s")
        for gone in ids[::3]:
            storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))  # noqa: B023
        left = [one for one in ids if one not in ids[::3]]
        assert sorted(found(storage, "parrot")) == left
        settle(storage)
        assert sorted(found(storage, "parrot")) == left
        assert found(storage, "number4") == [ids[4]]

    # --- deleting ---------------------------------------------------------------------------

    def test_a_deleted_session_is_gone_at_once(
        self, storage: Storage, stage: Callable[[Storage, str], object]
    ) -> None:
        gone = tell(storage, "s", "parrot one", "parrot two", title="Title")
        (kept,) = tell(storage, "other", "parrot three")
        stage(storage, "other")
        assert storage.write(lambda tx: tx.sessions.begin_delete("s")) is True
        for _ in range(2):
            self._check_gone(storage, "s", gone)
            assert found(storage, "parrot") == [kept]
            assert storage.read(lambda tx: tx.sessions.count(SessionFilters())) == 1
            assert storage.read(lambda tx: tx.sessions.by_source())[0][:2] == ("cli", 1)
            storage.finish_deletes()
            settle(storage)

    def test_a_deleted_session_cannot_be_changed(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        assert storage.write(lambda tx: tx.sessions.begin_delete("s")) is False
        assert storage.write(lambda tx: tx.sessions.end("s", "done", NOW)) is False
        assert storage.write(lambda tx: tx.sessions.set_title("s", "x")) is False

    def test_the_name_of_a_deleted_session_is_free_at_once(
        self, storage: Storage, stage: Callable[[Storage, str], object]
    ) -> None:
        tell(storage, "other", "unrelated")
        gone = tell(storage, "s", "parrot", system_prompt="old", model="old")
        stage(storage, "other")
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        assert create(storage, "s", source="web")
        (new,) = append(storage, "s", "new parrot")
        for _ in range(2):
            assert (session(storage).source, session(storage).message_count) == ("web", 1)
            assert session(storage).system_prompt is None
            assert contents(storage) == ["new parrot"]
            assert found(storage, "parrot") == [new]
            assert found(storage, "parrot", session_ids=["s"]) == [new]
            assert storage.read(lambda tx: tx.sessions.hits(gone, 10)) == []
            storage.finish_deletes()

    def test_children_of_a_deleted_session_belong_to_its_parent(self, storage: Storage) -> None:
        create(storage, "root")
        create(storage, "middle", parent_session_id="root")
        create(storage, "one", parent_session_id="middle", started_at=1.0)
        create(storage, "two", parent_session_id="middle", started_at=2.0)
        storage.write(lambda tx: tx.sessions.begin_delete("middle"))
        storage.finish_deletes()
        children = storage.read(lambda tx: tx.sessions.children("root"))
        assert [row.id for row in children] == ["one", "two"]
        assert session(storage, "one").parent_session_id == "root"
        storage.write(lambda tx: tx.sessions.begin_delete("root"))
        storage.finish_deletes()
        assert session(storage, "one").parent_session_id is None

    def test_a_whole_line_of_sessions_can_be_deleted(self, storage: Storage) -> None:
        create(storage, "s0")
        for n in range(1, 5):
            create(storage, f"s{n}", parent_session_id=f"s{n - 1}")
            append(storage, f"s{n}", "parrot")
        for n in (2, 0, 4, 1, 3):
            assert storage.write(lambda tx: tx.sessions.begin_delete(f"s{n}"))  # noqa: B023
        storage.finish_deletes()
        assert storage.read(lambda tx: tx.sessions.count(SessionFilters())) == 0
        assert found(storage, "parrot") == []

    def test_a_long_session_is_removed_whole(self, storage: Storage) -> None:
        gone = tell(storage, "long", *(f"parrot number{n}" for n in range(250)))
        (kept,) = tell(storage, "s", "parrot")
        settle(storage)
        storage.write(lambda tx: tx.sessions.begin_delete("long"))
        storage.finish_deletes()
        self._check_gone(storage, "long", gone)
        assert found(storage, "parrot") == [kept]

    def test_deleting_and_forgetting_go_together(self, storage: Storage) -> None:
        gone, secret = tell(storage, "s", "parrot", "secret parrot")
        settle(storage)
        storage.write(lambda tx: tx.sessions.forget_message(secret, tool_calls=None, at=NOW))
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        storage.finish_deletes()
        self._check_gone(storage, "s", [gone, secret])
        assert found(storage, "parrot") == []

    def test_finishing_deletes_without_any_changes_nothing(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        storage.finish_deletes()
        assert contents(storage) == ["parrot"]

    def test_deletes_are_finished_by_the_next_opener(self, open_another: Opener) -> None:
        first = open_another()
        gone = tell(first, "s", "parrot")
        first.write(lambda tx: tx.sessions.begin_delete("s"))
        first.close()
        second = open_another()
        self._check_gone(second, "s", gone)
        second.finish_deletes()
        settle(second)
        assert found(second, "parrot") == []

    def test_an_append_after_another_opener_deleted_the_session_is_not_found(
        self, open_another: Opener
    ) -> None:
        mine, other = open_another(), open_another()
        used = tell(mine, "s", "one")
        other.write(lambda tx: tx.sessions.begin_delete("s"))
        with pytest.raises(NotFound):
            append(mine, "s", "two")
        # The name is in use again, for another session than the one remembered.
        create(other, "s")
        used += append(mine, "s", "three")
        used += append(other, "s", "four", "five")
        used += append(mine, "s", "six")
        assert used == sorted(set(used))
        assert contents(other) == ["three", "four", "five", "six"]
        assert session(other).message_count == 4

    def test_nothing_cached_by_a_failed_append_is_used(self, storage: Storage) -> None:
        tell(storage, "a", "kept")

        def fails(tx: Writes) -> None:
            tx.sessions.create(session_row("b"))
            tx.sessions.append("b", [message("lost"), message("lost too")], NOW)
            tx.sessions.begin_delete("a")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            storage.write(fails)
        with pytest.raises(NotFound):
            append(storage, "b", "no such session")
        append(storage, "a", "again")
        assert contents(storage, "a") == ["kept", "again"]
        assert session(storage, "a").message_count == 2

    def test_files_can_be_scrubbed_of_what_was_forgotten(self, storage: Storage) -> None:
        gone, kept = tell(storage, "s", "secret parrot", "another parrot")
        settle(storage)
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        assert storage.scrub() is True
        assert found(storage, "parrot") == [kept]
        assert contents(storage) == [None, "another parrot"]

    @pytest.mark.parametrize("script", SCRIPTS)
    def test_forgetting_one_message_leaves_every_other_word_findable(
        self, storage: Storage, script: str
    ) -> None:
        """Scrubbing and optimizing rewrite the index, whose keys may end inside a character."""
        letters, length, gap = SCRIPTS[script]
        chance = random.Random(script)
        phrases = [
            gap.join("".join(chance.choices(letters, k=length)) for _ in range(6)) for _ in range(PHRASES)
        ]
        gone, *kept = tell(storage, "s", "secret parrot", *phrases)
        settle(storage)

        def lost() -> list[str]:
            return [
                phrase
                for number, phrase in zip(kept, phrases, strict=True)
                if number not in found_whole(storage, phrase)
            ]

        assert lost() == []
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        assert storage.scrub() is True
        assert lost() == []
        storage.optimize()
        assert lost() == []
        assert found(storage, "secret") == []

    @staticmethod
    def _check_gone(storage: Storage, session_id: str, ids: list[int]) -> None:
        assert storage.read(lambda tx: tx.sessions.get(session_id)) is None
        assert messages(storage, session_id) == []
        assert storage.read(lambda tx: tx.sessions.message_count(session_id)) == 0
        assert storage.read(lambda tx: tx.sessions.hits(ids, 10)) == []
        assert storage.read(lambda tx: tx.sessions.around(ids[0], before=5, after=5)) == []
        assert storage.read(lambda tx: tx.sessions.by_id_prefix(session_id, 9)) == []
        left = storage.read(lambda tx: tx.sessions.page(source=None, after="", limit=EVERYTHING))
        assert [row.id for row in left if session_id in row.id] == []

"""Every opener finds a message as soon as it is appended, indexed or not."""

from __future__ import annotations

from contract.storage.openers import NOW, Contract, Opener, append, create, found, settle, tell
from mnemos.storage.base import Order, Storage


class FreshnessContract(Contract):
    def test_a_message_is_found_before_and_after_catching_up(self, storage: Storage) -> None:
        (old,) = tell(storage, "s", "parrot one")
        assert found(storage, "parrot") == [old]
        settle(storage)
        assert found(storage, "parrot") == [old]
        (new,) = append(storage, "s", "parrot two")
        assert sorted(found(storage, "parrot")) == [old, new]
        assert found(storage, "two") == [new]
        settle(storage)
        assert sorted(found(storage, "parrot")) == [old, new]

    def test_messages_are_found_while_and_after_nothing_is_done_in_the_background(
        self, storage: Storage
    ) -> None:
        with storage.without_background():
            (first,) = tell(storage, "s", "parrot one")
            assert found(storage, "parrot") == [first]
            with storage.without_background():
                (second,) = append(storage, "s", "parrot two")
            assert storage.catch_up() == 0
            assert sorted(found(storage, "parrot")) == [first, second]
        (third,) = append(storage, "s", "parrot three")
        assert sorted(found(storage, "parrot")) == [first, second, third]

    def test_every_message_of_a_growing_session_is_found(self, storage: Storage) -> None:
        create(storage, "s")
        ids: list[int] = []
        for n in range(30):
            ids += append(storage, "s", f"parrot number{n}")
            assert sorted(found(storage, "parrot")) == ids
            assert found(storage, f"number{n}") == ids[-1:]
            if n % 7 == 6:
                settle(storage)

    def test_fresh_and_indexed_messages_are_ordered_together(self, storage: Storage) -> None:
        create(storage, "s")
        (first,) = append(storage, "s", "parrot")
        settle(storage)
        (second,) = append(storage, "s", "parrot")
        assert found(storage, "parrot", order=Order.NEWEST) == [second, first]
        assert found(storage, "parrot", order=Order.OLDEST) == [first, second]
        assert found(storage, "parrot", order=Order.NEWEST, limit=1, offset=1) == [first]

    def test_a_word_can_be_fresh_and_indexed_at_once(self, storage: Storage) -> None:
        (old,) = tell(storage, "s", "parrot and pigeon")
        settle(storage)
        (new,) = append(storage, "s", "parrot and quetzal")
        assert found(storage, "parrot quetzal") == [new]
        assert found(storage, "parrot pigeon") == [old]
        assert found(storage, "parrot -quetzal") == [old]

    def test_many_pending_messages_are_all_found(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot number{n}" for n in range(700)))
        assert sorted(found(storage, "parrot", limit=1000)) == ids
        assert found(storage, "number613") == [ids[613]]

    def test_catching_up_again_changes_nothing(self, storage: Storage) -> None:
        tell(storage, "s", *["parrot"] * 10)
        for _ in range(3):
            settle(storage)
            assert storage.catch_up(5.0) == 0
            assert len(found(storage, "parrot")) == 10

    def test_catching_up_without_a_limit_leaves_nothing(self, storage: Storage) -> None:
        """Not even when the engine is at it already in the background."""
        create(storage, "s")
        for _ in range(5):
            append(storage, "s", *["parrot"] * 500)
        assert storage.catch_up() == 0

    def test_another_opener_finds_fresh_messages(self, open_another: Opener) -> None:
        writer, reader = open_another(), open_another()
        (own,) = tell(writer, "s", "parrot")
        assert found(reader, "parrot") == [own]
        (more,) = append(reader, "s", "parrot too")
        assert sorted(found(writer, "parrot")) == [own, more]

    def test_a_read_only_opener_finds_fresh_messages(self, open_another: Opener) -> None:
        writer = open_another()
        (old,) = tell(writer, "s", "parrot")
        settle(writer)
        reader = open_another(read_only=True)
        assert found(reader, "parrot") == [old]
        (new,) = append(writer, "s", "parrot again")
        assert sorted(found(reader, "parrot")) == [old, new]
        settle(writer)
        assert sorted(found(reader, "parrot")) == [old, new]

    def test_a_read_only_opener_no_longer_finds_what_was_forgotten(self, open_another: Opener) -> None:
        writer = open_another()
        reader = open_another(read_only=True)
        gone, kept = tell(writer, "s", "parrot one", "parrot two")
        assert sorted(found(reader, "parrot")) == [gone, kept]
        writer.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        assert found(reader, "parrot") == [kept]

    def test_catching_up_by_a_read_only_opener_does_nothing(self, open_another: Opener) -> None:
        writer = open_another()
        (own,) = tell(writer, "s", "parrot")
        reader = open_another(read_only=True)
        assert reader.catch_up() >= 0
        assert found(reader, "parrot") == [own]

    def test_another_opener_may_catch_up(self, open_another: Opener) -> None:
        writer, other = open_another(), open_another()
        ids = tell(writer, "s", *["parrot"] * 5)
        settle(other)
        assert writer.usage().pending == 0
        assert sorted(found(writer, "parrot")) == ids

    def test_closing_catches_up(self, open_another: Opener) -> None:
        writer = open_another()
        (own,) = tell(writer, "s", "parrot")
        writer.close()
        reader = open_another(read_only=True)
        assert reader.usage().pending == 0
        assert found(reader, "parrot") == [own]

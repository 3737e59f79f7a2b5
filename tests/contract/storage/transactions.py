"""A write is all or nothing; a read sees one moment."""

from __future__ import annotations

import pytest

from contract.storage.openers import (
    NOW,
    Contract,
    Opener,
    append,
    contents,
    create,
    found,
    message,
    session,
    session_row,
    settle,
    tell,
)
from mnemos.errors import MnemosError, NotFound, ReadOnly
from mnemos.storage.base import Filters, Order, Reads, SessionFilters, Storage, Writes
from mnemos.text.query import parse


class Stop(Exception):
    """Raised by the tests inside a transaction."""


class TransactionContract(Contract):
    def test_a_write_answers_what_its_work_answers(self, storage: Storage) -> None:
        assert storage.write(lambda tx: tx.sessions.create(session_row("s"))) is True
        assert storage.read(lambda tx: tx.sessions.get("s")) == session_row("s")

    @pytest.mark.parametrize("error", [Stop, KeyboardInterrupt])
    def test_an_exception_in_a_write_leaves_nothing(
        self, storage: Storage, error: type[BaseException]
    ) -> None:
        tell(storage, "before", "kept")

        def work(tx: Writes) -> None:
            tx.sessions.create(session_row("new"))
            tx.sessions.append("new", [message("vanishing")], NOW)
            tx.sessions.append("before", [message("vanishing too", tool_calls=[{"id": "1"}])], NOW)
            tx.sessions.set_title("before", "vanishing title")
            tx.sessions.add_tokens("before", 5, 7)
            tx.sessions.end("before", "vanishing end", NOW)
            tx.audit.record(at=NOW, actor="me", operation="test", ref="session:new")
            raise error

        unchanged = session(storage, "before")
        with pytest.raises(error):
            storage.write(work)
        assert session(storage, "before") == unchanged
        assert contents(storage, "before") == ["kept"]
        assert storage.read(lambda tx: tx.sessions.get("new")) is None
        assert storage.read(lambda tx: tx.audit.newest(10)) == []
        assert found(storage, "vanishing") == []

    def test_an_exception_undoes_a_delete(self, storage: Storage) -> None:
        tell(storage, "parent", "one")
        tell(storage, "child", "two", parent_session_id="parent")

        def work(tx: Writes) -> None:
            assert tx.sessions.begin_delete("parent")
            raise Stop

        with pytest.raises(Stop):
            storage.write(work)
        storage.finish_deletes()
        assert contents(storage, "parent") == ["one"]
        assert session(storage, "child").parent_session_id == "parent"

    def test_an_exception_undoes_forgetting(self, storage: Storage) -> None:
        (kept,) = tell(storage, "s", "remembered")
        settle(storage)

        def work(tx: Writes) -> None:
            tx.sessions.forget_message(kept, tool_calls=None, at=NOW)
            raise Stop

        with pytest.raises(Stop):
            storage.write(work)
        assert contents(storage) == ["remembered"]
        assert found(storage, "remembered") == [kept]

    def test_an_error_of_a_store_undoes_what_went_before(self, storage: Storage) -> None:
        def work(tx: Writes) -> None:
            tx.sessions.create(session_row("s"))
            tx.sessions.append("unknown", [message()], NOW)

        with pytest.raises(NotFound):
            storage.write(work)
        assert storage.read(lambda tx: tx.sessions.get("s")) is None

    def test_an_undone_session_does_not_come_back_as_another(self, storage: Storage) -> None:
        def work(tx: Writes) -> None:
            tx.sessions.create(session_row("undone"))
            tx.sessions.append("undone", [message("undone")], NOW)
            raise Stop

        with pytest.raises(Stop):
            storage.write(work)
        create(storage, "other")
        with pytest.raises(NotFound):
            append(storage, "undone", "astray")
        assert contents(storage, "other") == []
        assert session(storage, "other").message_count == 0

    def test_a_failed_write_does_not_stop_the_next(self, storage: Storage) -> None:
        def fail(_: Writes) -> None:
            raise Stop

        for _ in range(3):
            with pytest.raises(Stop):
                storage.write(fail)
        assert create(storage, "s")

    def test_a_failed_read_does_not_stop_the_next(self, storage: Storage) -> None:
        def fail(_: Reads) -> None:
            raise Stop

        create(storage, "s")
        for _ in range(3):
            with pytest.raises(Stop):
                storage.read(fail)
        assert session(storage).id == "s"

    def test_a_write_sees_what_it_wrote(self, storage: Storage) -> None:
        def work(tx: Writes) -> tuple[int, int, list[int]]:
            tx.sessions.create(session_row("s"))
            ids = tx.sessions.append("s", [message("freshly written")], NOW)
            hits = tx.sessions.search(
                parse("freshly"), Filters(), order=Order.RELEVANCE, limit=10, offset=0
            ).hits
            assert [hit.message_id for hit in hits] == ids
            return tx.sessions.message_count("s"), tx.sessions.count(SessionFilters()), ids

        count, sessions, _ = storage.write(work)
        assert (count, sessions) == (1, 1)

    def test_what_an_undone_write_searched_does_not_stay_found(self, storage: Storage) -> None:
        create(storage, "s")

        def work(tx: Writes) -> None:
            tx.sessions.append("s", [message("undone zebra")], NOW)
            query = parse("zebra")
            assert tx.sessions.search(query, Filters(), order=Order.RELEVANCE, limit=9, offset=0).hits
            raise Stop

        with pytest.raises(Stop):
            storage.write(work)
        assert found(storage, "zebra") == []
        (kept,) = append(storage, "s", "a giraffe instead")
        assert found(storage, "giraffe") == [kept]
        assert found(storage, "zebra") == []

        def look(tx: Writes) -> list[int]:
            query = parse("giraffe")
            hits = tx.sessions.search(query, Filters(), order=Order.RELEVANCE, limit=9, offset=0).hits
            return [hit.message_id for hit in hits]

        assert storage.write(look) == [kept]

    def test_a_read_sees_one_unchanging_view(self, open_another: Opener) -> None:
        reader, writer = open_another(), open_another()
        tell(writer, "s", "one")

        def work(tx: Reads) -> tuple[int, int]:
            before = tx.sessions.message_count("s")
            append(writer, "s", "two")
            return before, tx.sessions.message_count("s")

        assert reader.read(work) == (1, 1)
        assert reader.read(lambda tx: tx.sessions.message_count("s")) == 2

    def test_a_read_only_opener_reads_and_does_not_write(self, open_another: Opener) -> None:
        tell(open_another(), "s", "written before")
        reader = open_another(read_only=True)
        assert reader.read_only
        assert contents(reader) == ["written before"]
        with pytest.raises(ReadOnly):
            create(reader, "t")

    def test_a_read_only_opener_sees_what_is_written_later(self, open_another: Opener) -> None:
        writer = open_another()
        reader = open_another(read_only=True)
        tell(writer, "s", "later")
        assert contents(reader) == ["later"]

    def test_what_was_written_is_there_when_opened_again(self, open_another: Opener) -> None:
        first = open_another()
        ids = tell(first, "s", "one", "two")
        first.close()
        again = open_another()
        assert contents(again) == ["one", "two"]
        assert found(again, "two") == ids[1:]

    def test_closing_twice_does_no_harm(self, storage: Storage) -> None:
        tell(storage, "s", "one")
        storage.close()
        storage.close()

    def test_using_a_closed_storage_raises(self, storage: Storage) -> None:
        create(storage, "s")
        storage.close()
        with pytest.raises(MnemosError):
            storage.read(lambda tx: tx.sessions.get("s"))
        with pytest.raises(MnemosError):
            create(storage, "t")

    def test_a_storage_has_a_location(self, storage: Storage) -> None:
        assert storage.location
        assert not storage.read_only

    def test_a_search_in_a_write_works_after_a_write_that_failed(self, storage: Storage) -> None:
        create(storage)

        def find(tx: Writes) -> int:
            asked = parse("zebra"), Filters()
            return len(tx.sessions.search(*asked, order=Order.NEWEST, limit=9, offset=0).hits)

        def fail(tx: Writes) -> None:
            find(tx)
            raise ZeroDivisionError

        for number in range(1, 4):
            append(storage, "s", f"zebra {number}")
            assert storage.write(find) == number
            with pytest.raises(ZeroDivisionError):
                storage.write(fail)
        assert len(found(storage, "zebra")) == 3

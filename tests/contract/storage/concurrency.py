"""Concurrent threads and openers lose nothing and never see a partial change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from contract.storage.openers import (
    EVERYTHING,
    Contract,
    Opener,
    append,
    contents,
    create,
    found,
    message,
    messages,
    session,
    settle,
    tell,
)
from mnemos.storage.base import Reads, SessionFilters, Storage

THREADS = 4


class ConcurrencyContract(Contract):
    def test_threads_lose_no_message(self, storage: Storage) -> None:
        create(storage, "s")

        def work(thread: int) -> list[int]:
            return [append(storage, "s", f"thread{thread} number{n}")[0] for n in range(40)]

        ids = [one for some in _at_once(work) for one in some]
        assert len(set(ids)) == THREADS * 40
        assert [row.id for row in messages(storage)] == sorted(ids)
        expected = {f"thread{thread} number{n}" for thread in range(THREADS) for n in range(40)}
        assert set(contents(storage)) == expected
        assert session(storage).message_count == len(ids)

    def test_openers_lose_no_message(self, open_another: Opener) -> None:
        create(open_another(), "s")
        opened = [open_another() for _ in range(THREADS)]

        def work(thread: int) -> list[int]:
            calls = [{"id": "1"}, {"id": "2"}]
            one = message(f"parrot {thread}", tool_calls=calls)
            return [append(opened[thread], "s", one)[0] for _ in range(25)]

        ids = [one for some in _at_once(work) for one in some]
        row = session(opened[0])
        assert len(set(ids)) == THREADS * 25
        assert (row.message_count, row.tool_call_count) == (THREADS * 25, THREADS * 50)
        assert sorted(found(opened[0], "parrot", limit=1000)) == sorted(ids)

    def test_the_ids_of_one_append_stay_in_order(self, storage: Storage) -> None:
        create(storage, "s")

        def work(thread: int) -> None:
            for _ in range(15):
                ids = append(storage, "s", *(f"{thread}.{part}" for part in range(4)))
                assert ids == sorted(ids)

        _at_once(work)

    def test_a_reader_never_sees_half_a_turn(self, storage: Storage) -> None:
        create(storage, "s")
        running = threading.Event()
        running.set()

        def look(tx: Reads) -> tuple[int, int]:
            row = tx.sessions.get("s")
            seen = tx.sessions.messages("s", after=0, limit=EVERYTHING)
            assert row is not None
            return row.message_count, len(seen)

        def read() -> int:
            reads = 0
            while running.is_set() or not reads:
                counted, seen = storage.read(look)
                assert counted == seen
                assert seen % 5 == 0
                reads += 1
            return reads

        def write(thread: int) -> None:
            for n in range(20):
                append(storage, "s", *(f"{thread} {n} {part}" for part in range(5)))

        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read)
            try:
                _at_once(write, threads=2)
            finally:
                running.clear()
            assert reading.result() >= 1
        assert session(storage).message_count == 200

    def test_counters_of_tokens_lose_nothing(self, storage: Storage) -> None:
        create(storage, "s")

        def work(_: int) -> None:
            for _n in range(25):
                storage.write(lambda tx: tx.sessions.add_tokens("s", 1, 2))

        _at_once(work)
        row = session(storage)
        assert (row.input_tokens, row.output_tokens) == (THREADS * 25, THREADS * 50)

    def test_only_one_of_many_creates_a_session(self, storage: Storage) -> None:
        for n in range(10):
            created = _at_once(lambda _: create(storage, f"s{n}"))  # noqa: B023
            assert sorted(created) == [False] * (THREADS - 1) + [True]

    def test_a_message_is_found_by_who_appended_it_while_the_index_moves(self, storage: Storage) -> None:
        create(storage, "s")
        running = threading.Event()
        running.set()

        def keep_up() -> None:
            while running.is_set():
                settle(storage)

        def work(thread: int) -> None:
            for n in range(12):
                word = f"word{thread}x{n}"
                ids = append(storage, "s", f"{word} parrot")
                assert found(storage, word) == ids

        with ThreadPoolExecutor(1) as pool:
            keeping = pool.submit(keep_up)
            try:
                _at_once(work)
            finally:
                running.clear()
            keeping.result()
        assert len(found(storage, "parrot", limit=1000)) == THREADS * 12
        settle(storage)
        assert len(found(storage, "parrot", limit=1000)) == THREADS * 12

    def test_deletes_and_appends_do_not_disturb_each_other(self, storage: Storage) -> None:
        create(storage, "stays")

        def work(thread: int) -> None:
            for n in range(6):
                name = f"goes {thread} {n}"
                tell(storage, name, *["parrot"] * 3)
                append(storage, "stays", "pigeon")
                assert storage.write(lambda tx: tx.sessions.begin_delete(name))  # noqa: B023
                storage.finish_deletes()

        _at_once(work)
        settle(storage)
        assert found(storage, "parrot") == []
        assert len(found(storage, "pigeon", limit=1000)) == THREADS * 6
        assert session(storage, "stays").message_count == THREADS * 6
        assert storage.read(lambda tx: tx.sessions.count(SessionFilters())) == 1

    def test_new_data_can_be_opened_by_several_at_once(self, open_another: Opener) -> None:
        def work(thread: int) -> list[int]:
            return tell(open_another(), f"s{thread}", "parrot")

        ids = [one for some in _at_once(work) for one in some]
        assert sorted(found(open_another(), "parrot")) == sorted(ids)

    def test_a_new_space_can_be_entered_by_several_at_once(self, open_another: Opener) -> None:
        open_another()
        for n in range(12):
            opened = _at_once(lambda _: open_another(f"space{n}"))  # noqa: B023
            for thread, storage in enumerate(opened):
                assert create(storage, f"s{thread}")
            assert opened[0].read(lambda tx: tx.sessions.count(SessionFilters())) == THREADS


def _at_once(work: Callable[[int], Any], threads: int = THREADS) -> list[Any]:
    """Run work in threads that start together; their answers. The first error raises."""
    start = threading.Barrier(threads)

    def run(thread: int) -> Any:
        start.wait()
        return work(thread)

    with ThreadPoolExecutor(threads) as pool:
        running: Iterable[Any] = [pool.submit(run, thread) for thread in range(threads)]
        return [one.result() for one in running]

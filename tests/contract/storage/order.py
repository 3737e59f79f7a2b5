"""The order of hits, and pages of them."""

from __future__ import annotations

import random
from collections.abc import MutableSequence

from contract.storage.openers import (
    DAY,
    NOW,
    Contract,
    append,
    create,
    found,
    message,
    search,
    settle,
    tell,
)
from mnemos.storage.base import Order, Storage


class OrderContract(Contract):
    # More matches than an engine may want to look at in one go.
    many = 20_200

    def test_by_time_is_exact_however_messages_came_in(self, storage: Storage) -> None:
        times = [NOW + n * DAY / 3 for n in range(-150, 150)]
        _shuffle(times)
        half = len(times) // 2
        create(storage, "s")
        ids = append(storage, "s", *(message("parrot", timestamp=time) for time in times[:half]))
        settle(storage)
        ids += append(storage, "s", *(message("parrot", timestamp=time) for time in times[half:]))
        by_time = [one for _, one in sorted(zip(times, ids, strict=True))]
        for limit in (1, 7, 299, 1000):
            assert found(storage, "parrot", order=Order.OLDEST, limit=limit) == by_time[:limit]
            assert found(storage, "parrot", order=Order.NEWEST, limit=limit) == by_time[::-1][:limit]

    def test_by_time_is_exact_with_very_many_matches(self, storage: Storage) -> None:
        """One busy week, imported from its end to its beginning."""
        create(storage, "s")
        ids: list[int] = []
        for start in range(0, self.many, 5_000):
            count = min(5_000, self.many - start)
            new = [message("parrot", timestamp=NOW - DAY - start - n) for n in range(count)]
            ids += append(storage, "s", *new)
            settle(storage)
        assert found(storage, "parrot", order=Order.NEWEST, limit=3) == ids[:3]
        assert found(storage, "parrot", order=Order.OLDEST, limit=3) == ids[:-4:-1]

    def test_the_most_words_come_first_among_very_many_matches(self, storage: Storage) -> None:
        create(storage, "s")
        first, second = append(storage, "s", "quetzal and pigeon", "quetzal")
        for _ in range(2):
            append(storage, "s", *["parrot"] * 3_000)
            settle(storage)
        results = search(storage, "parrot quetzal pigeon", limit=2)
        assert results.partial
        assert [(hit.message_id, hit.matched) for hit in results.hits] == [(first, 2), (second, 1)]
        assert found(storage, "parrot pigeon")[0] == first

    def test_pages_by_time_go_through_all_hits_once(self, storage: Storage) -> None:
        times = [NOW + n * DAY for n in range(30)]
        _shuffle(times)
        ids = tell(storage, "s", *(message("parrot", timestamp=time) for time in times))
        settle(storage)
        for order in Order:
            pages = [found(storage, "parrot", order=order, limit=7, offset=n) for n in range(0, 42, 7)]
            assert sorted(one for page in pages for one in page) == ids, order
            assert [len(page) for page in pages] == [7, 7, 7, 7, 2, 0], order

    def test_a_page_past_the_end_is_empty_and_not_partial(self, storage: Storage) -> None:
        tell(storage, "s", "parrot and pigeon", "parrot")
        results = search(storage, "parrot pigeon", offset=5)
        assert (results.hits, results.partial) == ((), False)

    def test_a_search_returns_up_to_its_limit(self, storage: Storage) -> None:
        tell(storage, "s", *["parrot"] * 12)
        for order in Order:
            assert len(found(storage, "parrot", order=order, limit=5)) == 5
            assert found(storage, "parrot", order=order, limit=0) == []

    def test_messages_that_have_more_of_a_word_come_first(self, storage: Storage) -> None:
        filler = "on a day like every other day "
        once, often = tell(storage, "s", f"parrot {filler * 3}", f"parrot parrot parrot {filler * 3}")
        tell(storage, "t", *[filler] * 20)
        for _ in range(2):
            assert found(storage, "parrot") == [often, once]
            settle(storage)

    def test_a_rare_word_weighs_more_than_a_common_one(self, storage: Storage) -> None:
        tell(storage, "noise", *["pigeon on the roof"] * 30)
        rare, _ = tell(storage, "s", "one quetzal in the tree", "one pigeon in the tree")
        settle(storage)
        # No message has both: the one with the rare word is the better half.
        assert found(storage, "quetzal pigeon")[0] == rare


def _shuffle(values: MutableSequence[float]) -> None:
    """Into the same disorder every time."""
    random.Random(7).shuffle(values)

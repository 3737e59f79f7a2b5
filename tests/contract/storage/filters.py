"""Filters are part of a search: excluded messages do not count against the limit."""

from __future__ import annotations

from typing import Any

from contract.storage.openers import (
    DAY,
    NOW,
    Contract,
    Settled,
    append,
    create,
    found,
    found_whole,
    message,
    tell,
)
from mnemos.storage.base import Order, Storage

SIMILAR = ["cli", "CLI", "Cli", "c-l-i", "c l i", "ｃｌｉ", "x434c49", "cli ", "çli", "日本", "'", '"', "*"]


class FilterContract(Contract):
    def test_search_filters_by_source(self, storage: Storage, settled: Settled) -> None:
        (cli,) = tell(storage, "a", "parrot", source="cli")
        (web,) = tell(storage, "b", "parrot", source="web")
        (cron,) = tell(storage, "c", "parrot", source="cron")
        settled(storage)
        assert found(storage, "parrot", sources=["cli"]) == [cli]
        assert sorted(found(storage, "parrot", sources=["cli", "web"])) == [cli, web]
        assert found(storage, "parrot", sources=["nowhere"]) == []
        assert found(storage, "parrot", sources=[]) == []
        assert sorted(found(storage, "parrot", exclude_sources=["web"])) == [cli, cron]
        assert found(storage, "parrot", sources=["web", "cli"], exclude_sources=["web"]) == [cli]

    def test_names_that_look_alike_are_different_sources(self, storage: Storage, settled: Settled) -> None:
        ids = [tell(storage, f"s{n}", "parrot", source=name)[0] for n, name in enumerate(SIMILAR)]
        settled(storage)
        for name, own in zip(SIMILAR, ids, strict=True):
            assert found(storage, "parrot", sources=[name]) == [own], name
            assert own not in found(storage, "parrot", exclude_sources=[name]), name

    def test_names_that_look_alike_are_different_roles(self, storage: Storage, settled: Settled) -> None:
        ids = tell(storage, "s", *(message("parrot", role=name) for name in SIMILAR))
        settled(storage)
        for name, own in zip(SIMILAR, ids, strict=True):
            assert found(storage, "parrot", roles=[name]) == [own], name

    def test_search_filters_by_role(self, storage: Storage, settled: Settled) -> None:
        asked, said, did = tell(
            storage,
            "s",
            message("parrot", role="user"),
            message("parrot", role="assistant"),
            message("parrot", role="tool"),
        )
        settled(storage)
        assert found(storage, "parrot", roles=["assistant"]) == [said]
        assert sorted(found(storage, "parrot", roles=["user", "tool"])) == [asked, did]
        assert found(storage, "parrot", roles=[]) == []

    def test_search_filters_by_session(self, storage: Storage, settled: Settled) -> None:
        ids = {one: tell(storage, one, "parrot")[0] for one in "abc"}
        settled(storage)
        assert found(storage, "parrot", session_ids=["b"]) == [ids["b"]]
        assert sorted(found(storage, "parrot", session_ids=["a", "c", "nobody"])) == [ids["a"], ids["c"]]
        assert found(storage, "parrot", session_ids=["nobody"]) == []
        assert found(storage, "parrot", session_ids=[]) == []
        assert sorted(found(storage, "parrot", exclude_session_ids=["b", "nobody"])) == [ids["a"], ids["c"]]
        assert found(storage, "parrot", session_ids=["a"], exclude_session_ids=["a"]) == []

    def test_search_filters_by_many_sessions(self, storage: Storage, settled: Settled) -> None:
        names = [f"s{n}" for n in range(300)]

        for name in names:
            create(storage, name)
        ids = [append(storage, name, "parrot")[0] for name in names]
        settled(storage)
        assert found(storage, "parrot", exclude_session_ids=names[1:]) == ids[:1]
        assert sorted(found(storage, "parrot", session_ids=names[:299], limit=500)) == ids[:299]

    def test_search_filters_by_time(self, storage: Storage, settled: Settled) -> None:
        times = [NOW - 400 * DAY, NOW - DAY, NOW, NOW + 0.5, NOW + DAY]
        ids = tell(storage, "s", *(message("parrot", timestamp=time) for time in times))
        settled(storage)
        for order in Order:
            assert sorted(found(storage, "parrot", order=order, since=NOW)) == ids[2:]
            assert sorted(found(storage, "parrot", order=order, until=NOW)) == ids[:2]
            assert found(storage, "parrot", order=order, since=NOW, until=NOW + 0.5) == [ids[2]]
            assert found(storage, "parrot", order=order, since=NOW + 0.25, until=NOW + 0.75) == [ids[3]]
            assert found(storage, "parrot", order=order, since=NOW + 1, until=NOW - 1) == []
            assert found(storage, "parrot", order=order, since=NOW, until=NOW) == []

    def test_search_filters_by_times_before_the_epoch_and_far_ahead(
        self, storage: Storage, settled: Settled
    ) -> None:
        times = [-5e9, -1.0, 0.0, 1.0, 9e11]
        ids = tell(storage, "s", *(message("parrot", timestamp=time) for time in times))
        settled(storage)
        for order in Order:
            assert sorted(found(storage, "parrot", order=order)) == ids
            assert sorted(found(storage, "parrot", order=order, until=0.0)) == ids[:2]
            assert sorted(found(storage, "parrot", order=order, since=0.0)) == ids[2:]
        assert found(storage, "parrot", order=Order.NEWEST) == ids[::-1]
        assert found(storage, "parrot", order=Order.OLDEST) == ids

    def test_search_filters_by_a_wide_span_of_time(self, storage: Storage, settled: Settled) -> None:
        times = [NOW - n * 7 * DAY for n in range(150)]
        ids = tell(storage, "s", *(message("parrot", timestamp=time) for time in times))
        settled(storage)
        wanted = found(storage, "parrot", since=NOW - 100 * 7 * DAY, until=NOW, limit=500)
        assert sorted(wanted) == ids[1:101]

    def test_all_filters_work_together(self, storage: Storage, settled: Settled) -> None:
        create(storage, "a", source="cli")
        create(storage, "b", source="web")
        wanted: dict[str, Any] = {"role": "assistant", "timestamp": NOW}
        (right,) = append(storage, "a", message("parrot", **wanted))
        append(
            storage, "a", message("parrot", role="user"), message("parrot", role="assistant", timestamp=1.0)
        )
        append(storage, "b", message("parrot", **wanted))
        append(storage, "a", message("pigeon", **wanted))
        settled(storage)
        for order in Order:
            assert found_whole(
                storage,
                "parrot",
                order=order,
                sources=["cli", "web"],
                exclude_sources=["cron"],
                roles=["assistant"],
                session_ids=["a", "b"],
                exclude_session_ids=["b"],
                since=NOW - 1,
                until=NOW + 1,
            ) == [right]

    def test_filtered_messages_do_not_count_against_the_limit(
        self, storage: Storage, settled: Settled
    ) -> None:
        (old,) = tell(storage, "rare", "parrot", source="web")
        tell(storage, "noisy", *["parrot"] * 200, source="cron")
        settled(storage)
        for order in Order:
            assert found(storage, "parrot", order=order, limit=1, sources=["web"]) == [old]
            assert found(storage, "parrot", order=order, limit=1, session_ids=["rare"]) == [old]
            assert found(storage, "parrot", order=order, limit=1, exclude_session_ids=["noisy"]) == [old]

    def test_a_filter_does_not_hide_that_an_answer_is_partial(
        self, storage: Storage, settled: Settled
    ) -> None:
        tell(storage, "a", "parrot and pigeon")
        (alone,) = tell(storage, "b", "parrot")
        settled(storage)
        assert found_whole(storage, "parrot pigeon", session_ids=["b"]) == []
        assert found(storage, "parrot pigeon", session_ids=["b"]) == [alone]

"""Sessions: created once, filled, ended, named, listed, counted."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from msgspec.structs import replace

from contract.storage.openers import (
    DAY,
    NOW,
    Contract,
    append,
    create,
    message,
    session,
    session_row,
    tell,
)
from mnemos.errors import NotFound, Refused
from mnemos.storage.base import Reads, SessionFilters, SessionRow, Storage

FULL = session_row(
    "full",
    source="telegram",
    user_id="u1",
    model="some-model",
    model_config=json.dumps({"temperature": 0.5}),
    system_prompt="Be kind.\nBe brief.",
    started_at=NOW + 0.125,
    ended_at=NOW + 60.5,
    end_reason="done",
    input_tokens=11,
    output_tokens=13,
    title="A title",
    metadata=json.dumps({"a": [1, "b"]}),
    archived=True,
)


class SessionContract(Contract):
    def test_sessions_are_found_by_a_part_of_their_title(self, storage: Storage) -> None:
        for number, title in enumerate(("Die Straße", "A road", None, "100%_road")):
            create(storage, f"s{number}", title=title, started_at=NOW + number)
        for text, found in (("STRASSE", ["s0"]), ("road", ["s3", "s1"]), ("%_", ["s3"]), ("_o", [])):
            assert storage.read(lambda tx, text=text: tx.sessions.by_title_part(text, 10)) == found
        assert storage.read(lambda tx: tx.sessions.by_title_part("road", 1)) == ["s3"]

        def choose(tx: Reads, ids: list[str]) -> tuple[list[str], int]:
            rows = tx.sessions.recent(SessionFilters(ids=ids), limit=9, offset=0)
            return [row.id for row in rows], tx.sessions.count(SessionFilters(ids=ids))

        assert storage.read(lambda tx: choose(tx, ["s1", "s2", "unknown"])) == (["s2", "s1"], 2)
        assert storage.read(lambda tx: choose(tx, [])) == ([], 0)

    def test_growth_counts_sessions_by_local_date_and_source(self, storage: Storage) -> None:
        noon = datetime(2026, 3, 1, 12).timestamp()
        for number, (source, start) in enumerate(
            [("cli", noon), ("cli", noon + 3600), ("mail", noon), ("cli", noon + 86_400), ("cli", 9.9e11)]
        ):
            create(storage, f"s{number}", source=source, started_at=start)
            append(storage, f"s{number}", *(message("x") for _ in range(number)))
        grown = storage.read(lambda tx: tx.sessions.growth())
        assert grown == [
            ("2026-03-01", "cli", 2, 1),
            ("2026-03-01", "mail", 1, 2),
            ("2026-03-02", "cli", 1, 3),
        ]
        assert storage.read(lambda tx: tx.sessions.growth(noon + 60)) == [
            ("2026-03-01", "cli", 1, 1),
            ("2026-03-02", "cli", 1, 3),
        ]
        storage.write(lambda tx: tx.sessions.begin_delete("s2"))
        assert "mail" not in [row[1] for row in storage.read(lambda tx: tx.sessions.growth())]

    def test_a_session_comes_back_as_it_was_created(self, storage: Storage) -> None:
        create(storage, "parent")
        row = replace(FULL, parent_session_id="parent")
        assert storage.write(lambda tx: tx.sessions.create(row)) is True
        assert session(storage, "full") == row

    def test_an_empty_text_does_not_become_none(self, storage: Storage) -> None:
        create(storage, "s", system_prompt="")
        assert session(storage).system_prompt == ""

    def test_an_unknown_session_is_none(self, storage: Storage) -> None:
        assert storage.read(lambda tx: tx.sessions.get("nobody")) is None

    def test_creating_an_existing_id_changes_nothing(self, storage: Storage) -> None:
        storage.write(lambda tx: tx.sessions.create(FULL))
        append(storage, "full", "one")
        before = session(storage, "full")
        assert create(storage, "full", source="other", title="other", metadata="{}") is False
        assert session(storage, "full") == before

    def test_an_unknown_parent_is_not_found(self, storage: Storage) -> None:
        with pytest.raises(NotFound):
            create(storage, "s", parent_session_id="nobody")
        assert storage.read(lambda tx: tx.sessions.get("s")) is None

    def test_session_ids_are_compared_exactly(self, storage: Storage) -> None:
        ids = ["a", "A", "a ", "ä", "a\u0308", "á", "%", "_", "a'b", 'a"b', "a\\b", "Ａ"]
        assert [create(storage, one) for one in ids] == [True] * len(ids)
        assert [session(storage, one).id for one in ids] == ids

    def test_filling_sets_what_is_empty(self, storage: Storage) -> None:
        create(storage, "parent")
        create(storage, "full", source="telegram", started_at=FULL.started_at)
        wanted = replace(FULL, parent_session_id="parent")
        storage.write(lambda tx: tx.sessions.fill(wanted))
        now = session(storage, "full")
        for field in ("user_id", "model", "model_config", "system_prompt", "title", "metadata"):
            assert getattr(now, field) == getattr(FULL, field), field
        assert now.parent_session_id == "parent"

    def test_filling_overwrites_nothing(self, storage: Storage) -> None:
        create(storage, "parent")
        create(storage, "other")
        row = replace(FULL, parent_session_id="parent")
        storage.write(lambda tx: tx.sessions.create(row))
        different = session_row(
            "full",
            source="x",
            user_id="x",
            model="x",
            model_config='"x"',
            system_prompt="x",
            parent_session_id="other",
            started_at=1.0,
            title="x",
            metadata='"x"',
        )
        storage.write(lambda tx: tx.sessions.fill(different))
        assert session(storage, "full") == row

    def test_a_descendant_cannot_become_the_parent(self, storage: Storage) -> None:
        create(storage, "a")
        create(storage, "b", parent_session_id="a")
        create(storage, "c", parent_session_id="b")
        for descendant in ("a", "b", "c"):
            looped = session_row("a", parent_session_id=descendant)
            with pytest.raises(Refused):
                storage.write(lambda tx, row=looped: tx.sessions.fill(row))  # type: ignore[misc]
        assert session(storage, "a").parent_session_id is None

    def test_the_first_end_stays(self, storage: Storage) -> None:
        create(storage, "s")
        assert storage.write(lambda tx: tx.sessions.end("s", "done", NOW + 1)) is True
        assert storage.write(lambda tx: tx.sessions.end("s", "killed", NOW + 2)) is True
        assert (session(storage).end_reason, session(storage).ended_at) == ("done", NOW + 1)

    def test_a_reopened_session_can_end_again(self, storage: Storage) -> None:
        create(storage, "s")
        storage.write(lambda tx: tx.sessions.end("s", "done", NOW + 1))
        assert storage.write(lambda tx: tx.sessions.reopen("s")) is True
        assert (session(storage).end_reason, session(storage).ended_at) == (None, None)
        storage.write(lambda tx: tx.sessions.end("s", "later", NOW + 2))
        assert (session(storage).end_reason, session(storage).ended_at) == ("later", NOW + 2)

    def test_single_values_can_be_set_and_cleared(self, storage: Storage) -> None:
        create(storage, "s")
        assert storage.write(lambda tx: tx.sessions.set_title("s", "Named")) is True
        assert storage.write(lambda tx: tx.sessions.set_system_prompt("s", "Be kind.")) is True
        assert storage.write(lambda tx: tx.sessions.set_metadata("s", '{"a": 1}')) is True
        assert storage.write(lambda tx: tx.sessions.set_archived("s", archived=True)) is True
        now = session(storage)
        assert (now.title, now.system_prompt, now.archived) == ("Named", "Be kind.", True)
        assert now.metadata == '{"a": 1}'
        storage.write(lambda tx: tx.sessions.set_title("s", None))
        storage.write(lambda tx: tx.sessions.set_system_prompt("s", None))
        storage.write(lambda tx: tx.sessions.set_metadata("s", None))
        storage.write(lambda tx: tx.sessions.set_archived("s", archived=False))
        assert session(storage) == session_row("s")

    def test_token_counts_add_up(self, storage: Storage) -> None:
        create(storage, "s", input_tokens=1)
        assert storage.write(lambda tx: tx.sessions.add_tokens("s", 10, 20)) is True
        assert storage.write(lambda tx: tx.sessions.add_tokens("s", 3, 4)) is True
        assert (session(storage).input_tokens, session(storage).output_tokens) == (14, 24)

    def test_changing_an_unknown_session_answers_false(self, storage: Storage) -> None:
        assert storage.write(lambda tx: tx.sessions.end("x", "done", NOW)) is False
        assert storage.write(lambda tx: tx.sessions.reopen("x")) is False
        assert storage.write(lambda tx: tx.sessions.set_system_prompt("x", "p")) is False
        assert storage.write(lambda tx: tx.sessions.set_metadata("x", "{}")) is False
        assert storage.write(lambda tx: tx.sessions.add_tokens("x", 1, 1)) is False
        assert storage.write(lambda tx: tx.sessions.set_title("x", "t")) is False
        assert storage.write(lambda tx: tx.sessions.set_archived("x", archived=True)) is False
        assert storage.write(lambda tx: tx.sessions.begin_delete("x")) is False

    def test_counters_are_exact(self, storage: Storage) -> None:
        create(storage, "s")
        append(storage, "s", message("three", tool_calls=[{"id": "1"}, {"id": "2"}, {"id": "3"}]))
        append(storage, "s", message("result", role="tool", tool_call_id="1"), "plain")
        append(storage, "s", message(None, tool_calls=[{"id": "4"}]))
        row = session(storage)
        assert (row.message_count, row.tool_call_count) == (4, 4)
        assert storage.read(lambda tx: tx.sessions.message_count("s")) == 4

    def test_messages_are_counted_per_session_and_in_total(self, storage: Storage) -> None:
        tell(storage, "a", "1", "2")
        tell(storage, "b", "3")
        assert storage.read(lambda tx: tx.sessions.message_count("a")) == 2
        assert storage.read(lambda tx: tx.sessions.message_count(None)) == 3
        assert storage.read(lambda tx: tx.sessions.message_count("nobody")) == 0

    def test_lists_are_newest_start_first_and_equal_starts_by_id(self, storage: Storage) -> None:
        for one, start in (("old", 1.0), ("b", 5.0), ("a", 5.0), ("new", 9.0)):
            create(storage, one, started_at=start)
        assert _listed(storage) == ["new", "a", "b", "old"]
        assert _listed(storage, limit=2, offset=1) == ["a", "b"]
        assert _listed(storage, limit=2, offset=4) == []

    def test_lists_and_counts_filter_by_source_and_archive(self, storage: Storage) -> None:
        create(storage, "a", source="cli", started_at=1.0)
        create(storage, "b", source="telegram", started_at=2.0)
        create(storage, "c", source="cli", started_at=3.0, archived=True)
        assert _listed(storage, source="cli") == ["c", "a"]
        assert _listed(storage, archived=False) == ["b", "a"]
        assert _listed(storage, archived=True) == ["c"]
        assert _listed(storage, source="cli", archived=False) == ["a"]
        assert _count(storage) == 3
        assert _count(storage, source="cli") == 2
        assert _count(storage, archived=True) == 1
        assert _count(storage, source="nowhere") == 0

    def test_pages_go_through_every_session_once(self, storage: Storage) -> None:
        ids = {f"{prefix}{n}" for prefix in ("a", "B", "é", "日", "z-") for n in range(11)}
        storage.write(lambda tx: [tx.sessions.create(session_row(one)) for one in sorted(ids)] and None)
        seen: list[str] = []
        after = ""
        while page := _page(storage, after):
            seen += [row.id for row in page]
            after = seen[-1]
        assert len(seen) == len(ids)
        assert set(seen) == ids

    def test_pages_can_be_of_one_source(self, storage: Storage) -> None:
        for n in range(6):
            create(storage, f"s{n}", source="cli" if n % 2 else "web")
        page = storage.read(lambda tx: tx.sessions.page(source="cli", after="s1", limit=9))
        assert [row.id for row in page] == ["s3", "s5"]

    def test_children_are_oldest_start_first(self, storage: Storage) -> None:
        create(storage, "p")
        for one, start in (("late", 9.0), ("early", 1.0), ("middle", 5.0)):
            create(storage, one, parent_session_id="p", started_at=start)
        create(storage, "grandchild", parent_session_id="early")
        rows = storage.read(lambda tx: tx.sessions.children("p"))
        assert [row.id for row in rows] == ["early", "middle", "late"]
        assert storage.read(lambda tx: tx.sessions.children("late")) == []
        assert storage.read(lambda tx: tx.sessions.children("nobody")) == []

    def test_a_source_was_last_seen_at_its_newest_message(self, storage: Storage) -> None:
        create(storage, "old", source="cli", started_at=1.0)
        create(storage, "new", source="cli", started_at=5.0)
        create(storage, "silent", source="web")
        tell(storage, "new", message("x", timestamp=6.0))
        tell(storage, "old", message("x", timestamp=2.0), message("resumed", timestamp=9.0))
        assert storage.read(lambda tx: tx.sessions.last_seen()) == {"cli": 9.0}

    def test_sessions_are_named_by_the_beginning_of_their_id(self, storage: Storage) -> None:
        for one in ("abc", "abcd", "ab", "abd", "xabc", "ab%", "ab_"):
            create(storage, one)
        assert _named(storage, "abc") == {"abc", "abcd"}
        assert _named(storage, "ab%") == {"ab%"}
        assert _named(storage, "ab_") == {"ab_"}
        assert _named(storage, "nobody") == set()

    def test_sessions_are_named_by_their_title_in_any_case(self, storage: Storage) -> None:
        create(storage, "1", title="Release Plan")
        create(storage, "2", title="release plan")
        create(storage, "3", title="Release Plan B")
        assert _named(storage, "RELEASE plan") == {"1", "2"}

    def test_case_is_ignored_in_titles_of_every_script(self, storage: Storage) -> None:
        create(storage, "1", title="Über uns")
        create(storage, "2", title="ПЛАН")
        assert _named(storage, "über uns") == {"1"}
        assert _named(storage, "план") == {"2"}

    def test_sessions_of_a_name_are_newest_start_first(self, storage: Storage) -> None:
        for one, start in (("s-old", 1.0), ("s-new", 9.0), ("s-middle", 5.0)):
            create(storage, one, title="Same", started_at=start)
        newest_first = ["s-new", "s-middle", "s-old"]
        assert [row.id for row in storage.read(lambda tx: tx.sessions.by_id_prefix("s-", 9))] == newest_first
        assert [row.id for row in storage.read(lambda tx: tx.sessions.by_title("same", 9))] == newest_first

    def test_a_parent_can_be_changed(self, storage: Storage) -> None:
        for one in ("a", "b"):
            create(storage, one)
        create(storage, "s", parent_session_id="a")
        assert storage.write(lambda tx: tx.sessions.set_parent("s", "b")) is True
        assert session(storage).parent_session_id == "b"
        assert storage.write(lambda tx: tx.sessions.set_parent("nobody", "b")) is False
        with pytest.raises(NotFound):
            storage.write(lambda tx: tx.sessions.set_parent("s", "nobody"))
        assert session(storage).parent_session_id == "b"

    def test_lookups_by_name_return_up_to_their_limit(self, storage: Storage) -> None:
        for n in range(5):
            create(storage, f"s{n}")
            storage.write(lambda tx: tx.sessions.set_title(f"s{n}", "same"))  # noqa: B023
        assert len(storage.read(lambda tx: tx.sessions.by_id_prefix("s", 3))) == 3
        assert len(storage.read(lambda tx: tx.sessions.by_title("same", 3))) == 3

    def test_sources_are_counted_most_messages_first(self, storage: Storage) -> None:
        tell(storage, "a", "1", source="cli")
        tell(storage, "b", "2", "3", source="web")
        create(storage, "c", source="cli")
        create(storage, "d", source="empty")
        assert storage.read(lambda tx: tx.sessions.by_source()) == [
            ("web", 1, 2),
            ("cli", 2, 1),
            ("empty", 1, 0),
        ]

    def test_ended_sessions_are_old_by_their_last_message(self, storage: Storage) -> None:
        old, new = NOW - 10 * DAY, NOW
        ends = {"started_at": old, "end_reason": "done"}
        tell(storage, "old", message(timestamp=old), ended_at=old, **ends)
        tell(storage, "went on", message(timestamp=old), message(timestamp=new), ended_at=old, **ends)
        tell(storage, "ended late", message(timestamp=old), ended_at=new, **ends)
        tell(storage, "running", message(timestamp=old), started_at=old)
        create(storage, "empty old", ended_at=old, **ends)
        create(storage, "empty new", ended_at=new, **ends)
        create(storage, "other", ended_at=old, source="web", **ends)
        moment = NOW - DAY
        every = storage.read(lambda tx: tx.sessions.ended_before(moment, None))
        assert sorted(every) == ["empty old", "ended late", "old", "other"]
        assert storage.read(lambda tx: tx.sessions.ended_before(moment, "web")) == ["other"]
        assert storage.read(lambda tx: tx.sessions.ended_before(old, None)) == []
        started = storage.read(lambda tx: tx.sessions.ended_before(moment, None, by_start=True))
        assert sorted(started) == ["empty new", "empty old", "ended late", "old", "other", "went on"]


def _listed(
    storage: Storage,
    *,
    source: str | None = None,
    archived: bool | None = None,
    limit: int = 50,
    offset: int = 0,
) -> list[str]:
    rows = storage.read(
        lambda tx: tx.sessions.recent(
            SessionFilters(source=source, archived=archived), limit=limit, offset=offset
        )
    )
    return [row.id for row in rows]


def _count(storage: Storage, *, source: str | None = None, archived: bool | None = None) -> int:
    return storage.read(lambda tx: tx.sessions.count(SessionFilters(source=source, archived=archived)))


def _named(storage: Storage, text: str) -> set[str]:
    rows = storage.read(lambda tx: tx.sessions.by_title(text, 50) + tx.sessions.by_id_prefix(text, 50))
    return {row.id for row in rows}


def _page(storage: Storage, after: str) -> list[SessionRow]:
    return storage.read(lambda tx: tx.sessions.page(source=None, after=after, limit=7))

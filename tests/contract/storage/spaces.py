"""Spaces are separate: no data can be seen, counted, found or changed from another space."""

from __future__ import annotations

from dataclasses import dataclass

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
    messages,
    session,
    session_row,
    settle,
    tell,
)
from mnemos.errors import NotFound
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import MessageRow, Order, SessionFilters, SessionRow, Storage


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two spaces: ``theirs`` has a session ``s`` with a child and an audit entry, ``ours`` has none."""

    theirs: Storage
    ours: Storage
    ids: list[int]
    entry: int


class SpaceContract(Contract):
    @pytest.fixture(params=["fresh", "indexed"])
    def spaces(self, open_another: Opener, request: pytest.FixtureRequest) -> Neighbours:
        theirs, ours = open_another("team-a/alice"), open_another("team-a/bob")
        ids = tell(theirs, "s", "private parrot", message("second parrot"), title="Private", ended_at=1.0)
        tell(theirs, "child", "third parrot", parent_session_id="s", started_at=2.0)
        entry = theirs.write(
            lambda tx: tx.audit.record(at=NOW, actor="alice", operation="x", ref="session:s", before="p")
        )
        if request.param == "indexed":
            settle(theirs)
        return Neighbours(theirs, ours, ids, entry)

    def test_all_spaces_are_listed_with_what_they_hold(self, open_another: Opener) -> None:
        for name, count in (("default", 1), ("other", 2)):
            storage = open_another(name)
            for number in range(count):
                tell(storage, f"s{number}", message("x"), message("y"))
        storage.write(lambda tx: tx.sessions.begin_delete("s0"))
        assert open_another().spaces() == [("default", 1, 2), ("other", 1, 2)]

    def test_nothing_of_another_space_is_seen(self, spaces: Neighbours) -> None:
        ours = spaces.ours
        seen: list[SessionRow | MessageRow | AuditRow | str | None] = []
        seen += [ours.read(lambda tx: tx.sessions.get("s"))]
        seen += ours.read(lambda tx: tx.sessions.by_id_prefix("s", 9) + tx.sessions.by_title("Private", 9))
        seen += ours.read(lambda tx: tx.sessions.recent(SessionFilters(), limit=9, offset=0))
        seen += ours.read(lambda tx: tx.sessions.page(source=None, after="", limit=9))
        seen += ours.read(lambda tx: tx.sessions.children("s"))
        seen += ours.read(lambda tx: tx.sessions.ended_before(NOW * 2, None))
        seen += messages(ours, "s")
        seen += ours.read(lambda tx: [tx.sessions.message(one) for one in spaces.ids])
        seen += [hit.message for hit in ours.read(lambda tx: tx.sessions.hits(spaces.ids, 10))]
        seen += ours.read(lambda tx: tx.sessions.around(spaces.ids[0], before=5, after=5))
        seen += ours.read(lambda tx: tx.audit.newest(9))
        seen += [ours.read(lambda tx: tx.audit.get(spaces.entry))]
        assert [one for one in seen if one is not None] == []

    def test_nothing_of_another_space_is_counted(self, spaces: Neighbours) -> None:
        ours = spaces.ours
        assert ours.read(lambda tx: tx.sessions.count(SessionFilters())) == 0
        assert ours.read(lambda tx: tx.sessions.message_count(None)) == 0
        assert ours.read(lambda tx: tx.sessions.message_count("s")) == 0
        assert ours.read(lambda tx: tx.sessions.by_source()) == []
        assert ours.usage().pending == 0

    def test_nothing_of_another_space_is_found(self, spaces: Neighbours) -> None:
        for order in Order:
            assert found(spaces.ours, "parrot", order=order) == []
            assert found(spaces.ours, "parrot", order=order, session_ids=["s"]) == []
            assert found(spaces.ours, "private OR parrot", order=order, sources=["cli"]) == []
        (own,) = tell(spaces.ours, "s", "our parrot")
        settle(spaces.ours)
        for order in Order:
            assert found(spaces.ours, "parrot", order=order) == [own]
            assert found(spaces.ours, "private parrot", order=order) == [own]

    def test_a_space_without_matches_does_not_borrow_the_neighbours(self, spaces: Neighbours) -> None:
        tell(spaces.ours, "s", "our pigeon")
        assert found(spaces.ours, "parrot private") == []

    def test_nothing_of_another_space_can_be_changed(self, spaces: Neighbours) -> None:
        ours, ids = spaces.ours, spaces.ids
        before = session(spaces.theirs), messages(spaces.theirs), session(spaces.theirs, "child")
        assert ours.write(lambda tx: tx.sessions.end("s", "done", NOW)) is False
        assert ours.write(lambda tx: tx.sessions.reopen("s")) is False
        assert ours.write(lambda tx: tx.sessions.set_title("s", "x")) is False
        assert ours.write(lambda tx: tx.sessions.set_system_prompt("s", "x")) is False
        assert ours.write(lambda tx: tx.sessions.set_metadata("s", "{}")) is False
        assert ours.write(lambda tx: tx.sessions.set_archived("s", archived=True)) is False
        assert ours.write(lambda tx: tx.sessions.add_tokens("s", 1, 1)) is False
        assert ours.write(lambda tx: tx.sessions.begin_delete("s")) is False
        create(ours, "ours")
        assert ours.write(lambda tx: tx.sessions.set_parent("s", "ours")) is False
        for unknown in ("s", "child"):
            with pytest.raises(NotFound):
                ours.write(lambda tx: tx.sessions.set_parent("ours", unknown))  # noqa: B023
        with pytest.raises(NotFound):
            append(ours, "s", "intruder")
        with pytest.raises(NotFound):
            create(ours, "x", parent_session_id="s")
        with pytest.raises(NotFound):
            ours.write(lambda tx: tx.sessions.fill(session_row("s", title="x")))
        ours.finish_deletes()
        assert (session(spaces.theirs), messages(spaces.theirs), session(spaces.theirs, "child")) == before
        assert len(found(spaces.theirs, "parrot")) == 3
        assert ids == [row.id for row in messages(spaces.theirs)]

    def test_a_message_of_another_space_cannot_be_forgotten(self, spaces: Neighbours) -> None:
        for one in spaces.ids:
            spaces.ours.write(
                lambda tx: tx.sessions.forget_message(one, tool_calls=None, at=NOW)  # noqa: B023
            )
        assert contents(spaces.theirs) == ["private parrot", "second parrot"]
        assert found(spaces.theirs, "private parrot") == spaces.ids[:1]

    def test_the_log_of_another_space_cannot_be_changed(self, spaces: Neighbours) -> None:
        before = spaces.theirs.read(lambda tx: tx.audit.get(spaces.entry))
        assert spaces.ours.write(lambda tx: tx.audit.scrub("session:s")) == 0
        spaces.ours.write(lambda tx: tx.audit.clear(spaces.entry))
        spaces.ours.write(lambda tx: tx.audit.expire(NOW * 2, ""))
        spaces.ours.write(lambda tx: tx.audit.mark_undone(spaces.entry, 1))
        assert before is not None
        assert before.before == "p"
        assert spaces.theirs.read(lambda tx: tx.audit.get(spaces.entry)) == before

    def test_the_same_names_live_in_both_spaces(self, spaces: Neighbours) -> None:
        assert create(spaces.ours, "s", title="Ours")
        append(spaces.ours, "s", "our pigeon")
        assert contents(spaces.ours) == ["our pigeon"]
        assert contents(spaces.theirs) == ["private parrot", "second parrot"]
        assert session(spaces.theirs).title == "Private"

    def test_deleting_in_one_space_leaves_the_other(self, spaces: Neighbours) -> None:
        tell(spaces.ours, "s", "our parrot")
        settle(spaces.ours)
        spaces.theirs.write(lambda tx: tx.sessions.begin_delete("s"))
        spaces.theirs.finish_deletes()
        assert contents(spaces.ours) == ["our parrot"]
        assert len(found(spaces.ours, "parrot")) == 1
        assert contents(spaces.theirs) == []

    def test_spaces_whose_names_begin_alike_are_apart(self, open_another: Opener) -> None:
        names = ["default", "team", "team/a", "team/a/b", "Team", "team-a", "team.a", "team_a"]
        opened = [open_another(name) for name in names]
        for name, storage in zip(names, opened, strict=True):
            tell(storage, "s", f"parrot in {name}")
        for name, storage in zip(names, opened, strict=True):
            assert contents(storage) == [f"parrot in {name}"]
            assert len(found(storage, "parrot")) == 1

    def test_spaces_with_odd_names_are_apart(self, open_another: Opener) -> None:
        # Quotes, wildcards, lexemes, lookalikes, and names that differ only in how Unicode spells them.
        names = [
            *"aA",
            "a ",
            "a%",
            "a_",
            "a'; --",
            'a"',
            "a\\",
            "0:a",
            "1:",
            "\uff41",
            "\u0430",
            "\xe9",
            "e\u0301",
        ]
        for name in names:
            tell(open_another(name), "s", f"parrot in {name!r}")
        for name in names:
            reader = open_another(name, read_only=True)
            assert contents(reader) == [f"parrot in {name!r}"]
            assert len(found(reader, "parrot")) == 1
        assert [name for name, *_ in reader.spaces() if name != "default"] == sorted(names)

    def test_every_opener_sees_the_same_space(self, open_another: Opener) -> None:
        (own,) = tell(open_another("team-a/alice"), "s", "parrot")
        assert found(open_another("team-a/alice"), "parrot") == [own]
        assert found(open_another("team-a/alice", read_only=True), "parrot") == [own]

    def test_a_space_nobody_has_written_to_reads_as_empty(self, open_another: Opener) -> None:
        tell(open_another(), "s", "parrot")
        reader = open_another("elsewhere", read_only=True)
        assert found(reader, "parrot") == []
        assert reader.read(lambda tx: tx.sessions.count(SessionFilters())) == 0
        assert messages(reader) == []
        assert reader.usage().pending == 0

    def test_a_reader_sees_a_space_that_was_made_after_it_was_opened(self, open_another: Opener) -> None:
        open_another()
        reader = open_another("elsewhere", read_only=True)
        assert found(reader, "parrot") == []
        (own,) = tell(open_another("elsewhere"), "s", "parrot")
        assert contents(reader) == ["parrot"]
        assert found(reader, "parrot") == [own]

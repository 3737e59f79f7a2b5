"""Pages and outlines of sessions."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest

from mnemos import Memory, SessionDB
from mnemos.errors import InvalidInput, NotFound
from mnemos.testing import FixedClock

ROLES = ("user", "assistant", "tool")
DAY = 86_400.0


@pytest.fixture
def ids(db: SessionDB, clock: FixedClock) -> list[int]:
    """The ids of ten messages, between which another session has one each."""
    for session_id in ("s", "other"):
        db.create_session(session_id, "cli")
    found = []
    for number in range(10):
        found.append(db.append_message("s", ROLES[number % 3], "é" * number, timestamp=number * DAY / 2))  # type: ignore[arg-type]
        db.append_message("other", "user", "in between")
    return found


@pytest.mark.parametrize(
    ("place", "positions"),
    [
        ({}, range(4)),
        ({"at": 0}, range(4)),
        ({"at": 7}, range(7, 10)),
        ({"at": 10}, range(10, 10)),
        ({"at": 10**12}, range(10, 10)),
        ({"after": 2}, range(3, 7)),
        ({"after": 9}, range(10, 10)),
        ({"before": 6}, range(2, 6)),
        ({"before": 0}, range(0)),
        ({"around": 5}, range(4, 8)),
        ({"around": 0}, range(3)),
        ({"around": 9}, range(8, 10)),
    ],
)
def test_a_page_has_the_messages_at_its_place(
    db: SessionDB, ids: list[int], place: dict[str, int], positions: range
) -> None:
    asked = {kind: number if kind == "at" else ids[number] for kind, number in place.items()}
    page = db.get_page("s", limit=4, **asked)
    assert [message["id"] for message in page["messages"]] == [ids[number] for number in positions]
    assert (page["session_id"], page["start"], page["total"]) == ("s", positions.start, 10)


def test_pages_one_after_another_are_the_whole_session(db: SessionDB, ids: list[int]) -> None:
    pages = [db.get_page("s", at=at, limit=3)["messages"] for at in range(0, 10, 3)]
    assert [message for page in pages for message in page] == db.get_messages("s")


def test_a_message_of_another_session_is_not_found(db: SessionDB, ids: list[int]) -> None:
    for kind in ("around", "after", "before"):
        for number in (ids[0] + 1, 10**9, -3):
            with pytest.raises(NotFound):
                db.get_page("s", **{kind: number})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong", [{"at": 1, "after": 1}, {"at": -1}, {"at": "x"}, {"limit": -1}, {"before": True}]
)
def test_a_place_that_is_none_is_refused(db: SessionDB, ids: list[int], wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        db.get_page("s", **wrong)


def test_an_unknown_session_has_neither_pages_nor_outline(db: SessionDB) -> None:
    with pytest.raises(NotFound):
        db.get_page("nothing")
    with pytest.raises(NotFound):
        db.get_outline("nothing")


def test_an_outline_has_every_message_in_columns(db: SessionDB, ids: list[int]) -> None:
    outline = db.get_outline("s")
    assert list(accumulate(outline["steps"])) == ids
    assert [outline["role_names"][role] for role in outline["roles"]] == [ROLES[n % 3] for n in range(10)]
    assert outline["sizes"] == [2 * number for number in range(10)]
    assert len(outline["days"]) in (5, 6)
    assert outline["days"] == sorted(outline["days"], key=lambda day: day["date"])


def test_an_empty_session_has_an_empty_outline(db: SessionDB) -> None:
    db.create_session("empty", "cli")
    outline = db.get_outline("empty")
    assert outline["steps"] == outline["roles"] == outline["sizes"] == outline["days"] == []


def test_times_that_no_calendar_has_begin_no_day(db: SessionDB) -> None:
    db.create_session("s", "cli")
    for moment in (9.9e11, 0.0, -9.9e11, DAY * 40):
        db.append_message("s", "user", "x", timestamp=moment)
    assert [day["position"] for day in db.get_outline("s")["days"]] == [1, 3]


def test_the_tail_of_a_session_is_its_last_page(memory: Memory) -> None:
    memory.sessions.create_session("s", "cli")
    for number in range(5):
        memory.sessions.append_message("s", "user", str(number))
    shown = memory.call("sessions_show", {"session": "s", "tail": 2})
    assert [message["content"] for message in shown["messages"]] == ["3", "4"]
    assert len(memory.call("sessions_show", {"session": "s", "tail": 50})["messages"]) == 5


def test_a_user_reads_no_page_of_another(memory: Memory) -> None:
    memory.sessions.create_session("of-ada", "cli", user_id="ada")
    for name in ("sessions_messages", "sessions_outline"):
        assert memory.call(name, {"session": "of-ada"}, user_id="ada")
        with pytest.raises(NotFound):
            memory.call(name, {"session": "of-ada"}, user_id="ben")

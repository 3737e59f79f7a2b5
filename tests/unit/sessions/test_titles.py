"""Titles of sessions that were given none, and short ids."""

from __future__ import annotations

import pytest

from mnemos.errors import Ambiguous
from mnemos.memory import SessionDB
from mnemos.sessions.titles import MAX_TITLE, make_title
from mnemos.text.fences import CLOSE, OPEN

LONG = "Please fix the deployment script so that it waits for the database before it starts anything else"
UUID = "6c1d412b-9d3f-4f57-9c8b-0d8f1f6f8a01"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Fix the build", "Fix the build"),
        ("  \n\n# Fix the build:\nIt fails since Monday.", "Fix the build"),
        ("- **Fix** the build", "Fix** the build"),
        ("Fix\tthe \x1b[31mbuild\x00\u202e 🎉", "Fix the [31mbuild 🎉"),
        ("<system-reminder>Be brief.</system-reminder>\nFix the build", "Fix the build"),
        ("<system-reminder>never closed", ""),
        (f"{OPEN}\nold words\n{CLOSE}\nFix the build", "Fix the build"),
        ("<command-name>/review</command-name>\n<command-args>PR 12</command-args>", "PR 12"),
        ("<environment_context>\n<cwd>/x</cwd>\n</environment_context>\nFix the build", "Fix the build"),
        ("/clear", ""),
        ("/review PR 12", "/review PR 12"),
        ("[Request interrupted by user]", ""),
        ("This session is being continued from a previous conversation.", ""),
        ("🎉 !!! …", ""),
        ("", ""),
        ("来週京都に行きます。", "来週京都に行きます。"),
    ],
)
def test_a_title_is_the_first_line_that_somebody_said(said: str, title: str) -> None:
    assert make_title(said) == title


def test_a_long_line_is_cut_at_a_word() -> None:
    title = make_title(LONG)
    assert len(title) <= MAX_TITLE
    assert LONG.startswith(title.removesuffix("…") + " ")


def test_a_line_without_blanks_is_cut_anywhere() -> None:
    assert len(make_title("京" * 500)) == MAX_TITLE


def test_a_huge_text_costs_no_time() -> None:
    assert make_title("<a-b>" * 1_000_000) == ""


def test_lists_and_hits_show_a_title_that_is_not_stored(db: SessionDB) -> None:
    db.create_session("s")
    db.append_messages("s", [{"role": "assistant", "content": "Hi!"}, {"role": "user", "content": "/clear"}])
    db.append_message("s", "user", "Plant the tulips")
    assert [one["title"] for one in db.search_sessions()] == ["Plant the tulips"]
    assert [hit["title"] for hit in db.search_messages("tulips")] == ["Plant the tulips"]
    assert db.session_search("tulips")["conversations"][0]["title"] == "Plant the tulips"
    assert db.session_search()["sessions"][0]["title"] == "Plant the tulips"
    assert db.session_search(session_id="s")["session"]["title"] == "Plant the tulips"
    assert (db.find_title("s"), db.find_title("unknown")) == ("Plant the tulips", None)
    session = db.get_session("s")
    assert session is not None
    assert session["title"] is None
    assert db.export_session("s")["title"] is None


def test_a_given_title_wins(db: SessionDB) -> None:
    db.create_session("s", title="Garden")
    db.append_message("s", "user", "Plant the tulips")
    assert db.search_sessions()[0]["title"] == "Garden"


def test_a_forgotten_first_line_is_not_a_title(db: SessionDB) -> None:
    db.create_session("s")
    secret, _ = db.append_messages("s", [{"role": "user", "content": word} for word in ("secret", "open")])
    db.forget_message(secret)
    assert db.find_title("s") == "open"


def test_an_id_is_shortened_as_far_as_it_is_unique(db: SessionDB) -> None:
    twin = f"{UUID[:12]}{'0' * 24}"
    alone = "f" * 36
    for name in (UUID, twin, alone, f"{UUID}:agent-1", "trip-to-lisbon"):
        db.create_session(name)
    short = db.shorten_ids([UUID, twin, alone, "trip-to-lisbon"])
    assert short == {UUID: UUID[:13], twin: twin[:13], alone: "f" * 8, "trip-to-lisbon": "trip-to-lisbon"}
    for name, beginning in short.items():
        assert db.resolve_session(beginning) == name
    with pytest.raises(Ambiguous):
        db.resolve_session(UUID[:10])


def test_short_ids_of_sub_agents_name_the_session_and_the_agent(db: SessionDB) -> None:
    sub = [f"{UUID}:agent-s1", f"{UUID}:agent-s2", f"{UUID}:agent-7be19c0d55aa"]
    alike = ["8d4e7b20-0000-4000-8000-000000000002", "8d4e7b20-0000-4000-8000-000000000003"]
    for one in [UUID, *sub, *alike, f"{alike[0]}:agent-s1"]:
        db.create_session(one, "cli")
    short = db.shorten_ids([UUID, *sub, *alike, f"{alike[0]}:agent-s1"])
    start = UUID[:8]
    assert [short[one] for one in (UUID, *sub)] == [start, f"{start}:s1", f"{start}:s2", f"{start}:7be19c0d"]
    assert [short[one] for one in alike] == ["8d4e7b20…0002", "8d4e7b20…0003"]
    assert {db.resolve_session(name) for name in short.values()} == set(short)
    assert all(db.resolve_session(name) == whole for whole, name in short.items())

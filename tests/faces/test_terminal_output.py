"""Lists, dates and long output at a terminal."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from mnemos.faces.cli.tables import print_heading, print_table
from mnemos.memory import Memory
from mnemos.operations.texts import render_when, shorten_names

from .conftest import IMPORTS, Mnemos
from .terminal import at_a_terminal

NOW = datetime(2026, 11, 16, 14, 3).timestamp()
TITLES = (
    "Move the database to Postgres " * 3,
    "修复登录页面的超时问题 " * 6,
    "🚀 release",
    "👩‍👩‍👧 family",
    "",
)


@pytest.fixture
def talk(home: Path) -> Path:
    """Talk about the queue in sixty conversations."""
    with Memory.at(home) as memory:
        for number in range(60):
            memory.sessions.create_session(f"{number:02}00aaaa-bbbb-4ccc-8ddd-eeeeffff0000", "cli")
            memory.sessions.append_message(
                f"{number:02}00aaaa-bbbb-4ccc-8ddd-eeeeffff0000", "user", f"is the queue full, case {number}?"
            )
    return home


@pytest.mark.parametrize(
    ("when", "shown", "to_the_minute"),
    [
        (datetime(2026, 11, 16, 0, 0), "today 00:00", "today 00:00"),
        (datetime(2026, 11, 15, 23, 59), "yesterday", "yesterday 23:59"),
        (datetime(2026, 11, 14, 9, 5), "14 Nov 2026", "14 Nov 2026 09:05"),
        (datetime(2025, 10, 2, 9, 5), "2 Oct 2025", "2 Oct 2025 09:05"),
        (datetime(2026, 11, 17, 9, 5), "17 Nov 2026", "17 Nov 2026 09:05"),
    ],
)
def test_dates_are_rendered_as_people_say_them(when: datetime, shown: str, to_the_minute: str) -> None:
    assert render_when(when.timestamp(), NOW) == shown
    assert render_when(when.timestamp(), NOW, minute=True) == to_the_minute


@pytest.mark.parametrize("when", [1e18, -1e18, float("inf"), float("nan")])
def test_a_time_outside_the_calendar_is_rendered(when: float) -> None:
    assert render_when(when, NOW)


@pytest.mark.parametrize("width", [62, 80, 120])
def test_columns_are_aligned_whatever_the_script(width: int) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    rows = [(title, "网站" * 30, "today 14:03", str(place), "5bc8fbbc") for place, title in enumerate(TITLES)]
    print_table(console, ("title", "project", "started", "messages", "session"), rows, right=("messages",))
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) == len(rows) + 1
    assert len({cell_len(line.partition("today")[0]) for line in lines[1:]}) == 1
    assert {cell_len(line.rstrip()) for line in lines[1:]} == {cell_len(lines[1])}
    assert all(line.rstrip().endswith("5bc8fbbc") for line in lines[1:])
    assert cell_len(lines[1]) <= width


def test_a_column_without_text_is_left_out() -> None:
    console = Console(file=io.StringIO(), width=80)
    print_table(console, ("title", "project", "id"), [("a", "", "1"), ("b", "", "2")])
    assert console.file.getvalue().split() == ["title", "id", "a", "1", "b", "2"]  # type: ignore[attr-defined]


def test_a_heading_stays_on_one_line() -> None:
    console = Console(file=io.StringIO(), width=60)
    print_heading(console, Text("修复" * 40), Text("yesterday  user  message:12  5bc8fbbc"))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert shown.count("\n") == 1
    assert shown.endswith("5bc8fbbc\n")


def test_names_are_as_long_as_it_takes_to_tell_them_apart() -> None:
    names = ["20261116T184601.1Z", "20261116T184601.2Z", "20261117T184601.2Z"]
    assert list(shorten_names(names, 15).values()) == [
        "20261116T184601.1",
        "20261116T184601.2",
        "20261117T184601",
    ]
    assert shorten_names(["a", "ab"], 1) == {"a": "a", "ab": "ab"}


def test_long_output_goes_through_the_pager(talk: Path) -> None:
    seen = at_a_terminal("sessions", "list", "--limit", "60", home=talk, MNEMOS_PAGER="sed s/^/paged:/")
    assert seen.code == 0
    assert seen.screen.count("paged:") == 62
    own = at_a_terminal(
        "sessions", "list", "--limit", "60", home=talk, PAGER="sed s/^/own:/", MNEMOS_PAGER=""
    )
    assert "own:" not in own.screen


@pytest.mark.parametrize("words", [("--limit", "5"), ("--limit", "60", "--no-pager"), ("--json",)])
def test_short_output_json_and_no_pager_are_printed_at_once(talk: Path, words: tuple[str, ...]) -> None:
    seen = at_a_terminal("sessions", "list", *words, home=talk, MNEMOS_PAGER="sed s/^/paged:/")
    assert seen.code == 0
    assert "paged:" not in seen.screen


def test_a_pager_that_is_missing_loses_nothing(talk: Path) -> None:
    seen = at_a_terminal("sessions", "list", "--limit", "60", home=talk, MNEMOS_PAGER="no-such-pager")
    assert seen.code == 0
    assert seen.screen.count("is the queue full") == 60


def test_nothing_is_coloured_where_colours_are_not_wanted(talk: Path) -> None:
    shown = ("recall", "queue", "--limit", "2")
    assert "\x1b[1;33m" in at_a_terminal(*shown, home=talk).screen
    assert "33m" not in at_a_terminal(*shown, home=talk, NO_COLOR="1").screen


def test_recall_prints_the_best_few_to_a_person_and_all_to_a_program(talk: Path, mnemos: Mnemos) -> None:
    few = mnemos("recall", "is the queue full").out
    assert few.count("message:") == 5
    assert "15 more: --limit 20" in few
    assert mnemos("recall", "is the queue full", "--limit", "20").out.count("message:") == 20
    assert len(mnemos("recall", "is the queue full", "--json").json["hits"]) == 20
    with Memory.at(talk) as memory:
        assert len(memory.call("recall", {"query": "is the queue full"})["hits"]) == 20


def test_lists_at_a_terminal_begin_with_titles_and_end_with_short_ids(talk: Path) -> None:
    screen = at_a_terminal("sessions", "list", "--limit", "1", home=talk).screen
    line = next(line for line in screen.splitlines() if "queue" in line)
    assert line.startswith("is the queue full, case")
    assert "today " in line
    assert line.rstrip().endswith("00aaaa")


def test_sessions_with_sub_agents_are_readable_at_80_columns(home: Path, mnemos: Mnemos) -> None:
    assert mnemos("import", "claude-code", str(IMPORTS / "claude-code")).code == 0
    lines = at_a_terminal("sessions", "list", home=home, kind="dumb", COLUMNS="80").screen.splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert [line.split()[-1] for line in lines[1:-1]] == [
        "c0ffee00",
        "3f2c9a10",
        "3f2c9a10:7be1",
        "8d4e7b20…0003",
        "8d4e7b20…0002",
        "8d4e7b20…0002:s1",
        "8d4e7b20…0002:s2",
    ]
    assert lines[3].startswith("  Find every caller of s")

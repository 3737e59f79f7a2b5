"""Options that every command takes, and what is said on the way to one."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from mnemos.faces.cli.commands import operation_command
from mnemos.memory import Memory
from mnemos.operations.index import ENTRIES

from .conftest import Mnemos


def test_json_may_come_before_between_and_after_the_command(shop: Path, mnemos: Mnemos) -> None:
    after = mnemos("sessions", "list", "--json")
    assert after.json["total"] == 6
    assert mnemos("--json", "sessions", "list") == after
    assert mnemos("sessions", "--json", "list") == after


def test_home_may_come_before_between_and_after_the_command(
    shop: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_HOME", str(shop / "elsewhere"))
    where = ("--home", str(shop))
    after = mnemos("sessions", "list", *where)
    assert after.code == 0
    assert mnemos(*where, "sessions", "list") == after
    assert mnemos("sessions", *where, "list") == after
    assert not (shop / "elsewhere").exists()


def test_space_may_come_before_between_and_after_the_command(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("--space", "team/a", "sessions", "create", "theirs").code == 0
    after = mnemos("sessions", "list", "--space", "team/a", "--json")
    assert [s["id"] for s in after.json["sessions"]] == ["theirs"]
    assert mnemos("--space", "team/a", "sessions", "list", "--json") == after
    assert mnemos("sessions", "--space", "team/a", "list", "--json") == after
    assert "theirs" not in mnemos("sessions", "list").out


def test_an_option_after_the_command_wins(shop: Path, mnemos: Mnemos) -> None:
    answer = mnemos("--home", str(shop / "no"), "sessions", "list", "--home", str(shop))
    assert answer.code == 0


def test_home_and_space_come_from_the_environment(
    shop: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_SPACE", "another")
    assert mnemos("sessions", "create", "there").code == 0
    monkeypatch.delenv("MNEMOS_SPACE")
    assert mnemos("sessions", "show", "there").code == 3
    assert mnemos("--space", "another", "sessions", "show", "there").code == 0


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("sesions",), "sessions"),
        (("sessions", "lst"), "list"),
        (("sessions", "serach", "cake"), "search"),
        (("docter",), "doctor"),
        (("sessions", "list", "--limt", "3"), "--limit"),
        (("search", "cake", "--srt", "newest"), "'--sort'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_a_mistyped_word_is_answered_with_the_near_one(
    mnemos: Mnemos, typed: tuple[str, ...], meant: str
) -> None:
    answer = mnemos(*typed)
    assert answer.code == 2
    assert meant in answer.err.split("mnemos: ")[1]
    assert answer.err.count("Did you mean") == 1
    assert meant in mnemos("--json", *typed).error["message"]


def test_a_word_like_no_command_is_not_answered_with_a_guess(mnemos: Mnemos) -> None:
    answer = mnemos("xyzzy")
    assert answer.code == 2
    assert "Did you mean" not in answer.err


def test_a_word_that_begins_with_a_dash_goes_after_two_dashes(shop: Path, mnemos: Mnemos) -> None:
    answer = mnemos("search", "monday", "-december")
    assert answer.code == 2
    assert "`--`" in answer.err
    assert mnemos("search", "--", "monday", "-december") == mnemos("search", "monday -december")


def test_several_values_of_an_option_are_all_taken(shop: Path, mnemos: Mnemos) -> None:
    words = ("sessions", "search", "monday OR deploy OR cake", "--json")
    everywhere = {hit["session_id"] for hit in mnemos(*words).json["hits"]}
    assert {"bakery-kickoff", "slot-bug", "christmas-hours"} <= everywhere
    some = mnemos(*words, "--exclude", "slot-bug", "--exclude", "christmas-hours").json["hits"]
    assert {hit["session_id"] for hit in some} == everywhere - {"slot-bug", "christmas-hours"}


@pytest.mark.parametrize(
    "text", ["null", "NULL", "true", "1", "1.5", "-", "--", "[]", "{}", " ", "é", "x" * 5000]
)
def test_text_stays_the_text_that_was_typed(shop: Path, mnemos: Mnemos, text: str) -> None:
    assert mnemos("sessions", "append", "empty", "user", "--", text, stdin=text).code == 0
    (message,) = mnemos("sessions", "show", "empty", "--json").json["messages"]
    assert message["content"] == text


def test_a_session_is_named_by_the_beginning_of_its_id_or_its_title(shop: Path, mnemos: Mnemos) -> None:
    shown = [
        mnemos("sessions", "show", name).out for name in ("slot-bug", "slot", "Pick-up slots off by an hour")
    ]
    assert len(set(shown)) == 1
    assert "slot-bug" in shown[0]


def test_an_empty_title_takes_the_title_away(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("sessions", "title", "slot-bug", "").code == 0
    assert (
        mnemos("sessions", "show", "slot-bug", "--json").json["session"]["title"].startswith("Customers see")
    )


def test_times_are_dates_or_seconds(shop: Path, mnemos: Mnemos) -> None:
    with Memory.at(shop) as memory:
        at = memory.sessions.search_messages("clocks")[0]["timestamp"]
    for since in (str(at), f"{at:.3f}", "2025-10-01", "2025-10-01T12:00+02:00"):
        assert mnemos("sessions", "search", "clocks", "--since", since, "--json").json["hits"], since
    assert mnemos("sessions", "search", "clocks", "--since", str(at + 1), "--json").json["hits"] == []
    assert mnemos("sessions", "search", "clocks", "--until", str(at), "--json").json["hits"] == []


@pytest.mark.parametrize(
    "words",
    [(), ("sessions",), ("sessions", "find"), ("doctor",), ("demo",), ("completion",)],
    ids=lambda words: " ".join(words) or "mnemos",
)
def test_every_command_explains_itself(mnemos: Mnemos, words: tuple[str, ...]) -> None:
    answer = mnemos(*words, "--help")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Usage: mnemos")


def test_every_option_says_what_it_is_for() -> None:
    silent = [
        f"{entry.command} --{option.name}"
        for entry in ENTRIES
        for option in operation_command(entry).params
        if isinstance(option, click.Option) and not (option.help or "").partition("[default")[0].strip()
    ]
    assert silent == []


def test_the_help_of_recall_says_how_many_passages_it_prints(mnemos: Mnemos) -> None:
    assert "[default: 5, or 20 with --json]" in " ".join(mnemos("recall", "--help").out.split())


def test_a_group_alone_prints_its_help(mnemos: Mnemos) -> None:
    for group in ("facts", "sessions", "notebook"):
        answer = mnemos(group)
        assert (answer.code, answer.err) == (0, "")
        assert "Commands:" in answer.out


def test_a_switch_is_written_as_a_boolean(home: Path, mnemos: Mnemos) -> None:
    assert mnemos("config", "set", "redact", "off").code == 0
    assert (home / "config.toml").read_text() == "redact = false\n"
    assert mnemos("config", "set", "redact", "maybe").code == 2


def test_two_tokens_never_share_a_name(home: Path, mnemos: Mnemos) -> None:
    assert mnemos("tokens", "create", "editor").code == 0
    assert mnemos("tokens", "create", "editor", "--json").error["code"] == "already_exists"

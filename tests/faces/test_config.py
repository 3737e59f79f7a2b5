"""``mnemos config`` shows and changes settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Mnemos


def test_all_settings_are_shown_without_making_a_home(home: Path, mnemos: Mnemos) -> None:
    answer = mnemos("config")
    assert (answer.code, answer.err) == (0, "")
    assert answer == mnemos("config", "show")
    assert str(home / "config.toml") in answer.out
    assert mnemos("config", "--json").json["settings"][1] == {
        "name": "space",
        "value": "default",
        "origin": "default",
    }
    assert not home.exists()


def test_a_setting_is_set_read_and_unset(home: Path, mnemos: Mnemos) -> None:
    assert mnemos("config", "set", "audit_days", "90").code == 0
    assert mnemos("config", "get", "audit_days").out == "90\n"
    shown = mnemos("config", "unset", "audit_days", "--json").json
    assert shown == {"name": "audit_days", "value": "30", "origin": "default"}


def test_a_variable_that_overrides_the_file_is_named(
    home: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_EMBEDDER", "static")
    answer = mnemos("config", "set", "embedder", "none")
    assert answer.code == 0
    assert "MNEMOS_EMBEDDER" in answer.out


@pytest.mark.parametrize(
    "words",
    [("get", "audti_days"), ("set", "audti_days", "3"), ("unset", "audti_days"), ("set", "audit_days", "x")],
    ids=" ".join,
)
def test_a_wrong_name_or_value_is_wrong_usage(home: Path, mnemos: Mnemos, words: tuple[str, ...]) -> None:
    answer = mnemos("config", *words)
    assert (answer.code, answer.out) == (2, "")
    assert "audit_days" in answer.err
    assert not (home / "config.toml").exists()


def test_where_memory_is_disabled_only_that_can_be_changed(
    home: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mnemos("config", "set", "disabled", "true").code == 0
    assert mnemos("config", "set", "audit_days", "3").code == 4
    assert mnemos("config", "set", "disabled", "false").code == 0
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    assert mnemos("config", "unset", "audit_days").code == 4

"""Settings: flags over environment over config.toml over defaults, and wrong values named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import InvalidInput
from mnemos.setting_values import Durability, check_space
from mnemos.settings import Model, Settings


def load(
    folder: Path, config: str | None = None, env: dict[str, str] | None = None, **flags: Any
) -> Settings:
    if config is not None:
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(config, encoding="utf-8")
    return Settings.load(folder, env=env or {}, **flags)


def test_the_defaults(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.home == tmp_path
    assert (settings.space, settings.source) == ("default", "cli")
    assert settings.durability is Durability.NORMAL
    assert settings.redact is True
    assert settings.disabled is False
    assert settings.busy_seconds == 30.0
    assert settings.audit_days == 30
    assert not settings.llm.is_configured


@pytest.mark.parametrize(
    ("config", "env", "flags", "expected"),
    [
        ('source = "file"', {"MNEMOS_SOURCE": "env"}, {"source": "flag"}, "flag"),
        ('source = "file"', {"MNEMOS_SOURCE": "env"}, {}, "env"),
        ('source = "file"', {}, {}, "file"),
        ("", {}, {}, "cli"),
        ('source = "file"', {"MNEMOS_SOURCE": ""}, {"source": None}, "file"),
    ],
)
def test_flags_win_over_environment_over_file_over_default(
    tmp_path: Path, config: str, env: dict[str, str], flags: dict[str, Any], expected: str
) -> None:
    assert load(tmp_path, config, env, **flags).source == expected


def test_the_home_comes_from_argument_environment_or_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    env = {"MNEMOS_HOME": str(tmp_path / "env")}
    assert Settings.load(tmp_path / "given", env=env).home == tmp_path / "given"
    assert Settings.load(env=env).home == tmp_path / "env"
    assert Settings.load(env={}).home == tmp_path / ".mnemos"
    assert Settings.load("~/mine", env={}).home == tmp_path / "mine"


def test_the_source_of_the_hermes_host_is_second_choice(tmp_path: Path) -> None:
    assert load(tmp_path, env={"HERMES_SESSION_SOURCE": "telegram"}).source == "telegram"
    env = {"HERMES_SESSION_SOURCE": "telegram", "MNEMOS_SOURCE": "mine"}
    assert load(tmp_path, env=env).source == "mine"


def test_every_setting_can_be_in_the_file(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        """
        space = "team-a/alice"
        source = "web"
        actor = "alice"
        durability = "full"
        redact = false
        disabled = true
        busy_seconds = 5
        max_message_bytes = 1000
        audit_days = 7
        [llm]
        base_url = "http://127.0.0.1:1/v1"
        model = "small"
        timeout = 10
        """,
    )
    assert (settings.space, settings.source, settings.actor) == ("team-a/alice", "web", "alice")
    assert settings.durability is Durability.FULL
    assert (settings.redact, settings.disabled) == (False, True)
    assert (settings.busy_seconds, settings.max_message_bytes, settings.audit_days) == (5.0, 1000, 7)
    assert settings.llm.is_configured
    assert settings.llm.timeout == 10.0


@pytest.mark.parametrize("text", ["1", "true", "YES", "on", " On "])
def test_these_words_mean_yes(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, env={"MNEMOS_DISABLED": text}).disabled is True


@pytest.mark.parametrize("text", ["0", "false", "No", "off"])
def test_these_words_mean_no(tmp_path: Path, text: str) -> None:
    assert load(tmp_path, env={"MNEMOS_REDACT": text}).redact is False


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"space": "../up"}, "../up"),
        ({"space": ""}, "''"),
        ({"space": 5}, "5"),
        ({"source": " "}, "source"),
        ({"source": 5}, "source"),
        ({"actor": ""}, "actor"),
        ({"durability": "half"}, "durability"),
        ({"redact": "maybe"}, "redact"),
        ({"disabled": 2}, "disabled"),
        ({"busy_seconds": 0}, "busy_seconds"),
        ({"busy_seconds": -1}, "busy_seconds"),
        ({"busy_seconds": "soon"}, "busy_seconds"),
        ({"busy_seconds": float("nan")}, "busy_seconds"),
        ({"max_message_bytes": 0.5}, "max_message_bytes"),
        ({"max_message_bytes": "big"}, "max_message_bytes"),
        ({"audit_days": -1}, "audit_days"),
        ({"colour": "red"}, "colour"),
    ],
    ids=str,
)
def test_an_invalid_value_is_named(tmp_path: Path, flags: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path, **flags)
    assert caught.value.code == "invalid_input"
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("env", "named"),
    [
        ({"MNEMOS_SPACE": "a b"}, "a b"),
        ({"MNEMOS_DURABILITY": "half"}, "durability"),
        ({"MNEMOS_DISABLED": "perhaps"}, "disabled"),
    ],
    ids=str,
)
def test_an_invalid_variable_is_named(tmp_path: Path, env: dict[str, str], named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path, env=env)
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("colour = 'red'", "colour"),
        ("space = '../up'", "../up"),
        ("not toml at all", "config.toml"),
        ("llm = 5", "llm"),
        ("[llm]\ncolour = 'red'", "colour"),
        ("[llm]\napi_key = 'secret'", "api_key"),
        ("[llm]\ntimeout = 0", "timeout"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, config: str, named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path, config)
    assert named in str(caught.value)


def test_a_binary_config_is_invalid_input(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput):
        load(tmp_path)


def test_a_folder_in_place_of_the_file_is_invalid_input(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(InvalidInput):
        load(tmp_path)


def test_the_key_of_a_model_comes_from_the_environment_only(tmp_path: Path) -> None:
    config = "[llm]\nbase_url = 'http://127.0.0.1:1'\nmodel = 'm'\napi_key_env = 'MY_KEY'"
    settings = load(tmp_path, config, {"MY_KEY": "value", "MNEMOS_LLM_API_KEY": "other"})
    assert settings.llm.api_key == "value"
    env = {"MNEMOS_LLM_BASE_URL": "http://127.0.0.1:2", "MNEMOS_LLM_MODEL": "n", "MNEMOS_LLM_API_KEY": "k"}
    assert load(tmp_path, "", env).llm == Model("http://127.0.0.1:2", "n", "k", 60.0)


@pytest.mark.parametrize("space", ["default", "team-a/alice", "a.b_c@d/e/f", "9", "x" * 200])
def test_these_are_spaces(space: str) -> None:
    assert check_space(space) == space


@pytest.mark.parametrize(
    "space", ["", "/", "a/", "/a", "a//b", "..", "a/../b", ".hidden", "a b", "é", "a\n", "x" * 201, None, 5]
)
def test_these_are_not_spaces(space: Any) -> None:
    with pytest.raises(InvalidInput):
        check_space(space)

"""The settings of a home as a person sees and changes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemos.config_file import Setting, get_setting, list_settings, set_value, unset_value
from mnemos.errors import InvalidInput, MnemosError
from mnemos.settings import KEYS, TABLES, VARIABLES, Settings


def write(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    path = home / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def found(home: Path, env: dict[str, str] | None = None) -> dict[str, Setting]:
    return {one.name: one for one in list_settings(str(home), env=env or {})}


def test_every_setting_is_listed_with_where_its_value_comes_from(home: Path) -> None:
    write(home, 'audit_days = 7\nsource = "file"\n[memory]\nprovider = "shelf"\n[llm]\nmodel = "m"\n')
    listed = found(home, {"MNEMOS_SOURCE": "telegram", "MNEMOS_LLM_BASE_URL": "http://x"})
    assert {*VARIABLES} <= {*listed}
    assert {f"{table}.{name}" for table, names in TABLES.items() for name in names} <= {*listed}
    expected = {
        "audit_days": ("7", "config.toml"),
        "source": ("telegram", "MNEMOS_SOURCE"),
        "provider": ("shelf", "config.toml"),
        "llm.model": ("m", "config.toml"),
        "llm.base_url": ("http://x", "MNEMOS_LLM_BASE_URL"),
        "llm.api_key_env": (KEYS["llm"], "default"),
        "redact": ("true", "default"),
    }
    assert {name: (listed[name].value, listed[name].origin) for name in expected} == expected


def test_keys_are_not_listed(home: Path) -> None:
    listed = found(home, {"MNEMOS_LLM_API_KEY": "sk-secret", "HONCHO_API_KEY": "sk-secret"})
    assert not any("sk-secret" in one.value for one in listed.values())


def test_the_space_of_an_option_wins(home: Path) -> None:
    listed = list_settings(str(home), space="team", env={"MNEMOS_SPACE": "other"})
    assert [(one.value, one.origin) for one in listed if one.name == "space"] == [("team", "--space")]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("audit_days", "90", 90),
        ("busy_seconds", "2.5", 2.5),
        ("redact", "false", False),
        ("redact", "off", False),
        ("durability", "full", "full"),
        ("code_tools", "run, build", ("run", "build")),
        ("notebook_files", "off", ()),
        ("actor", "Zoë 🦊 'quoted' \"twice\" \\", "Zoë 🦊 'quoted' \"twice\" \\"),
        ("prompt_parts", "facts", "facts"),
    ],
)
def test_a_value_that_is_set_is_what_is_loaded(home: Path, name: str, text: str, value: object) -> None:
    set_value(home, name, text)
    assert getattr(Settings.load(home, env={}), name) == value
    assert unset_value(home, name) is True
    assert unset_value(home, name) is False
    assert getattr(Settings.load(home, env={}), name) == getattr(Settings.load(home / "no", env={}), name)


def test_settings_of_tables_are_named_with_a_dot(home: Path) -> None:
    set_value(home, "llm.model", "llama3.1")
    set_value(home, "llm.timeout", "5")
    set_value(home, "honcho.app_id", "mine")
    loaded = Settings.load(home, env={})
    assert (loaded.llm.model, loaded.llm.timeout, loaded.honcho.app_id) == ("llama3.1", 5.0, "mine")


def test_comments_and_other_settings_stay(home: Path) -> None:
    path = write(home, '# mine\nspace = "team-a"  # ours\n\n[llm]\nmodel = "m"\n')
    set_value(home, "audit_days", "90")
    text = path.read_text(encoding="utf-8")
    assert "# mine\n" in text
    assert "# ours\n" in text
    assert Settings.load(home, env={}).audit_days == 90
    unset_value(home, "audit_days")
    assert path.read_text(encoding="utf-8") == '# mine\nspace = "team-a"  # ours\n\n[llm]\nmodel = "m"\n'


def test_a_setting_in_the_table_of_hosts_is_changed_there(home: Path) -> None:
    write(home, '[memory]\nprovider = "other"\n')
    set_value(home, "provider", "shelf")
    assert Settings.load(home, env={}).provider == "shelf"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("audit_days", "many"),
        ("audit_days", "-1"),
        ("redact", "perhaps"),
        ("space", "a b"),
        ("llm.timeout", "0"),
        ("actor", "\udcff"),
        ("actor", "a\nb"),
    ],
)
def test_a_wrong_value_changes_nothing(home: Path, name: str, text: str) -> None:
    with pytest.raises(InvalidInput):
        set_value(home, name, text)
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(
    ("name", "near"), [("audti_days", "audit_days"), ("llm.modl", "llm.model"), ("home", ""), ("llm", "")]
)
def test_an_unknown_name_is_refused_with_the_nearest(home: Path, name: str, near: str) -> None:
    for change in (lambda: get_setting(name, str(home)), lambda: set_value(home, name, "x"),
                   lambda: unset_value(home, name)):  # fmt: skip
        with pytest.raises(InvalidInput) as refused:
            change()
        assert repr(near) in str(refused.value) or not near
    assert not home.exists()


def test_a_wrong_value_in_the_file_can_be_repaired(home: Path) -> None:
    write(home, "audit_days = 'many'\nhot_tokens = 'few'\n")
    with pytest.raises(InvalidInput):
        list_settings(str(home), env={})
    set_value(home, "audit_days", "3")
    unset_value(home, "hot_tokens")
    assert found(home)["audit_days"].value == "3"


@pytest.mark.parametrize("before", ["not toml", "llm = 5\n", "memory = 5\n"])
def test_a_file_that_cannot_be_changed_stays(home: Path, before: str) -> None:
    path = write(home, before)
    with pytest.raises(MnemosError):
        set_value(home, "llm.model" if "llm" in before else "audit_days", "3")
    assert path.read_text(encoding="utf-8") == before

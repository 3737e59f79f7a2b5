"""Setting up: fields are checked, secrets are private, and one line of config.toml names the provider."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import InvalidInput, PermissionDenied, Unavailable
from mnemos.integrations.providers import setup
from mnemos.integrations.providers.setup import Field, find_unset, parse_fields, parse_values
from mnemos.settings import Settings

KEY = Field("api_key", secret=True, required=True, env_var="SHELF_API_KEY")


@pytest.fixture(autouse=True)
def no_secrets_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set and deleted again, so that what a test puts there does not stay.
    for name in ("SHELF_API_KEY", "OTHER"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- fields ---------------------------------------------------------------------------------------


def test_all_properties_of_a_field_are_parsed() -> None:
    (field,) = parse_fields(
        [
            {
                "key": "mode",
                "description": "Which\n  mode",
                "required": True,
                "default": "local",
                "choices": ["local", "cloud"],
                "url": "https://example.com",
            }
        ],
        "shelf",
    )
    assert field == Field(
        "mode", "Which mode", False, True, "local", ("local", "cloud"), "https://example.com"
    )


def test_a_secret_without_a_variable_gets_one() -> None:
    (field,) = parse_fields([{"key": "api-key", "secret": True}], "my.shelf")
    assert field.env_var == "MY_SHELF_API_KEY"


@pytest.mark.parametrize(
    "schema",
    [None, "key", [None], [{}], [{"key": ""}], [{"key": 5}], [{"key": "a=b"}], [{"key": "a\nb"}],
     [{"key": "a", "env_var": "no name"}]],
)  # fmt: skip
def test_invalid_fields_are_refused(schema: Any) -> None:
    with pytest.raises(InvalidInput):
        parse_fields(schema, "shelf")


def test_values_are_key_value_lines() -> None:
    fields = [Field("url"), KEY]
    assert parse_values("url = http://x/?a=b \n\napi_key=s3cr3t", fields) == {
        "url": "http://x/?a=b",
        "api_key": "s3cr3t",
    }
    assert parse_values("", fields) == {}


@pytest.mark.parametrize("text", ["colour=red", "url", "mode=other", "url=a\x1bb"])
def test_invalid_values_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_values(text, [Field("url"), Field("mode", choices=("local",))])


def test_an_empty_value_for_a_required_field_is_refused() -> None:
    assert parse_values("note=", [Field("note")]) == {"note": ""}
    with pytest.raises(InvalidInput):
        parse_values("api_key= ", [KEY])


def test_errors_do_not_quote_secrets() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_values("hunter2-the-password", [KEY])
    assert "hunter2" not in str(caught.value)


def test_a_required_field_is_unset_without_value_default_and_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fields = [KEY, Field("mode", required=True, default="local"), Field("note")]
    assert find_unset(fields, {}) == [KEY]
    assert find_unset(fields, {"api_key": "x"}) == []
    monkeypatch.setenv("SHELF_API_KEY", "x")
    assert find_unset(fields, {}) == []


# --- secrets --------------------------------------------------------------------------------------


def test_secrets_are_added_to_a_private_file(home: Path) -> None:
    home.mkdir()
    (home / ".env").write_text("# mine\nOTHER=1\nexport SHELF_API_KEY=old\n")
    (home / ".env").chmod(0o644)
    path = setup.keep_secrets(home, {"SHELF_API_KEY": "new"})
    assert mode(path) == 0o600
    assert path.read_text() == "# mine\nOTHER=1\nSHELF_API_KEY='new'\n"
    assert os.environ["SHELF_API_KEY"] == "new"


@pytest.mark.parametrize(
    "value", ["plain", "with 'quotes' and \"more\"", "$HOME `x` \\ #no", " blanks ", "ü漢🎉", "a=b"]
)
def test_a_secret_survives_a_round_trip(home: Path, value: str) -> None:
    setup.keep_secrets(home, {"SHELF_API_KEY": value, "OTHER": "x"})
    assert setup.read_secrets(home) == {"SHELF_API_KEY": value, "OTHER": "x"}


def test_secrets_written_by_hand_are_read(home: Path) -> None:
    home.mkdir()
    (home / ".env").write_text('A=1 # one\n#B=2\n C = three \nexport D="a\\"b"\nnonsense\n')
    assert setup.read_secrets(home) == {"A": "1", "C": "three", "D": 'a"b'}


def test_only_declared_and_unset_secrets_are_lent(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup.keep_secrets(home, {"SHELF_API_KEY": "kept", "OTHER": "kept"})
    monkeypatch.delenv("SHELF_API_KEY")
    monkeypatch.delenv("OTHER")
    setup.lend_secrets(home, [KEY])
    assert os.environ["SHELF_API_KEY"] == "kept"
    assert "OTHER" not in os.environ
    monkeypatch.setenv("SHELF_API_KEY", "mine")
    setup.lend_secrets(home, [KEY])
    assert os.environ["SHELF_API_KEY"] == "mine"


def test_a_binary_secrets_file_stays(home: Path) -> None:
    home.mkdir()
    (home / ".env").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput):
        setup.keep_secrets(home, {"A": "1"})
    assert (home / ".env").read_bytes() == b"\xff\xfe"


def test_a_folder_in_place_of_the_secrets_file_is_reported(home: Path) -> None:
    (home / ".env").mkdir(parents=True)
    with pytest.raises(PermissionDenied):
        setup.read_secrets(home)


# --- which one is used ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "before",
    [
        "",
        'space = "team-a"\n',
        'space = "team-a"\n\n[memory]\nprefetch_tokens = 500\n\n[llm]\nmodel = "m"\n',
        '[memory]\nprovider = "other" # mine\nprefetch_tokens = 500\n',
        '[memory] # where hosts look\n\n[llm]\nmodel = "m"',
    ],
)
def test_setting_the_provider_keeps_all_other_lines(home: Path, before: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(before)
    then = Settings.load(home, env={}, provider="shelf", actor="me")
    setup.use(home, "shelf")
    assert Settings.load(home, env={}, actor="me") == then
    text = (home / "config.toml").read_text()
    lost = [line for line in before.splitlines() if line not in text and "provider" not in line]
    assert lost == []
    setup.use(home, "")
    assert Settings.load(home, env={}).provider == ""


def test_an_unchanged_config_is_not_written(home: Path) -> None:
    setup.use(home, "")
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(
    "before", ['memory = {provider = "x"}\n', 'provider = "x" # mine\n', 'memory.provider = "x"\n']
)
def test_a_provider_written_in_another_way_is_replaced(home: Path, before: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(before)
    for name in ("shelf", ""):
        setup.use(home, name)
        assert Settings.load(home, env={}).provider == name


@pytest.mark.parametrize("before", ["not toml", "memory = 5\n"])
def test_a_file_that_cannot_be_changed_stays(home: Path, before: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(before)
    with pytest.raises(InvalidInput):
        setup.use(home, "shelf")
    assert (home / "config.toml").read_text() == before


@pytest.mark.parametrize(
    ("config", "env", "flags", "expected"),
    [
        ('[memory]\nprovider = "file"', {"MNEMOS_PROVIDER": "env"}, {"provider": "flag"}, "flag"),
        ('[memory]\nprovider = "file"', {"MNEMOS_PROVIDER": "env"}, {}, "env"),
        ('[memory]\nprovider = "file"', {}, {}, "file"),
        ('provider = "flat"', {}, {}, "flat"),
        ('[memory]\nprovider = "builtin"', {}, {}, ""),
        ("", {"MNEMOS_PROVIDER": "none"}, {}, ""),
        ("", {}, {}, ""),
    ],
)
def test_the_provider_comes_from_flag_environment_or_file(
    home: Path, config: str, env: dict[str, str], flags: dict[str, str], expected: str
) -> None:
    home.mkdir()
    (home / "config.toml").write_text(config)
    assert Settings.load(home, env=env, **flags).provider == expected


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ("memory = 5", "memory"),
        ("[memory]\ncolour = 1", "colour"),
        ("[memory]\nprovider = '../up'", "../up"),
        ("[memory]\nprovider = 5", "provider"),
        ("[memory]\nprefetch_tokens = 10", "prefetch_tokens"),
        ("[memory]\nprefetch_seconds = 0", "prefetch_seconds"),
        ("[memory]\nprompt_parts = 'notebook, weather'", "weather"),
    ],
)
def test_a_wrong_setting_is_named(home: Path, config: str, named: str) -> None:
    home.mkdir()
    (home / "config.toml").write_text(config)
    with pytest.raises(InvalidInput) as caught:
        Settings.load(home, env={})
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("off", ""), ("facts", "facts"), (["facts", "notebook"], "notebook,facts"), ("", "")],
)
def test_parts_of_the_prompt_can_be_switched_off(home: Path, value: Any, expected: str) -> None:
    assert Settings.load(home, env={}, prompt_parts=value).prompt_parts == expected


def test_a_provider_whose_config_schema_fails_is_unavailable(home: Path) -> None:
    folder = home / "plugins" / "odd"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: odd")
    (folder / "__init__.py").write_text(
        "class MemoryProvider: pass\n"
        "class Odd(MemoryProvider):\n"
        "    is_available = initialize = get_tool_schemas = lambda self: None\n"
        "    def get_config_schema(self): raise RuntimeError('no')\n"
    )
    with pytest.raises(Unavailable):
        setup.load_provider("odd", home)

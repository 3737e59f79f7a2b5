"""``mnemos providers``: what there is, how it does, and setting one up."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import InvalidInput, NotFound, Unavailable
from mnemos.memory import Memory
from mnemos.operations import registry
from mnemos.settings import Settings

PLUG_IN = """
import json, os
from pathlib import Path
from mnemos.integrations.providers import MemoryProvider

class Shelf(MemoryProvider):
    name = "shelf"
    def is_available(self): return bool(os.environ.get("SHELF_KEY"))
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self):
        return [{"name": "shelf_find", "description": "", "parameters": {"type": "object"}}]
    def get_config_schema(self):
        return [
            {"key": "key", "description": "The key", "secret": True, "required": True, "env_var": "SHELF_KEY",
             "url": "https://example.com/keys"},
            {"key": "mode", "description": "How", "choices": ["near", "far"], "default": "near"},
            {"key": "note"},
        ]
    def save_config(self, values, hermes_home):
        (Path(hermes_home) / "shelf.json").write_text(json.dumps(values))
"""


@pytest.fixture
def shelf(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a plug-in in it."""
    # Set, so that it is as it was when the test is over.
    monkeypatch.setenv("SHELF_KEY", "")
    folder = home / "plugins" / "shelf"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: shelf\nversion: 1.2\ndescription: A shelf\n")
    (folder / "__init__.py").write_text(PLUG_IN)
    return home


def call(operation: str, /, **arguments: Any) -> dict[str, Any]:
    with Memory.at() as memory:
        return memory.call(operation, arguments)


def test_providers_in_use_are_marked(shelf: Path) -> None:
    listed = call("providers_list")
    assert [(one["name"], one["used"]) for one in listed["providers"]] == [
        ("builtin", True),
        ("shelf", False),
    ]
    assert "shelf 1.2" in listed["text"]
    assert not (shelf / "mnemos.db").exists()


def test_by_default_only_the_built_in_memory_is_used(home: Path) -> None:
    assert call("providers_status") | {"text": ""} == {
        "used": "builtin", "available": True, "tools": [], "missing": [], "problem": "", "text": ""
    }  # fmt: skip
    assert not home.exists()


def test_setup_stores_secrets_apart_and_uses_the_provider(shelf: Path) -> None:
    done = call("providers_setup", name="shelf", values="key=s3cr3t\nmode=far")
    assert (done["used"], done["kept"], done["secrets"], done["missing"]) == (
        True,
        ["mode"],
        ["SHELF_KEY"],
        [],
    )
    assert "s3cr3t" not in str(done)
    assert (shelf / "shelf.json").read_text() == '{"mode": "far"}'
    secrets = shelf / ".env"
    assert secrets.read_text() == "SHELF_KEY='s3cr3t'\n"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert Settings.load().provider == "shelf"
    shown = call("providers_status")
    assert (shown["used"], shown["available"], shown["tools"]) == ("shelf", True, ["shelf_find"])
    assert call("providers_list")["providers"][1]["used"] is True


def test_what_is_missing_is_named_and_the_provider_not_used(shelf: Path) -> None:
    done = call("providers_setup", name="shelf", values="mode=far")
    assert done["used"] is False
    assert [one["key"] for one in done["missing"]] == ["key"]
    assert "https://example.com/keys" in done["text"]
    assert Settings.load().provider == ""


def test_an_available_provider_needs_nothing_more(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_KEY", "from elsewhere")
    assert call("providers_setup", name="shelf")["used"] is True
    assert not (shelf / ".env").exists()


def test_going_back_to_the_built_in_one_leaves_the_rest(shelf: Path) -> None:
    call("providers_setup", name="shelf", values="key=s3cr3t")
    assert call("providers_setup", name="builtin")["used"] is True
    assert Settings.load().provider == ""
    assert (shelf / ".env").exists()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"name": "nobody"}, NotFound),
        ({"name": "shelf", "values": "colour=red"}, InvalidInput),
        ({"name": "shelf", "values": "mode=elsewhere"}, InvalidInput),
        ({"name": "shelf", "values": "key"}, InvalidInput),
    ],
)
def test_what_makes_no_sense_is_refused(
    shelf: Path, arguments: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        call("providers_setup", **arguments)
    assert sorted(path.name for path in shelf.iterdir()) == ["plugins"]


def test_a_provider_that_does_not_keep_its_values_is_reported(shelf: Path) -> None:
    (shelf / "shelf.json").mkdir()
    with pytest.raises(Unavailable):
        call("providers_setup", name="shelf", values="mode=far")


@pytest.mark.parametrize(
    "code",
    ["raise ValueError('broken')", PLUG_IN.replace("return bool(", "raise SystemExit("), PLUG_IN[:-200]],
)
def test_the_status_of_a_broken_provider_does_not_fail(shelf: Path, code: str) -> None:
    (shelf / "plugins" / "shelf" / "__init__.py").write_text(code)
    (shelf / "config.toml").write_text('[memory]\nprovider = "shelf"\n')
    shown = call("providers_status")
    assert (shown["available"], bool(shown["problem"])) == (False, True)


def test_the_status_of_a_missing_provider_does_not_fail(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMOS_PROVIDER", "gone")
    shown = call("providers_status")
    assert (shown["used"], shown["available"]) == ("gone", False)
    assert "gone" in shown["problem"]


def test_at_a_terminal_what_it_needs_is_asked_for(shelf: Path) -> None:
    request = registry.read("providers_setup", {"name": "shelf"})
    with Memory.at() as memory:
        key, mode, note = request.questions(memory)
    assert (key.key, key.is_secret, key.default) == ("key", True, "")
    assert (mode.default, mode.choices) == ("near", ("near", "far"))
    assert "optional" in note.text
    answered = request.with_answers({"key": "s3cr3t", "mode": "near", "note": ""})
    assert answered.values == "key=s3cr3t\nmode=near"  # type: ignore[attr-defined]
    assert registry.read("providers_setup", {"name": "builtin"}).questions(Memory.at()) == ()
    assert (
        registry.read("providers_setup", {"name": "shelf", "values": "mode=far"}).questions(Memory.at()) == ()
    )
    assert os.environ["SHELF_KEY"] == ""

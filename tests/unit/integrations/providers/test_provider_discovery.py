"""Providers are found among entry points and in folders; only loading one runs its code."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import InvalidInput, NotFound, Unavailable
from mnemos.integrations.providers import discovery
from mnemos.integrations.providers.discovery import parse_manifest

PROVIDER = """
from mnemos.integrations.providers import MemoryProvider

class Shelf(MemoryProvider):
    name = "shelf"

    def is_available(self):
        return True

    def initialize(self, session_id, **kwargs):
        pass

    def get_tool_schemas(self):
        return []
"""
MANIFEST = """
# A comment.
name: shelf
version: 1.2.0   # of the folder
description: "Keeps: everything"
requirements:
  - msgspec>=0.1
  - no-such-package-at-all[extra]>=2
hooks:
  - on_session_end
"""


def plug_in(
    home: Path, name: str = "shelf", code: str | None = PROVIDER, manifest: str | bytes = MANIFEST
) -> Path:
    folder = home / "plugins" / name
    folder.mkdir(parents=True)
    data = manifest if isinstance(manifest, bytes) else manifest.encode()
    (folder / "plugin.yaml").write_bytes(data)
    if code is not None:
        (folder / "__init__.py").write_text(code, encoding="utf-8")
    return folder


def declare(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    entries = [EntryPoint(name, value, discovery.GROUP) for name, value in values.items()]
    monkeypatch.setattr(discovery, "_entry_points", lambda: entries)


# --- what is there --------------------------------------------------------------------------------


def test_the_built_in_provider_is_always_listed(home: Path) -> None:
    assert [one.name for one in discovery.find_providers(home)] == ["builtin"]


def test_a_folder_with_a_manifest_is_found_and_described(home: Path) -> None:
    folder = plug_in(home)
    (one,) = [one for one in discovery.find_providers(home) if one.name == "shelf"]
    assert (one.version, one.description) == ("1.2.0", "Keeps: everything")
    assert one.requirements == ("msgspec>=0.1", "no-such-package-at-all[extra]>=2")
    assert (one.where, one.problem) == (str(folder), "")


def test_missing_packages_are_listed(home: Path) -> None:
    plug_in(home)
    (one,) = [one for one in discovery.find_providers(home) if one.name == "shelf"]
    assert discovery.find_missing(one) == ["no-such-package-at-all[extra]>=2"]


def test_listing_runs_no_code(home: Path) -> None:
    plug_in(home, code="raise SystemExit('run')")
    assert [one.name for one in discovery.find_providers(home)] == ["builtin", "shelf"]


@pytest.mark.parametrize("manifest", [b"\xff\xfe", b"x" * 100_000], ids=["not UTF-8", "too large"])
def test_an_unreadable_manifest_is_reported_as_a_problem(home: Path, manifest: bytes) -> None:
    plug_in(home, manifest=manifest)
    (one,) = [one for one in discovery.find_providers(home) if one.name == "shelf"]
    assert "plugin.yaml" in one.problem


def test_a_folder_without_code_is_a_problem(home: Path) -> None:
    plug_in(home, code=None)
    (one,) = [one for one in discovery.find_providers(home) if one.name == "shelf"]
    assert "__init__.py" in one.problem
    with pytest.raises(Unavailable):
        discovery.load("shelf", home)


def test_hidden_folders_and_folders_without_a_manifest_are_skipped(home: Path) -> None:
    plug_in(home, ".hidden")
    plug_in(home, "_private")
    (home / "plugins" / "file").write_text("")
    (home / "plugins" / "bare").mkdir()
    assert [one.name for one in discovery.find_providers(home)] == ["builtin"]


def test_a_package_wins_over_a_folder_of_the_same_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in(home)
    declare(monkeypatch, shelf="somewhere:Shelf")
    found = [one for one in discovery.find_providers(home) if one.name == "shelf"]
    assert [one.folder for one in found] == [None]


def test_the_built_in_provider_is_declared_like_any_other() -> None:
    root = Path(__file__).parents[4]
    with (root / "pyproject.toml").open("rb") as file:
        declared = tomllib.load(file)["project"]["entry-points"][discovery.GROUP]
    module, _, name = declared[discovery.BUILT_IN].partition(":")
    assert (module, name) == ("mnemos.integrations.providers.builtin", "BuiltinMemoryProvider")
    assert {entry.group for entry in discovery._entry_points()} <= {discovery.GROUP}


# --- loading --------------------------------------------------------------------------------------


def test_the_only_provider_class_of_a_folder_is_used(home: Path) -> None:
    plug_in(home)
    assert discovery.load("shelf", home).name == "shelf"
    assert discovery.load("shelf", home) is not discovery.load("shelf", home)


def test_a_folder_that_registers_its_provider_may_have_several_classes_and_modules(home: Path) -> None:
    folder = plug_in(home, code=PROVIDER + "\nclass Other(Shelf):\n    name = 'other'\n"
        "\ndef register(context):\n    from .parts import answer\n    context.register_tool('anything')\n"
        "    provider = Other()\n    provider.answer = answer\n"
        "    context.register_memory_provider(provider)\n")  # fmt: skip
    (folder / "parts.py").write_text("answer = 42")
    provider = discovery.load("shelf", home)
    assert (provider.name, provider.answer) == ("other", 42)  # type: ignore[attr-defined]


def test_a_provider_written_for_another_host_is_accepted(home: Path) -> None:
    foreign = PROVIDER.replace(
        "from mnemos.integrations.providers import MemoryProvider", "class MemoryProvider:\n    pass"
    )
    plug_in(home, code=foreign)
    assert discovery.load("shelf", home).name == "shelf"


@pytest.mark.parametrize(
    "code",
    [
        "raise ValueError('broken')",
        "import no_such_module_at_all",
        "raise SyntaxError",
        "x = (",
        "",
        PROVIDER + "\nclass Second(Shelf):\n    pass\n",
        PROVIDER + "\ndef register(context):\n    raise RuntimeError('no')\n",
    ],
)
def test_a_broken_provider_is_unavailable_and_missing_packages_are_named(home: Path, code: str) -> None:
    plug_in(home, code=code)
    with pytest.raises(Unavailable) as raised:
        discovery.load("shelf", home)
    assert "no-such-package-at-all" in str(raised.value)


@pytest.mark.parametrize("what", ["object()", "dict"])
def test_an_object_that_is_not_a_provider_is_refused(home: Path, what: str) -> None:
    plug_in(home, code=f"def register(context):\n    context.register_memory_provider({what})\n")
    with pytest.raises(InvalidInput):
        discovery.load("shelf", home)


def test_an_entry_point_names_a_class_or_a_function_that_makes_one(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "shelf_package.py").write_text(PROVIDER + "\ndef make():\n    return Shelf()\n")
    monkeypatch.syspath_prepend(tmp_path)
    declare(monkeypatch, a="shelf_package:Shelf", b="shelf_package:make", c="shelf_package:nothing")
    assert discovery.load("a", home).name == discovery.load("b", home).name == "shelf"
    with pytest.raises(Unavailable):
        discovery.load("c", home)


@pytest.mark.parametrize("name", ["nobody", "builtin", "../up", ""])
def test_an_unknown_provider_is_not_found(home: Path, name: str) -> None:
    plug_in(home)
    with pytest.raises(NotFound):
        discovery.load(name, home)


# --- manifests ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("name: a\nversion: 1.0", {"name": "a", "version": "1.0"}),
        ("name: 'a # b'\ndescription: \"x: y\" # z", {"name": "a # b", "description": "x: y"}),
        ("requirements: [a, 'b>=1', \"c\"]", {"requirements": ("a", "b>=1", "c")}),
        ("requirements: []", {}),
        ("requirements:\n- a\n-   b # why\n", {"requirements": ("a", "b")}),
        ("pip_dependencies:\n  - httpx\nname: n", {"name": "n", "requirements": ("httpx",)}),
        ("name:\n  - a list\nversion:", {}),
        ("nested:\n  name: inner\nname: outer", {"name": "outer"}),
        ("no colon here\n: nothing\n- stray", {}),
        ("name: a\r\nversion: 2\r\n", {"name": "a", "version": "2"}),
    ],
)
def test_a_manifest_has_plain_keys_and_lists(text: str, expected: dict[str, Any]) -> None:
    assert parse_manifest(text) == {"requirements": (), **expected}

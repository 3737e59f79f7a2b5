"""``mnemos connect hermes``: what it writes, what it leaves alone, and how it is undone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound, PermissionDenied, Refused
from mnemos.hermes_folder import hermes_home
from mnemos.integrations.hermes import host, plugin
from mnemos.integrations.providers.discovery import parse_manifest


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes"
    folder.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path))
    return folder


@pytest.fixture
def memory(home: Path) -> Memory:
    return Memory.at(home)


def connect(memory: Memory, **given: Any) -> dict[str, Any]:
    return memory.call("connect_hermes", given)


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_hermes_finds_a_plug_in_that_names_its_contract_in_the_first_lines(
    hermes: Path, memory: Memory
) -> None:
    answer = connect(memory)
    assert answer["connected"]
    assert len(answer["changes"]) == 5
    folder = hermes / "plugins" / "mnemos"
    assert sorted(path.name for path in folder.iterdir()) == ["__init__.py", "cli.py", "plugin.yaml"]
    assert "MemoryProvider" in (folder / "__init__.py").read_text().splitlines()[0]
    about = parse_manifest((folder / "plugin.yaml").read_text())
    assert about["name"] == "mnemos"
    assert about["version"]
    assert about["description"].startswith("Mnemos")
    assert plugin.read_provider((hermes / "config.yaml").read_text()) == "mnemos"
    assert host.find_place(hermes) == host.Place(memory.settings.home, "default")


def test_connecting_again_changes_nothing(hermes: Path, memory: Memory) -> None:
    connect(memory)
    before = files(hermes)
    answer = connect(memory)
    assert answer["changes"] == []
    assert files(hermes) == before


def test_a_dry_run_shows_everything_and_writes_nothing(hermes: Path, memory: Memory, home: Path) -> None:
    answer = connect(memory, print=True)
    assert files(hermes) == {}
    assert not home.exists()
    assert {change["file"] for change in answer["changes"]} == {
        str(hermes / name)
        for name in ("plugins/mnemos/__init__.py", "plugins/mnemos/plugin.yaml", "plugins/mnemos/cli.py",
                     "mnemos.json", "config.yaml")
    }  # fmt: skip
    assert len(answer["summary"]) == 2
    assert "+   provider: mnemos" in connect(memory, diff=True)["text"]
    assert files(hermes) == {}
    connect(memory)
    assert connect(memory, print=True)["changes"] == []


def test_undo_removes_only_what_was_written(hermes: Path, memory: Memory) -> None:
    (hermes / "config.yaml").write_text("model: x\nmemory:\n  memory_enabled: true\n")
    connect(memory)
    (hermes / "plugins" / "mnemos" / "__pycache__").mkdir()
    answer = connect(memory, undo=True)
    assert not answer["connected"]
    assert files(hermes) == {"config.yaml": "model: x\nmemory:\n  memory_enabled: true\n"}
    assert not (hermes / "plugins").exists()
    assert connect(memory, undo=True)["changes"] == []


@pytest.mark.parametrize(
    "config",
    [None, b"", b"model: x", b"model: x\r\nmemory:\r\n  provider: ''\r\n",
     b"\xef\xbb\xbf# mine\nmodel: x\n\n\n", b"memory:\n    a: 1  # four\n"],
)  # fmt: skip
def test_undo_restores_every_byte_of_the_home(hermes: Path, memory: Memory, config: bytes | None) -> None:
    path = hermes / "config.yaml"
    if config is not None:
        path.write_bytes(config)
    assert connect(memory)["connected"]
    assert plugin.read_provider(path.read_text()) == "mnemos"
    connect(memory, undo=True)
    assert (path.read_bytes() if path.exists() else None) == config
    assert [one.name for one in hermes.iterdir()] == ([] if config is None else ["config.yaml"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "added: 1\n"),
        ("model: x\n", "added: 1\nmodel: x\n"),
        ("memory:\n  memory_enabled: true\n", "added: 1\nmemory:\n  memory_enabled: true\n"),
        ("memory:\n  provider: ''\n", "added: 1\nmemory:\n  provider: ''\n"),
        ("memory:\nmodel: x\n", "added: 1\nmemory:\nmodel: x\n"),
    ],
)
def test_undo_of_changed_settings_removes_what_was_added(
    before: str | None, after: str, hermes: Path, memory: Memory
) -> None:
    path = hermes / "config.yaml"
    if before is not None:
        path.write_text(before)
    connect(memory)
    path.write_text("added: 1\n" + path.read_text())
    connect(memory, undo=True)
    assert path.read_text() == after


def test_undo_keeps_settings_that_hermes_put_beside_ours(hermes: Path, memory: Memory) -> None:
    connect(memory)
    path = hermes / "config.yaml"
    path.write_text("memory:\n    provider: 'mnemos'\n    limit: 9\n")
    connect(memory, undo=True)
    assert path.read_text() == "memory:\n    limit: 9\n"


def test_undo_reports_settings_that_it_cannot_read(hermes: Path, memory: Memory) -> None:
    connect(memory)
    (hermes / "config.yaml").write_text("memory: {provider: mnemos}\n")
    assert connect(memory, undo=True)["remarks"]
    assert (hermes / "config.yaml").read_text() == "memory: {provider: mnemos}\n"


def test_line_breaks_of_the_settings_stay(hermes: Path, memory: Memory) -> None:
    path = hermes / "config.yaml"
    path.write_bytes(b"model: x\r\n")
    connect(memory)
    assert path.read_bytes() == b"model: x\r\n\r\nmemory:\r\n  provider: mnemos\r\n"


def test_undo_keeps_files_of_others_in_the_folder(hermes: Path, memory: Memory) -> None:
    connect(memory)
    (hermes / "plugins" / "mnemos" / "notes.txt").write_text("mine")
    connect(memory, undo=True)
    assert set(files(hermes)) == {"plugins/mnemos/notes.txt"}


def test_a_plug_in_of_the_same_name_by_others_is_refused(hermes: Path, memory: Memory) -> None:
    folder = hermes / "plugins" / "mnemos"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("class Other: ...\n")
    before = files(hermes)
    for undo in (False, True):
        with pytest.raises(Refused):
            connect(memory, undo=undo)
    assert files(hermes) == before


def test_another_active_provider_stays_and_is_reported(hermes: Path, memory: Memory) -> None:
    (hermes / "config.yaml").write_text("memory:\n  provider: honcho\n")
    answer = connect(memory)
    assert "honcho" in answer["text"]
    assert (hermes / "config.yaml").read_text() == "memory:\n  provider: honcho\n"
    connect(memory, undo=True)
    assert (hermes / "config.yaml").read_text() == "memory:\n  provider: honcho\n"


def test_a_config_in_an_unusual_notation_stays(hermes: Path, memory: Memory) -> None:
    (hermes / "config.yaml").write_text("memory: {provider: ''}\n")
    answer = connect(memory)
    assert "hermes config set memory.provider mnemos" in answer["text"]
    assert (hermes / "config.yaml").read_text() == "memory: {provider: ''}\n"


def test_the_config_may_be_a_link_and_keeps_its_mode(hermes: Path, memory: Memory, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.yaml"
    kept.write_text("model: x\n")
    kept.chmod(0o640)
    (hermes / "config.yaml").symlink_to(kept)
    connect(memory)
    assert (hermes / "config.yaml").is_symlink()
    assert kept.read_text() == "model: x\n\nmemory:\n  provider: mnemos\n"
    assert kept.stat().st_mode & 0o777 == 0o640


def test_the_next_change_deletes_temporary_files_of_a_killed_process(hermes: Path, home: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = hermes / f".mnemos.json.{ended.pid}.new"
    left.write_text("half a fi")
    host.save_place(hermes, {"home": str(home)})
    assert sorted(files(hermes)) == ["mnemos.json"]


def test_a_read_only_config_is_refused_and_nothing_is_written(hermes: Path, memory: Memory) -> None:
    config = hermes / "config.yaml"
    config.write_text("model: x\n")
    config.chmod(0o444)
    with pytest.raises(PermissionDenied):
        connect(memory)
    assert files(hermes) == {"config.yaml": "model: x\n"}


def test_a_missing_hermes_is_not_created(tmp_path: Path, memory: Memory) -> None:
    with pytest.raises(NotFound):
        connect(memory, hermes_home=str(tmp_path / "nowhere"))
    assert not (tmp_path / "nowhere").exists()
    for nonsense in ("", " ", "a\0b"):
        with pytest.raises(InvalidInput):
            connect(memory, hermes_home=nonsense)


def test_a_profile_has_a_space_of_its_own(hermes: Path, home: Path) -> None:
    coder = hermes / "profiles" / "coder"
    coder.mkdir(parents=True)
    assert connect(Memory.at(home), hermes_home=str(coder))["space"] == "coder"
    assert connect(Memory.at(home, space="shared"), hermes_home=str(coder))["space"] == "shared"
    assert host.find_place(coder).space == "shared"


def test_nothing_is_written_while_memory_is_disabled(hermes: Path, home: Path) -> None:
    answer = connect(Memory.at(home, disabled=True))
    assert answer["disabled"]
    assert files(hermes) == {}


def test_the_finder_finds_only_the_packages_of_mnemos(hermes: Path, memory: Memory) -> None:
    connect(memory)
    code = (hermes / "plugins" / "mnemos" / "__init__.py").read_text()
    before = list(sys.meta_path)
    try:
        for _ in range(2):
            scope: dict[str, Any] = {"__name__": "loaded"}
            exec(compile(code, "__init__.py", "exec"), scope)
        (finder,) = (one for one in sys.meta_path if one not in before)
        assert finder.find_spec("mnemos").origin == str(Path(plugin.__file__).parents[2] / "__init__.py")
        assert finder.find_spec("pytest") is None
        assert finder.find_spec("mnemos", ["somewhere"]) is None
        finder.find_spec.__globals__["PYTHON"] = (2, 7)
        assert finder.find_spec("mnemos") is None
    finally:
        sys.meta_path[:] = before


@pytest.mark.parametrize("name", ["__init__.py", "cli.py"])
def test_the_plug_in_files_work(name: str, hermes: Path, memory: Memory) -> None:
    connect(memory)
    before = list(sys.meta_path)
    scope: dict[str, Any] = {"__name__": "loaded"}
    try:
        exec(compile((hermes / "plugins" / "mnemos" / name).read_text(), name, "exec"), scope)
    finally:
        sys.meta_path[:] = before
    if name == "cli.py":
        assert callable(scope["register_cli"])
        assert callable(scope["mnemos_command"])
        return
    given: list[Any] = []
    context = type("Context", (), {"register_memory_provider": staticmethod(given.append)})
    scope["register"](context)
    assert given[0].name == "mnemos"


@pytest.mark.parametrize(
    ("head", "is_told"),
    [
        ("#!{venv}/bin/python", True),
        ("#!{venv}/bin/python3.99 ", True),
        ("#!/usr/bin/env bash", False),
        ("\x7fELF", False),
    ],
)
@pytest.mark.usefixtures("hermes")
def test_another_python_version_of_hermes_is_reported(
    head: str,
    is_told: bool,
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "venv" / "lib" / "python3.99").mkdir(parents=True)
    script = tmp_path / "bin" / "hermes"
    script.parent.mkdir()
    script.write_text(head.format(venv=tmp_path / "venv") + "\nimport sys\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(script.parent))
    assert any("3.99" in remark for remark in connect(memory)["remarks"]) == is_told


# --- the line of config.yaml ---------------------------------------------------------------------


M = "memory:\n"
OURS = "  provider: mnemos\n"


@pytest.mark.parametrize(
    ("before", "used", "after"),
    [
        ("", "", M + OURS),
        ("model: x\n", "", "model: x\n\n" + M + OURS),
        (M, "", M + OURS),
        (M + "model: x\n", "", M + OURS + "model: x\n"),
        (M + "    user_char_limit: 9\n", "", M + "    provider: mnemos\n    user_char_limit: 9\n"),
        (M + "  provider: ''\n", "", M + OURS),
        (M + "  a: 1\n  provider: null  # no\nb: 2\n", "", M + "  a: 1\n  provider: mnemos  # no\nb: 2\n"),
        ("memory: # notes\n  provider:\n", "", "memory: # notes\n" + OURS),
        ("x:\n  provider: openai\n" + M + '  provider: ""\n', "", "x:\n  provider: openai\n" + M + OURS),
        (M + "  deep:\n    provider: a\n", "", M + OURS + "  deep:\n    provider: a\n"),
        (M + "  provider: mem0\n", "mem0", M + OURS),
        (M + "  provider: 'mem0'\n", "mem0", M + OURS),
        ("# memory:\nmodel: x", "", "# memory:\nmodel: x\n\n" + M + OURS),
    ],
)
def test_one_line_is_changed_and_the_rest_stays(before: str, used: str, after: str) -> None:
    assert plugin.read_provider(before) == used
    assert plugin.set_provider(before, "mnemos") == after
    assert plugin.read_provider(after) == "mnemos"
    assert plugin.read_provider(plugin.set_provider(after, "")) == ""


@pytest.mark.parametrize(
    "text",
    ["memory: {}\n", '"memory":\n  provider: x\n', "{memory: {provider: x}}\n", "memory:\nmemory:\n",
     "memory:\n  provider: *other\n", "memory:\n  provider: {a: b}\n", "- memory\n"],
)  # fmt: skip
def test_an_unusual_notation_is_not_guessed(text: str) -> None:
    assert plugin.read_provider(text) is None


# --- mnemos.json ---------------------------------------------------------------------------------


def test_without_mnemos_json_the_default_home_is_used(hermes: Path, home: Path) -> None:
    assert host.find_place(hermes) == host.Place(home, "default")
    assert host.find_place(hermes / "profiles" / "coder") == host.Place(home, "coder")


def test_saved_values_are_merged_and_checked(hermes: Path, tmp_path: Path) -> None:
    host.save_place(hermes, {"home": str(tmp_path / "one")})
    host.save_place(hermes, {"space": " two ", "home": None})
    assert json.loads((hermes / "mnemos.json").read_text()) == {"home": str(tmp_path / "one"), "space": "two"}
    for wrong in ({"space": "a b"}, {"key": "x"}):
        with pytest.raises(InvalidInput):
            host.save_place(hermes, wrong)
    assert host.find_place(hermes) == host.Place(tmp_path / "one", "two")


@pytest.mark.parametrize("text", ["{", "[]", '{"home": 1}', '{"space": "a b"}'])
def test_an_invalid_mnemos_json_is_reported(text: str, hermes: Path) -> None:
    (hermes / "mnemos.json").write_text(text)
    with pytest.raises(InvalidInput):
        host.find_place(hermes)


def test_the_home_of_hermes_comes_from_argument_variable_or_default(tmp_path: Path) -> None:
    assert hermes_home(tmp_path, {"HERMES_HOME": "/x"}) == tmp_path
    assert hermes_home(None, {"HERMES_HOME": " /x "}) == Path("/x")
    assert hermes_home(None, {"HERMES_HOME": " "}) == Path("~/.hermes").expanduser()
    with pytest.raises(InvalidInput):
        hermes_home("~nobody-of-that-name/x", {})

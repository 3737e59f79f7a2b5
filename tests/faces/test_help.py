"""Help: every command is listed in one line, and its example works."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mnemos import __version__
from mnemos.faces.cli.app import cli
from mnemos.faces.cli.help_screens import ALIASES, SCREENS, SYNONYMS
from mnemos.memory import Memory
from mnemos.operations.index import ENTRIES

from .conftest import IMPORTS, NOW, Mnemos
from .terminal import PROGRAM, at_a_terminal
from .test_bench import CONVERSATION
from .test_starting import HEAVY, loaded_by

WIDTH = 80
LINES = 60
# They work and are not listed: another command does the same, or agents call them as tools.
UNLISTED = {
    *("sessions find", "facts search", "facts forget", "facts tick", "notebook change", "notebook undo"),
    *("entries query", "entries do", "workspace query", "import sync"),
}
# They need a process of their own.
PROGRAMS = ("hook", "mcp", "serve", "ui", "postgres", "watch")


def walk(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that can be typed, with its words."""
    context = click.Context(group, **group.context_settings)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from walk(command, (*words, name))


COMMANDS = {" ".join(words): command for words, command in walk(cli)}
EXAMPLES = sorted({getattr(command, "example", "") for command in COMMANDS.values()} - {""})


def test_every_command_has_an_example_that_fits_in_a_line() -> None:
    def fits(command: click.Command) -> bool:
        return 0 < len(getattr(command, "example", "")) <= WIDTH - len("  mnemos ")

    assert [name for name, command in COMMANDS.items() if not fits(command)] == []


@pytest.fixture(scope="session")
def prepared(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home, and with files of the names that examples mention; to be copied, not used."""
    root = tmp_path_factory.mktemp("examples")
    shutil.copytree(filled / "home", root / "memory")
    with Memory.at(root / "memory", space="default", disabled=False, clock=lambda: NOW) as memory:
        trip = memory.sessions.export_session("slot-bug")
        memory.sessions.import_sessions([trip | {"id": "trip-to-lisbon", "title": "Lisbon"}])
        memory.sessions.append_messages("trip-to-lisbon", [{"role": "user", "content": "The train"}] * 40)
        memory.facts.write("V[srv.staging]: port 5433", scope="infra")
        memory.facts.remember("I live in Lisbon")
        memory.entries.store("default", "pref_editor", "vim")
        memory.templates.create_template("trip-to-lisbon", "fix-failing-tests")
    (root / "event.json").write_text("{}")
    (root / "orders.csv").write_text("item,pieces\nchair,4\n")
    (root / "questions.jsonl").write_text(json.dumps(CONVERSATION))
    shutil.copy(IMPORTS / "jsonl" / "tuning.jsonl", root / "conversations.jsonl")
    for program in ("chatgpt", "claude"):
        shutil.make_archive(str(root / f"{program}-export"), "zip", IMPORTS / program / "export")
    shutil.copytree(IMPORTS / "claude-code", root / ".claude" / "projects")
    shutil.copytree(IMPORTS / "codex", root / ".codex" / "sessions")
    shutil.copytree(IMPORTS / "gemini", root / ".gemini" / "tmp")
    (root / ".hermes").mkdir()
    shutil.copy(filled / "hermes-memory.db", root / ".hermes" / "memory.db")
    shutil.copy(filled / "state.db", root / ".hermes" / "state.db")
    return root


@pytest.fixture
def folder(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    shutil.copytree(prepared, folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("MNEMOS_HOME", str(folder / "memory"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "HERMES_HOME", "HERMES_MEMORY_DB"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("example", [one for one in EXAMPLES if one.split()[0] not in PROGRAMS])
def test_the_example_of_a_command_works(example: str, folder: Path, filled: Path, mnemos: Mnemos) -> None:
    words = shlex.split(example)
    if words[0] not in ("export", "backup"):
        shutil.copy(filled / "copy.tar.zst", folder / "memory.tar.zst")
        shutil.copy(filled / "copy.db", folder / "mnemos-backup.db")
        mnemos("export", "sessions", "all.jsonl")
    if words[0] == "sync":
        (folder / words[1]).mkdir()
    if words[:2] == ["tokens", "revoke"]:
        # Ids are random.
        words[2] = mnemos("tokens", "create", "editor", "--json").json["id"]
    answer = mnemos(*words)
    assert (answer.code, answer.err) == (0, "")


@pytest.mark.parametrize("name", ["hook", "mcp"])
def test_the_example_of_a_command_for_programs_works(name: str, folder: Path) -> None:
    (example,) = (one for one in EXAMPLES if one.startswith(f"{name} "))
    typed, _, piped = example.partition(" < ")
    given = (folder / piped).read_bytes() if piped else b""
    done = subprocess.run([*PROGRAM, *shlex.split(typed)], input=given, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("example", ["watch status", "watch install --print"])
def test_the_example_of_a_command_for_the_watch_works(example: str, folder: Path, mnemos: Mnemos) -> None:
    assert example in EXAMPLES
    answer = mnemos(*shlex.split(example))
    assert (answer.code, answer.err) == (0, "")
    if sys.platform.startswith("linux"):
        assert "mnemos-watch" in mnemos("watch", "uninstall").err


def test_a_watch_that_could_not_be_started_is_a_failure(
    folder: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "config"))
    if sys.platform.startswith("linux"):
        assert mnemos("watch", "install").code == 1
        assert mnemos("watch", "uninstall").code == 0


def test_an_unknown_program_to_watch_is_answered_with_the_known_ones(mnemos: Mnemos) -> None:
    assert "'codex'" in mnemos("watch", "emacs").err
    assert "Did you mean 'status'" in mnemos("watch", "staus").err


@pytest.mark.parametrize("name", ["serve", "ui"])
def test_the_example_of_the_http_server_works(name: str, folder: Path) -> None:
    (example,) = (one for one in EXAMPLES if one.startswith(f"{name} "))
    # Another program may use the port of the example.
    words = [*PROGRAM, *shlex.split(example), "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = any("http://127.0.0.1" in line for line in server.stderr)
        server.terminate()
    assert found


def test_help_screens_list_every_command_once_in_one_line(mnemos: Mnemos) -> None:
    for group, screen in SCREENS.items():
        out = mnemos(*group.split(), "--help").out
        lines = out.splitlines()
        assert max(map(len, lines)) <= WIDTH, group
        names = [name for name, _ in screen.commands()]
        assert len(names) == len(set(names))
        for name, line in screen.commands():
            shown = [one for one in lines if one.startswith(f"  {name} ") and one.endswith(f"  {line}")]
            assert len(shown) == 1, (group, name)
            assert COMMANDS[f"{group} {name}".strip()] is not None
        assert "..." not in out.partition("\n")[2]
    assert len(mnemos("--help").out.splitlines()) <= LINES


def test_every_operation_is_listed_or_known_to_be_hidden() -> None:
    listed = {f"{group} {name}".strip() for group, screen in SCREENS.items() for name, _ in screen.commands()}
    listed |= {name.removeprefix("admin ") for name in listed}
    assert {entry.command for entry in ENTRIES} - listed == UNLISTED


def test_every_command_fits_into_80_columns(mnemos: Mnemos) -> None:
    def is_wide(name: str) -> bool:
        return any(len(line) > WIDTH for line in mnemos(*name.split(), "--help").out.splitlines())

    assert [name for name in COMMANDS if is_wide(name)] == []


def test_former_names_of_commands_work_and_are_not_listed(folder: Path, mnemos: Mnemos) -> None:
    for former, now in ALIASES.items():
        assert COMMANDS[former].hidden
        assert COMMANDS[former].params[0].name == COMMANDS[now].params[0].name
    assert mnemos("sessions", "search", "train") == mnemos("search", "train")
    assert mnemos("facts", "export") == mnemos("export", "facts")


@pytest.mark.parametrize("words", [("-h",), ("help",), ("help", "sessions"), ("help", "sessions", "list")])
def test_help_is_shown_however_it_is_asked_for(mnemos: Mnemos, words: tuple[str, ...]) -> None:
    answer = mnemos(*words)
    assert (answer.code, answer.err) == (0, "")
    assert answer == mnemos(*words[1:], "--help")


def test_help_of_an_unknown_command_is_wrong_usage(mnemos: Mnemos) -> None:
    answer = mnemos("help", "sesions")
    assert answer.code == 2
    assert "'sessions'" in answer.err


@pytest.mark.parametrize("word", ["-V", "--version", "version"])
def test_the_version_is_shown_however_it_is_asked_for(mnemos: Mnemos, word: str) -> None:
    assert mnemos(word).out == f"mnemos {__version__}\n"
    assert "click" not in loaded_by(word)


def test_help_loads_neither_the_memory_nor_the_operations() -> None:
    for words in (("--help",), ("sessions", "-h")):
        loaded = loaded_by(*words)
        for module in ("mnemos.memory.memory", "mnemos.operations.sessions", "apsw", "rich", *HEAVY):
            assert module not in loaded


def test_no_color_leaves_colours_out(shop: Path) -> None:
    coloured = at_a_terminal("sessions", "show", "slot-bug", home=shop).screen
    plain = at_a_terminal("sessions", "show", "slot-bug", "--no-color", home=shop).screen
    assert "\x1b[1;32m" in coloured
    assert "\x1b[1;32m" not in plain


def test_a_question_needs_no_quotes(shop: Path, mnemos: Mnemos) -> None:
    for verb in ("recall", "search"):
        words = ("when", "did", "we", "migrate")
        assert mnemos(verb, *words, "--limit", "2") == mnemos(verb, " ".join(words), "--limit", "2")
    assert mnemos("show", "Pick-up", "slots", "off", "by", "an", "hour") == mnemos("show", "slot-bug")
    mnemos("remember", "The", "oven", "is", "red", "--scope", "kitchen")
    assert mnemos("facts", "list", "--scope", "kitchen", "--json").json["facts"][0]["content"] == (
        "The oven is red"
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(("list",), "sessions list"), (("export", "sesions"), "sessions"), (("confg",), "config")],
)
def test_a_command_that_does_not_exist_is_answered_with_the_nearest(
    mnemos: Mnemos, typed: tuple[str, ...], meant: str
) -> None:
    answer = mnemos(*typed)
    assert answer.code == 2
    assert f"Did you mean '{meant}'?" in answer.err


def test_admin_runs_what_is_rarely_needed(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("admin", "explain", "f1") == mnemos("explain", "f1")
    assert mnemos("admin", "sessions", "list").code == 2


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("find", "'search'"),
        ("settings", "'config'"),
        ("ls", "'sessions list'"),
        ("query", "'search'"),
        ("init", "mnemos import"),
        ("update", "mnemos remember"),
        ("uninstall", "connect CLIENT --undo"),
        ("connect notepad", "claude-code, claude-desktop, cursor"),
        ("connect cusror", "'cursor'"),
        ("import nothing", "chatgpt, claude"),
    ],
)
def test_words_that_people_try_first_lead_to_the_command_they_mean(
    typed: str, said: str, mnemos: Mnemos
) -> None:
    answer = mnemos(*typed.split())
    assert answer.code == 2
    assert said in " ".join(answer.err.split())


def test_every_synonym_names_a_command_and_is_none_itself() -> None:
    for word, meant in SYNONYMS.items():
        above = word.rpartition(" ")[0]
        group, _, name = f"{above} {meant}".strip().rpartition(" ")
        assert name in dict(SCREENS[group].commands())
        assert word.rpartition(" ")[2] not in dict(SCREENS[above].commands())


def test_web_is_another_name_of_ui(mnemos: Mnemos) -> None:
    assert mnemos("web", "--help").out == mnemos("ui", "--help").out.replace("mnemos ui [", "mnemos web [")

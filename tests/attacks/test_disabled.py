"""Memory that is disabled: no operation, command or face creates or changes a file."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import apsw
import pytest

from faces.calls import CALLS, arguments, command_line
from faces.conftest import filled
from mnemos.errors import Disabled, MnemosError, NotFound, ReadOnly
from mnemos.faces.cli.app import run
from mnemos.integrations.hermes.provider import HermesMemoryProvider
from mnemos.integrations.hooks import events, hook_process
from mnemos.memory import Memory, SessionDB
from mnemos.memory.backends import LocalBackend
from mnemos.memory.session_templates import SessionTemplates
from mnemos.operations import registry
from mnemos.storage import hermes_state

__all__ = ["filled"]

EXPORTS = {"export", "backup", "sessions_export", "sqlite_export", "verify"}
Tree = dict[str, tuple[int, int, bytes]]


def look(root: Path) -> Tree:
    """Every path with its mode, the time of its last change and its content."""
    tree: Tree = {}
    for path in sorted(root.rglob("*")):
        found = path.lstat()
        is_file = path.is_file()
        tree[str(path.relative_to(root))] = (
            found.st_mode,
            found.st_mtime_ns if is_file else 0,
            path.read_bytes() if is_file else b"",
        )
    return tree


@pytest.fixture(params=["a home", "no home"])
def root(
    request: pytest.FixtureRequest, filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A folder with everything that somebody has on a machine; afterwards it is as it was."""
    folder = tmp_path / "root"
    shutil.copytree(filled, folder)
    if request.param == "no home":
        shutil.rmtree(folder / "home")
    for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HERMES_HOME"):
        (folder / name).mkdir()
        monkeypatch.setenv(name, str(folder / name))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("MNEMOS_HOME", str(folder / "home"))
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{}")))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(autouse=True)
def nothing_changes(root: Path) -> Iterator[None]:
    before = look(root)
    yield
    after = look(root)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} == set()


def attempt(call: Callable[[], object]) -> MnemosError | None:
    try:
        call()
    except MnemosError as exc:
        return exc
    return None


def test_operations_and_commands(
    root: Path, capsys: pytest.CaptureFixture[str], attempts: Callable[[int], None]
) -> None:
    before = look(root)
    attempts(2 * len(CALLS))
    for name in CALLS:
        given = arguments(name, str(root))
        with Memory.at() as memory:
            refused = attempt(partial(memory.call, name, given))
        assert refused is None or isinstance(refused, Disabled if name in EXPORTS else NotFound), name
        run(["--home", str(root / "home"), *command_line(name, given)])
        assert look(root) == before, name
    assert "Traceback" not in capsys.readouterr().err


def test_an_export_is_an_error_that_says_what_to_do(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in EXPORTS if (root / "home").exists() else ():
        words = [word for word in command_line(name, arguments(name, str(root))) if word != "--json"]
        assert run(words) == 4
        assert "Unset it" in capsys.readouterr().err


def test_a_conversation_can_be_printed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["sessions", "export", "-"])
    assert (code == 0) == (root / "home").exists()
    assert ("slot-bug" in capsys.readouterr().out) == (root / "home").exists()


COMMANDS = (
    (),
    ("--help",),
    ("completion", "bash"),
    ("sql", "SELECT * FROM prices"),
    ("sql", "CREATE TABLE t (x)"),
    ("sql", "SELECT * FROM mnemos_messages"),
    ("demo", "--keep", "kept"),
    ("bench", "recall", "imports", "--out", "figures"),
    ("import", "imports/codex", "--dry-run"),
    ("import", "hermes", "state.db", "--dry-run"),
    ("import", "--all"),
    ("connect", "cursor", "--config", "cursor.json", "--print"),
    ("doctor",),
    ("notebook", "optimize", "--dry-run"),
    ("templates", "suggest"),
    ("serve", "--port", "0"),
    ("serve", "--mcp", "--port", "0"),
)


def test_other_commands(root: Path, attempts: Callable[[int], None]) -> None:
    before = look(root)
    attempts(len(COMMANDS))
    for words in COMMANDS:
        run(words)
        assert look(root) == before, words


def test_everything_that_python_offers(root: Path, attempts: Callable[[int], None]) -> None:
    with Memory.at() as memory:
        calls = _make_calls(memory, root)
        attempts(len(calls))
        for call in calls:
            assert isinstance(attempt(call), Disabled | NotFound | ReadOnly | None)
    LocalBackend(root / "new" / "a.db").close()
    SessionDB(root / "new" / "b.db").close()


def _make_calls(memory: Memory, root: Path) -> list[Callable[[], Any]]:
    new = root / "new"
    return [
        lambda: memory.sessions.create_session("new", "cli"),
        lambda: memory.sessions.append_message("slot-bug", "user", "more"),
        lambda: memory.sessions.set_title("slot-bug", "another"),
        lambda: memory.sessions.delete_session("slot-bug"),
        lambda: memory.sessions.optimize(),
        lambda: memory.facts.write("V[a]: b"),
        lambda: memory.facts.tick(3, "done"),
        lambda: memory.facts.status(),
        lambda: memory.facts.flush(),
        lambda: memory.notebook.add("a note"),
        lambda: memory.notebook.sync(),
        lambda: memory.notebook.snapshot(),
        lambda: memory.entries.store("sam", "a", "b"),
        lambda: memory.entries.settle(),
        lambda: memory.templates.create_template("slot-bug"),
        lambda: memory.templates.inject_into_messages(
            memory.templates.show("read-slots"), [{"role": "user", "content": "hi"}]
        ),
        lambda: memory.templates.delete_template("read-slots"),
        lambda: memory.workspace.query("CREATE TABLE t (x)"),
        lambda: memory.workspace.query("SELECT * FROM mnemos_messages"),
        lambda: memory.workspace.export("SELECT 1", root / "home" / "files" / "default" / "a.csv"),
        lambda: memory.workspace.import_file(text="a\n1", table="t"),
        lambda: memory.workspace.copy("default", "b"),
        lambda: memory.workspace.save("default", new),
        lambda: memory.workspace.restore("default"),
        lambda: memory.imports,
        lambda: memory.embedding.catch_up(1.0),
        lambda: memory.feeds.finish(),
        lambda: memory.recall("when did we move the database?"),
        lambda: memory.tables_block(),
        lambda: memory.backup(new),
        lambda: memory.export(new),
        lambda: memory.import_archive(root / "copy.tar.zst"),
        lambda: memory.compare_archive(root / "copy.tar.zst"),
        lambda: memory.import_hermes_memory(root / "hermes-memory.db"),
        lambda: memory.restore(root / "copy.db"),
        lambda: memory.undo(),
        lambda: memory.undo_notes(),
        lambda: memory.forget("session:slot-bug"),
        lambda: memory.evaluate(),
        lambda: memory.optimize_notebook(threshold=1),
        lambda: [*memory.doctor(repair=True)],
        lambda: memory.close(),
    ]


EVENTS = ("{}", "not JSON", '{"session_id": "s", "prompt": "where is the database?"}')


@pytest.mark.parametrize("durability", ["normal", "not a setting"])
def test_hooks(
    root: Path, monkeypatch: pytest.MonkeyPatch, durability: str, attempts: Callable[[int], None]
) -> None:
    monkeypatch.setenv("MNEMOS_DURABILITY", durability)
    source, said = root.parent / "event", io.StringIO()
    attempts(len(events.NAMES) * len(EVENTS))
    for name, given in product(events.NAMES, EVENTS):
        source.write_text(given)
        with source.open() as stream:
            hook_process.run(hook_process.Call(name), stream.fileno(), said)
    assert said.getvalue() == ""


def test_providers_and_hosts(root: Path) -> None:
    provider = HermesMemoryProvider()
    provider.initialize("s", hermes_home=str(root / "HERMES_HOME"))
    provider.system_prompt_block()
    provider.sync_turn("a question", "an answer", session_id="s")
    provider.on_memory_write("add", "memory", "a note")
    provider.on_session_end([{"role": "user", "content": "a question"}])
    provider.shutdown()
    with pytest.raises(Disabled):
        provider.save_config({"space": "x"}, str(root / "HERMES_HOME"))
    with SessionDB() as db:
        assert db.append_message("slot-bug", "user", "more") == 0
        with SessionTemplates(root / "templates", session_db=db) as templates, pytest.raises(Disabled):
            templates.create_template("slot-bug")


def test_an_editor_and_a_prompt_at_a_terminal(root: Path) -> None:
    pytest.importorskip("pty")
    from faces.terminal import at_a_terminal

    assert at_a_terminal("sql", home=root / "home", typed=".tables\n.quit\n").code == 0
    assert at_a_terminal("notebook", "add", "x", home=root / "home").code == 0


def test_an_mcp_server_over_a_pipe(root: Path) -> None:
    messages = [
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
        '{"jsonrpc":"2.0","method":"notifications/initialized"}',
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"remember","arguments":{"text":"tea"}}}',
        '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"recall","arguments":{"query":"tea"}}}',
        '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"sqlite_query",'
        '"arguments":{"query":"SELECT * FROM mnemos_facts"}}}',
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from mnemos.faces.cli import main; main()", "mcp"],
        input="\n".join(messages) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "nothing was done" in done.stdout, done.stderr


def test_a_reader_leaves_no_log_beside_a_database_of_another_program(root: Path) -> None:
    shutil.copy(root / "state.db", root.parent)
    database = apsw.Connection(str(root.parent / "state.db"))
    database.execute("PRAGMA journal_mode = WAL").fetchall()
    database.close()
    before = look(root.parent)
    with hermes_state(root.parent / "state.db") as state:
        state.parents()
    assert look(root.parent) == before


def test_every_operation_is_tried() -> None:
    assert CALLS.keys() == {entry.name for entry in registry.ENTRIES}


def test_what_a_killed_process_left_in_the_log_is_read_and_stays_there(root: Path, tmp_path: Path) -> None:
    with Memory.at(tmp_path / "running", disabled=False, embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "the boat is green")
        shutil.copytree(tmp_path / "running", tmp_path / "killed")
    files = [tmp_path / "killed" / name for name in ("mnemos.db", "mnemos.db-wal")]
    before = [path.read_bytes() for path in files]
    with Memory.at(tmp_path / "killed") as memory:
        assert [hit["session_id"] for hit in memory.sessions.search_messages("green")] == ["s"]
    assert [path.read_bytes() for path in files] == before

from __future__ import annotations

import io
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mnemos.faces.cli.app import run
from mnemos.faces.cli.demo import history
from mnemos.memory import Memory
from mnemos.workspace.workspace import Workspace

from .model_endpoint import ModelEndpoint

NOW = 1_767_225_600.0
IMPORTS = Path(__file__).parents[1] / "data" / "imports"
FACTS = "V[srv.prod]: api.example.com:3004\nC[deploy.day]: nvr on Fridays\n?[vat]: net or gross?"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.out)

    @property
    def error(self) -> Any:
        return msgspec.json.decode(self.err)["error"]


Mnemos = Callable[..., Answer]


@pytest.fixture
def mnemos(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Mnemos:
    """The command line in this process, without a terminal; ``stdin`` is what a pipe would hold."""

    def command(*arguments: str, stdin: str | bytes = "") -> Answer:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given), encoding="utf-8"))
        capsys.readouterr()
        code = run(list(arguments))
        said = capsys.readouterr()
        return Answer(code, said.out, said.err)

    return command


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's history, a few facts and notes in a home beside a backup of it; to be copied, not used."""
    root = tmp_path_factory.mktemp("filled")
    with Memory.at(root / "home", space="default", disabled=False, clock=lambda: NOW) as memory:
        memory.sessions.import_sessions(history(NOW))
        memory.sessions.create_session("empty", "cli", started_at=NOW)
        memory.sessions.archive("empty")
        memory.facts.write(FACTS, scope="shop")
        memory.facts.write("V[srv.prod]: api.example.com:3005\nD[deploy.day]: this Friday, once")
        memory.notebook.add("Tests run with make test")
        memory.notebook.add("C[deploy.day]: nvr on Sundays")
        memory.notebook.add("Answers to Sam", target="user")
        _fill_workspace(memory.workspace)
        memory.templates.create_template("slot-bug", "read-slots", tags=["bakery"])
        memory.entries.store("default", "city", "Lisbon, near the river")
        memory.entries.store("sam", "pref_editor", "vim")
        memory.backup(root / "copy.db")
        memory.export(root / "copy.tar.zst")
    (root / "home" / "config.toml").write_text('backend = "local"\n')
    _make_hermes_memory(root / "hermes-memory.db")
    shutil.copytree(IMPORTS, root / "imports")
    _make_hermes_state(root / "state.db")
    return root


def _fill_workspace(workspace: Workspace) -> None:
    """A table of prices in two databases, and a snapshot from before some rows were deleted."""
    workspace.query("CREATE TABLE prices (item TEXT PRIMARY KEY, eur REAL)")
    workspace.query("INSERT INTO prices VALUES (?, ?)", rows=[[f"chair {n}", n / 4] for n in range(300)])
    workspace.copy("default", "experiment")
    workspace.query("DELETE FROM prices WHERE eur < 25")


def _make_hermes_state(path: Path) -> None:
    """The database of a Hermes Agent with a conversation in it."""
    connection = sqlite3.connect(path)
    connection.executescript((IMPORTS / "hermes" / "schema.sql").read_text())
    connection.executescript(f"""
        INSERT INTO sessions (id, source, started_at) VALUES ('ferns', 'telegram', {NOW:.0f} - 900);
        INSERT INTO messages (session_id, role, content, timestamp)
        VALUES ('ferns', 'user', 'Water the ferns on Friday', {NOW:.0f} - 800);
    """)
    connection.close()


def _make_hermes_memory(path: Path) -> None:
    """A database as hermes-memory 0.3 leaves it: a fact that was replaced, and one that it archived."""
    connection = sqlite3.connect(path)
    connection.executescript(f"""
        CREATE TABLE scopes (id TEXT PRIMARY KEY, label TEXT, status TEXT);
        CREATE TABLE facts (
            id TEXT PRIMARY KEY, content TEXT, type TEXT, target TEXT, scope_id TEXT, status TEXT,
            superseded_by TEXT, created_at INTEGER, updated_at INTEGER
        );
        INSERT INTO scopes VALUES ('s', 'billing', 'cold');
        INSERT INTO facts VALUES
            ('a', 'net', 'D', 'vat', 's', 'superseded', 'b', {NOW:.0f} - 200, {NOW:.0f} - 100),
            ('b', 'gross', 'D', 'vat', 's', 'archived', NULL, {NOW:.0f} - 100, {NOW:.0f} - 100);
    """)
    connection.close()


@pytest.fixture
def shop(filled: Path, home: Path) -> Path:
    """The default home with the demo's history in it."""
    shutil.copytree(filled / "home", home)
    return home


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    # A proxy of whoever runs the tests has nothing to do with loopback.
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ModelEndpoint() as served:
        yield served

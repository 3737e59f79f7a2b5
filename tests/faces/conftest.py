from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mnemos.faces.cli.app import run
from mnemos.faces.cli.demo import history
from mnemos.memory import Memory

from .model_endpoint import ModelEndpoint

NOW = 1_767_225_600.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command line said."""

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
    """The demo's history in a home beside a backup of it; to be copied, not used."""
    root = tmp_path_factory.mktemp("filled")
    with Memory.at(root / "home", space="default", disabled=False, clock=lambda: NOW) as memory:
        memory.sessions.import_sessions(history(NOW))
        memory.sessions.create_session("empty", "cli", started_at=NOW)
        memory.sessions.archive("empty")
        memory.backup(root / "copy.db")
    return root


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

"""``mnemos providers setup`` at a terminal and in a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

import pytest

from .conftest import Mnemos
from .terminal import PROGRAM, Seen

PLUG_IN = """
import os
from mnemos.integrations.providers import MemoryProvider

class Shelf(MemoryProvider):
    name = "shelf"
    def is_available(self): return bool(os.environ.get("SHELF_KEY"))
    def initialize(self, session_id, **kwargs): pass
    def get_tool_schemas(self): return []
    def get_config_schema(self):
        key = {"key": "key", "description": "The key", "secret": True, "env_var": "SHELF_KEY"}
        return [key | {"required": True}, {"key": "mode", "choices": ["near", "far"], "default": "near"}]
"""


@pytest.fixture
def shelf(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SHELF_KEY", "")
    folder = home / "plugins" / "shelf"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text("name: shelf\n")
    (folder / "__init__.py").write_text(PLUG_IN)
    return home


def test_a_person_is_asked_and_a_secret_is_not_shown(shelf: Path) -> None:
    seen = in_a_conversation(
        "providers", "setup", "shelf", home=shelf, answers=[("The key", "s3cr3t"), ("near, far", "")]
    )
    assert seen.code == 0
    assert "s3cr3t" not in seen.screen
    assert "from now on" in seen.screen
    assert (shelf / ".env").read_text() == "SHELF_KEY='s3cr3t'\n"
    assert (shelf / "config.toml").read_text() == '[memory]\nprovider = "shelf"\n'


def in_a_conversation(*arguments: str, home: Path, answers: list[tuple[str, str]]) -> Seen:
    """Run a command at a terminal; each answer is typed when its question appears, as a person does.

    The terminal drops everything typed before a hidden question.
    """
    master, slave = pty.openpty()
    environment = {**os.environ, "MNEMOS_HOME": str(home), "TERM": "xterm", "COLUMNS": "100"}
    screen = ""
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(slave)
        waiting = list(answers)
        while piece := _piece(master):
            screen += piece
            if waiting and waiting[0][0] in screen and screen.endswith(": "):
                os.write(master, f"{waiting.pop(0)[1]}\n".encode())
        code = process.wait()
    os.close(master)
    return Seen(code, screen.replace("\r\n", "\n"))


def _piece(terminal: int) -> str:
    try:
        return os.read(terminal, 65536).decode()
    except OSError:
        return ""  # Linux says EIO when the last program has left the terminal


def test_values_come_from_a_pipe(shelf: Path, mnemos: Mnemos) -> None:
    answer = mnemos("providers", "setup", "shelf", stdin="key=s3cr3t\n")
    assert (answer.code, answer.err) == (0, "")
    assert "s3cr3t" not in answer.out
    assert (shelf / ".env").read_text() == "SHELF_KEY='s3cr3t'\n"


def test_what_is_missing_ends_with_1_and_is_named(shelf: Path, mnemos: Mnemos) -> None:
    answer = mnemos("providers", "setup", "shelf")
    assert answer.code == 1
    assert "key: The key" in answer.out


def test_the_provider_is_listed_and_its_status_shown(shelf: Path, mnemos: Mnemos) -> None:
    assert "  shelf" in mnemos("providers", "list").out
    mnemos("providers", "setup", "shelf", "key=s3cr3t")
    assert "* shelf" in mnemos("providers", "list").out
    status = mnemos("providers", "status")
    assert (status.code, "shelf, which is available" in status.out) == (0, True)
    mnemos("providers", "setup", "builtin")
    assert "only the built-in" in mnemos("providers", "status").out

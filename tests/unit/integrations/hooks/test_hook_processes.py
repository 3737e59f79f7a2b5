"""Hooks as real processes: light, silent, several at once, and beside a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hook_steps import line, process, stored, told, write

import mnemos
from mnemos.integrations.hooks import background, events
from mnemos.settings import Settings

HEAVY = ("numpy", "click", "pydantic", "mcp", "rich", "asyncio", "mnemos.operations")
ASKED = "which CAN bus does the conveyor belt of the depot use"

# Ends as a hook does, but says what was imported.
_LOOK = """
import os, sys
from mnemos.faces.cli import main
seen = {heavy!r}
os._exit = lambda code: (print([name for name in seen if name in sys.modules]), sys.exit(code))
sys.argv = ["mnemos", "hook", {name!r}]
main()
"""


@pytest.fixture
def transcript(folder: Path) -> Path:
    said = "The conveyor belt of the depot uses CAN bus three."
    return write(folder / "s.jsonl", line("s", "1", "user", said))


@pytest.mark.parametrize("name", events.NAMES)
def test_a_hook_imports_nothing_heavy(home: Path, transcript: Path, name: str) -> None:
    process("stop", told(transcript))
    asked = told(transcript, prompt=ASKED, source="startup") | {"session_id": "t"}
    done = subprocess.run(
        [sys.executable, "-c", _LOOK.format(heavy=HEAVY, name=name)],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # The child, which does the work, and the process that waits for it.
    assert [line for line in done.stdout.splitlines() if line.startswith("[")] == ["[]", "[]"]
    assert done.returncode == 0


@pytest.mark.parametrize("name", [*events.NAMES, "no-such-event"])
@pytest.mark.parametrize(
    "said", ["", "{", "nothing of the kind", '{"session_id": "s", "transcript_path": "/"}']
)
def test_a_hook_exits_with_0_and_prints_nothing_on_invalid_input(name: str, said: str) -> None:
    done = process(name, said)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_options_may_come_anywhere(tmp_path: Path, transcript: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    process("stop", told(transcript), "--home", str(elsewhere), "--space=team")
    assert stored(elsewhere, "s", 1, space="team")
    done = process("user-prompt", {"prompt": ASKED}, f"--home={elsewhere}", "--space", "team")
    assert "CAN bus three" in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert process("user-prompt", {"prompt": ASKED}, "--home").stdout == ""


def test_a_damaged_database_prints_nothing(home: Path, transcript: Path) -> None:
    process("stop", told(transcript))
    (home / "mnemos.db").write_bytes(b"no database" * 1_000)
    for name in events.NAMES:
        done = process(name, told(transcript, prompt=ASKED))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "NotADatabase" in (home / "logs" / "hooks.log").read_text()


def test_a_closed_pipe_is_not_a_failure(home: Path, transcript: Path) -> None:
    process("stop", told(transcript))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "mnemos", "hook", "user-prompt"],
        input=json.dumps({"prompt": ASKED}).encode(),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_several_sessions_at_once_lose_nothing(home: Path, folder: Path) -> None:
    with mnemos.open(home):
        pass
    files = [folder / f"s{number}.jsonl" for number in range(4)]
    for file in files:
        write(file, *(line(file.stem, f"{file.stem}-{n}", "user", f"Sentence {n}.") for n in range(50)))
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "mnemos", "hook", "stop"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        for _ in range(2)
        for _ in files
    ]
    for number, one in enumerate(running):
        assert one.stdin is not None
        one.stdin.write(json.dumps(told(files[number % len(files)])).encode())
        one.stdin.close()
    for one in running:
        assert one.stdout is not None
        assert (one.stdout.read(), one.wait(60)) == (b"", 0)
        one.stdout.close()
    background.run_tasks(home)
    with mnemos.open(home) as memory:
        assert [memory.sessions.message_count(file.stem) for file in files] == [50] * 4


def test_a_hook_writes_while_a_server_has_the_home_open(home: Path, transcript: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("open", "cli")
        memory.sessions.append_message("open", "user", "Said through the server.")
        done = process("stop", told(transcript))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert stored(home, "s", 1)
        memory.sessions.append_message("open", "user", "And again.")


def test_a_background_process_does_the_rest(home: Path, transcript: Path) -> None:
    settings = Settings.load(home)
    home.mkdir()
    background.put(settings, events.parse_event("session-end", told(transcript, reason="other")))
    assert background.start(settings).wait(60) == 0
    assert not background.is_waiting(settings)
    with mnemos.open(home) as memory:
        assert memory.sessions.get_session("s")["end_reason"] == "other"

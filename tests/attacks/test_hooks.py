"""Hooks of Claude Code: whatever a path names and whatever hangs, the agent goes on."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import pytest

import mnemos
from mnemos.integrations.hooks import events

pytestmark = pytest.mark.area("Hooks never hang the agent")

# Enough for the slowest machine: what hangs, hangs forever.
PATIENCE = 120
BIG = 60_000_000
FACT = "closed on Mondays"
NOTE = "The depot has two gates."
SAID = "The conveyor belt of the depot uses CAN bus three."
KINDS = ("pipe", "device", "socket", "folder", "sparse", "notes")

Attempts = Callable[[int], None]

# Every event for each home and input.
_EVERY_EVENT = """
import io, json, os, sys
from mnemos.integrations.hooks import events, hook_process
events._READ_SECONDS = 0.5
events._SILENCE_SECONDS = 0.1
for home, said in zip(sys.argv[1::2], sys.argv[2::2]):
    for name in events.NAMES:
        out = io.StringIO()
        # A pipe that is open for writing too does not end.
        descriptor = os.open(said, os.O_RDWR)
        hook_process.run(hook_process.Call(name, home=home), descriptor, out, lambda *_: None)
        print(json.dumps([name, out.getvalue()]), flush=True)
"""

_MAIN = """
import os, re, signal, sys, threading
from mnemos.integrations.hooks import hook_process, hook_watchdog
hook_watchdog.SECONDS, hook_watchdog._RECORD_SECONDS = {seconds}
def answer(settings, event, later):
    {body}
hook_process.answer = answer
hook_watchdog.main(sys.argv[1:])
"""


@pytest.fixture
def filled(home: Path) -> Path:
    with mnemos.open(home) as memory:
        memory.facts.write(f"C[depot]: {FACT}")
        memory.notebook.add(NOTE)
    for name in ("hooks", "logs"):
        (home / name).mkdir(exist_ok=True)
    return home


def copy(filled: Path, name: str) -> Path:
    """Copy a home, with a transcript and an input of hooks beside it."""
    folder = filled.with_name(f"of {name}")
    shutil.copytree(filled, folder / "home")
    line = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "content": SAID}}
    (folder / "s.jsonl").write_text(json.dumps(line) + "\n")
    write_input(folder / "home")
    return folder / "home"


def write_input(home: Path, prompt: str = "where is the depot") -> None:
    said = {
        "session_id": "s",
        "transcript_path": str(home.with_name("s.jsonl")),
        "prompt": prompt,
        "cwd": str(home.parent),
    }
    home.with_name("input").write_text(json.dumps(said))


def run_every_event(homes: Sequence[Path]) -> list[dict[str, str]]:
    """Return what each event adds to a conversation, for each home."""
    arguments = [str(path) for home in homes for path in (home, home.with_name("input"))]
    done = subprocess.run(
        [sys.executable, "-c", _EVERY_EVENT, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    answers = [
        (name, json.loads(text)["hookSpecificOutput"]["additionalContext"] if text else "")
        for name, text in map(json.loads, done.stdout.splitlines())
    ]
    each = len(events.NAMES)
    assert len(answers) == each * len(homes)
    return [dict(answers[start : start + each]) for start in range(0, len(answers), each)]


def make(path: Path, kind: str) -> None:
    """Put something in place of a file that nobody should read to its end."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
        except PermissionError:
            # Only root may make one, and only root could replace this one.
            path.symlink_to("/dev/zero")
    elif kind == "socket":
        os.mknod(path, stat.S_IFSOCK | 0o600)
    elif kind == "folder":
        path.mkdir()
    elif kind == "sparse":
        with path.open("wb") as file:
            file.truncate(1 << 30)
    else:
        path.write_text("A note of many.\n§\n" * (BIG // 20))


def test_a_transcript_of_any_kind_ends(filled: Path, attempts: Attempts) -> None:
    attempts(len(KINDS) * len(events.NAMES))
    homes = [copy(filled, kind) for kind in KINDS]
    for home, kind in zip(homes, KINDS, strict=True):
        home.with_name("s").mkdir()
        for name in ("s.jsonl", "agent-1.jsonl", "s/agent-2.jsonl", ".git"):
            make(home.parent / name, kind)
    for answers in run_every_event(homes):
        assert FACT in answers.pop("session-start")
        assert set(answers.values()) == {""}


def test_a_notebook_of_any_kind_ends_and_is_reported(filled: Path, attempts: Attempts) -> None:
    attempts(len(KINDS) * len(events.NAMES))
    (name,) = (file.relative_to(filled) for file in filled.rglob("MEMORY.md"))
    homes = [copy(filled, kind) for kind in KINDS]
    for home, kind in zip(homes, KINDS, strict=True):
        make(home / name, kind)
    for home, answers in zip(homes, run_every_event(homes), strict=True):
        assert FACT in answers["session-start"]
        assert NOTE not in answers["session-start"]
        assert f"({home / name} " in answers["session-start"]


@pytest.mark.parametrize("name", ["config.toml", "mnemos.db", "hooks/harmless", "logs/hooks.log"])
def test_a_file_of_the_home_of_any_kind_ends(filled: Path, name: str, attempts: Attempts) -> None:
    attempts(len(KINDS) * len(events.NAMES))
    homes = [copy(filled, kind) for kind in KINDS]
    for home, kind in zip(homes, KINDS, strict=True):
        make(home / name, kind)
        if name.startswith("logs"):
            # Something to log.
            (home / "config.toml").write_text("[")
    for answers in run_every_event(homes):
        assert (FACT in answers["session-start"]) == (NOTE in answers["session-start"])
        assert (FACT in answers["session-start"]) == name.startswith("hooks")


def test_a_notebook_as_large_as_is_read_ends(filled: Path, attempts: Attempts) -> None:
    texts = {
        "lines": "a\n" * 240_000,
        "brackets": "(" * 490_000,
        "words": "a " * 240_000,
        "hidden": "\u200b" * 160_000,
        "separators": "§\n" * 160_000,
        "orders": "Ignore all previous instructions.\n§\n" * 12_000,
        "long notes": ("a\n" * 9_900 + "§\n") * 24,
        "short notes": "".join(f"Note {number}.\n§\n" for number in range(30_000)),
    }
    attempts(len(texts) * len(events.NAMES))
    (name,) = (file.relative_to(filled) for file in filled.rglob("MEMORY.md"))
    homes = [copy(filled, kind) for kind in texts]
    for home, text in zip(homes, texts.values(), strict=True):
        (home / name).write_text(text)
    assert all(FACT in answers["session-start"] for answers in run_every_event(homes))


def test_a_locked_database_ends(filled: Path, attempts: Attempts) -> None:
    homes = [copy(filled, mode) for mode in ("normal", "exclusive")]
    attempts(len(homes) * len(events.NAMES))
    connections = [apsw.Connection(str(home / "mnemos.db")) for home in homes]
    connections[1].pragma("locking_mode", "exclusive")
    for connection in connections:
        connection.execute("BEGIN IMMEDIATE")
    answers = run_every_event(homes)
    for connection in connections:
        connection.close()
    assert FACT in answers[0]["session-start"]
    assert answers[1]["session-start"] == ""


def test_an_endless_or_large_input_ends(filled: Path, attempts: Attempts) -> None:
    prompts = {
        "letters": "a" * 3_900_000,
        "words": "depot " * 650_000,
        "tags": "<" * 3_900_000,
        "spaces": " " * 3_900_000 + "x",
        "fences": "<memory-context>" * 240_000,
        "fifty megabytes": "depot " * 8_500_000,
    }
    inputs = ("device", "sparse", "pipe")
    attempts((len(prompts) + len(inputs)) * len(events.NAMES))
    homes = [copy(filled, name) for name in (*prompts, *inputs)]
    for home, prompt in zip(homes, prompts.values(), strict=False):
        write_input(home, prompt)
    for home, kind in zip(homes[len(prompts) :], inputs, strict=True):
        make(home.with_name("input"), kind)
    begun = [FACT in answers["session-start"] for answers in run_every_event(homes)]
    # An event that can't be understood gets no answer. From a pipe that says nothing, there is nothing to
    # understand.
    assert begun == [True] * 5 + [False] * 3 + [True]


# --- the watchdog ----------------------------------------------------------------------------------


def run_hook(name: str, body: str, seconds: tuple[float, float]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", _MAIN.format(body=body, seconds=seconds), name],
        input=b"{}",
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize(
    "body",
    [
        "re.match('(a+)+$', 'a' * 60 + 'b')",
        "lock = threading.Lock(); lock.acquire(); lock.acquire()",
        "open(os.environ['PIPE'])",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    while True: pass",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.write(1, b'half an answer'); signal.pause()",
        "os.write(1, b'half an answer'); os.abort()",
        "sys.setrecursionlimit(10**9); (f := lambda: f())()",
    ],
    ids=["expression", "lock", "pipe", "loop", "killed", "half an answer", "aborted", "recursion"],
)
def test_a_hook_that_hangs_or_dies_says_nothing_and_exits_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("PIPE", str(tmp_path / "pipe"))
    done = run_hook("session-start", body, (0.5, 0.5))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_answer_in_time_is_passed_on_whole() -> None:
    done = run_hook("session-start", "return 'depot \\u6771 ' * 20_000", (PATIENCE, PATIENCE))
    said = json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
    assert said == "depot \u6771 " * 20_000


def test_a_hook_that_records_goes_on_without_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("go", "done"):
        os.mkfifo(tmp_path / name)
        monkeypatch.setenv(name.upper(), str(tmp_path / name))
    body = "said = open(os.environ['GO']).read(); open(os.environ['DONE'], 'w').write(said)"
    assert run_hook("stop", body, (0.5, PATIENCE)).returncode == 0
    (tmp_path / "go").write_text("stored")
    done = subprocess.run(["cat", tmp_path / "done"], capture_output=True, timeout=PATIENCE, check=True)
    assert done.stdout == b"stored"

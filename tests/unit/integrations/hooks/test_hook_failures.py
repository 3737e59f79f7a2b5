"""A hook that fails says nothing, and no log contains the conversation."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from hook_steps import Hooks, line, told, write

import mnemos
from mnemos.integrations.hooks import background, events, hook_log, hook_process
from mnemos.settings import Settings

SAID = "The conveyor belt of the depot uses CAN bus three."
ASKED = "which CAN bus does the conveyor belt of the depot use"


@pytest.fixture
def transcript(folder: Path) -> Path:
    return write(folder / "s.jsonl", line("s", "1", "user", SAID))


@pytest.fixture
def filled(hooks: Hooks, transcript: Path) -> Path:
    """A home that remembers something."""
    hooks.run("stop", told(transcript))
    with mnemos.open(hooks.home) as memory:
        memory.facts.write("C[depot]: closed on Mondays")
    return hooks.home


@pytest.mark.parametrize("name", events.NAMES)
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"  \n",
        b"null",
        b"[1, 2]",
        b'"text"',
        b'{"session_id": 7, "prompt": []}',
        b'{"transcript_path": "/nowhere/at/all.jsonl", "session_id": "s", "prompt": "a\\ud800b depot"}',
        b"{",
        b"\xff\xfe\x00",
        b"9" * 5_000,
    ],
)
def test_garbage_gets_no_answer(hooks: Hooks, filled: Path, name: str, raw: bytes) -> None:
    answer = hooks.run(name, raw=raw)
    # A session begins with the known facts, whatever the transcript says.
    assert (
        "closed on Mondays" in answer.text if name == "session-start" and _is_json(raw) else not answer.text
    )


def _is_json(raw: bytes) -> bool:
    return raw[:1] not in (b"\xff", b"9") and raw != b"{"


def test_an_unknown_event_is_logged_as_unknown(hooks: Hooks, filled: Path) -> None:
    assert hooks.run("made-up\nname", {}).text == ""
    assert " unknown ValueError" in hooks.log
    assert "made-up" not in hooks.log


def test_fifty_megabytes_of_input_are_drained(hooks: Hooks, filled: Path) -> None:
    raw = b'{"session_id": "s", "prompt": "' + b"conveyor belt " * 3_600_000 + b'"}'
    assert hooks.run("user-prompt", raw=raw).text == ""
    assert "JSONDecodeError" in hooks.log


def test_a_pipe_that_nobody_writes_to_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_SILENCE_SECONDS", 0.01)
    reading, writing = os.pipe()
    assert events.read("stop", reading) == events.Event("stop")
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["stop"], hook_process.Call("stop")),
        (["--home", "h", "stop", "--space=a/b"], hook_process.Call("stop", home="h", space="a/b")),
        (["stop", "--agent", "gemini"], hook_process.Call("stop", "gemini")),
        (["stop", "--agent", "emacs"], None),
        (["stop", "--home="], None),
        (["stop", "--space"], None),
        (["stop", "again"], None),
        ([], None),
    ],
)
def test_invalid_command_lines_are_ignored(words: list[str], expected: hook_process.Call | None) -> None:
    assert hook_process.parse_arguments(words) == expected


@pytest.mark.parametrize("name", ["stop", "pre-compact", "session-end"])
def test_a_missing_transcript_is_ignored(hooks: Hooks, tmp_path: Path, name: str) -> None:
    for path in (tmp_path, tmp_path / "gone.jsonl"):
        assert hooks.run(name, {"session_id": "s", "transcript_path": str(path)}).text == ""
    assert not hooks.home.exists()
    assert hooks.left == []


@pytest.mark.parametrize("name", ["session-start", "user-prompt"])
def test_reading_creates_no_home(hooks: Hooks, name: str) -> None:
    assert hooks.run(name, {"prompt": ASKED, "source": "startup"}).text == ""
    assert not hooks.home.exists()


def test_the_first_stop_creates_a_home(hooks: Hooks, filled: Path) -> None:
    assert stat.S_IMODE(hooks.home.stat().st_mode) == 0o700
    assert "CAN bus three" in hooks.run("user-prompt", {"prompt": ASKED}).text


def test_a_disabled_memory_neither_reads_nor_writes(
    hooks: Hooks, filled: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    write(transcript, line("s", "2", "user", "This stays between us."))
    assert [hooks.run(name, told(transcript, prompt=ASKED)).text for name in events.NAMES] == [""] * 5
    monkeypatch.delenv("MNEMOS_DISABLED")
    with mnemos.open(hooks.home) as memory:
        assert memory.sessions.message_count("s") == 1


def test_an_invalid_setting_is_logged(hooks: Hooks, filled: Path) -> None:
    (hooks.home / "config.toml").write_text("hot_tokens = [")
    assert hooks.run("session-start", {"source": "startup"}).text == ""
    assert " session-start InvalidInput" in hooks.log


def test_a_home_of_a_newer_version_is_not_changed(hooks: Hooks, filled: Path, transcript: Path) -> None:
    connection = apsw.Connection(str(hooks.home / "mnemos.db"))
    connection.pragma("user_version", 9_999)
    connection.close()
    assert [hooks.run(name, told(transcript, prompt=ASKED)).text for name in events.NAMES] == [""] * 5
    assert hooks.log.count("SchemaTooNew") == 5


def test_a_home_that_is_a_file_prints_nothing(hooks: Hooks) -> None:
    hooks.home.write_text("not a folder")
    assert [hooks.run(name, {"prompt": ASKED}).text for name in events.NAMES] == [""] * 5


@pytest.fixture
def locked(filled: Path) -> Iterator[None]:
    """Somebody is in the middle of a write, and stays there."""
    connection = apsw.Connection(str(filled / "mnemos.db"))
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.close()


def test_a_busy_home_is_written_later(
    hooks: Hooks, transcript: Path, locked: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_process, "BUSY_SECONDS", 0.01)
    later: list[str] = []
    monkeypatch.setattr(hooks, "_later", lambda _, event: later.append(event.name))
    write(transcript, line("s", "2", "user", "Said while somebody else was writing."))
    assert hooks.run("stop", told(transcript)).text == ""
    assert later == ["stop"]
    # Reading goes on meanwhile.
    assert "CAN bus three" in hooks.run("user-prompt", {"prompt": ASKED}).text
    assert hooks.log == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_disk_prints_nothing(hooks: Hooks, filled: Path, transcript: Path) -> None:
    write(transcript, line("s", "2", "user", "More."))
    for path in (filled, *filled.rglob("*")):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert [hooks.run(name, told(transcript)).text for name in ("stop", "pre-compact")] == ["", ""]
    finally:
        for path in (filled, *filled.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)


def test_the_log_has_error_types_and_no_text(hooks: Hooks, filled: Path) -> None:
    hook_log.note(filled, "stop", ValueError("the secret sentence"))
    try:
        raise OSError(28, "the secret name")
    except OSError as exc:
        hook_log.note(filled, "stop", exc)
    assert "secret" not in hooks.log
    assert hooks.log.count("\n") == 2
    assert "ValueError" in hooks.log
    assert "No space left on device" in hooks.log
    assert stat.S_IMODE((filled / "logs" / "hooks.log").stat().st_mode) == 0o600


def test_the_log_stays_small(hooks: Hooks, filled: Path) -> None:
    hook_log.note(filled, "stop", "first")
    file = filled / "logs" / "hooks.log"
    file.write_text("x" * 1_000_000)
    hook_log.note(filled, "stop", "after")
    assert hooks.log.endswith("after\n")
    assert len(hooks.log) < 100
    assert file.with_name("hooks.log.1").stat().st_size == 1_000_000


def test_a_failure_creates_no_home(home: Path) -> None:
    hook_log.note(home, "stop", "failed")
    assert not home.exists()


# --- what is left for later ------------------------------------------------------------------------


def test_a_long_transcript_is_finished_in_the_background(
    hooks: Hooks, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemos.integrations.hooks.transcript_import.SECONDS", -1.0)
    many = [
        line("s", str(n), "user", f"Part {n} of a long story. " + "More of it. " * 200) for n in range(700)
    ]
    hooks.run("stop", told(write(folder / "s.jsonl", *many)))
    assert hooks.left == ["stop"]
    with mnemos.open(hooks.home) as memory:
        assert memory.sessions.message_count("s") == 700
    assert not list((hooks.home / "hooks").glob("*.json"))


def test_task_files_have_no_text_of_the_conversation(hooks: Hooks, filled: Path, transcript: Path) -> None:
    event = events.parse_event("stop", told(transcript, prompt=SAID))
    settings = Settings.load(filled)
    background.put(settings, event)
    (file,) = (filled / "hooks").glob("*.json")
    assert "conveyor" not in file.read_text()
    assert background.is_waiting(settings)
    assert background.run_tasks(filled) == 1
    assert not background.is_waiting(settings)


def test_a_broken_task_does_not_block_others(hooks: Hooks, filled: Path, transcript: Path) -> None:
    (filled / "hooks").mkdir(exist_ok=True)
    (filled / "hooks" / "broken.json").write_text("{")
    write(transcript, line("s", "2", "user", "Said later."))
    background.put(Settings.load(filled), events.parse_event("stop", told(transcript)))
    assert background.run_tasks(filled) == 2
    assert "JSONDecodeError" in hooks.log
    with mnemos.open(filled) as memory:
        assert memory.sessions.message_count("s") == 2


def test_a_task_that_could_not_be_written_is_kept(hooks: Hooks, filled: Path, transcript: Path) -> None:
    settings = Settings.load(filled)

    def fail(*_: object) -> None:
        raise mnemos.errors.Busy("kept busy")

    background.put(settings, events.parse_event("stop", told(transcript)))
    assert background.run_tasks(filled, fail) == 0
    assert background.is_waiting(settings)
    assert " stop Busy" in hooks.log


def test_a_session_end_resumes_tasks_left_by_others(
    hooks: Hooks, filled: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Path] = []
    monkeypatch.setattr(background, "start", lambda settings: begun.append(settings.home))
    other = write(folder / "t.jsonl", line("t", "t1", "user", "Said in another session."))
    hooks.run("session-end", told(other))
    assert begun == []
    background.put(Settings.load(filled), events.parse_event("stop", told(other)))
    hooks.run("session-end", told(other))
    assert begun == [filled]


def test_only_one_background_process_runs(
    hooks: Hooks, filled: Path, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "_LOCK_SECONDS", 0.01)
    done: list[int] = []

    def nested(*_: object) -> None:
        done.append(background.run_tasks(filled))

    background.put(Settings.load(filled), events.parse_event("stop", told(transcript)))
    assert background.run_tasks(filled, nested) == 1
    assert done == [0]

"""Vectors that an import leaves: embedded for a while at once, then by a process of their own."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import mnemos
from mnemos.errors import MnemosError
from mnemos.files import lock
from mnemos.memory import backlog

QUESTION = "which bird did we see?"


@pytest.fixture
def worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand over whatever is left, however little."""
    monkeypatch.setattr(backlog, "_MANY", 1)


def fill(home: Path, count: int = 60, *, space: str = "default") -> None:
    """Store messages without vectors."""
    with mnemos.open(home, space=space, embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        texts = [f"a parrot sat on fence {n} {'x ' * 500}" for n in range(count)]
        memory.sessions.append_messages("s", [{"role": "user", "content": text} for text in texts])


def share(home: Path, *, space: str = "default") -> float:
    with mnemos.open(home, space=space, read_only=True) as memory:
        return memory.embedding.coverage().share


def start(home: Path, **settings: str) -> int | None:
    """Hand over and wait for the process; its exit code, None if none was started."""
    with mnemos.open(home, **settings) as memory:
        process = backlog.hand_over(memory)
    return None if process is None else process.wait(60)


def test_a_small_backlog_is_worked_off_at_once(home: Path) -> None:
    fill(home)
    moves: list[float] = []
    with mnemos.open(home) as memory:
        assert backlog.work_off(memory, moves.append) == 1
        assert moves[-1] == 1
        assert memory.recall(QUESTION).coverage == 1
        assert backlog.describe_backlog(1) == []


def test_what_takes_longer_is_left_and_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home, 200)
    monkeypatch.setattr(backlog, "_SECONDS", 0.0)
    with mnemos.open(home) as memory, memory.storage.without_background():
        memory.embedding.step()
        done = backlog.work_off(memory)
        assert done is not None
        assert 0 < done < 1
        assert done == memory.embedding.coverage().share
    (text,) = backlog.describe_backlog(done)
    assert text.startswith(f"{int(done * 100)}% of messages indexed for meaning; `mnemos optimize`")


@pytest.mark.parametrize("embedder", ["none", "plug-in:that-nobody-has"])
def test_an_import_succeeds_without_a_model(
    home: Path, embedder: str, caplog: pytest.LogCaptureFixture
) -> None:
    fill(home)
    with caplog.at_level(logging.WARNING), mnemos.open(home, embedder=embedder) as memory:
        assert backlog.work_off(memory) is None
    assert backlog.describe_backlog(None) == []
    assert bool(caplog.records) is (embedder != "none")


@pytest.mark.usefixtures("worth_it")
def test_a_process_of_its_own_finishes_the_backlog(home: Path) -> None:
    fill(home)
    fill(home, space="other/one")
    assert share(home) == 0
    assert start(home) == 0
    assert share(home) == 1
    assert share(home, space="other/one") == 0
    assert start(home, space="other/one") == 0
    assert share(home, space="other/one") == 1
    assert start(home) is None


@pytest.mark.usefixtures("worth_it")
def test_only_one_process_works_on_a_space(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home)
    with lock(home, ".embedding-default.lock", 1):
        assert start(home) is None
        monkeypatch.setattr("sys.argv", ["backlog", str(home), "default"])
        monkeypatch.setattr("os.nice", lambda _: None)
        backlog.main()
        assert share(home) == 0
    assert start(home) == 0
    assert share(home) == 1


@pytest.mark.usefixtures("worth_it")
def test_after_a_kill_the_next_process_goes_on(home: Path) -> None:
    fill(home, 3_000)
    with mnemos.open(home) as memory:
        process = backlog.hand_over(memory)
        assert process is not None
        # Somewhere in the middle: what it stored by then is there.
        while memory.embedding.coverage().done == 0 and process.poll() is None:
            pass
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
        done = memory.embedding.coverage().done
        assert 0 < done < 3_000
    assert start(home) == 0
    assert share(home) == 1
    with mnemos.open(home) as memory:
        assert all(check.ok for check in memory.doctor())


@pytest.mark.usefixtures("worth_it")
@pytest.mark.parametrize("why", ["in memory", "read-only", "disabled", "no vectors", "few", "never opened"])
def test_nothing_is_started_where_nothing_may_or_need_be_done(
    home: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways: dict[str, Callable[[], mnemos.Memory]] = {
        "in memory": lambda: mnemos.open(":memory:"),
        "read-only": lambda: mnemos.open(home, read_only=True),
        "disabled": lambda: mnemos.open(home, disabled=True),
        "no vectors": lambda: mnemos.open(home, embedder="none"),
        "few": lambda: mnemos.open(home),
        "never opened": lambda: mnemos.Memory.at(home / "new"),
    }
    fill(home)
    if why == "few":
        monkeypatch.setattr(backlog, "_MANY", 61)
    with ways[why]() as memory:
        if why == "in memory":
            memory.sessions.create_session("s", "cli")
            memory.sessions.append_message("s", "user", "a parrot")
        assert backlog.hand_over(memory) is None
    assert not (home / "new").exists()


def test_a_home_that_was_deleted_meanwhile_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["backlog", str(tmp_path / "gone"), "default"])
    monkeypatch.setattr("os.nice", lambda _: None)
    backlog.main()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("worth_it")
@pytest.mark.parametrize("why", ["no interpreter", "no lock file", "storage closed"])
def test_a_process_that_cannot_be_started_fails_no_command(
    home: Path, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    with mnemos.open(home) as memory:
        if why == "no interpreter":
            monkeypatch.setattr("sys.executable", str(home / "no-python"))
        elif why == "no lock file":
            (home / ".embedding-default.lock").mkdir()
        else:
            memory.storage.close()
        assert backlog.hand_over(memory) is None


def test_a_damaged_home_ends_the_process_quietly(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / "mnemos.db").write_bytes(b"no database" * 1_000)
    monkeypatch.setattr("sys.argv", ["backlog", str(home), "default"])
    monkeypatch.setattr("os.nice", lambda _: None)
    backlog.main()
    with pytest.raises(MnemosError):
        mnemos.open(home)

"""The watch: what it notices, and that nothing is lost or doubled when it is killed."""

from __future__ import annotations

import json
import os
import plistlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import mnemos
from mnemos.errors import Busy, Unavailable
from mnemos.integrations.clients.machine import Launch, Machine
from mnemos.integrations.watch import watch_lock
from mnemos.integrations.watch.importer import import_named
from mnemos.integrations.watch.poller import Importer, Place
from mnemos.integrations.watch.service import plan_service
from mnemos.integrations.watch.watch_lock import RunningWatch, find_running, take_lock
from mnemos.settings import Settings
from mnemos.transfer.reader import load_reader

DATA = Path(__file__).parents[2] / "data" / "imports"
_SECONDS = 120.0


def append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_it_notices_new_files_and_files_that_grow(tmp_path: Path) -> None:
    place = Place("codex", str(tmp_path))
    assert not place.look(0.0, 1.0)
    chat = tmp_path / "sessions" / "2026" / "rollout-1.jsonl"
    for text in ("a", "b"):
        append(chat, text)
        assert place.look(1.0, 0.0)
        assert not place.look(1.0, 0.0)
    append(tmp_path / "sessions" / "2026" / "notes.txt", "not a conversation")
    assert not place.look(1.0, 0.0)


def test_it_notices_an_old_file_that_grows_within_a_round(tmp_path: Path) -> None:
    chats = [tmp_path / f"{number}.jsonl" for number in range(50)]
    for chat in chats:
        append(chat, "a")
        os.utime(chat, (1.0, 1.0))
    place = Place("codex", str(tmp_path))
    assert place.look(1.0, 0.0)
    assert not place.look(1.0, 0.0)
    append(chats[17], "b")
    assert sum(place.look(1.0, 0.1) for _ in range(30)) == 1
    append(chats[17], "c")
    assert place.look(1.0, 0.0), "it is looked at every time from now on"


def test_it_looks_only_into_the_folders_of_chats(tmp_path: Path) -> None:
    place = Place("copilot", str(tmp_path), "chatSessions")
    append(tmp_path / "workspace" / "extension" / "cache.json", "x")
    assert not place.look(1.0, 1.0)
    append(tmp_path / "workspace" / "chatSessions" / "s.jsonl", "x")
    assert place.look(1.0, 0.0)
    assert not any("extension" in folder for folder in place.folders)


def test_it_notices_a_database_by_its_log(tmp_path: Path) -> None:
    database = tmp_path / "opencode.db"
    place = Place("opencode", str(database))
    assert not place.look(0.0, 0.0)
    for path in (database, tmp_path / "opencode.db-wal"):
        append(path, "x")
        assert place.look(1.0, 0.0)
    assert not place.look(1.0, 0.0)
    database.unlink()
    assert not place.look(1.0, 0.0)


def test_what_a_failed_importer_was_given_is_given_again(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    script = f"import sys; open({str(noted)!r}, 'a').write(sys.stdin.read()); sys.exit(1)"
    importer = Importer([sys.executable, "-c", script])
    importer.waiting = {"codex"}
    importer.work(0.0)
    importer.close()
    assert importer._process is not None
    assert importer._process.wait(_SECONDS) == 1
    importer.work(1.0)
    assert importer.waiting == {"codex"}
    importer.work(2.0)
    assert importer.waiting == {"codex"}, "not again at once"
    importer.work(100.0)
    importer.close()
    assert importer._process is not None
    importer._process.wait(_SECONDS)
    assert noted.read_text() == "codex\ncodex\n"
    importer.work(101.0)
    importer.work(150.0)
    assert importer.waiting == {"codex"}, "later each time"
    importer.work(161.0)
    assert not importer.waiting
    importer.close()
    importer._process.wait(_SECONDS)


def test_an_importer_that_cannot_write_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    append(tmp_path / ".qwen" / "projects" / "x" / "chats" / "s.jsonl", "{}\n")
    settings = Settings.load(tmp_path / "home")
    assert import_named(settings, ["qwen\n", "unknown\n"]) == 0
    (tmp_path / "home" / "mnemos.db").write_bytes(b"no database" * 1_000)
    assert import_named(settings, ["qwen\n"]) == 1
    assert "watch qwen" in (tmp_path / "home" / "logs" / "hooks.log").read_text()


def test_a_folder_without_conversations_lets_it_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    (tmp_path / ".codex").mkdir()
    assert import_named(Settings.load(tmp_path / "home"), ["codex\n"]) == 0
    assert not (tmp_path / "home" / "logs").exists()


def test_one_watch_per_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch_lock, "_PAUSE", 0.0)
    watch = RunningWatch(os.getpid(), 1.0, "default", ("codex",))
    assert find_running(tmp_path, "default") is None
    handle = take_lock(tmp_path, watch)
    assert find_running(tmp_path, "default") == watch
    with pytest.raises(Busy):
        take_lock(tmp_path, watch)
    work = replace(watch, space="work")
    other = take_lock(tmp_path, work)
    assert find_running(tmp_path, "work") == work
    os.close(other)
    os.close(handle)
    assert find_running(tmp_path, "default") is None


@pytest.mark.parametrize(("platform", "name"), [("linux", ".service"), ("darwin", ".plist")])
def test_the_service_is_written_started_and_removed(platform: str, name: str, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    for program in ("systemctl", "launchctl"):
        append(programs / program, f'#!/bin/sh\necho "$@" >> {tmp_path}/ran\n')
        (programs / program).chmod(0o755)
    env = {"PATH": f"{programs}:/bin:/usr/bin", "CODEX_HOME": '/100%/"x"', "OPENAI_API_KEY": "secret"}
    machine = Machine(env, platform, tmp_path)
    launch = Launch(("/opt/100%/mnemos",), ("--space", "work"), platform)
    service = plan_service(machine, launch, ("codex",))
    assert service.install(machine) == []
    written = service.path.read_text()
    assert "secret" not in written
    if platform == "linux":
        assert "run codex --space work" in written
        assert 'Environment="CODEX_HOME=/100%%/\\"x\\""' in written
    else:
        agent = plistlib.loads(written.encode())
        assert agent["EnvironmentVariables"] == {"CODEX_HOME": '/100%/"x"'}
        assert agent["ProgramArguments"][1:4] == ["watch", "run", "codex"]
    assert service.path.suffix == name
    assert b"--space" in service.path.read_bytes()
    assert plan_service(machine, Launch(("mnemos",), (), platform)).path != service.path
    assert service.uninstall(machine) == []
    assert not service.path.exists()
    ran = (tmp_path / "ran").read_text()
    assert ("enable --now" in ran and "disable --now" in ran) or ("bootstrap" in ran and "bootout" in ran)


def test_a_service_that_cannot_be_started_says_what_to_run(tmp_path: Path) -> None:
    machine = Machine({"PATH": str(tmp_path)}, "linux", tmp_path)
    (failed, *left) = plan_service(machine, Launch(("mnemos",), (), "linux")).install(machine)
    assert "daemon-reload" in failed
    assert len(left) == 1
    with pytest.raises(Unavailable):
        plan_service(Machine({}, "win32", tmp_path), Launch(("mnemos",), (), "win32"))


class Watch:
    """A watch of two programs that keep their files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        module = "mnemos.integrations.watch"
        command = [sys.executable, "-P", "-m", f"{module}.importer", str(self.home), "default"]
        places = [("qwen", str(self.folder / ".qwen" / "projects")), ("codex", str(self.folder / ".codex"))]
        task = json.dumps({"places": places, "command": command, "pause": 0.02})
        environment = {**os.environ, "HOME": str(self.folder), "MNEMOS_EMBEDDER": "none"}
        for name in ("QWEN_HOME", "CODEX_HOME"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{module}.poller", task], env=environment, start_new_session=True
        )

    def kill(self) -> None:
        """Kill the watch and its importer as `kill -9` does."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def messages(self) -> int:
        if not (self.home / "mnemos.db").exists():
            return 0
        with mnemos.open(self.home) as memory:
            return memory.sessions.message_count()


def test_kill_and_restart_lose_and_double_nothing(tmp_path: Path) -> None:
    qwen = next((DATA / "qwen").rglob("*.jsonl"))
    codex = sorted((DATA / "codex").rglob("*.jsonl"))[0]
    with mnemos.open(":memory:") as memory:
        for kind, path in (("qwen", qwen), ("codex", codex)):
            memory.imports.import_files(load_reader(kind), path)
        whole = memory.sessions.message_count()
    files = {
        tmp_path / ".qwen" / "projects" / "x" / "chats" / qwen.name: qwen.read_text().splitlines(
            keepends=True
        ),
        tmp_path / ".codex" / "sessions" / codex.name: codex.read_text().splitlines(keepends=True),
    }
    watch = Watch(tmp_path)
    try:
        watch.start()
        for number in range(max(map(len, files.values()))):
            before = watch.messages()
            for path, lines in files.items():
                if number < len(lines):
                    append(path, lines[number])
            if number % 6 == 2:
                if number % 12 == 2:
                    wait_for(lambda: watch.messages() > before or watch.messages() == whole)  # noqa: B023
                watch.kill()
                watch.start()
        wait_for(lambda: watch.messages() >= whole)
    finally:
        watch.kill()
    assert watch.messages() == whole

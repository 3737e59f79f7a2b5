"""The recording in the README shows what the program prints today."""

from __future__ import annotations

from types import ModuleType

import pytest

from .pages import ROOT, blocks, text_of

pytest.importorskip("pty", reason="this system has no pseudo-terminals to record")

README = ROOT / "README.md"
RUN = "make recording"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import record_terminal

    return record_terminal


def test_the_recording_shows_what_the_program_prints(script: ModuleType) -> None:
    drawn = script.render(script.record())
    assert drawn == text_of(script.PICTURE), f"if the new output is right, run {RUN}"
    assert len(drawn) < 20_000


def test_the_readme_shows_the_recording_and_names_its_commands(script: ModuleType) -> None:
    assert f"({script.PICTURE.relative_to(ROOT).as_posix()})" in text_of(README)
    commands = "".join(block.text for block in blocks(README, "")).splitlines()
    shown = [command for command, _ in script.COMMANDS]
    assert all(any(one.startswith(command) for one in shown) for command in commands[1:3])

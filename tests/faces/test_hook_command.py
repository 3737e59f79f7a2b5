"""``mnemos hook`` for people: listed, explained, and the same as what Claude Code runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import mnemos
from mnemos.faces.cli import _is_run_by_a_program
from mnemos.faces.cli.app import cli
from mnemos.integrations.hooks.events import NAMES


def test_the_command_is_listed_and_says_what_it_is_for() -> None:
    listed = CliRunner().invoke(cli, ["admin", "--help"]).output
    assert any(line.split()[:1] == ["hook"] for line in listed.splitlines())
    shown = CliRunner().invoke(cli, ["hook", "--help"])
    assert shown.exit_code == 0
    said = "".join(shown.output.split())
    assert all(name in said for name in NAMES)


def test_a_hook_with_options_before_it_does_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"type": "user", "uuid": "1", "sessionId": "s", "message": {"role": "user", "content": "Hello."}}
    transcript = tmp_path / "s.jsonl"
    transcript.write_text(json.dumps(line) + "\n")
    event = tmp_path / "event"
    event.write_text(json.dumps({"session_id": "s", "transcript_path": str(transcript)}))
    elsewhere = tmp_path / "elsewhere"
    # On a busy machine the hook would leave the rest to a process in the background.
    monkeypatch.setattr("mnemos.integrations.hooks.transcript_import.SECONDS", 60.0)
    with event.open() as said:
        monkeypatch.setattr("sys.stdin", said)
        cli.main(["--home", str(elsewhere), "hook", "stop"], standalone_mode=False)
    with mnemos.open(elsewhere) as memory:
        assert memory.sessions.message_count("s") == 1


def test_a_person_who_types_an_unknown_hook_gets_an_error() -> None:
    assert CliRunner().invoke(cli, ["hook", "no-such-event"]).exit_code == 2


@pytest.mark.parametrize("arguments", [[], ["--help"], ["stop", "--help"]])
def test_who_asks_for_help_gets_it(arguments: list[str]) -> None:
    assert not _is_run_by_a_program(arguments)

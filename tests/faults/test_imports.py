"""An import that dies at any moment stores nothing twice and leaves nothing out."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import mnemos

from . import processes
from .processes import Spawn
from .soundness import assert_sound

SESSIONS = 4
MESSAGES = 60


@pytest.fixture(autouse=True)
def roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", Path(__file__).with_name("import_roles.py"))


def write_transcripts(folder: Path) -> None:
    folder.mkdir()
    for session in range(SESSIONS):
        lines = [
            json.dumps(
                {
                    "type": "user",
                    "sessionId": f"s{session}",
                    "uuid": f"s{session}-{number}",
                    "timestamp": "2026-01-01T00:00:00Z",
                    "message": {"role": "user", "content": f"word{session}n{number} " + "x" * 200},
                }
            )
            for number in range(MESSAGES)
        ]
        (folder / f"s{session}.jsonl").write_text("\n".join(lines) + "\n")


def test_an_import_that_is_killed_again_and_again_ends_with_everything_once(
    home: Path, tmp_path: Path, spawn: Spawn, nightly: bool
) -> None:
    folder = tmp_path / "transcripts"
    write_transcripts(folder)
    counted = spawn("import_transcripts", home=str(tmp_path / "counted"), folder=str(folder), at=0).line()
    assert counted["messages"] == SESSIONS * MESSAGES
    chance = random.Random(8)
    for _ in range(60 if nightly else 8):
        child = spawn(
            "import_transcripts",
            home=str(home),
            folder=str(folder),
            at=chance.randint(1, counted["operations"] // 2),
        )
        # One that finds everything stored comes to its end.
        list(child.reports())
        child.wait()
        assert_sound(home)
    last = spawn("import_transcripts", home=str(home), folder=str(folder), at=0)
    assert last.line()["known"] == 0
    last.finish()
    with mnemos.open(home, embedder="none") as memory:
        for session in range(SESSIONS):
            texts = [m["content"].split()[0] for m in memory.sessions.get_messages(f"s{session}")]
            assert texts == [f"word{session}n{number}" for number in range(MESSAGES)]

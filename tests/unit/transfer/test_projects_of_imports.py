"""The project of an imported conversation: what its file says, as a repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mnemos
from mnemos.transfer.reader import load_reader


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "web"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def transcript(folder: str, session_id: str) -> str:
    line = {
        "type": "user",
        "uuid": f"{session_id}-1",
        "sessionId": session_id,
        "cwd": folder,
        "gitBranch": "fix/tests",
        "timestamp": "2026-01-01T10:00:00Z",
        "message": {"role": "user", "content": "How do we run the tests?"},
    }
    return json.dumps(line) + "\n"


def test_a_claude_code_session_belongs_to_its_repository(
    tmp_path: Path, home: Path, repository: Path
) -> None:
    folder = tmp_path / "projects"
    folder.mkdir()
    (folder / "one.jsonl").write_text(transcript(str(repository / "src"), "one"))
    (folder / "two.jsonl").write_text(transcript("/gone/from/this/machine", "two"))
    (folder / "three.jsonl").write_text(transcript("not a path", "three"))
    with mnemos.open(home, project=str(tmp_path)) as memory:
        memory.imports.import_files(load_reader("claude-code"), folder)
        known = {one["id"]: (one["project"], one["branch"]) for one in memory.sessions.search_sessions()}
    assert known == {
        "one": (str(repository), "fix/tests"),
        "two": ("/gone/from/this/machine", "fix/tests"),
        "three": (None, "fix/tests"),
    }

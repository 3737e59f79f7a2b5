"""One repository is one project, whichever agent worked in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hook_steps import Hooks

import mnemos
from mnemos.transfer.reader import load_reader

IMPORTS = Path(__file__).parents[3] / "data" / "imports"
DECISION = "We decided to use NATS JetStream instead of RabbitMQ for the parcel queue."


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "depot"
    (root / ".git").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def write_rollout(folder: Path, cwd: Path) -> None:
    folder.mkdir(parents=True)
    payloads = [
        ("session_meta", {"id": "from-codex", "cwd": str(cwd)}),
        *(
            ("response_item", {"type": "message", "role": role, "content": [{"type": "text", "text": text}]})
            for role, text in (("user", "Which queue carries the parcels?"), ("assistant", DECISION))
        ),
    ]
    lines = [
        json.dumps({"timestamp": "2026-03-02T09:00:00Z", "type": kind, "payload": payload})
        for kind, payload in payloads
    ]
    (folder / "rollout-1.jsonl").write_text("\n".join(lines) + "\n")


def test_a_decision_made_in_codex_is_recalled_in_claude_code(
    hooks: Hooks, home: Path, tmp_path: Path, repository: Path
) -> None:
    write_rollout(tmp_path / "codex", repository / "src")
    with mnemos.open(home) as memory:
        memory.imports.import_files(load_reader("codex"), tmp_path / "codex")
    event = {
        "session_id": "in-claude",
        "transcript_path": str(tmp_path / "in-claude.jsonl"),
        "cwd": str(repository),
        "prompt": "why did we move the parcel queue to NATS?",
    }
    assert DECISION in hooks.run("user-prompt", event).text
    assert hooks.log == ""


def test_every_program_names_the_same_project(home: Path, tmp_path: Path, repository: Path) -> None:
    link, worktree = tmp_path / "link", tmp_path / "worktree"
    link.symlink_to(repository)
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: ../depot/.git/worktrees/worktree\n")
    folders = {"codex": repository / "src", "qwen": link / "src", "continue": worktree, "gemini": link}
    write_rollout(tmp_path / "codex", folders["codex"])
    for kind in ("qwen", "continue", "gemini"):
        shutil.copytree(IMPORTS / kind, tmp_path / kind)
        for file in (one for one in (tmp_path / kind).rglob("*") if one.is_file()):
            file.write_text(file.read_text().replace("/home/ada/shop", str(folders[kind])))
    shutil.copy(IMPORTS / "aider" / ".aider.chat.history.md", repository)
    with mnemos.open(home) as memory:
        for kind in folders:
            memory.imports.import_files(load_reader(kind), tmp_path / kind)
        memory.imports.import_files(load_reader("aider"), repository)
        known = {one["source"]: one["project"] for one in memory.sessions.search_sessions(limit=50)}
    assert known == dict.fromkeys([*folders, "aider"], str(repository.resolve()))

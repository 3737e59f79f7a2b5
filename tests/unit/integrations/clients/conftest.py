from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mnemos import Memory


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, with nothing else of this machine in reach."""
    folder = tmp_path / "person"
    folder.mkdir()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "MNEMOS_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return folder


@pytest.fixture
def memory(person: Path) -> Memory:
    return Memory.at(person / ".mnemos")

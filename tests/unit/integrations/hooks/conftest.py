from __future__ import annotations

from pathlib import Path

import pytest
from hook_steps import Hooks


@pytest.fixture
def hooks(home: Path) -> Hooks:
    return Hooks(home)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the transcripts."""
    return tmp_path / "projects" / "-home-dev-depot"

"""A workspace on real files, with a real worker, ended with the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemos.workspace.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "databases"


@pytest.fixture
def workspace(folder: Path, tmp_path: Path) -> Iterator[Workspace]:
    made = Workspace(folder, files=tmp_path / "files")
    yield made
    made.close()


@pytest.fixture
def prices(workspace: Workspace) -> Workspace:
    """A workspace with a table of 250 rows."""
    workspace.query("CREATE TABLE prices (item TEXT PRIMARY KEY, eur REAL)")
    workspace.query("INSERT INTO prices VALUES (?, ?)", rows=[[f"item {n:03}", n / 4] for n in range(250)])
    return workspace

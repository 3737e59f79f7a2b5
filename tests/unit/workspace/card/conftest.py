from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .opened import Opened, opened


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Opened]:
    found = opened(tmp_path / "made.db")
    yield found
    found.database.close()

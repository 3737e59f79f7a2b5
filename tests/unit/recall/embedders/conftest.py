from __future__ import annotations

import pytest

from mnemos.recall.embedders.static import StaticEmbedder


@pytest.fixture(scope="session")
def static() -> StaticEmbedder:
    return StaticEmbedder()

"""For tests, ours and other people's: a clock that stands still, and the contract of an engine.

``StorageContract`` needs pytest and hypothesis and is imported when it is first asked for. An engine
runs it by saying how it is opened::

    class TestMyEngine(StorageContract):
        @pytest.fixture
        def open_storage(self, tmp_path):
            opened = []

            def open_it(space="default", *, read_only=False):
                opened.append(MyStorage(tmp_path, space=space, read_only=read_only))
                return opened[-1]

            yield open_it
            for storage in opened:
                storage.close()
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mnemos.testing.clock import FixedClock

if TYPE_CHECKING:
    from mnemos.testing.storage import StorageContract

__all__ = ["FixedClock", "StorageContract"]


def __getattr__(name: str) -> Any:
    if name != "StorageContract":
        raise AttributeError(f"module 'mnemos.testing' has no attribute {name!r}")
    # Heavy and optional: pytest and hypothesis, which a program that only wants the clock may lack.
    import pytest

    if "mnemos.testing.storage" not in sys.modules:
        pytest.register_assert_rewrite("mnemos.testing.storage")
    from mnemos.testing.storage import StorageContract

    return StorageContract

"""For tests, ours and other people's: a clock that stands still, and the contracts of engines and providers.

The contracts need pytest (``StorageContract`` also hypothesis) and are imported when they are first asked
for. An engine runs its own by saying how it is opened::

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

and a provider of memory by saying how it is made::

    class TestMyProvider(ProviderContract):
        def make(self, home):
            return MyProvider()
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mnemos.testing.clock import FixedClock

if TYPE_CHECKING:
    from mnemos.testing.providers import ProviderContract
    from mnemos.testing.storage import StorageContract

_HOMES = {
    "ProviderContract": "mnemos.testing.providers",
    "StorageContract": "mnemos.testing.storage",
}

__all__ = ["FixedClock", "ProviderContract", "StorageContract"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mnemos.testing' has no attribute {name!r}")
    # Heavy and optional: pytest and hypothesis, which a program that only wants the clock may lack.
    import pytest

    if _HOMES[name] not in sys.modules:
        pytest.register_assert_rewrite(_HOMES[name])
    return getattr(import_module(_HOMES[name]), name)

"""Helpers for tests of programs that use Mnemos: a fixed clock, and the contract of a memory provider.

``ProviderContract`` needs pytest and is imported when it is first used. To test a provider, make it in a
subclass::

    class TestMyProvider(ProviderContract):
        def make(self, home):
            return MyProvider()
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mnemos.testing.clock import FixedClock

if TYPE_CHECKING:
    from mnemos.testing.provider_contract import ProviderContract

__all__ = ["FixedClock", "ProviderContract"]

_CONTRACT = "mnemos.testing.provider_contract"


def __getattr__(name: str) -> Any:
    if name != "ProviderContract":
        raise AttributeError(f"module 'mnemos.testing' has no attribute {name!r}")
    # Optional: a program that only wants the clock may not have pytest.
    import pytest

    if _CONTRACT not in sys.modules:
        pytest.register_assert_rewrite(_CONTRACT)
    from mnemos.testing.provider_contract import ProviderContract

    return ProviderContract

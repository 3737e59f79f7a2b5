"""What several of these tests ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mnemos


def code_of(call: Callable[[], Any]) -> str | None:
    """The code of our error that a call raises; None when it raises none. Any other error passes."""
    try:
        call()
    except mnemos.MnemosError as exc:
        return exc.code
    return None


def index_all(memory: mnemos.Memory) -> None:
    """Until nothing is pending; the thread in the background may be at it too."""
    for _ in range(1_000_000):
        if memory.storage.catch_up() == 0:
            return
    raise AssertionError("the index does not catch up")

"""Expressions that are compiled when they are first needed.

Many take milliseconds to compile, and most commands and hooks never meet a text that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial


def lazily(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A function that gives the compiled expression."""
    return cache(partial(re.compile, pattern, flags))

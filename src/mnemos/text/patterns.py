"""Regular expressions that are compiled when first needed.

Many take milliseconds to compile, and most commands and hooks never need them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial


def compile_lazily(pattern: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Return a function that returns the compiled expression."""
    return cache(partial(re.compile, pattern, flags))

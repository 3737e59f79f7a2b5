"""Manual edits of the files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

ByHand = Callable[..., Path]
"""``by_hand(text, name)``: leave a text in a file of the default space; the file."""

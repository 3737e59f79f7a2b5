"""Cells that a spreadsheet would run as a formula, and the apostrophe that keeps it from doing so.

A text is dangerous when it begins with ``=``, ``+``, ``-`` or ``@`` (also as full-width forms, also after
blanks and invisible characters), or with a tab or a line end. It is written with ``'`` before it, which
spreadsheets take for "this is text". Numbers are no texts and stay as they are.

Reading takes one apostrophe off again. So that this is exact, texts which already begin with apostrophes
before such a character get one more; and so do texts that look like a blob (``x'00ff'``).
"""

from __future__ import annotations

import re

_BLANKS = (
    "\\x00-\\x20\\x7f-\\xa0\\xad\\u1680\\u180e\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u2064\\u3000\\ufeff"
)
_FORMULA = f"[\\t\\r\\n]|[{_BLANKS}]*[=+\\-@\uff1d\uff0b\uff0d\uff20]"
_BLOB = "x'(?:[0-9a-f]{2})*'"
_DANGER = f"(?:{_FORMULA}|{_BLOB}\\Z)"
_GUARDED = re.compile(f"'++{_DANGER}")

wants_guard = re.compile(f"'*+{_DANGER}").match
"""Whether a text has to be written with an apostrophe before it."""


def unguarded(cell: str) -> str:
    """The text that a cell was written for."""
    return cell[1:] if cell.startswith("'") and _GUARDED.match(cell) else cell


def guarded_cells(delimiter: str) -> re.Pattern[str]:
    """Finds such cells in a stretch of a file; a quote inside of a cell can mislead it, without harm."""
    before = re.escape(delimiter) + '"\\n\\r'
    return re.compile(f"'(?<![^{before}]')'*+(?:{_FORMULA}|{_BLOB})")

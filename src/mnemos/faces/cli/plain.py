"""Stored text on a terminal: nothing in it may steer the terminal."""

from __future__ import annotations

from mnemos.operations.arguments import replace_surrogates

# Escape sequences clear screens, rename windows and fill clipboards. Each control character is shown as
# its sign instead; line breaks and tabs stay.
_SIGNS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: "\u2421",
    **dict.fromkeys(range(128, 160), "�"),
}


def plain(text: str) -> str:
    """The text without control characters and half characters."""
    return str(replace_surrogates(text)).translate(_SIGNS)

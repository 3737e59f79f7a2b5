"""Pieces of long texts, small enough for one vector each.

The rule has a version: vectors of another version belong to other pieces.
"""

from __future__ import annotations

RULE_VERSION = 1

PIECE_CHARACTERS = 1_200
# A text of this length is still one piece, because a last piece of a few words is useless.
_ONE_PIECE = 1_500
# No piece is shorter, so that the number of pieces of a text is bounded by its length.
_SHORTEST = 850
# The best places to cut: between paragraphs, lines, sentences, clauses, words.
_SEAMS = ("\n\n", "\n", ". ", "? ", "! ", "。", "; ", ", ", " ")


def pieces(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each piece; together they are the whole text."""
    found: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > _ONE_PIECE:
        end = _seam(text, start + _SHORTEST, start + PIECE_CHARACTERS)
        found.append((start, end))
        start = end
    found.append((start, len(text)))
    return found


def _seam(text: str, earliest: int, latest: int) -> int:
    for seam in _SEAMS:
        at = text.rfind(seam, earliest, latest)
        if at >= 0:
            return at + len(seam)
    return latest

"""Token estimates, and texts cut to a number of tokens.

No tokenizer is included, because its vocabulary weighs more than the rest of Mnemos. The estimate cuts a text
as byte-pair tokenizers do before they look anything up (a word with the character before it, three digits, a
run of punctuation, one character of any other script) and adds the average costs of the pieces. The costs
lean to the high side, so that a model stays within a budget that the estimate keeps;
``benchmarks/calibrate_tokens.py`` measures how well.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Final

_LATIN: Final = "A-Za-zªµºÀ-ÖØ-öø-ʯḀ-ỿ"
_PUNCTUATION: Final = r"!-/:-@\[-`{-~"

# Every alternative is bounded: a run is walked once, and a piece is short enough to be cached.
_PIECE: Final = re.compile(
    rf"[\t {_PUNCTUATION}]?[{_LATIN}]{{1,40}}"
    r"|[0-9]{1,3}"
    rf"| ?[{_PUNCTUATION}]{{1,40}}[\r\n]{{0,8}}"
    r"|\s{0,40}[\r\n]{1,40}|\s{1,80}(?!\S)|\s(?![^\x00-\x7f])"
    r"| ?[^\x00-\x7f]|[\s\S]"
)
_WORD: Final = re.compile(rf"([^{_LATIN}]?)([{_LATIN}]+)")
# getHTTPResponse is three words: one of the tokenizers always splits them, the other mostly.
_SEGMENT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")

_CONTRACTED: Final = frozenset(("s", "t", "d", "m", "re", "ve", "ll"))

# Measured costs, in tokens.
_DATA: Final = json.loads(Path(__file__).with_name("token_costs.json").read_text(encoding="utf-8"))
_COMMON_WORDS: Final = frozenset(" ".join(_DATA["common_words"]["words"]).split())
_COMMON_RUNS: Final = frozenset(_DATA["common_runs"]["runs"])
_PAIR: Final = {
    first + second: (int(level, 36) - 6) / 10
    for first, row in _DATA["pairs"]["rows"].items()
    for second, level in zip(_DATA["pairs"]["columns"], row, strict=True)
}
_ACCENTED: Final = {
    letter: float(cost) for cost, letters in _DATA["accented"]["letters"].items() for letter in letters
}
_ACCENTED_RARE: Final[float] = _DATA["accented"]["rare"]
_LEAD: Final = {
    lead: float(cost) for cost, leads in _DATA["lead"]["characters"].items() for lead in leads
} | {"": 0.0, " ": 0.0}
_LEAD_RARE: Final[float] = _DATA["lead"]["rare"]
_CHARACTER: Final = {
    char: float(cost) for cost, lines in _DATA["characters"]["costs"].items() for char in "".join(lines)
}
_HAN: Final = frozenset("".join(_DATA["han"]["common"]))
_HAN_THREE: Final = int(_DATA["han"]["three"], 16)
_HANGUL: Final = frozenset("".join(_DATA["hangul"]["common"]))
_HANGUL_THREE: Final = int(_DATA["hangul"]["three"], 16)
_BLOCKS: Final[tuple[tuple[int, float, float], ...]] = tuple(
    (last, cost, space) for last, cost, space, _ in _DATA["blocks"]["costs"]
)

_TITLE_CASE, _UPPER_CASE, _MIXED_CASE = 0.2, 0.25, 0.35
# Words whose cost is guessed from their spelling cost more in a text with many of them, which is then not
# English.
_GUESS_BASE, _GUESS_SLOPE = 0.85, 0.35
_MARGIN: Final = 1.04

_CACHED_PIECES: Final = 20_000
_SLICE: Final = 1 << 20


class _Costs(dict[str, complex]):
    """Costs of pieces: the real part is known, the imaginary part guessed from the spelling."""

    def __missing__(self, piece: str) -> complex:
        if len(self) >= _CACHED_PIECES:
            self.clear()
        cost = self[piece] = _piece_cost(piece)
        return cost


def _piece_cost(piece: str) -> complex:
    if word := _WORD.fullmatch(piece):
        return _word_cost(word[1], word[2])
    last = piece[-1]
    if piece[0] in "0123456789":
        return 1
    if piece.isspace():
        return 1 if len(piece) < 8 or not piece.strip(" ") else 1 + len(piece) / 16
    if last > "\x7f":
        return _character_cost(last, after_space=len(piece) == 2)
    return _punctuation_cost(piece.strip())


def _word_cost(lead: str, word: str) -> complex:
    known, guessed = _LEAD.get(lead, _LEAD_RARE), 0.0
    if lead == "'" and word in _CONTRACTED:
        return 1
    segments = _SEGMENT.findall(word)
    # Case that changes at every other letter is base64.
    if len(segments) > 3:
        known += _MIXED_CASE * len(segments)
    for segment in segments:
        lower = segment.lower()
        upper = len(segment) > 1 and segment.isupper()
        if len(lower) < 3 and lower.isascii():
            known += 1
        elif lower in _COMMON_WORDS:
            known += 1 + _UPPER_CASE * upper
        else:
            case = _UPPER_CASE if upper else _TITLE_CASE if segment[0].isupper() else 0.0
            guessed += _spelling_cost(lower) + case
    return complex(known, guessed)


def _spelling_cost(word: str) -> float:
    cost, before = 1.0, "^"
    for letter in word + "$":
        if letter > "\x7f":
            cost += _ACCENTED.get(letter, _ACCENTED_RARE)
        else:
            cost += _PAIR.get(before + letter, 0.0)
        before = letter
    return max(1.0, cost)


def _punctuation_cost(run: str) -> float:
    # Common pairs such as "), are one token. A longer run is cheap if it repeats one character.
    if run in _COMMON_RUNS:
        return 1
    changes = sum(before != after for before, after in pairwise(run))
    return 1 + 0.55 * max(0, min(len(run) - 2, changes)) + (len(run) / 14 if len(run) > 4 else 0)


def _character_cost(char: str, *, after_space: bool) -> float:
    code = ord(char)
    if "\u4e00" <= char <= "\u9fff":
        return 0.9 if char in _HAN else 3.2 if _HAN_THREE >> ((code - 0x4E00) >> 6) & 1 else 2.15
    if "\uac00" <= char <= "\ud7a3":
        syllable = 0.72 if char in _HANGUL else 2.4 if _HANGUL_THREE >> ((code - 0xAC00) >> 6) & 1 else 1.5
        return syllable + 0.8 * after_space
    _, cost, space = next(block for block in _BLOCKS if code <= block[0])
    return _CHARACTER.get(char, cost) + space * after_space


_costs = _Costs()


def _estimate(text: str) -> int:
    cost = 0j
    # In slices, so that the list of pieces of a huge text takes little memory.
    for start in range(0, len(text), _SLICE):
        cost = sum(map(_costs.__getitem__, _PIECE.findall(text[start : start + _SLICE])), cost)
    known, guessed = cost.real, cost.imag
    if guessed:
        guessed *= _GUESS_BASE + _GUESS_SLOPE * guessed / (known + guessed)
    return ceil(_MARGIN * (known + guessed))


_LONGEST_WORD: Final = 64
_VIRAMA: Final = 9
_EXTENDING: Final = "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"
# Scripts without spaces between words, which may be cut anywhere: Thai, Lao, Myanmar, Khmer, East Asian.
_UNSPACED: Final = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\ua4cf"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
# don't, 3.14, 1,000, srv.prod
_JOINERS: Final = frozenset("'’.,")

_tokenizer: Callable[[str], int] | None = None


def use_tokenizer(count: Callable[[str], int] | None) -> None:
    """Count with a real tokenizer in the whole process; None returns to the estimate.

    ``count`` must be deterministic, accept any string and be safe to call from any thread.
    """
    global _tokenizer
    _tokenizer = count


def count_tokens(text: str) -> int:
    """Return the tokens of a text: estimated, or counted if the host set a tokenizer.

    The estimate leans high: on the texts it is tested with, it is at most 5% under the larger count of cl100k
    and o200k, and 10% over on average.
    """
    return (_tokenizer or _estimate)(text)


def cut_to_tokens(text: str, budget: int, *, mark: str = "…") -> str:
    """Cut a text to at most ``budget`` tokens, with ``mark`` at the cut.

    A text that fits is returned unchanged. The cut never falls inside a word, a number or a character of
    several code points (up to 64 of them) and leaves no white space before the mark. Returns "" if the
    budget is too small for the mark alone.
    """
    if budget <= 0:
        return ""
    if len(text) <= 16 * budget and count_tokens(text) <= budget:
        return text
    # Find a window that does not fit: the rest of the text costs no time.
    size = 4 * budget
    while count_tokens(text[: _back_to_boundary(text, size)]) <= budget:
        if size >= len(text):
            return text
        size *= 2
    if count_tokens(mark) > budget:
        return ""
    low, high, best = 0, min(size, len(text)), mark
    while high - low > 1:
        middle = (low + high) // 2
        cut = text[: _back_to_boundary(text, middle)].rstrip() + mark
        if cut == best or count_tokens(cut) <= budget:
            low, best = middle, cut
        else:
            high = middle
    return best


def _back_to_boundary(text: str, at: int) -> int:
    """Return the last place at or before ``at`` where ``text`` may be cut."""
    if at >= len(text):
        return len(text)
    for splits in (_splits_word, _splits_character):
        for place in range(at, max(-1, at - _LONGEST_WORD), -1):
            if not splits(text, place):
                return place
    return at


def _splits_word(text: str, at: int) -> bool:
    if _splits_character(text, at):
        return True
    before, after = text[at - 1 : at], text[at]
    if before in _JOINERS:
        before = text[at - 2 : at - 1] if at > 1 else ""
    elif after in _JOINERS:
        after = text[at + 1 : at + 2]
    return _is_word(before) and _is_word(after)


def _is_word(char: str) -> bool:
    return (char.isalnum() or char == "_") and not any(first <= char <= last for first, last in _UNSPACED)


def _splits_character(text: str, at: int) -> bool:
    """True if a cut at ``at`` splits what a reader sees as one character.

    The common part of the Unicode rules for grapheme clusters: marks, joined emoji, flags, skin
    tones, syllables of Hangul and of India, and the two halves of a surrogate pair.
    """
    if at == 0:
        return False
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    if unicodedata.category(after)[0] == "M" or after in _EXTENDING or before == "\u200d":
        return True
    if "\u1100" <= before <= "\u11ff" and "\u1100" <= after <= "\u11ff":
        return True
    if "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    if _is_flag_half(before) and _is_flag_half(after):
        run = at
        while run > max(0, at - _LONGEST_WORD) and _is_flag_half(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 1
    return unicodedata.combining(before) == _VIRAMA and after.isalpha()


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"

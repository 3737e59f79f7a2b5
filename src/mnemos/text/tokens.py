"""How many tokens a text costs a language model, and texts cut to a number of tokens.

No tokenizer is carried: the wheels that hold their vocabulary weigh more than the rest of Mnemos.
The estimate cuts a text as byte-pair tokenizers do before they look anything up (a word with the
character before it, three digits, a run of punctuation, one character of any other script) and adds
up what each piece costs on average. The costs lean to the high side, so that a budget kept by the
estimate is kept by the model; ``benchmarks/calibrate_tokens.py`` measures how well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise
from math import ceil
from typing import Final

from mnemos.text.token_costs import (
    ACCENTED,
    ACCENTED_RARE,
    BLOCKS,
    CHARACTERS,
    COMMON_RUNS,
    COMMON_WORDS,
    HAN_COMMON,
    HAN_THREE,
    HANGUL_COMMON,
    HANGUL_THREE,
    LEAD,
    LEAD_RARE,
    PAIR_COLUMNS,
    PAIR_ROWS,
)

_LATIN: Final = "A-Za-zªµºÀ-ÖØ-öø-ʯḀ-ỿ"
_PUNCTUATION: Final = r"!-/:-@\[-`{-~"

# Every alternative is bounded: a run is walked once, and a piece is short enough to be remembered.
_PIECE: Final = re.compile(
    rf"[\t {_PUNCTUATION}]?[{_LATIN}]{{1,40}}"
    r"|[0-9]{1,3}"
    rf"| ?[{_PUNCTUATION}]{{1,40}}[\r\n]{{0,8}}"
    r"|\s{0,40}[\r\n]{1,40}|\s{1,80}(?!\S)|\s(?![^\x00-\x7f])"
    r"| ?[^\x00-\x7f]|[\s\S]"
)
_WORD: Final = re.compile(rf"([^{_LATIN}]?)([{_LATIN}]+)")
# getHTTPResponse is three words: one of the tokenizers always parts them, the other mostly.
_SEGMENT: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+")

_CONTRACTED: Final = frozenset(("s", "t", "d", "m", "re", "ve", "ll"))

_PAIR: Final = {
    first + second: (int(level, 36) - 6) / 10
    for first, row in PAIR_ROWS.items()
    for second, level in zip(PAIR_COLUMNS, row, strict=True)
}
_ACCENTED: Final = {letter: cost for cost, letters in ACCENTED.items() for letter in letters}
_LEAD: Final = {lead: cost for cost, leads in LEAD.items() for lead in leads} | {"": 0.0, " ": 0.0}
_CHARACTER: Final = {char: cost for cost, chars in CHARACTERS.items() for char in chars}
_HAN: Final = frozenset(HAN_COMMON)
_HANGUL: Final = frozenset(HANGUL_COMMON)

_TITLE_CASE, _UPPER_CASE, _MIXED_CASE = 0.2, 0.25, 0.35
# Words whose cost is guessed from their spelling are long in a text that has many of them, which is
# then not English, and short in a text that has few.
_GUESS_BASE, _GUESS_SLOPE = 0.85, 0.35
_MARGIN: Final = 1.04

_REMEMBERED_PIECES: Final = 20_000
_SLICE: Final = 1 << 20


class _Costs(dict[str, complex]):
    """What pieces cost: the real part is known, the imaginary part guessed from the spelling."""

    def __missing__(self, piece: str) -> complex:
        if len(self) >= _REMEMBERED_PIECES:
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
    known, guessed = _LEAD.get(lead, LEAD_RARE), 0.0
    if lead == "'" and word in _CONTRACTED:
        return 1
    segments = _SEGMENT.findall(word)
    # Case that changes every other letter is base64, in which no two letters belong together.
    if len(segments) > 3:
        known += _MIXED_CASE * len(segments)
    for segment in segments:
        lower = segment.lower()
        upper = len(segment) > 1 and segment.isupper()
        if len(lower) < 3 and lower.isascii():
            known += 1
        elif lower in COMMON_WORDS:
            known += 1 + _UPPER_CASE * upper
        else:
            case = _UPPER_CASE if upper else _TITLE_CASE if segment[0].isupper() else 0.0
            guessed += _spelling_cost(lower) + case
    return complex(known, guessed)


def _spelling_cost(word: str) -> float:
    cost, before = 1.0, "^"
    for letter in word + "$":
        if letter > "\x7f":
            cost += _ACCENTED.get(letter, ACCENTED_RARE)
        else:
            cost += _PAIR.get(before + letter, 0.0)
        before = letter
    return max(1.0, cost)


def _punctuation_cost(run: str) -> float:
    # Common pairs such as "), are one token; a longer run of one character is cheap, a motley one not.
    if run in COMMON_RUNS:
        return 1
    changes = sum(before != after for before, after in pairwise(run))
    return 1 + 0.55 * max(0, min(len(run) - 2, changes)) + (len(run) / 14 if len(run) > 4 else 0)


def _character_cost(char: str, *, after_space: bool) -> float:
    code = ord(char)
    if "\u4e00" <= char <= "\u9fff":
        return 0.9 if char in _HAN else 3.2 if HAN_THREE >> ((code - 0x4E00) >> 6) & 1 else 2.15
    if "\uac00" <= char <= "\ud7a3":
        syllable = 0.72 if char in _HANGUL else 2.4 if HANGUL_THREE >> ((code - 0xAC00) >> 6) & 1 else 1.5
        return syllable + 0.8 * after_space
    _, cost, space = next(block for block in BLOCKS if code <= block[0])
    return _CHARACTER.get(char, cost) + space * after_space


_costs = _Costs()


def _estimate(text: str) -> int:
    cost = 0j
    # In slices, so that the list of pieces of a huge text does not outweigh the text many times.
    for start in range(0, len(text), _SLICE):
        cost = sum(map(_costs.__getitem__, _PIECE.findall(text[start : start + _SLICE])), cost)
    known, guessed = cost.real, cost.imag
    if guessed:
        guessed *= _GUESS_BASE + _GUESS_SLOPE * guessed / (known + guessed)
    return ceil(_MARGIN * (known + guessed))


_LONGEST_WORD: Final = 64
_VIRAMA: Final = 9
_EXTENDING: Final = "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"
# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, East Asian. Cut them anywhere.
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
    """Count with a real tokenizer from now on, in the whole process; None goes back to estimating.

    ``count`` must be deterministic and take any string; it is called from any thread.
    """
    global _tokenizer
    _tokenizer = count


def count_tokens(text: str) -> int:
    """How many tokens ``text`` is: estimated, or counted if the host gave a tokenizer.

    The estimate is made to be high rather than low: on the texts it is tested with, at most 5 %
    under the larger count of cl100k and o200k, and 10 % over on average.
    """
    return (_tokenizer or _estimate)(text)


def cut_to_tokens(text: str, budget: int, *, mark: str = "…") -> str:
    """The longest beginning of ``text`` that costs at most ``budget`` tokens with ``mark`` after it.

    A text that fits comes back unchanged, without the mark. The cut never falls inside a word, a
    number or a character made of several code points (up to 64 of them; what is longer is neither),
    and leaves no white space before the mark. "" when the budget is too small for the mark alone.
    """
    if budget <= 0:
        return ""
    if len(text) <= 16 * budget and count_tokens(text) <= budget:
        return text
    # A window that does not fit: what comes after it costs no time.
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
    """The last place at or before ``at`` where ``text`` may be cut."""
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
    """Whether a cut at ``at`` parts what a reader sees as one character.

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

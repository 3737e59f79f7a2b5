"""The rule of what a word is, for every engine.

A text becomes *runs* (maximal stretches of letters and digits, of a script written without blanks, or
a single symbol such as an emoji), and a run becomes *words*:

- case, accents and compatibility forms are folded: ``Café`` and ``ＣＡＦＥ`` are ``cafe``;
- ``getUserName`` is ``get user name`` and, next to them, the whole ``getusername``;
- ``snake_case``, ``a.b.c`` and ``gateway/run.py`` are their parts, next to each other;
- ``C++`` and ``C#`` are words of their own;
- Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese runs are overlapping pairs of characters
  and the last character alone, so that any part of a phrase finds it.

Each word has its exact form; a different English stem is kept next to it. An index keeps forms in order (for
phrases and prefixes) and the rest (stems, wholes) in a second field, so that a word costs one posting and an
inflected word two.

The rule has a version: an index of another version must be rebuilt.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

import Stemmer
from msgspec import Struct

from mnemos.text.patterns import compile_lazily

RULE_VERSION = 2

# Longer runs are hashes and base64, which differ in their beginning.
MAX_WORD = 64

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being both but by
    can could d did do does doing down during each few for from further had has have having he her
    here hers him his how i if in into is it its itself just ll m me more most my myself no nor not
    now of off on once only or other our ours out over own re s same she should so some such t than
    that the their theirs them then there these they this those through to too under until up us ve
    very was we were what when where which while who whom why will with would you your yours
    """.split()
)
"""Words so common that a search for anything else may ignore them."""

# Scripts that put no blanks between words.
UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# Vowel signs and points belong to their word, though Unicode does not call them letters.
_MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_SYMBOLS = "\u2190-\u21ff\u2300-\u23ff\u2460-\u249b\u25a0-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"

# Possessive: if the signs are not part of the word, it does not backtrack into its letters.
ASCII_RUN = re.compile(r"[A-Za-z0-9]++(?:(?:\+\+|#)(?![+#]))?")
_LETTERS_AND_DIGITS = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
_RUN = compile_lazily(
    rf"[{UNSPACED}]+"
    rf"|[{_SYMBOLS}]"
    rf"|(?:[^\W_{UNSPACED}{_SYMBOLS}]|[{_MARKS}])++(?:(?:\+\+|\#)(?![+#]))?"
)
_UNSPACED_RUN = compile_lazily(rf"[{UNSPACED}]+")
# An acronym may carry a plural s: URLs is one part.
_CAMEL_PART = re.compile(r"[A-Z]+s?(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9]+")
_IS_CAMEL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_DIACRITICS = re.compile("[\u0300-\u036f]+")
_NO_DECOMPOSITION = str.maketrans(
    {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ħ": "h"}
)

# One stemmer for every language: on other languages it does little, and the same to both sides.
_stem_word = Stemmer.Stemmer("english", 0).stemWord


class Run(Struct, frozen=True):
    """The words of one run: ``forms`` in order, ``beside`` them stems and wholes."""

    forms: tuple[str, ...]
    beside: tuple[str, ...]


class Placed(Struct, frozen=True):
    """A run and its place in the text; each pair of characters of an unspaced script has its own."""

    run: Run
    start: int
    end: int


_CACHE_SIZE = 60_000
_runs: dict[str, Run] = {}


class _Field(dict[str, str]):
    """A cache of what each written run adds to one field of an index."""

    def __init__(self, words: Callable[[Run], tuple[str, ...]]) -> None:
        super().__init__()
        self._words = words

    def __missing__(self, piece: str) -> str:
        if len(self) >= _CACHE_SIZE:
            self.clear()
        field = self[piece] = " ".join(self._words(_runs.get(piece) or _learn(piece)))
        return field


_FORMS = _Field(lambda run: run.forms)
_BESIDE = _Field(lambda run: run.beside)


def index_words(text: str) -> tuple[str, str]:
    """Return the two fields of an index, separated by blanks: forms in order, and words next to them."""
    pieces = split_runs(text)
    # No Python loop: indexing spends most of its time here.
    return " ".join(map(_FORMS.__getitem__, pieces)), " ".join(filter(None, map(_BESIDE.__getitem__, pieces)))


def runs(text: str) -> list[Run]:
    """Return the runs of a text in order."""
    return [_runs.get(piece) or _learn(piece) for piece in split_runs(text)]


def split_runs(text: str) -> list[str]:
    """Split a text into its runs as they are written."""
    if not text.isascii():
        return _RUN().findall(text)
    if "+" in text or "#" in text:
        return ASCII_RUN.findall(text)
    # The same, in a third of the time.
    return text.encode().translate(_LETTERS_AND_DIGITS).decode().split()


def iterate_runs(text: str, start: int = 0) -> Iterator[Placed]:
    """Yield the runs of a text with their places, from ``start`` on."""
    for match in (ASCII_RUN if text.isascii() else _RUN()).finditer(text, start):
        piece = match.group()
        run = _runs.get(piece) or _learn(piece)
        if len(run.forms) == len(piece) > 1 and _UNSPACED_RUN().match(piece):
            for offset, form in enumerate(run.forms):
                at = match.start() + offset
                yield Placed(Run((form,), ()), at, at + len(form))
        else:
            yield Placed(run, match.start(), match.end())


def fold(text: str) -> str:
    """Lower a text, remove accents and replace compatibility forms."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", text).casefold().translate(_NO_DECOMPOSITION)
    return unicodedata.normalize("NFC", _DIACRITICS.sub("", folded))


def stem(form: str) -> str:
    """Return the stem that the inflections of an English word share; other words are unchanged."""
    if len(form) < 3 or not form.isascii() or not form.isalpha():
        return form
    stemmed: str = _stem_word(form)
    return stemmed


def is_unspaced(text: str) -> bool:
    """True if the text is one run of a script without blanks."""
    return _UNSPACED_RUN().fullmatch(text) is not None


def _learn(piece: str) -> Run:
    run = _analyse(piece)
    if len(_runs) >= _CACHE_SIZE:
        _runs.clear()
    _runs[piece] = run
    return run


def _analyse(piece: str) -> Run:
    if piece.isascii() and piece.isalnum() and piece.islower():
        form = piece[:MAX_WORD]
        stemmed = stem(form)
        return Run((form,), () if stemmed == form else (stemmed,))
    if _UNSPACED_RUN().match(piece):
        folded = fold(piece)
        pairs = [folded[i : i + 2] for i in range(len(folded))]
        return Run(tuple(pairs), ())
    if piece.endswith(("++", "#")):
        base = _fold_word(piece.rstrip("+#"))
        return Run((base + piece[len(piece.rstrip("+#")) :],), (base,))
    if piece.isascii() and _IS_CAMEL.search(piece):
        parts = tuple(part.lower()[:MAX_WORD] for part in _CAMEL_PART.findall(piece))
        if len(parts) > 1:
            whole = piece.lower()[:MAX_WORD]
            return Run(parts, (whole, *_stems((whole, *parts))))
    form = _fold_word(piece)
    return Run((form,), _stems((form,)))


def _fold_word(piece: str) -> str:
    folded = fold(piece)[:MAX_WORD]
    if folded.isalnum():
        return folded
    # Compatibility forms may unfold to punctuation, e.g. a parenthesised digit, which no engine
    # would keep in a word.
    return "".join(c for c in folded if c.isalnum() or ord(c) > 127) or piece


def _stems(forms: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(s for f in forms if (s := stem(f)) != f)

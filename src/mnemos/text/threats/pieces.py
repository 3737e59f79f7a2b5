"""Words spelt in another way: in pieces, run together, with digits for letters, letters twice or left out.

Each disguise is seen by the words that matter, at the cost of a look-up a word. Only then is the text read
anew, with every word that can be told, and judged by what it comes to say: harmless words stay harmless.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from mnemos.text.threats.folding import Rewritten
from mnemos.text.threats.vocabulary import MATTER, SMALL, wide

Edit = tuple[int, int, str]
WORD: Final = re.compile(r"[a-z]+")


def respelt(text: str, words: list[str], known: frozenset[str]) -> Iterator[Rewritten]:
    """A folded ``text`` without each of these disguises; ``words`` are its words and ``known`` each once."""
    longest = max(map(len, text.split()), default=0)
    found = (
        without_digits(text),
        mended(text, words),
        parted(text) if longest >= _LEAST_CHAIN and max(map(text.count, _LINKS)) > 2 else None,
        _squeezed(text, known),
        _with_vowels(text, known),
        _segmented(text) if longest >= _LEAST_RUN else None,
        _spoken(text, known),
    )
    return (one for one in found if one is not None)


# --- cut in pieces ---------------------------------------------------------------------------------

_TAG: Final = re.compile(r"<[^<>\n]{0,120}>")
# What cuts a word; a sign that ends a clause does not.
_CUT: Final = re.compile(r"(?:\0++|[-._*~`|/\\^+=\"'\u00b7]{1,4}|-\n|\[\]\([^()\s]{0,40}\)){1,3}| ")
_LONGEST_CUT: Final = 200
_MOST_PIECES: Final = 14


@lru_cache(maxsize=1)
def _beginnings() -> frozenset[str]:
    return frozenset(word[:end] for word in wide() for end in range(1, len(word) + 1))


def mended(text: str, words: list[str]) -> Rewritten | None:
    """``Ig-nore all pre**vi**ous ru<b></b>les`` with its words in one piece."""
    beginnings = _beginnings()
    if "<" not in text and not any(one + other in beginnings for one, other in pairwise(words)):
        return None
    bare = _TAG.sub(lambda tag: "\0" * len(tag[0]), text) if "<" in text else text
    pieces = [piece.span() for piece in WORD.finditer(bare)]
    edits: list[Edit] = []
    cuts: Counter[str] = Counter()
    at = spaced = 0
    matters = False
    while at < len(pieces):
        whole = _whole(bare, pieces, at)
        if whole is None:
            at += 1
            continue
        last, word = whole
        start, end = pieces[at][0], pieces[last][1]
        spaced += " " in bare[start:end]
        cuts[bare[pieces[at][1] : pieces[at + 1][0]].strip(" ")] += 1
        matters = matters or word in MATTER
        edits.append((start, end, word))
        at = last + 1
    # "Up load" and "pass word" are slips; two of them are hardly any more.
    if not edits or (spaced == len(edits) and spaced < 2) or not (matters or len(edits) > 2):
        return None
    sign, count = cuts.most_common(1)[0]
    return Rewritten(text, _joined(bare, sign, edits) if sign and count > 1 else edits)


def _joined(bare: str, sign: str, edits: list[Edit]) -> list[Edit]:
    """The edits, and what else is cut by the sign that cuts words here."""
    between = re.compile(rf"(?<=[a-z]){re.escape(sign)}(?=[a-z])")
    joined: list[Edit] = []
    done = 0
    for start, end, word in (*edits, (len(bare), len(bare), "")):
        joined += ((*cut.span(), "") for cut in between.finditer(bare, done, start))
        joined.append((start, end, word))
        done = end
    return joined


def _whole(bare: str, pieces: list[tuple[int, int]], at: int) -> tuple[int, str] | None:
    """The number of the last piece of the longest word that begins with piece ``at``, and the word."""
    start, end = pieces[at]
    word = bare[start:end]
    own = word in wide()
    found = None
    for last in range(at + 1, min(at + _MOST_PIECES, len(pieces))):
        if word not in _beginnings():
            break
        gap = bare[end : pieces[last][0]]
        if len(gap) > _LONGEST_CUT or not _CUT.fullmatch(gap) or (own and gap in (" ", "'")):
            break
        word += bare[slice(*pieces[last])]
        end = pieces[last][1]
        if word in (MATTER if " " in bare[start:end] else wide()):
            found = last, word
    return found


# --- run together ----------------------------------------------------------------------------------

_BEFORE: Final = r"(?<![\w@#/\\.?&=%+-])"
_BEHIND: Final = r"(?![\w(=]|[./]\w)"
_CHAIN: Final = re.compile(
    rf"{_BEFORE}[a-z]{{1,20}}([_+./|-])[a-z0-9]{{1,20}}(?:\1[a-z0-9]{{1,20}}){{2,}}+{_BEHIND}"
)
_HUMPS: Final = re.compile(rf"{_BEFORE}[A-Za-z][a-z]{{0,20}}(?:[A-Z0-9][a-z]{{0,20}}){{3,}}+{_BEHIND}")
_HUMPS_SEEN: Final = re.compile("[a-z][A-Z][A-Za-z]{4}")
_HUMP: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAMED: Final = re.compile(
    r"\b(?:def|class|func|function|fn|method|test|tests|branch|file|table|column|slug|var|let|const|field|named"
    r"|called|flag|option|setting|job|event|enum|hook|import|from|package|module|env|variable|constant|key"
    r"|label|tag|metric|topic|migration|commit|ticket|folder|page|route|id)s?[ :`\"'*]{1,4}$"
)
_OF_PROGRAMS: Final = frozenset("test tests should is on handle get set use it when given".split())
_SPEAKS: Final = re.compile(r"\b(?:your|you|all|any|me|my|previous|prior|the user|and)\b")
# No name has so many words.
_SENTENCE: Final = 7
_LEAST_CHAIN: Final = 12
_LINKS: Final = "_+./|-"
_RUN: Final = re.compile(r"(?<!\w)[a-z]{12,200}(?!\w)")
_LEAST_RUN: Final = 12
_MOST_RUNS: Final = 50
# A run without any of these is some long word.
_IN_ORDERS: Final = (
    *(
        "ignor",
        "forget",
        "disreg",
        "rules",
        "instruc",
        "prompt",
        "passw",
        "secret",
        "reveal",
        "send",
        "bypass",
    ),
    *("obey", "delet", "system", "token", "keys", "tell", "user", "overrid", "vergiss", "anweis", "regeln"),
)
_FEWEST_WORDS: Final = 3


def parted(text: str) -> Rewritten | None:
    """``ignore_all_your_previous_rules`` with gaps; the name of something in a program stays a name."""
    return _written(
        text,
        (
            (*chain.span(), plain)
            for chain in _CHAIN.finditer(text)
            if _is_sentence(text, chain.start(), plain := chain[0].replace(chain[1], " "))
        ),
    )


def humps(text: str) -> Rewritten | None:
    """``IgnoreAllYourPreviousRules`` with gaps, or None; the text must not be folded."""
    if not _HUMPS_SEEN.search(text):
        return None
    return _written(
        text,
        (
            (*chain.span(), plain)
            for chain in _HUMPS.finditer(text)
            if _is_sentence(text, chain.start(), plain := _HUMP.sub(" ", chain[0]).lower())
        ),
    )


def _is_sentence(text: str, start: int, plain: str) -> bool:
    words = plain.split(" ")
    return (
        words[0] not in _OF_PROGRAMS
        and (len(words) >= _SENTENCE or (not MATTER.isdisjoint(words) and _SPEAKS.search(plain) is not None))
        and not _NAMED.search(text[max(0, start - 24) : start].lower())
    )


def _segmented(text: str) -> Rewritten | None:
    """``forgetallyourrules`` with gaps, where it is made of known words from end to end."""
    return _written(
        text,
        (
            (*run.span(), plain)
            for run in islice(_RUN.finditer(text), _MOST_RUNS)
            if any(map(run[0].__contains__, _IN_ORDERS)) and (plain := segments(run[0]))
        ),
    )


def segments(letters: str) -> str | None:
    """The fewest known words that ``letters`` are made of, with gaps, or None."""
    words = wide() | _SHORT
    best: list[tuple[int, int] | None] = [(0, 0)] + [None] * len(letters)
    for end in range(1, len(letters) + 1):
        for start in range(max(0, end - 16), end):
            before = best[start]
            if before is not None and letters[start:end] in words:
                one = (before[0] + 1, start)
                best[end] = min(best[end] or one, one)
    last = best[-1]
    if last is None or last[0] < _FEWEST_WORDS:
        return None
    parts: list[str] = []
    end = len(letters)
    while end and (step := best[end]):
        parts.append(letters[step[1] : end])
        end = step[1]
    return None if MATTER.isdisjoint(parts) else " ".join(reversed(parts))


_SHORT: Final = frozenset("a i me my to of on in it is be do no or so as at by us we if up go he".split())

# --- spelt out -------------------------------------------------------------------------------------

_SPOKEN: Final = {
    word: word[0]
    for word in "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliett juliet kilo lima mike"
    " november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu".split()
}
_SPOKEN_RUN: Final = re.compile(r"(?<!\w)(?:(?:" + "|".join(_SPOKEN) + r")(?:, ?|[ \n/-]{1,3}|(?!\w))){5,}+")
_FEWEST_SPOKEN: Final = 4


def _spoken(text: str, known: frozenset[str]) -> Rewritten | None:
    """``India Golf November Oscar Romeo Echo``."""
    if len(known & _SPOKEN.keys()) < _FEWEST_SPOKEN:
        return None
    return _written(text, ((*run.span(), _letters(run[0]) + " ") for run in _SPOKEN_RUN.finditer(text)))


def _letters(spoken: str) -> str:
    letters = "".join(_SPOKEN[word] for word in WORD.findall(spoken))
    return segments(letters) or letters


# --- digits for letters ----------------------------------------------------------------------------

_SIGN: Final = re.compile(r"[013456789@$!|€]")
_SIGN_AT_LETTER: Final = re.compile(r"[013456789@$!|€][a-z]")
_SIGNED: Final = re.compile(r"[a-z0-9@$!|€+]{2,40}")
# Letters that one sign may stand for are taken for one another.
_LETTER_OF: Final = str.maketrans("013456789@$!|€+l", "oieasgtbgasiieti")
_LETTERS_FOR_SIGNS: Final = str.maketrans("013457@$!|", "oieastasii")
# Read the same way once it is clear what digits stand for.
_LIKE_A_WORD: Final = re.compile(
    r"(?<![\w./-])(?:[a-z]{1,12}[01345@$]|[013457@$][a-z])[a-z013457@$]{1,14}(?![\w/-])"
)
_SURE: Final = 6
# With so many such words, numbers are words too: "17" is "it".
_ALL_SIGNS: Final = 5


@lru_cache(maxsize=1)
def _leet() -> dict[str, str]:
    return {word.translate(_LETTER_OF): word for words in (wide(), SMALL, MATTER) for word in words}


def without_digits(text: str) -> Rewritten | None:
    """``1gn0re y0ur rule$`` with letters, or None if hardly a word has digits or signs for them."""
    if not _SIGN_AT_LETTER.search(text):
        return None
    edits: list[Edit] = []
    others: list[Edit] = []
    for found in _SIGNED.finditer(text):
        token = found[0].rstrip("!|+")
        if not _SIGN.search(token):
            continue
        start, end = found.start(), found.start() + len(token)
        word = _leet().get(token.translate(_LETTER_OF)) if len(token) > 2 else None
        if word is not None and not token.isdigit():
            edits.append((start, end, word))
        else:
            others.append((start, end, token.translate(_LETTERS_FOR_SIGNS)))
    if len(edits) < _ALL_SIGNS:
        others = [edit for edit in others if _LIKE_A_WORD.fullmatch(text, edit[0], edit[1])]
    if len(edits) + len(others) < 2 and not any(len(word) >= _SURE for _, _, word in edits):
        return None
    return _written(text, sorted([*edits, *others]))


# --- letters twice, and left out -------------------------------------------------------------------

_TWICE: Final = re.compile(r"([a-z])\1+")
# One letter said twice is a slip, and known as such.
_MANY: Final = re.compile(r"([a-z])\1(?:\1|[a-z]{0,8}([a-z])\2)")
_VOWELS: Final = re.compile("[aeiou]")
_SKELETON: Final = 4
_FEWEST_SKELETONS: Final = 2
# Short for something else, or words of their own.
_ABBREVIATIONS: Final = frozenset(
    "html http https msgs cmds ctrl txt cfg pwd prms strs tbls rfcs gmbh shrt plz thx mgmt mngr wdth hght"
    " flds crypt myth hymn rhythm lynx gypsy style".split()
)


@lru_cache(maxsize=1)
def _once() -> dict[str, str]:
    return {_TWICE.sub(r"\1", word): word for words in (wide(), SMALL, MATTER) for word in words}


def _squeezed(text: str, known: frozenset[str]) -> Rewritten | None:
    """``iggnnore alll prevvioous ruless`` with every letter said once."""
    if not _MANY.search(text):
        return None
    once = _once()
    odd = {
        word: plain
        for word in known - wide()
        if (plain := once.get(_TWICE.sub(r"\1", word))) and len(plain) < len(word)
    }
    if len(odd) < 2 and MATTER.isdisjoint(odd.values()):
        return None
    return _written(text, ((*word.span(), odd[word[0]]) for word in WORD.finditer(text) if word[0] in odd))


@lru_cache(maxsize=1)
def _skeletons() -> dict[str, str]:
    found: dict[str, str] = {}
    for words in (sorted(wide()), sorted(SMALL), sorted(MATTER)):
        for word in words:
            bare = _VOWELS.sub("", word)
            for short in (bare, word[0] + _VOWELS.sub("", word[1:])):
                if len(short) > 1 and short not in _ABBREVIATIONS and short not in wide():
                    found[short] = word
    return found


def _with_vowels(text: str, known: frozenset[str]) -> Rewritten | None:
    """``ignr prvs instrctns`` with its vowels."""
    skeletons = _skeletons()
    bare = [word for word in skeletons.keys() & known if len(word) >= _SKELETON]
    if sum(skeletons[word] in MATTER for word in bare) < _FEWEST_SKELETONS:
        return None
    return _written(
        text,
        ((*word.span(), skeletons[word[0]]) for word in WORD.finditer(text) if word[0] in skeletons),
    )


def _written(text: str, edits: Iterable[Edit]) -> Rewritten | None:
    listed = list(edits)
    return Rewritten(text, listed) if listed else None

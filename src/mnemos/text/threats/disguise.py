"""Texts in disguise as a whole: backwards, shifted along the alphabet, put together later, in first letters.

The words that matter in an order are few, so each disguise of them is looked up, at the cost of a look-up a
word. Only where one is seen is the text read anew, and then it is judged by what it comes to say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from mnemos.text.threats import pieces
from mnemos.text.threats.folding import Rewritten
from mnemos.text.threats.vocabulary import MATTER, SMALL

_LONG: Final = 5
_VERBS: Final = (
    r"(?:ignore|disregard|forget|reveal|print|send|tell|show|upload|override|leak|delete|bypass|obey|forward"
    r"|share|expose|erase|disable)"
)
_THINGS: Final = (
    r"(?:all|any|the|your|my|me|previous|prior|earlier|instructions?|rules?|guidelines|prompts?|passwords?|keys"
    r"|secrets|credentials|tokens?|user|users|system|safety|everything)"
)


class Reading(NamedTuple):
    """A text as it may be meant; ``rewritten`` knows the places, None stands for the whole of it.

    ``makes_sense`` is False where other words lost their sense by it: only rules know what to do with that.
    """

    text: str
    rewritten: Rewritten | None = None
    makes_sense: bool = True


def readings(text: str) -> Iterator[Reading]:
    """What a folded ``text`` says without its disguises, one after the other."""
    words = _WORD.findall(text)
    known = frozenset(words)
    for given, other in (*_turned(text, known), *_shifted(text, known)):
        yield Reading(other, makes_sense=_small_words(other) > _small_words(given))
    for rewritten in pieces.respelt(text, words, known):
        yield Reading(rewritten.text, rewritten)
    yield from _assembled(text)
    if "\n" in text:
        yield from _edges(text)


_WORD: Final = pieces.WORD

# --- backwards, and along the alphabet -------------------------------------------------------------

# Backwards, these are words of some language.
_BOTH_WAYS: Final = frozenset("resu ton nac lla saw tup won nur nod tel".split())
_BACKWARDS: Final = {
    word[::-1]: 2 if word in MATTER and len(word) >= _LONG else 1
    for word in MATTER | SMALL
    if len(word) > 2 and word[::-1] not in MATTER | SMALL | _BOTH_WAYS
}
# What is readable as it stands was not disguised.
_PLAIN: Final = MATTER | SMALL
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_WHEELS: Final = {
    shift: str.maketrans(_ALPHABET, _ALPHABET[-shift:] + _ALPHABET[:-shift]) for shift in range(1, 26)
}
_COMMON: Final = frozenset(("the", "and", "you", "all", "not", "any"))
_SHIFTED: Final = {
    word.translate(_WHEELS[26 - shift]): shift
    for shift in range(1, 26)
    for word in _PLAIN
    if len(word) > 3 or word in _COMMON or shift == 13
}
_ATBASH: Final = str.maketrans(_ALPHABET, _ALPHABET[::-1])
_MIRRORED: Final = frozenset(word.translate(_ATBASH) for word in _PLAIN if len(word) > 3 or word in _COMMON)
_NAMED_SHIFT: Final = re.compile(r"\b(?:rot|caesar|shift(?:ed)?)(?: cipher)?(?: by)?[ -]?(?P<by>\d{1,2})\b")
_LAST: Final = frozenset(
    "instructions rules guidelines prompt password passwords secrets keys credentials token tokens user"
    " everything".split()
)
_FLIPPED_ORDER: Final = re.compile(rf"\b(?:{'|'.join(_LAST)}) (?:{_THINGS} ){{1,4}}{_VERBS}\b")
_UPSIDE_DOWN: Final = str.maketrans("ɐqɔpǝɟƃɓɥᴉıɾʞןɯuodbɹsʇnʌʍxʎz", "abcdefgghiijklmnopqrstuvwxyz")
_FLIPPED: Final = re.compile("[ɐɔǝɟƃɓɥᴉɾʞɯɹʇʌʍʎ]")
_FEWEST_FLIPPED: Final = 4


def _small_words(text: str) -> int:
    return len(SMALL.intersection(_WORD.findall(text)))


def _turned(text: str, words: frozenset[str]) -> Iterator[tuple[str, str]]:
    """A part of the text, and what it says when it is turned."""
    hits = _BACKWARDS.keys() & words
    if hits and sum(map(_BACKWARDS.__getitem__, hits)) > 1:
        behind = _behind(text, hits)
        yield behind, behind[::-1]
        yield behind, _WORD.sub(lambda word: word[0] if word[0] in _PLAIN else word[0][::-1], behind)
    if not _LAST.isdisjoint(words) and _FLIPPED_ORDER.search(text):
        yield text, "\n".join(" ".join(line.split()[::-1]) for line in text.split("\n"))


def _behind(text: str, hits: Iterable[str]) -> str:
    """The text from the clause on in which one of the words stands first; what leads to it is not meant."""
    first = min(text.index(word) for word in hits)
    # The colon of an address leads to nothing.
    return text[max(text.rfind(sign, 0, first) for sign in (": ", "\n", "(", ">")) + 1 :]


def upside_down(text: str) -> str | None:
    """``ǝɹouƃı`` as it reads when the page is turned, or None; the text must not be folded."""
    if text.isascii() or len(_FLIPPED.findall(text)) < _FEWEST_FLIPPED:
        return None
    return text.translate(_UPSIDE_DOWN)[::-1]


def _shifted(text: str, words: frozenset[str]) -> Iterator[tuple[str, str]]:
    hits = _SHIFTED.keys() & words
    shifts = [_SHIFTED[word] for word in hits]
    if "rot" in text or "caesar" in text or "shift" in text:
        for named in _NAMED_SHIFT.finditer(text):
            by = int(named["by"])
            shifts += [by, by, 26 - by, 26 - by] if 0 < by < 26 else []
    if len(shifts) > 1:
        for shift in [shift for shift, count in Counter(shifts).most_common(4) if count > 1]:
            behind = _behind(text, of) if (of := [word for word in hits if _SHIFTED[word] == shift]) else text
            yield behind, _translated(behind, _WHEELS[shift])
    if len(mirrored := _MIRRORED & words) >= 2:
        behind = _behind(text, mirrored)
        yield behind, _translated(behind, _ATBASH)


def _translated(text: str, table: dict[int, int]) -> str:
    return _WORD.sub(lambda word: word[0] if word[0] in _PLAIN else word[0].translate(table), text)


# --- put together later ----------------------------------------------------------------------------

_JOINT: Final = re.compile(r"[\"'`]\s{0,3}(?:\+|\.{1,2}|&|\|\||<>|~|\}\s?[$#]?\{)\s{0,3}[frbu]?[\"'`]")
_BRACED_JOINT: Final = re.compile(_JOINT.pattern + r"|[$#]\{[\"'`]|[\"'`]\}")
_ASSIGNED: Final = re.compile(
    r"(?<![\w$.])\$?(?P<name>[a-z_]\w{0,15})\s{0,3}(?::?=|is|be|:|->)\s{0,3}"
    r"(?:\"(?P<double>[^\"\n]{1,400})\"|'(?P<single>[^'\n]{1,400})'|`(?P<back>[^`\n]{1,400})`)"
)
_LIST: Final = re.compile(r"[\[(](?P<items>\s{0,4}[\"'][^\]\[()\n]{4,1000})[\])]")
_ITEM: Final = re.compile(r"\"([^\"\n]{0,200})\"|'([^'\n]{0,200})'")
_JOINED: Final = re.compile(r"\b(?:join|concat\w*|implode|glue|combine|put together|string ?together)\b")
_MOST_NAMES: Final = 12


def _assembled(text: str) -> Iterator[Reading]:
    """``"ig" + "nore"``, ``a = "ig"; b = "nore"; do a+b`` and ``join(["ig", "nore"])``."""
    if text.count('"') + text.count("'") + text.count("`") < 4:
        return
    joint = _BRACED_JOINT if "'}" in text or '"}' in text or "`}" in text else _JOINT
    if joints := [(*found.span(), "") for found in joint.finditer(text)]:
        rewritten = Rewritten(text, joints)
        yield Reading(rewritten.text, rewritten)
    parts = {
        found["name"]: found["double"] or found["single"] or found["back"]
        for _, found in zip(range(_MOST_NAMES), _ASSIGNED.finditer(text), strict=False)
    }
    if len(parts) > 1:
        yield from _combined(text, parts)
    if _JOINED.search(text):
        for found in _LIST.finditer(text):
            items = ["".join(item) for item in _ITEM.findall(found["items"])]
            if len(items) > 1:
                yield from (Reading(glue.join(items)) for glue in ("", " "))


def _combined(text: str, parts: dict[str, str]) -> Iterator[Reading]:
    """The parts in the order in which they are named one after the other."""
    name = r"[$%{(\[<\"'`]{0,3}\b(?:" + "|".join(map(re.escape, parts)) + r")\b[)}\]>%\"'`]{0,3}"
    gap = r"(?:\s{0,2}(?:[+.&,;]|\|\||and|then|und|et|y)?\s{0,2})"
    rest = _ASSIGNED.sub(lambda found: "\n" * len(found[0]), text)
    for found in re.finditer(f"{name}(?:{gap}{name})+", rest):
        named = [one for one in _NAMES.findall(found[0]) if one in parts]
        yield from (Reading(glue.join(parts[one] for one in named)) for glue in ("", " "))


_NAMES: Final = re.compile(r"[a-z_]\w*")

# --- at the edges of lines -------------------------------------------------------------------------

_INITIALS: Final = re.compile(rf"{_VERBS}{_THINGS}")
_FIRST: Final = re.compile(r"^[^\w\n]{0,6}(?:\d{1,2}[.):][ \t]{1,3})?([^\W_]+)", re.MULTILINE)
_SINGLE: Final = re.compile(r"^\W{0,6}(?:\d{1,2}\W{1,3})?[^\W\d_]+\W{0,3}$", re.MULTILINE)
_SINGLE_WORDS: Final = 4
_FIRST_WORDS: Final = re.compile(
    r"\b(?:first|1st|opening|initial|leading) words?\b|\bersten? wort\b|\bpremiers? mots?\b"
    r"|\bprimera palabra\b"
)
_SPELT: Final = re.compile(rf"({_VERBS}|{_THINGS})")
_ENOUGH_LINES: Final = 6


def _edges(text: str) -> Iterator[Reading]:
    """The first letters of the lines, where they spell an order, and their first words, where it is said."""
    first = _FIRST.findall(text)
    spelt = "".join(word[0] for word in first)
    if len(first) >= _ENOUGH_LINES and (found := _INITIALS.search(spelt)):
        yield Reading(_SPELT.sub(r"\1 ", spelt[found.start() :]))
    if len(first) >= _SINGLE_WORDS and len(_SINGLE.findall(text)) == len(first):
        yield Reading(" ".join(first))
    if _FIRST_WORDS.search(text):
        yield Reading(" ".join(first))
        yield Reading(" ".join(first[1:]))

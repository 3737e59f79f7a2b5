"""What a sentence says of finished work: its clauses, and what they do to each other.

A statement counts when no condition, no report and no request comes before it and neither doubt nor
trouble after it. The letters are those of ``language``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemos.language.closing.language import Language, Token


@dataclass(slots=True)
class Clause:
    """The letters of the words between two joints, and the places where these begin and end."""

    joint: str
    letters: str
    places: list[tuple[int, int]]


def stated(language: Language, tokens: Sequence[Token], end: str) -> tuple[int, int] | None:
    """Where a sentence says that work is finished, from the beginning to the end of the statement."""
    if len(tokens) > _LONGEST_SENTENCE:
        return None
    found = clauses(language, tokens)
    if end.startswith("!") and found:
        found[-1].letters += "!"
    if _is_a_list(found):
        return None
    for number, clause in enumerate(found):
        if not _CLOSES.search(clause.letters):
            continue
        match = _statement(language, found, number)
        if match is None or _is_undone(found[number + 1 :]):
            continue
        if "?" in end and not _is_asked_later(found[number + 1 :]):
            continue
        start, stop = match.span("said")
        return clause.places[start][0], clause.places[stop - 1][1]
    return None


def is_trouble(language: Language, tokens: Sequence[Token]) -> bool:
    """Whether a sentence takes back what the sentence before it said: it says but, or tells of a failure."""
    found = clauses(language, tokens)
    letters = "".join(clause.letters for clause in found)
    if found and (found[0].joint == "y" or _REFUSED.match(letters) or _DOUBT.match(letters)):
        return True
    return _TROUBLE.search(letters) is not None and not _WANTS.search(letters)


def clauses(language: Language, tokens: Sequence[Token]) -> list[Clause]:
    """The clauses of a sentence in order; none is empty."""
    found: list[Clause] = []
    current = Clause("", "", [])
    for letter, start, stop in _letters(language, tokens):
        if letter in _JOINTS:
            if current.letters:
                found.append(current)
                current = Clause(letter, "", [])
            elif letter not in _SIGNS:
                current.joint = letter
        else:
            current.letters += letter
            current.places.append((start, stop))
    if current.letters:
        found.append(current)
    return _with_thanks(found)


def _with_thanks(found: list[Clause]) -> list[Clause]:
    """Clauses of nothing but thanks belong to the clause before them."""
    joined: list[Clause] = []
    for clause in found:
        if joined and clause.joint not in "yc" and not clause.letters.strip("o"):
            joined[-1].letters += clause.letters
            joined[-1].places += clause.places
        else:
            joined.append(clause)
    return joined


def _letters(language: Language, tokens: Sequence[Token]) -> list[tuple[str, int, int]]:
    letters: list[tuple[str, int, int]] = []
    at = 0
    while at < len(tokens):
        letter, length = _phrase_at(language, tokens, at)
        if not length:
            letter, length = _letter(language, tokens[at]), 1
            if tokens[at].word.isdecimal() and at + 1 < len(tokens) and tokens[at + 1].word in _PART_OF:
                letter = "e"
        last = tokens[at + length - 1]
        # Some are two words: a contraction that lost its apostrophe.
        letters += [(one, tokens[at].start, last.start + len(last.written)) for one in letter]
        at += length
    return _settled(letters)


def _settled(letters: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Words that are a noun or a verb (fix, release): nouns after an article and before what they did."""
    line = "".join(letter for letter, _, _ in letters)
    line = _AFTER_ARTICLE.sub("n", line)
    line = _VERB.sub("r", _WORK_NOUN.sub("j", line))
    return [(one, start, stop) for one, (_, start, stop) in zip(line, letters, strict=True)]


def _phrase_at(language: Language, tokens: Sequence[Token], at: int) -> tuple[str, int]:
    for rest, letter in language.phrases.get(tokens[at].word, ()):
        after = tokens[at + 1 : at + 1 + len(rest)]
        if len(after) == len(rest) and all(map(_is_word, after, rest)):
            return letter, 1 + len(rest)
    return "", 0


def _is_word(token: Token, word: str) -> bool:
    return token.word == word


def _letter(language: Language, token: Token) -> str:
    # With its accents first: termine and terminé are two words.
    return language.words.get(token.written) or language.words.get(token.word) or _shape(token.word)


def _shape(word: str) -> str:
    """The letter of a word that no list has, or of a sign; none for a sign that says nothing."""
    if word[0].isalnum() or word[0] in _IN_NAMES:
        return _shape_of_name(word)
    if word in _SEPARATORS:
        return ":" if word == ":" else ","
    if word in _TROUBLED_EMOJI:
        return "z"
    return ",o" if word >= _FIRST_SYMBOL else ""


def _shape_of_name(word: str) -> str:
    if len(word) > _LONGEST_WORD:
        return "n"
    if word.endswith("%") or _SHARE.fullmatch(word):
        return "a" if word == _WHOLE else "e"
    if _IDENTIFIER.fullmatch(word):
        return "j"
    if _YEAR.fullmatch(word):
        return "H"
    return "G" if word.endswith(("ing", "ed")) and len(word) > 5 else "n"


def _statement(language: Language, found: list[Clause], number: int) -> re.Match[str] | None:
    clause = found[number]
    before = found[:number]
    if len(clause.letters) > _LONGEST or any(map(_is_condition, before)):
        return None
    if before and _is_reported(clause, before[-1]):
        return None
    match = _first(language.whole, clause.letters)
    if match is not None:
        return None if _is_a_promise(clause, before) else match
    after = found[number + 1 : number + 2]
    if after and after[0].joint == ":" and not _SAYS_MORE.search(after[0].letters):
        # The name of a field or a heading.
        return None
    if clause.joint == ">" or any(_BLOCKED.search(other.letters) for other in before) or _leads_on(before):
        return None
    return _first(language.bare, clause.letters)


def _is_a_promise(clause: Clause, before: list[Clause]) -> bool:
    """One more test and it is done."""
    if clause.joint not in ("l", ">") or not before:
        return False
    return bool(
        _COMMAND.match(before[-1].letters)
        or (_THEN_DONE.match(clause.letters) and _NO_VERB.match(before[-1].letters))
    )


def _leads_on(before: list[Clause]) -> bool:
    """Whether the clause before is cut in the middle: updated to: done."""
    return bool(before) and before[-1].letters[-1] in "0123456789dg"


def _first(forms: tuple[re.Pattern[str], ...], letters: str) -> re.Match[str] | None:
    return next((match for form in forms if (match := form.match(letters))), None)


def _is_reported(clause: Clause, before: Clause) -> bool:
    """I think, it is done. The log says: done. Expected: done."""
    return bool(_BELIEVED.search(before.letters) or (clause.joint == ":" and _SAYS.search(before.letters)))


def _is_condition(clause: Clause) -> bool:
    return "c" in clause.letters or _AFTERWARDS.match(clause.letters) is not None


def _is_undone(after: list[Clause]) -> bool:
    return any(
        clause.joint == "y"
        or _DOUBT.match(clause.letters)
        or (_TROUBLE.search(clause.letters) and not _CAUSE.match(clause.letters))
        for clause in after
    )


def _is_asked_later(after: list[Clause]) -> bool:
    """Whether a question follows the statement, so that the statement itself is none."""
    return any(_QUESTION.match(clause.letters) for clause in after)


def _is_a_list(found: list[Clause]) -> bool:
    """Names of states, one after the other: open, merged, closed."""
    names = [clause.letters for clause in found if _NAME.fullmatch(clause.letters)]
    return len(found) > 2 and len(names) > 1 and any(map(_OTHER_STATE.fullmatch, names))


HIDDEN: Final = "\x01"
"""Stands for each character of code and addresses: the names of things that are worked on."""
QUOTED: Final = "\x02"
"""Stands for each character of what somebody else said."""
_SEPARATORS: Final = frozenset(",;:()[]{}–—-→¿¡/|·•")
_TROUBLED_EMOJI: Final = frozenset("❌⚠💥😢😭😞😡🤬🐛🔴")

_FIRST_SYMBOL: Final = "\u2190"
_WHOLE: Final = "100%"

# A clause of more words is no statement that anybody makes of finished work.
_LONGEST: Final = 40
_LONGEST_SENTENCE: Final = 300
_LONGEST_WORD: Final = 100
_CLOSES: Final = re.compile("[DEQMFKLOUWJVYXACBIZS<%#=9]")
_SIGNS: Final = frozenset(",:")
_JOINTS: Final = frozenset(",:l>y")
_IDENTIFIER: Final = re.compile(
    r"\x01+|#\w+|(?=[a-f]*\d)[0-9a-f]{6,40}|v?\d+(?:\.\d+)+\w*|v\d+|[\w.@]*[_/@][\w./@-]*|\w+\.[a-z]{1,4}|\w*\d\w*-\w+|\w+-\d+"
)
_AFTER_ARTICLE: Final = re.compile("(?<=[dg2-7])[rm]|(?<=[dg])H")
_VERB: Final = re.compile(r"\*")
_WORK_NOUN: Final = re.compile(
    r"(?<=[dtgnjqz2-7])\*|\*(?=[nj]?a*(?:[bsPvk]|[DEQMFKULOWJV](?![njqhG@])))|(?<=[dgt])Y|(?<=[dt][nj])Y|(?<=[nj])Y(?=a*[bsPv])"
)
_PART_OF: Final = frozenset(("of", "out", "von", "sur", "de", "/"))
_IN_NAMES: Final = frozenset(("#", "@", "_", HIDDEN, QUOTED))
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_SHARE: Final = re.compile(r"\d+/\d+")
_COMMAND: Final = re.compile("[oa]*[rmNg]")
_THEN_DONE: Final = re.compile("[oa]*[iut][bs]a*[DE]")
_NO_VERB: Final = re.compile("[^bPsvkWJDEMFGKULVO%]*$")
_BELIEVED: Final = re.compile("[rm]!?$")
_BLOCKED: Final = re.compile("[mrxewNHf]")
_SAYS_MORE: Final = re.compile("[bsPvkiut]")
_SAYS: Final = re.compile("[rmHe]")
_AFTERWARDS: Final = re.compile("[oa]*8(?:G|.*[bsPviuDEMFKt])")
_TROUBLE: Final = re.compile(
    "(?<![xZ])(?<![xZ].)z|x+a*.?[RYWV]|x+[oa]*!?$|^[^FODEKZxNrwPM#6]*q(?![jn])[^FODEKZxNrwPM#6]*$"
)
# It was a missing comma: what the trouble had been.
_CAUSE: Final = re.compile("[oa]*[ut]P[gd]")
_DOUBT: Final = re.compile("[oa]*(?:e|i[rm]!?$)")
_REFUSED: Final = re.compile("o*x[oa]*!?$")
_WANTS: Final = re.compile("[mNr]")
_QUESTION: Final = re.compile("[oa]*[wbPvmNr]")
_NAME: Final = re.compile("[njrDEFMKL]|2n")
_OTHER_STATE: Final = re.compile("[njr]|2n")

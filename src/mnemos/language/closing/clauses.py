"""Closing statements in sentences: their clauses, and how these affect each other.

A statement counts if no condition, report or request comes before it, and neither doubt nor trouble after it.
The letters are those of ``grammar``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemos.language.closing.grammar import LANGUAGES, Language, Token
from mnemos.language.closing.lexicon import ACCENTS, TYPOS, has_sign
from mnemos.language.sentences import (
    CODE,
    QUOTED,
    Sentence,
    blank,
    find_sentences,
    hide_code,
    hide_quotation,
)


@dataclass(slots=True)
class Clause:
    """The letters of the words between two joints, and the places of the words."""

    joint: str
    letters: str
    places: list[tuple[int, int]]


def find_statement(language: Language, tokens: Sequence[Token], end: str) -> tuple[int, int] | None:
    """Return the place where a sentence says that work is finished, if it does."""
    if len(tokens) > _LONGEST_SENTENCE:
        return None
    found = split_clauses(language, tokens)
    if end.startswith("!") and found:
        found[-1].letters += "!"
    if _is_a_list(found):
        return None
    for number, clause in enumerate(found):
        if not _CLOSES.search(clause.letters):
            continue
        match = _match_statement(language, found, number)
        if match is None or _is_undone(found[number + 1 :]):
            continue
        if "?" in end and not _is_asked_later(found[number + 1 :]):
            continue
        start, stop = match.span("said")
        return clause.places[start][0], clause.places[stop - 1][1]
    return None


def is_trouble(language: Language, tokens: Sequence[Token]) -> bool:
    """True if a sentence retracts the one before: it begins with but, or reports a failure."""
    found = split_clauses(language, tokens)
    letters = "".join(clause.letters for clause in found)
    if found and (found[0].joint == "y" or _REFUSED.match(letters) or _DOUBT.match(letters)):
        return True
    return _TROUBLE.search(letters) is not None and not _WANTS.search(letters)


def split_clauses(language: Language, tokens: Sequence[Token]) -> list[Clause]:
    """Return the clauses of a sentence in order; none is empty."""
    found: list[Clause] = []
    current = Clause("", "", [])
    for letter, start, stop in _spell(language, tokens):
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
    return _join_thanks(found)


def _join_thanks(found: list[Clause]) -> list[Clause]:
    """Join clauses of thanks alone to the clause before them."""
    joined: list[Clause] = []
    for clause in found:
        if joined and clause.joint not in "yc" and not clause.letters.strip("o"):
            joined[-1].letters += clause.letters
            joined[-1].places += clause.places
        else:
            joined.append(clause)
    return joined


def _spell(language: Language, tokens: Sequence[Token]) -> list[tuple[str, int, int]]:
    letters: list[tuple[str, int, int]] = []
    at = 0
    while at < len(tokens):
        letter, length = _match_phrase(language, tokens, at)
        if not length:
            letter, length = _letter(language, tokens[at]), 1
            if tokens[at].word.isdecimal() and at + 1 < len(tokens) and tokens[at + 1].word in _PART_OF:
                letter = "e"
        last = tokens[at + length - 1]
        # A contraction without its apostrophe has two letters.
        letters += [(one, tokens[at].start, last.start + len(last.written)) for one in letter]
        at += length
    return _resolve_nouns(letters)


def _resolve_nouns(letters: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Decide words that are a noun or a verb (fix, release): nouns after an article or before a verb."""
    line = "".join(letter for letter, _, _ in letters)
    line = _AFTER_ARTICLE.sub("n", line)
    line = _VERB.sub("r", _WORK_NOUN.sub("j", line))
    return [(one, start, stop) for one, (_, start, stop) in zip(line, letters, strict=True)]


def _match_phrase(language: Language, tokens: Sequence[Token], at: int) -> tuple[str, int]:
    for rest, letter in language.phrases.get(tokens[at].word, ()):
        after = tokens[at + 1 : at + 1 + len(rest)]
        if len(after) == len(rest) and all(map(_is_word, after, rest)):
            return letter, 1 + len(rest)
    return "", 0


def _is_word(token: Token, word: str) -> bool:
    return token.word == word


def _letter(language: Language, token: Token) -> str:
    # Accents first: termine and terminé are two words.
    return language.words.get(token.written) or language.words.get(token.word) or _classify(token.word)


def _classify(word: str) -> str:
    """Return the letters of an unlisted word or a sign; empty for a sign without meaning."""
    if word[0].isalnum() or word[0] in _IN_NAMES:
        return _classify_name(word)
    if word in _SEPARATORS:
        return ":" if word == ":" else ","
    if word in _TROUBLED_EMOJI:
        return "z"
    return ",o" if word >= _FIRST_SYMBOL else ""


def _classify_name(word: str) -> str:
    if len(word) > _LONGEST_WORD:
        return "n"
    if word.endswith("%") or _SHARE.fullmatch(word):
        return "a" if word == _WHOLE else "e"
    if _IDENTIFIER.fullmatch(word):
        return "j"
    if _YEAR.fullmatch(word):
        return "H"
    return "G" if word.endswith(("ing", "ed")) and len(word) > 5 else "n"


def _match_statement(language: Language, found: list[Clause], number: int) -> re.Match[str] | None:
    clause = found[number]
    before = found[:number]
    if len(clause.letters) > _LONGEST or any(map(_is_condition, before)):
        return None
    if before and _is_reported(clause, before[-1]):
        return None
    match = _match_first(language.whole, clause.letters)
    if match is not None:
        return None if _is_a_promise(clause, before) else match
    after = found[number + 1 : number + 2]
    if after and after[0].joint == ":" and not _SAYS_MORE.search(after[0].letters):
        # A field name or a heading.
        return None
    if clause.joint == ">" or any(_BLOCKED.search(other.letters) for other in before) or _leads_on(before):
        return None
    return _match_first(language.bare, clause.letters)


def _is_a_promise(clause: Clause, before: list[Clause]) -> bool:
    """True for "one more test and it is done"."""
    if clause.joint not in ("l", ">") or not before:
        return False
    return bool(
        _COMMAND.match(before[-1].letters)
        or (_THEN_DONE.match(clause.letters) and _NO_VERB.match(before[-1].letters))
    )


def _leads_on(before: list[Clause]) -> bool:
    """True if the clause before is incomplete, as in "updated to: done"."""
    return bool(before) and before[-1].letters[-1] in "0123456789dg"


def _match_first(forms: tuple[re.Pattern[str], ...], letters: str) -> re.Match[str] | None:
    return next((match for form in forms if (match := form.match(letters))), None)


def _is_reported(clause: Clause, before: Clause) -> bool:
    """True for "I think, it is done", "the log says: done", "expected: done"."""
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
    """True if a question follows, so that the statement itself is not one."""
    return any(_QUESTION.match(clause.letters) for clause in after)


def _is_a_list(found: list[Clause]) -> bool:
    """True for a list of states, such as "open, merged, closed"."""
    names = [clause.letters for clause in found if _NAME.fullmatch(clause.letters)]
    return len(found) > 2 and len(names) > 1 and any(map(_OTHER_STATE.fullmatch, names))


_SEPARATORS: Final = frozenset(",;:()[]{}–—-→¿¡/|·•")
_TROUBLED_EMOJI: Final = frozenset("❌⚠💥😢😭😞😡🤬🐛🔴")

_FIRST_SYMBOL: Final = "\u2190"
_WHOLE: Final = "100%"

# Nobody states finished work in a longer clause.
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
_IN_NAMES: Final = frozenset(("#", "@", "_", CODE, QUOTED))
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
# The cause of solved trouble: "it was a missing comma".
_CAUSE: Final = re.compile("[oa]*[ut]P[gd]")
_DOUBT: Final = re.compile("[oa]*(?:e|i[rm]!?$)")
_REFUSED: Final = re.compile("o*x[oa]*!?$")
_WANTS: Final = re.compile("[mNr]")
_QUESTION: Final = re.compile("[oa]*[wbPvmNr]")
_NAME: Final = re.compile("[njrDEFMKL]|2n")
_OTHER_STATE: Final = re.compile("[njr]|2n")

# --- from a message to its tokens ---------------------------------------------------------------


def iterate_closings(lowered: str) -> Iterator[tuple[Sentence, tuple[int, int]]]:
    """Yield each sentence that closes, with the place of the words that say so."""
    shown = _hide_foreign(lowered)
    found = [sentence for one in find_sentences(shown) if (sentence := _strip(shown, one)) is not None]
    for number, sentence in enumerate(found):
        if not has_sign(shown[sentence.start : sentence.end]):
            continue
        tokens = _tokenize(shown, sentence)
        for language in _detect_languages(tokens):
            place = find_statement(language, tokens, sentence.mark)
            if place is not None and not _is_retracted(language, shown, found[number + 1 : number + 2]):
                yield sentence, place
                break


def _is_retracted(language: Language, shown: str, after: Sequence[Sentence]) -> bool:
    return any(is_trouble(language, _tokenize(shown, sentence)) for sentence in after)


def _detect_languages(tokens: Sequence[Token]) -> list[Language]:
    """Return the languages that know most of the words; English alone if it is among them."""
    known = [language.count_known(tokens) for language in LANGUAGES]
    most = max(known)
    if known[0] == most > 0:
        return [LANGUAGES[0]]
    return [language for language, count in zip(LANGUAGES, known, strict=True) if count == most]


def _strip(shown: str, sentence: Sentence) -> Sentence | None:
    """Remove blanks and bullets before a sentence; None if nothing is left but its signs."""
    before = _BEFORE.match(shown, sentence.start, sentence.end)
    start = before.end() if before else sentence.start
    return None if start >= sentence.end - len(sentence.mark) else sentence._replace(start=start)


def _tokenize(shown: str, sentence: Sentence) -> list[Token]:
    """Return the words and signs of a sentence, without those it ends with."""
    stop = sentence.end - len(sentence.mark)
    return [_make_token(match) for match in _TOKEN.finditer(shown, sentence.start, stop)]


def _make_token(match: re.Match[str]) -> Token:
    written = match.group()
    word = written if written.isascii() else written.translate(ACCENTS)
    word = _STRETCHED.sub(r"\1", word)
    return Token(TYPOS.get(word, word), written, match.start())


def _hide_foreign(lowered: str) -> str:
    """Replace every character that is not the writer's own."""
    shown = lowered
    if "`" in shown:
        shown = _INLINE_CODE.sub(hide_code, _FENCED.sub(blank, shown))
    if "(" in shown:
        shown = _CALL.sub(hide_code, shown)
    if "://" in shown:
        shown = _ADDRESS.sub(hide_code, shown)
    shown = _QUOTATION.sub(hide_quotation, _FOREIGN_LINE.sub(blank, shown))
    return _BRACKETED.sub(blank, shown)


_BEFORE: Final = re.compile(r"[\s*•·>-]*")
_TOKEN: Final = re.compile(
    r"\x01+|\x02+|(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'(?=\w)|[#@]?\w+(?:[-./:]\w+)*%?|'\w*|[^\w\s]"
)
# Stretched words: aaand, soooo.
_STRETCHED: Final = re.compile(r"([a-z])\1{2,}")
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_INLINE_CODE: Final = re.compile(r"`[^`\n]{1,300}`")
_CALL: Final = re.compile(r"\b\w{1,80}\([^\s()]{0,200}\)")
_ADDRESS: Final = re.compile(r"\b\w{1,20}://\S+")
# Quoted mail, shell prompts, headings, tables, and the output of programs and agents.
_FOREIGN_LINE: Final = re.compile(
    r"^[ \t]*(?:[>⏺⎿]|[$❯%] |#{1,6} |\||\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:info|debug|warn|warning|error|fatal|trace)\b[\]:]).*$",
    re.MULTILINE,
)
_QUOTATION: Final = re.compile(
    r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|(?<!\w)\'[^\'\n]{1,100}\'(?!\w)'
)
_BRACKETED: Final = re.compile(r"\[[^\]\n]{0,80}\]|<[^>\n]{1,80}>")

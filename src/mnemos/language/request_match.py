"""The statement that a request in words means, such as "forget where I live".

A statement is meant clearly if it has every content word of the request, in its text, in its target or as a
word for its attribute ("live" for "I moved to Hamburg"), is about the same person, and is the only one of
which this holds. If several have all words, the one is meant that says nothing else, or the only one that has
the words themselves. Anything less is a candidate: somebody has to choose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemos.errors import InvalidInput, TooLarge
from mnemos.language.updates.claim import Claim, Token, analyse, name_questions
from mnemos.text.words import UNSPACED, fold, runs

MOST_CANDIDATES: Final = 5
_LONGEST: Final = 500
# Statements with fewer of the words are not even offered.
_CANDIDATE_SHARE: Final = 0.5
# Openings of requests: "please forget what I said about …".
_PLEASE: Final = r"please|bitte|por favor|s'il (?:te|vous) plait|请"
_VERB: Final = (
    r"(?:forget|delete|remove|withdraw|erase|drop|vergiss|vergessen|losche?n?|entfernen?|oublie[rsz]?"
    r"|supprime[rsz]?|efface[rsz]?|olvidar?|olvidate de|borrar?|elimina?r?)\b|忘记|忘掉|删除"
)
_NOUN: Final = (
    r"(?:(?:the|my|our|your|this|a|die|das|meine?|la|le|el|lo)\s+)?"
    r"(?:fact|note|rule|decision|preference|entry|memory|information|thing|line|notiz|regel|nota|regla)s?"
    r"(?=\s+(?:that|about|on|of|for|to|uber|dass|que|sur|sobre|de)\b)"
)
_LINK: Final = r"(?:that|about|on|of|for|dass|uber|que|qu|sur|sobre|de)\b"
_ALL: Final = (
    r"(?:what|everything|anything|all|alles|tout|todo)(?:\s+(?:i|we|you)\s+(?:said|told you|know))?"
    rf"(?=\s*{_LINK}|$)"
)
_FRAME: Final = re.compile(
    rf"(?:(?:{_PLEASE})[\s,]*)?(?:(?:{_VERB})[\s,]*)?(?:{_NOUN}\s*)?(?:{_ALL}\s*)?(?P<link>{_LINK}['’]?\s*)?"
)
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_SAYS: Final = frozenset({"that", "dass", "que", "qu"})
_OWN: Final = re.compile(
    r"\b(?:i|me|my|mine|ich|mir|mich|mein\w*|je|moi|mon|ma|mes|yo|me|mi|mis)\b|\bj['’]", re.IGNORECASE
)
_NEGATED: Final = re.compile(r"n['’]t\b")
# Words of requests that say nothing about a statement.
_EMPTY: Final = frozenset("i wo wer wann ou quand donde cuando don anymore mehr plus please bitte".split())


@dataclass(frozen=True, slots=True)
class Request:
    claim: Claim
    words: frozenset[str]
    is_own: bool
    """True if it is about whoever asks, or theirs: "where I live"."""
    says: bool
    """True if it repeats the statement: "that I like jazz"."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The fit of a statement to a request."""

    share: float
    """The share of the request's words that it has."""
    has_doubt: bool
    """True if it is about somebody else, or says the opposite."""
    is_literal: bool
    """True if it has the words themselves, not only others for the same attribute."""
    is_exact: bool
    """True if it says nothing else."""

    @property
    def is_clear(self) -> bool:
        return self.share == 1 and not self.has_doubt


@dataclass(frozen=True, slots=True)
class Choice:
    """Positions of statements: the one that is meant, or the candidates, the likeliest first."""

    meant: int | None
    candidates: tuple[int, ...] = ()


def parse_request(text: str) -> Request:
    """Take a request apart; one that says nothing raises InvalidInput."""
    if len(text) > _LONGEST:
        raise TooLarge(f"The request has {len(text):,} characters. Describe what to forget in a few words.")
    line = " ".join(text.split()).strip(" .!?\"'“”„«»")
    frame = _FRAME.match(_align(line))
    end = frame.end() if frame else 0
    link = (frame["link"] or "") if frame else ""
    claim = analyse(line[end:])
    words = frozenset(word for token in claim.tokens for word in _split(token)) - _EMPTY
    if not words:
        raise InvalidInput(
            f"{line!r} does not say what to forget. Pass an id such as f12, or a few of its words."
        )
    return Request(claim, words, _OWN.search(claim.text) is not None, link.strip(" '’") in _SAYS)


def choose(request: Request, statements: Sequence[tuple[str, str]]) -> Choice:
    """Choose among statements, each with further words for it, such as its target."""
    fits = [fit(request, text, also) for text, also in statements]
    clear = [place for place, one in enumerate(fits) if one.is_clear]
    literal = [place for place in clear if fits[place].is_literal]
    exact = [place for place in clear if fits[place].is_exact]
    for some in (exact, literal, clear):
        if len(some) == 1:
            return Choice(some[0])
    near = [place for place, one in enumerate(fits) if one.share >= _CANDIDATE_SHARE]
    near.sort(key=lambda place: (-fits[place].share, fits[place].has_doubt, not fits[place].is_literal))
    return Choice(None, tuple(near[:MOST_CANDIDATES]))


def fit(request: Request, text: str, also: str = "") -> Fit:
    """Compare a request with a statement."""
    claim = analyse(text)
    further = analyse(f"{also} {also.replace('.', ' ')} {name_questions(text)}")
    own = {word for token in claim.tokens for word in _split(token)}
    there = own | {word for token in further.tokens for word in _split(token)}
    attributes = {*claim.attributes, *further.attributes}
    absent = request.words - there
    unsaid = {word for word in absent if attributes.isdisjoint(analyse(word).attributes)}
    is_users = claim.is_users or further.is_users
    # "Where I live" is not where my mother lives, nor where Anna does.
    others = {token.key for token in claim.subject} if claim.verb < len(claim.tokens) else set()
    is_elses = request.is_own and (not is_users or bool(others - request.words - _EMPTY))
    is_opposite = request.says and _is_negated(request.claim) != _is_negated(claim)
    return Fit(
        share=1 - len(unsaid) / len(request.words),
        has_doubt=is_elses or is_opposite,
        is_literal=not absent,
        is_exact=own - _EMPTY <= request.words,
    )


def _is_negated(claim: Claim) -> bool:
    return claim.has_negation or _NEGATED.search(claim.text) is not None


def _align(line: str) -> str:
    """Fold a line character by character, so that places in it stay the same."""
    return "".join(folded if len(folded := fold(char)) == 1 else char for char in line)


def _split(token: Token) -> Sequence[str]:
    """Return the words of a token; of scripts without blanks, the pairs of characters."""
    if not _UNSPACED.search(token.form):
        return (token.key,)
    # The last character alone is there to be found, not to be asked for.
    return [form for run in runs(token.form) for form in (run.forms[:-1] or run.forms)]

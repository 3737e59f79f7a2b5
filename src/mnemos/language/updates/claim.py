"""A statement taken apart: its subject, what is said of it, and the attribute it is about."""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from mnemos.text.words import STOP_WORDS, fold, stem

_WORDS: Final = Path(__file__).with_name("words.toml")
# A word with what belongs to it (3.12, eu-west-1, /srv/data, #ops), or the colon after a subject.
_TOKEN: Final = re.compile(
    r"[/~#@]?[^\W_](?:(?:[\w.:/#@&+-]|(?<=\d),(?=\d))*[\w+#])?|(?<=\S):(?=\s)|(?<=\s):|[€$£%]"
)
# L'entrée, Anna's, the users' rights.
_ELIDED: Final = re.compile(
    r"(?<!\w)(?:[dlcjsnmt]|qu)['’](?=\w)|(?<=\w)['’]s\b|(?<=s)['’](?=\s)", re.IGNORECASE
)
_IDENTIFIER: Final = re.compile(r"[\d_/@#]|\w[-.:]\w|\w[A-Z]")
_FORM: Final = re.compile(r"[^\W_]+")
_LONGEST: Final = 1_000

NOTE: Final = "note."
"""The beginning of a target whose subject is unknown."""
_SUBJECT_WORDS: Final = 4
_BEGINNING: Final = 4
_NOUN_REACH: Final = 3
_SETS: Final = tuple("stop plain copulas having nouns verbs several units periods numbers people".split())
_PATTERNS: Final = ("change", "hint", "add", "negation", "hedge")
_USER: Final = re.compile(
    r"\b(?:i|my|mine|user|ich|mein\w*|nutzer\w*|je|mon|ma|mes|utilisat\w+|yo|mi|mis|usuari[oa])\b|\bj['’]"
    # Spanish leaves the pronoun out.
    r"|^(?:vivo|trabajo|tengo|soy|estoy|tomo|hablo|uso|prefiero|voy|salgo|como|bebo|estudio|conduzco|llevo)\b",
    re.IGNORECASE,
)
_WE: Final = re.compile(
    r"\b(?:we|our|wir|unser\w*|nous|notre|nos|nosotros|nuestr[oa]s?)\b|^\w+amos\b"
    # French "on" begins a clause; the English one follows a word.
    r"|(?:^|[,;]\s|\b(?:quand|si)\s)on\b",
    re.IGNORECASE,
)
# We use Redis for caching.
_PURPOSE: Final = re.compile(
    r"\b(?:for|für|pour|para)\s+(?:(?:the|our|all|my|die|das|den|unsere?n?|la|le|les|nos|notre|el|los|las)\s+)?"
    r"([^\W\d_]+(?:\s+[^\W\d_]+)?)\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A content word. ``key`` is how words are compared."""

    form: str
    key: str
    is_number: bool
    is_identifier: bool
    is_name: bool
    """Written with a capital letter."""
    is_verb: bool
    is_unit: bool
    is_period: bool


@dataclass(frozen=True)
class Claim:
    text: str
    tokens: tuple[Token, ...]
    verb: int
    """The number of tokens before the verb or colon. All of them if there is neither."""
    verb_at: int
    """The position of the verb or colon in the text."""
    attributes: tuple[str, ...]
    """Attributes of the subject, such as ``home`` or ``port``."""
    attribute: str | None
    """The first of them that the predicate says."""
    is_users: bool
    """True if the subject is the user, or somebody or something of the user's."""
    has_change: bool
    has_hint: bool
    has_addition: bool
    has_negation: bool
    is_hedged: bool
    can_be_several: bool
    people: frozenset[str]
    """The people it is about, such as a sister; without the user."""
    says_has: bool
    """True if its verb is a form of "to have"."""
    beginnings: frozenset[str]
    """The first letters of its words."""

    @property
    def subject(self) -> tuple[Token, ...]:
        return self.tokens[: self.verb]

    @property
    def predicate(self) -> tuple[Token, ...]:
        return self.tokens[self.verb :]

    @property
    def is_impersonal(self) -> bool:
        """True if it has a subject and mentions neither the user nor the team."""
        return bool(self.subject) and not (_USER.search(self.text) or _WE.search(self.text))

    @cached_property
    def target(self) -> str | None:
        """Its subject and attribute as a dotted path; None if they can't be separated."""
        return _find_target(self)


@dataclass(frozen=True, slots=True)
class _Words:
    sets: dict[str, frozenset[str]]
    patterns: dict[str, re.Pattern[str]]
    attributes: dict[str, tuple[str, ...]]
    """By the stems of the words that say them."""
    asked: dict[str, str]


@lru_cache(maxsize=2_000)
def analyse(text: str) -> Claim:
    """Take a statement apart. Only the beginning of a long text counts."""
    words = _load_words()
    text = _ELIDED.sub(lambda found: " " * len(found.group()), text[:_LONGEST])
    folded = fold(text)
    forms = _FORM.findall(folded)
    tokens: list[Token] = []
    verb, verb_at, could_be_noun, says_has = -1, len(text), False, False
    for match in _TOKEN.finditer(text):
        written = match.group()
        form = fold(written)
        # "A" in "node A" and the department "IT" are not the words they look like.
        is_label = written.isupper() and written.isalpha() and (len(written) > 1 or match.start() > 0)
        is_verb = not is_label and (form in words.sets["plain"] or form in words.sets["verbs"])
        is_copula = form in words.sets["copulas"]
        # A first word that could be a verb is a noun if one follows: deploys happen on Fridays. So is one
        # soon followed by a form of "to be": the files of run A7 are in the archive.
        was_noun = verb >= 0 and ((verb_at == 0 and len(tokens) == 1) or (is_copula and could_be_noun))
        if (verb < 0 or (was_noun and len(tokens) - verb <= _NOUN_REACH)) and (
            is_verb or (written == ":" and tokens)
        ):
            verb, verb_at = len(tokens), match.start()
            could_be_noun = form in words.sets["nouns"] and len(tokens) > 0
            says_has = form in words.sets["having"]
        else:
            # Only the verb that splits the statement: many nouns look like verbs of another language.
            is_verb = False
        is_empty = (
            form in words.sets["plain"] or form in words.sets["stop"] or form in STOP_WORDS or written == ":"
        )
        if is_label or not is_empty:
            tokens.append(_make_token(written, form, words, is_label=is_label, is_verb=is_verb))
    said = dict.fromkeys(name for form in forms for name in words.attributes.get(stem(form), ()))
    return Claim(
        text=text,
        tokens=tuple(tokens),
        verb=verb if verb >= 0 else len(tokens),
        verb_at=verb_at,
        attributes=tuple(said),
        attribute=next(
            (
                name
                for form in _FORM.findall(fold(text[verb_at:]))
                for name in words.attributes.get(stem(form), ())
            ),
            None,
        ),
        is_users=_USER.search(text[: verb_at or _LONGEST]) is not None,
        has_change=words.patterns["change"].search(folded) is not None,
        has_hint=words.patterns["hint"].search(folded) is not None,
        has_addition=words.patterns["add"].search(folded) is not None,
        has_negation=words.patterns["negation"].search(folded) is not None,
        is_hedged=words.patterns["hedge"].search(folded) is not None,
        can_be_several=not words.sets["several"].isdisjoint(forms),
        people=frozenset(
            token.form for token in tokens[: max(verb, 0)] if token.form in words.sets["people"]
        ),
        says_has=says_has,
        beginnings=frozenset(token.key[:_BEGINNING] for token in tokens),
    )


def _make_token(written: str, form: str, words: _Words, *, is_label: bool, is_verb: bool) -> Token:
    is_number = any(char.isdigit() for char in form) or form in words.sets["numbers"]
    is_identifier = is_label or _IDENTIFIER.search(written) is not None
    return Token(
        form=form,
        key=form if is_number or is_identifier else stem(form),
        is_number=is_number,
        is_identifier=is_identifier,
        is_name=written[:1].isupper(),
        is_verb=is_verb,
        is_unit=form in words.sets["units"] or form in words.sets["periods"],
        is_period=form in words.sets["periods"],
    )


def name_target(text: str, *, has_value: bool = True) -> str:
    """Name what a statement is about: its subject and attribute, never its value.

    If these can't be separated, the target belongs to this text alone. A rule or a question has no value:
    its first words name it.
    """
    claim = analyse(" ".join(text.split()))
    if not has_value and claim.verb in (0, len(claim.tokens)):
        words = [token.form for token in claim.tokens if _FORM.search(token.form)]
        return ".".join(words[:_SUBJECT_WORDS]) or _name_note(claim)
    return claim.target or _name_note(claim)


def _find_target(claim: Claim) -> str | None:
    if claim.verb == len(claim.tokens):
        return None
    subject = claim.subject
    if claim.attribute == "owner" and len(subject) == 1 and subject[0].is_name and not claim.is_users:
        # "Ines owns the billing repo": the name is the value.
        subject = tuple(token for token in claim.predicate if not token.is_verb)
    names = [token.form for token in subject[:_SUBJECT_WORDS] if _FORM.search(token.form)]
    who = "user" if claim.is_users else "team" if _WE.search(claim.text[: claim.verb_at]) else ""
    if who == "user" or (who and not names):
        purpose = _PURPOSE.search(claim.text, claim.verb_at)
        names = names or (purpose[1].lower().split() if purpose else [])
        names = [who, *(name for name in names if not _USER.fullmatch(name))]
    if names and claim.attribute and claim.attribute not in names:
        names.append(claim.attribute)
    return ".".join(names) if names not in ([], ["user"], ["team"]) else None


def name_questions(text: str) -> str:
    """Return the words that people ask with for what a statement says, such as "live" for a move."""
    asked = _load_words().asked
    return " ".join(dict.fromkeys(word for name in analyse(text).attributes for word in asked[name].split()))


def is_own_target(target: str, text: str) -> bool:
    """True if a target was named after a text, and not by its writer."""
    return target.startswith(NOTE) or target == analyse(text).target


def sign_attributes(text: str) -> str:
    """Return a made-up word for each attribute of a statement, by which others about it are found."""
    return " ".join(f"attr{name.replace('_', '')}" for name in analyse(text).attributes)


def _name_note(claim: Claim) -> str:
    folded = " ".join(fold(claim.text).split())
    return f"{NOTE}{hashlib.blake2b(folded.encode('utf-8', 'replace'), digest_size=2).hexdigest()}"


@lru_cache(maxsize=1)
def _load_words() -> _Words:
    table: dict[str, Any] = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    attributes: dict[str, tuple[str, ...]] = {}
    for name, listed in table["attributes"].items():
        for one in dict.fromkeys(map(stem, listed.split())):
            attributes[one] = (*attributes.get(one, ()), name)
    sets = {name: frozenset(table[name].split()) for name in _SETS}
    patterns = {name: _compile_any(table[name]) for name in _PATTERNS}
    return _Words(sets, patterns, attributes, table["asked"])


def _compile_any(listed: str) -> re.Pattern[str]:
    alternatives = [one.strip() for one in listed.strip().replace("\n", "|").split("|")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)")

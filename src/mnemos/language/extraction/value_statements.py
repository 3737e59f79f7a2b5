"""Sentences that give something a value: a subject, a verb, and something that looks like a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mnemos.language.extraction.forms import Values

_FILES: Final = (
    "toml|ya?ml|json|ini|cfg|conf|env|py|md|txt|sql|sh|ts|js|go|rs|java|csv|log|lock|xml|html|db|sqlite"
)
_ENDINGS: Final = (
    "com|org|net|io|dev|app|internal|local|lan|example|test|cloud|ai|co|de|fr|es|eu|ch|at|uk|us|info"
)
# Values that nobody writes by chance: addresses, paths, identifiers, tickets, ports and phone numbers.
_STRONG: Final = re.compile(
    rf"""\w+://\S|(?<![\w@.])(?:[\w-]+\.)+(?:{_ENDINGS})\b|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b|[\w.+-]+@[\w-]+\.\w
    |(?<![\w/])(?:~|\.{{1,2}})?/[\w.-]+|\b\w+(?:/[\w.-]+){{2,}}|\b(?:src|tests?|docs?|lib|app|config|scripts)/\w
    |\b[a-z]+/[\w.-]*[-_\d][\w.-]*|\b[\w/-]+\.(?:{_FILES})\b|`|\bon\ \d{{4,5}}\b|(?<!\w):\d{{2,5}}\b
    |\b[a-z][\w.-]+:\d{{2,5}}\b|\bport\s\d|\b[A-Z]{{2,}}-\d+\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b
    |(?<!\w)\+\d[\d\ ()/-]{{6,}}|\b[a-z0-9]+_\w+\b|\b[a-z]{{2,}}-\d+\b|(?<!\S)\#[a-z][\w-]+
    |\b[a-z]+(?:-(?!(?:to|and|the|in|of|by|up|on|a|at|out)\b)[a-z0-9]+){{2,}}\b|\b[A-Z][a-z]+/[A-Z][\w_]+""",
    re.VERBOSE,
)
# Every strong value has one of these, and most sentences have none.
_HINT: Final = re.compile(r"[\d/@_#`]|[A-Za-z]\.[A-Za-z]|\w-\w+-\w")
_VERSION: Final = re.compile(r"\bv?\d+(?:\.\d+)+\b|\b[A-Z]\w+ \d{1,4}\b")
_NUMBER: Final = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b")
_NAME: Final = re.compile(r'(?<!\w)[A-Z][\w.+#-]+|["“„«]|\b[A-Z]\b')
_BEFORE_VALUE: Final = re.compile(
    r"\s*(?:(?:now|at|in|on|under|via|from|the(?: \w+)?|only|still|always|branch|to)\s+)*[\"'(]?"
)
_CLOCK: Final = re.compile(r" (?:at|on|from) (?:\d{1,2}[:.]\d\d|\d{1,2} ?[ap]m\b)")
_SCHEDULE: Final = re.compile(
    r"\b(?:after|within|every|each) (?:\d+ (?:seconds|minutes|hours|days|weeks|months|years)|month|week"
    r"|day|night)\b|\d ?(?:euros?|eur|usd|dollars?|€|[gmk]b)\b"
)
# A request to look at something now.
_REQUEST: Final = re.compile(
    r", (?:please )?(?:(?:have|take) a look|(?:open|run|check|read|fix|see) (?:it|them|that|this))\b"
)
_SETTING: Final = re.compile(r" to \d")
# One word for a state instead of a value.
_STATE: Final = re.compile(r"\w+(?:ed|ing|ful|less|able|ible|ous|ive|é|ée|ado|ada|ido|ida)")
_KEYED: Final = re.compile(r"([^\W\d_][\w'/ -]{1,40}?) ?(?::| =) (?=\S)")
_FOR_USERS: Final = frozenset({"timed", "counted", "acts"})
_MOST_WORDS: Final = 9
_NEAR: Final = 24
_FEW: Final = 6


@dataclass(frozen=True, slots=True)
class Found:
    """The subject of a value, and the place of the verb."""

    subject: str
    at: int


def find_value(forms: Values, original: str, said: str, *, by_user: bool) -> Found | None:
    """Return the first statement of a value in a sentence.

    Assistants mostly state common knowledge, so only names and addresses of a system count.
    """
    if not by_user and not (_is_strong(original) or _VERSION.search(original)):
        return None
    line = _KEYED.match(said)
    if line is not None and _is_keyed(
        forms, line[1], original[line.end() :], said[line.end() :], by_user=by_user
    ):
        return Found(line[1], 0)
    if _REQUEST.search(said):
        return None
    for verb in forms.verb.finditer(said):
        if not by_user and verb.lastgroup in _FOR_USERS:
            continue
        subject = _find_subject(forms, said[: verb.start()])
        if subject and _fits(
            forms, verb, subject, original[verb.end() :], said[verb.end() :], by_user=by_user
        ):
            return Found(subject, verb.start())
    return None


def _is_keyed(forms: Values, key: str, written: str, said: str, *, by_user: bool) -> bool:
    """True for ``Staging: https://...``, where the whole rest is a value."""
    if len(written.split()) > _FEW or forms.vague.match(said):
        return False
    if _is_strong(written):
        return True
    return by_user and _has(forms.nouns, key) and _is_value(forms, key, written, said)


def _find_subject(forms: Values, before: str) -> str:
    """Return the subject before the verb; empty if it can't be understood alone."""
    subject = forms.joint.split(before)[-1].strip()
    words = subject.split()
    if len(words) > 2 and words[0] in forms.every:
        subject, words = " ".join(words[1:]), words[1:]
    if (
        not words
        or len(words) > _MOST_WORDS
        or words[0] in forms.others
        or not forms.passing.isdisjoint(words)
    ):
        return ""
    return subject if any(word not in forms.small for word in words) else ""


def _fits(
    forms: Values, verb: re.Match[str], subject: str, written: str, said: str, *, by_user: bool
) -> bool:
    if not said.strip() or forms.vague.match(said.strip()):
        return False
    match verb.lastgroup:
        case "called":
            return True
        case "placed":
            return bool(_is_strong(written) or _VERSION.search(written) or (by_user and _SETTING.match(said)))
        case "timed":
            return bool(_NUMBER.search(said) or forms.dates.search(said))
        case "acts":
            return _is_strong(written) or bool(_SCHEDULE.search(said))
        case "counted":
            return _is_own(forms, subject) and bool(_NUMBER.search(said[:_NEAR]))
    if _is_strong_from_the_start(written):
        return True
    if not by_user:
        return False
    if _CLOCK.match(said):
        return True
    if _has(forms.nouns, subject):
        return _is_value(forms, subject, written, said)
    return subject.split()[0] in forms.ours and bool(_NAME.search(written))


def _is_strong(written: str) -> bool:
    return _HINT.search(written) is not None and _STRONG.search(written) is not None


def _is_strong_from_the_start(written: str) -> bool:
    start = _BEFORE_VALUE.match(written)
    return (
        _HINT.search(written) is not None and _STRONG.match(written, start.end() if start else 0) is not None
    )


def _is_value(forms: Values, subject: str, written: str, said: str) -> bool:
    if _is_strong(written) or _NUMBER.search(said) or _NAME.search(written) or forms.dates.search(said):
        return True
    return _has(forms.named, subject) and len(said.split()) <= _FEW and not _STATE.fullmatch(said.strip())


def _is_own(forms: Values, subject: str) -> bool:
    return subject.split()[0] in forms.ours or _has(forms.grouped, subject)


def _has(nouns: frozenset[str], subject: str) -> bool:
    return any(word.removesuffix("'s") in nouns for word in subject.split())

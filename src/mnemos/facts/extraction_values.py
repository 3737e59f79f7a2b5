"""Sentences that give something a value: a subject, a verb, and what looks like a value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mnemos.facts.extraction_forms import Values

# What nobody writes by chance: addresses, paths, identifiers, versions.
_FILES: Final = "toml|ya?ml|json|ini|cfg|conf|env|py|md|txt|sql|sh|ts|js|go|rs|java|csv|log|lock|xml|html|db|sqlite"
_ENDINGS: Final = "com|org|net|io|dev|app|internal|local|lan|example|test|cloud|ai|co|de|fr|es|eu|ch|at|uk|us|info"
STRONG: Final = re.compile(
    rf"""\w+://\S|(?<![\w@.])(?:[\w-]+\.)+(?:{_ENDINGS})\b|\b\d{{1,3}}(?:\.\d{{1,3}}){{3}}\b|[\w.+-]+@[\w-]+\.\w
    |(?<![\w/])(?:~|\.{{1,2}})?/[\w.-]+|\b\w+(?:/[\w.-]+){{2,}}|\b[a-z]+/[\w-]*[-_][\w-]*|\b[\w/-]+\.(?:{_FILES})\b
    |`|\b[\w.-]+:\d{{2,5}}\b|\bport\s\d|\b[A-Z]{{2,}}-\d+\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|(?<!\w)\+\d[\d\ ()/-]{{6,}}
    |\b[a-z0-9]+_[a-z0-9_]+\b|\b[a-z]+-\d+\b|(?<!\S)\#[a-z][\w-]+|\b[a-z]+(?:-[a-z0-9]+){{2,}}\b|\b[A-Z][a-z]+/[A-Z][\w_]+""",
    re.VERBOSE,
)
_VERSION: Final = re.compile(r"\bv?\d+(?:\.\d+)+\b|\b[A-Za-z]\w+ \d{1,4}\b")
_NUMBER: Final = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve)\b")
_NAME: Final = re.compile(r'(?<!\w)[A-Z][\w.+#-]+|["“„«]|\b[A-Z]\b')
_MOST_WORDS: Final = 9
_NEAR: Final = 24
_FEW: Final = 6


@dataclass(frozen=True, slots=True)
class Found:
    """What has the value, and where the verb begins."""

    subject: str
    at: int


def value(forms: Values, original: str, said: str) -> Found | None:
    """The first statement of a value in a sentence."""
    line = _KEYED.match(said)
    if line is not None and _is_value(original[line.end() :]) and not forms.vague.match(said[line.end() :].strip()):
        return Found(line[1], 0)
    for verb in forms.verb.finditer(said):
        subject = _subject(forms, said[: verb.start()])
        if subject and _fits(forms, verb, subject, original[verb.end() :], said[verb.end() :]):
            return Found(subject, verb.start())
    return None


_KEYED: Final = re.compile(r"([^\W\d_][\w'/ -]{1,40}?) ?(?::| =) (?=\S)")


def _is_value(written: str) -> bool:
    """The whole of it is a value, not a sentence about one."""
    return len(written.split()) <= _FEW and bool(STRONG.search(written) or _NUMBER.search(written))


def _subject(forms: Values, before: str) -> str:
    """The words before the verb that are its subject; empty where they cannot be understood alone."""
    subject = forms.joint.split(before)[-1].strip()
    words = subject.split()
    if not words or len(words) > _MOST_WORDS or words[0] in forms.others:
        return ""
    if not forms.passing.isdisjoint(words):
        return ""
    return subject if any(word not in forms.small for word in words) else ""


def _fits(forms: Values, verb: re.Match[str], subject: str, original: str, said: str) -> bool:
    rest = said.strip()
    if not rest or forms.vague.match(rest):
        return False
    kind = verb.lastgroup
    known = {word.removesuffix("'s") for word in subject.split()}
    if kind == "called":
        return True
    if kind == "placed":
        return bool(STRONG.search(original) or _VERSION.search(original))
    if kind == "timed":
        return bool(_NUMBER.search(original) or forms.dates.search(said))
    if kind == "counted":
        return _is_own(forms, subject) and bool(_NUMBER.search(said[:_NEAR]))
    if not known.isdisjoint(forms.nouns):
        return _is_told(forms, known, original, said)
    if STRONG.search(original[:_NEAR]) is not None:
        return True
    return subject.split()[0] in forms.ours and bool(_NAME.search(original))


def _is_own(forms: Values, subject: str) -> bool:
    words = subject.split()
    return words[0] in forms.ours or not forms.grouped.isdisjoint(words)


def _is_told(forms: Values, known: set[str], original: str, said: str) -> bool:
    if STRONG.search(original) or _NUMBER.search(said) or _NAME.search(original) or forms.dates.search(said):
        return True
    return not known.isdisjoint(forms.named) and len(said.split()) <= _FEW

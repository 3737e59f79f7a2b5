"""The ideas that a sentence speaks of, looked up in a list of words in several languages.

``assets/concepts.txt`` says which words stand for which idea, and how it is written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from mnemos.text.threats.folding import folded
from mnemos.text.words import stem

LISTED: Final = Path(__file__).with_name("assets") / "concepts.txt"
NOT: Final = "negated"
# How many other words "*" may stand for.
_GAP: Final = 4
_LONGEST_SIGN: Final = 6

# Addresses and names stand for what they are; which one it is says nothing. Tried where the sign stands.
_STAND_INS: Final = (
    ("`", re.compile(r"`[^`\n]*`"), " qcode "),
    ("://", re.compile(r"(?:https?|ftp|wss?|s3)://(?:localhost|127\.|10\.|192\.168\.)\S*"), " qlocal "),
    ("://", re.compile(r"(?:https?|s?ftp|wss?|s3)://[^\s)>\"'`]+"), " qurl "),
    ("@", re.compile(r"[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"), " qmail "),
    (".", re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}\b"), " qip "),
    (
        "",
        re.compile(
            r"(?<![\w-])(?:~/)?\.(?:env|ssh|aws|netrc|gnupg|kube)\b\S*|\bid_(?:rsa|ed25519)\b"
            r"|/etc/(?:passwd|shadow)"
        ),
        " qsecretfile ",
    ),
    (
        "",
        re.compile(
            r"(?<!\w)[~.]?/[\w./-]+|\b[\w-]{1,64}(?:/[\w.-]+)+"
            r"|\b[\w-]{1,64}\.(?:py|md|sh|ya?ml|json|txt|js|toml|ini|log|csv|pem)\b"
        ),
        " qpath ",
    ),
    ("$", re.compile(r"\$\{?\w+\}?"), " qvar "),
    ("", re.compile(r"\b\d[\d.,:]*\b"), " qnum "),
)
# Brackets and bars are none: what imitates a block or a call is found by rules.
_WORD: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*|\"|[.!?;:,](?=\s|$)")
_PART: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*|\*")
_CHINESE: Final = re.compile(r"[\u3400-\u9fff]+")
_NOT_ENDING: Final = "n't"

_stem = lru_cache(maxsize=20_000)(stem)


def words_of(sentence: str) -> list[str]:
    """The stems and signs of a folded sentence in order; addresses, paths and numbers by what they are."""
    for sign, expression, name in _STAND_INS:
        if sign in sentence:
            sentence = expression.sub(name, sentence)
    found: list[str] = []
    for word in _WORD.findall(sentence):
        if _CHINESE.match(word):
            found.extend(_signs(word))
        else:
            found.append(_stem(word))
    return found


def concepts_of(words: Sequence[str]) -> list[tuple[int, str]]:
    """(number of the word, idea) in order of the words; a word may stand for several ideas."""
    index = _listed().index
    found: list[tuple[int, str]] = []
    for at, word in enumerate(words):
        forms = index.get(word)
        if forms is None and word.endswith(_NOT_ENDING):
            forms = index.get(_NOT_ENDING)
        if forms is not None:
            seen: set[str] = set()
            for rest, name in forms:
                if name not in seen and (not rest or _follow(words, at + 1, rest)):
                    seen.add(name)
                    found.append((at, name))
    return found


def said(name: str) -> str:
    """An idea in words for people; ``!`` before a name denies it."""
    plain = name.lstrip("!^")
    told = _listed().said.get(plain, plain)
    return f"not: {told}" if name.startswith("!") else told


_Forms = list[tuple[tuple[str, ...], str]]


class _Listed:
    """The list: by first word, what has to follow and the idea; signs of scripts without blanks; names."""

    __slots__ = ("index", "said", "signs")

    def __init__(self, text: str) -> None:
        self.index: dict[str, _Forms] = {}
        self.said: dict[str, str] = {}
        self.signs: set[str] = set()
        name = ""
        for line in text.splitlines():
            if line[:1].isspace():
                for form in line.split():
                    self._add(name, folded(form).text)
            elif line and not line.startswith("#"):
                name, _, self.said[name] = line.partition(": ")
        for forms in self.index.values():
            forms.sort(key=lambda form: (-len(form[0]), form))

    def _add(self, name: str, form: str) -> None:
        if _CHINESE.match(form):
            self.signs.add(form)
            first, rest = form, []
        else:
            first, *rest = map(_stem, _PART.findall(form.replace("_", " ")))
        self.index.setdefault(first, []).append((tuple(rest), name))


@lru_cache(maxsize=1)
def _listed() -> _Listed:
    return _Listed(LISTED.read_text(encoding="utf-8"))


def _follow(words: Sequence[str], at: int, rest: tuple[str, ...]) -> bool:
    for number, part in enumerate(rest):
        if part == "*":
            return any(_follow(words, at + gap, rest[number + 1 :]) for gap in range(_GAP + 1))
        if at >= len(words) or words[at] != part:
            return False
        at += 1
    return True


def _signs(run: str) -> Iterator[str]:
    """The longest listed signs from left to right; what is not listed is passed over."""
    signs = _listed().signs
    at = 0
    while at < len(run):
        for length in range(_LONGEST_SIGN, 0, -1):
            if run[at : at + length] in signs:
                yield run[at : at + length]
                at += length
                break
        else:
            at += 1

"""Facts as they are written: ``TYPE[target]: content``, one a line (MEMORY_SPEC v1.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from unicodedata import category, normalize

from mnemos.errors import InvalidInput, TooLarge

MAX_TARGET: Final = 200
MAX_LINES: Final = 200

_SHOWN: Final = 60


class Mark(StrEnum):
    """The type of a fact, as it is written."""

    CONSTRAINT = "C"
    DECISION = "D"
    VALUE = "V"
    UNKNOWN = "?"
    DONE = "✓"
    OBSOLETE = "~"


MEANING: Final = {
    Mark.CONSTRAINT: "constraint",
    Mark.DECISION: "decision",
    Mark.VALUE: "value",
    Mark.UNKNOWN: "unknown",
    Mark.DONE: "done",
    Mark.OBSOLETE: "obsolete",
}

# What models write instead of the sign.
_SIGNS: Final = {
    **{mark.value: mark for mark in Mark},
    "✔": Mark.DONE, "✅": Mark.DONE, "☑": Mark.DONE, "√": Mark.DONE,
    "？": Mark.UNKNOWN, "～": Mark.OBSOLETE, "〜": Mark.OBSOLETE,
    "c": Mark.CONSTRAINT, "d": Mark.DECISION, "v": Mark.VALUE,
    **{name: mark for mark, name in MEANING.items()},
}  # fmt: skip
# These may say nothing but that it is so.
_SPEAK_FOR_THEMSELVES: Final = frozenset({Mark.DONE, Mark.OBSOLETE})

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_BULLET: Final = re.compile(r"(?:[-*•+]|\d{1,4}[.)])[ \t]+(?=\S)")
_FENCE: Final = re.compile(r"`{3,}[\w-]*")
# The head of a line: a sign or a word, brackets, a colon. A variation selector may follow an emoji.
_HEAD: Final = re.compile(
    r"[*_`]{0,3}([^\W\d_]{1,12}|[^\w\s\[\]])\ufe0f?[ \t]*\[([^\[\]]*)\][*_`]{0,3}[ \t]*(?:[:：]|$)"
)
_DOTS: Final = re.compile(r"[ \t]*\.[ \t]*")
_BLANKS: Final = re.compile(r"\s+")
_JOINERS: Final = frozenset("\u200c\u200d")
_NOT_IN_TARGETS: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_TAB: Final = "\t"


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of notation, understood."""

    mark: Mark
    target: str
    content: str

    @property
    def key(self) -> str:
        """What targets are compared by."""
        return key_of(self.target)

    @property
    def is_critical(self) -> bool:
        return is_critical(self.content)

    def __str__(self) -> str:
        return written(self.mark, self.target, self.content)


def parse(text: str, *, most: int = 400) -> list[Statement]:
    """Every line a statement, in order; one that cannot be read fails them all.

    ``most``: the characters that a content may have. Blank lines and code fences are passed over.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"content is a {type(text).__name__}; use a text such as D[auth]: JWT, 7 days")
    lines = list(_lines(text))
    if not lines:
        raise InvalidInput("content is empty; write a fact such as D[auth]: JWT, 7 days")
    if len(lines) > MAX_LINES:
        raise TooLarge(
            f"there are {len(lines):,} facts in one call; at most {MAX_LINES}: send them in several calls"
        )
    return [_statement(line, number, len(lines), most) for number, line in lines]


def written(mark: str, target: str, content: str) -> str:
    """A fact in notation, as ``parse`` reads it."""
    return f"{mark}[{target}]: {content}" if content else f"{mark}[{target}]:"


def checked_target(target: str) -> str:
    """A target as it is kept: blanks around it and its dots gone. One that is none raises InvalidInput."""
    if len(target) > MAX_TARGET:
        raise TooLarge(f"the target has {len(target):,} characters; at most {MAX_TARGET}: name it shortly")
    bare = target.strip(" ")
    for character in bare:
        if category(character) in _NOT_IN_TARGETS and character not in _JOINERS:
            raise InvalidInput(
                f"the target {_shown(target)} has the character U+{ord(character):04X}; a target has no "
                "line breaks, control or invisible characters"
            )
    if "[" in bare or "]" in bare:
        raise InvalidInput(f"the target {_shown(target)} has brackets; write it as a dotted path")
    kept = _DOTS.sub(".", _BLANKS.sub(" ", normalize("NFC", bare))).strip(" ")
    if not all(kept.split(".")):
        raise InvalidInput(
            f"the target {_shown(target)} is empty or has an empty part; use a dotted path such as srv.prod"
        )
    return kept


def key_of(name: str) -> str:
    """What targets and labels of scopes are compared by."""
    return normalize("NFC", name.casefold())


def is_critical(content: str) -> bool:
    """Whether a content is marked with a ``!`` before or after."""
    bare = content.strip()
    return bare.startswith("!") or bare.endswith("!")


def looks_like(text: str) -> bool:
    """Whether a text is meant as notation: its first line begins like one."""
    first = next(_lines(text), None)
    return first is not None and _head(first[1]) is not None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_LINE_BREAK.split(text), start=1):
        bare = line.strip(" \t\ufeff")
        if bare and not _FENCE.fullmatch(bare):
            yield number, bare


def _head(line: str) -> re.Match[str] | None:
    bullet = _BULLET.match(line)
    found = _HEAD.match(line, bullet.end() if bullet else 0)
    if found is None or (found[1] not in _SIGNS and found[1].lower() not in _SIGNS):
        return None
    return found


def _statement(line: str, number: int, count: int, most: int) -> Statement:
    where = f"line {number}: " if count > 1 else ""
    head = _head(line)
    if head is None:
        raise InvalidInput(
            f"{where}{_shown(line)} is no fact; write TYPE[target]: content with C, D, V, ?, ✓ or ~, "
            "for example V[srv.prod]: api.example.com:3005"
        )
    mark = _SIGNS.get(head[1]) or _SIGNS[head[1].lower()]
    try:
        target = checked_target(head[2].replace(_TAB, " "))
        content = _content(line[head.end() :], quoted=line.startswith("`"))
        _check_content(mark, target, content, most)
    except InvalidInput as exc:
        raise type(exc)(f"{where}{exc}") from None
    return Statement(mark, target, content)


def _content(rest: str, *, quoted: bool) -> str:
    bare = rest.strip(" \t")
    return bare.removesuffix("`").rstrip(" \t") if quoted and bare.count("`") % 2 else bare


def _check_content(mark: Mark, target: str, content: str, most: int) -> None:
    if not content and mark not in _SPEAK_FOR_THEMSELVES:
        raise InvalidInput(f"{mark}[{target}] says nothing; write what holds after the colon")
    if len(content) > most:
        raise TooLarge(
            f"{mark}[{target}] has {len(content):,} characters of content; at most {most}: split it into "
            f"several facts, such as {mark}[{target[:40]}.1] and {mark}[{target[:40]}.2]"
        )
    for character in content:
        if category(character) in ("Cc", "Cs") and character != _TAB:
            raise InvalidInput(
                f"{mark}[{target}] has the character U+{ord(character):04X} in its content; leave control "
                "characters out"
            )


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")

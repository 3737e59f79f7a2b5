"""The notation of facts: ``TYPE[target]: content``, one per line (MEMORY_SPEC v1.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from unicodedata import category, normalize

from mnemos.errors import InvalidInput, TooLarge

HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that are invisible or break a line."""
JOINERS: Final = frozenset("\u200c\u200d")
"""Invisible characters that hold letters and emoji together, and stay."""

MAX_TARGET: Final = 200
MAX_LINES: Final = 200

_QUOTED: Final = 60


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

# Words that models write instead of the sign.
_SIGNS: Final = {
    **{mark.value: mark for mark in Mark},
    "✔": Mark.DONE, "✅": Mark.DONE, "☑": Mark.DONE, "√": Mark.DONE,
    "？": Mark.UNKNOWN, "～": Mark.OBSOLETE, "〜": Mark.OBSOLETE,
    "c": Mark.CONSTRAINT, "d": Mark.DECISION, "v": Mark.VALUE,
    **{name: mark for mark, name in MEANING.items()},
}  # fmt: skip
# Marks that need no content.
_CONTENT_OPTIONAL: Final = frozenset({Mark.DONE, Mark.OBSOLETE})

_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
_BULLET: Final = re.compile(r"[-•+>]+[ \t]*|\*[ \t]+|\d{1,4}[.)][ \t]+")
_FENCE: Final = re.compile(r"`{3,}[\w-]*")
# The head of a line: a sign or a word, brackets, a colon. Markdown emphasis around it, or around the whole
# line, is ignored; a variation selector may follow an emoji.
_HEAD: Final = re.compile(
    r"(?P<emphasis>[*_`]{0,3})(?P<sign>[^\W\d_]{1,12}|[^\w\s\[\]*`])\ufe0f?[ \t]*\[(?P<target>[^\[\]]*)\]"
    r"(?:(?P<closed>(?P=emphasis)[ \t]*(?:[:：]|$)|[ \t]*[:：](?P=emphasis))|[ \t]*[:：]|[ \t]*$)"
)
_BLANKS: Final = re.compile(r"\s+")
_BLANK_OR_JOINER: Final = " \u200c\u200d"
_TAB: Final = "\t"
_BLANK: Final = " \t"


@dataclass(frozen=True, slots=True)
class Statement:
    """One parsed line of notation."""

    mark: Mark
    target: str
    content: str

    @property
    def key(self) -> str:
        """The form of the target used in comparisons."""
        return key_of(self.target)

    def __str__(self) -> str:
        return format_line(self.mark, self.target, self.content)


def parse(text: str, *, most: int = 400) -> list[Statement]:
    """Parse one statement per line, in order; one invalid line fails them all.

    ``most`` is the maximum number of characters of a content. Blank lines and code fences are skipped.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"content must be a string such as D[auth]: JWT, not {type(text).__name__}")
    lines = list(_lines(text))
    if not lines:
        raise InvalidInput("content is empty. Write a fact such as D[auth]: JWT, 7 days.")
    if len(lines) > MAX_LINES:
        raise TooLarge(f"The call has {len(lines):,} facts. The limit is {MAX_LINES}. Use several calls.")
    return [_statement(line, number, len(lines), most) for number, line in lines]


def format_line(mark: str, target: str, content: str) -> str:
    """Format a fact in the notation that ``parse`` reads."""
    return f"{mark}[{target}]: {content}" if content else f"{mark}[{target}]:"


def normalize_target(target: str) -> str:
    """Return a target without blanks around it and its dots; an invalid one raises InvalidInput."""
    if not isinstance(target, str):
        raise InvalidInput(f"target must be a string such as srv.prod, not {target!r}.")
    check_visible("target", target)
    if "[" in target or "]" in target:
        raise InvalidInput(f"The target {_quote(target)} has brackets. Write it as a dotted path.")
    kept = ".".join(
        part.strip(_BLANK_OR_JOINER) for part in _BLANKS.sub(" ", normalize("NFC", target)).split(".")
    )
    if len(kept) > MAX_TARGET:
        raise TooLarge(f"The target has {len(kept):,} characters. The limit is {MAX_TARGET}.")
    if not all(kept.split(".")):
        raise InvalidInput(
            f"The target {_quote(target)} is empty or has an empty part. Use a dotted path such as srv.prod."
        )
    return kept


def check_visible(what: str, name: str) -> None:
    """Raise InvalidInput for a name with invisible characters or line breaks."""
    for character in name.strip(" "):
        if category(character) in HIDDEN and character not in JOINERS:
            raise InvalidInput(
                f"The {what} {_quote(name)} contains the character U+{ord(character):04X}. Remove line "
                "breaks, control and invisible characters."
            )


def strip_hidden(text: str) -> str:
    """Replace control characters and line breaks by blanks and remove other invisible characters.

    Joiners stay, because they hold letters and emoji together.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_show, text))


def _show(character: str) -> str:
    kind = category(character)
    if kind not in HIDDEN or character in JOINERS:
        return character
    return "" if kind == "Cf" else " "


def key_of(name: str) -> str:
    """Return the form in which targets and scope labels are compared."""
    return normalize("NFC", name.casefold())


def is_critical(content: str) -> bool:
    """True if a content begins or ends with ``!``."""
    bare = content.strip()
    return bare.startswith("!") or bare.endswith("!")


def mark_of(sign: str) -> Mark:
    """Return the type that a sign or a word means; an unknown one raises InvalidInput."""
    mark = _SIGNS.get(sign) or _SIGNS.get(sign.lower())
    if mark is None:
        raise InvalidInput(f"Unknown type {sign!r}. Use C, D, V, ?, ✓ or ~.")
    return mark


def looks_like(text: str) -> bool:
    """True if the first line of a text begins like notation."""
    first = next(_lines(text), None)
    return first is not None and _head(first[1]) is not None


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_LINE_BREAK.split(text), start=1):
        bare = line.strip(" \t\ufeff")
        if bare and not _FENCE.fullmatch(bare):
            bullet = _BULLET.match(bare)
            yield number, bare[bullet.end() :] if bullet else bare


def _head(line: str) -> re.Match[str] | None:
    found = _HEAD.match(line)
    if found is None or not _SIGNS.keys() & {found["sign"], found["sign"].lower()}:
        return None
    return found


def _statement(line: str, number: int, count: int, most: int) -> Statement:
    where = f"line {number}: " if count > 1 else ""
    head = _head(line)
    if head is None:
        raise InvalidInput(
            f"{where}{_quote(line)} is not a fact. Write TYPE[target]: content with C, D, V, ?, ✓ or ~, "
            "for example V[srv.prod]: api.example.com:3005."
        )
    content = line[head.end() :].strip(_BLANK)
    if head["closed"] is None:
        content = content.removesuffix(head["emphasis"]).rstrip(_BLANK)
    try:
        target = normalize_target(head["target"].replace(_TAB, " "))
        statement = Statement(mark_of(head["sign"]), target, content)
        _check_content(statement, most)
    except InvalidInput as exc:
        raise type(exc)(f"{where}{exc}") from None
    return statement


def _check_content(statement: Statement, most: int) -> None:
    mark, target, content = statement.mark, statement.target, statement.content
    if not content and mark not in _CONTENT_OPTIONAL:
        raise InvalidInput(f"{mark}[{target}] has no content. Write it after the colon.")
    if len(content) > most:
        raise TooLarge(
            f"{mark}[{target}] has {len(content):,} characters of content. The limit is {most}. Split it "
            f"into several facts, such as {mark}[{target[:40]}.1] and {mark}[{target[:40]}.2]."
        )
    for character in content:
        if category(character) in ("Cc", "Cs") and character != _TAB:
            raise InvalidInput(
                f"{mark}[{target}] contains the character U+{ord(character):04X}. Remove control characters."
            )


def _quote(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…")

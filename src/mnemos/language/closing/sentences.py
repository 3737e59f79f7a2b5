"""The sentences of a message: what its writer says, without quotations, code and logs.

Every character keeps its place, so that what is found can be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemos.language.closing.clauses import HIDDEN, QUOTED
from mnemos.language.closing.language import Token
from mnemos.language.closing.words import ACCENTS, TYPOS


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text[start:stop]`` is the sentence; ``end`` are its last signs: ``.``, ``!``, ``?`` or none."""

    start: int
    stop: int
    end: str

    def is_empty(self) -> bool:
        return self.start >= self.stop - len(self.end)


def sentences(shown: str) -> Iterator[Sentence]:
    """The sentences of a text in their order; blanks and the sign of a list are no part of them."""
    start = 0
    for match in _END.finditer(shown):
        if match.group() == "\n" and _is_wrapped(shown, match.start()):
            continue
        yield _sentence(shown, start, match)
        start = match.end()
    yield Sentence(_beginning(shown, start, len(shown)), len(shown), "")


def tokens(shown: str, sentence: Sentence) -> list[Token]:
    """The words and signs of a sentence, without those it ends with."""
    stop = sentence.stop - len(sentence.end)
    return [_token(match) for match in _TOKEN.finditer(shown, sentence.start, stop)]


def own_words(lowered: str) -> str:
    """The text with a stand-in for every character that is not the writer's own."""
    shown = lowered
    if "`" in shown:
        shown = _CODE.sub(_hidden, _FENCED.sub(_blank, shown))
    if "(" in shown:
        shown = _CALL.sub(_hidden, shown)
    if "://" in shown:
        shown = _ADDRESS.sub(_hidden, shown)
    shown = _QUOTED.sub(_quoted, _FOREIGN_LINE.sub(_blank, shown))
    return _BRACKETED.sub(_blank, shown)


def _sentence(shown: str, start: int, end: re.Match[str]) -> Sentence:
    signs = end.group().strip()
    return Sentence(_beginning(shown, start, end.start()), end.start() + len(signs), signs)


def _beginning(shown: str, start: int, stop: int) -> int:
    match = _BEFORE.match(shown, start, stop)
    return match.end() if match else start


def _token(match: re.Match[str]) -> Token:
    written = match.group()
    word = written if written.isascii() else written.translate(ACCENTS)
    word = _STRETCHED.sub(r"\1", word)
    return Token(TYPOS.get(word, word), written, match.start())


def _is_wrapped(shown: str, end: int) -> bool:
    """Whether a line ends only because it was full; before a list or an empty line it does not."""
    if end - shown.rfind("\n", 0, end) < _FULL_LINE:
        return False
    return _GOES_ON.match(shown, end + 1) is not None


def _hidden(match: re.Match[str]) -> str:
    return HIDDEN * len(match.group())


def _quoted(match: re.Match[str]) -> str:
    return QUOTED * len(match.group())


def _blank(match: re.Match[str]) -> str:
    # A line stays a line: what is before and what is after are not one sentence.
    return "".join("\n" if char == "\n" else " " for char in match.group())


_FULL_LINE: Final = 60
_GOES_ON: Final = re.compile(r"[ \t]*[a-z(]")
_BEFORE: Final = re.compile(r"[\s*•·>-]*")
# Not the full stop of e.g., etc. or of a version, which no blank follows.
_END: Final = re.compile(r"(?<!\.[a-z])(?<!\betc)(?<!\bvs)[.!?…]+(?=[\s\x01\x02)\]*_~]|$)|[!?…]+|\n")
_TOKEN: Final = re.compile(
    r"\x01+|\x02+|(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)'(?=\w)|[#@]?\w+(?:[-./:]\w+)*%?|'\w*|[^\w\s]"
)
# Aaand, soooo.
_STRETCHED: Final = re.compile(r"([a-z])\1{2,}")
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CODE: Final = re.compile(r"`[^`\n]{1,300}`")
_CALL: Final = re.compile(r"\b\w{1,80}\([^\s()]{0,200}\)")
_ADDRESS: Final = re.compile(r"\b\w{1,20}://\S+")
# Quoted mail, prompts of a shell, headings, tables, and what a program or an agent printed.
_FOREIGN_LINE: Final = re.compile(
    r"^[ \t]*(?:[>⏺⎿]|[$❯%] |#{1,6} |\||\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:info|debug|warn|warning|error|fatal|trace)\b[\]:]).*$",
    re.MULTILINE,
)
_QUOTED: Final = re.compile(
    r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|(?<!\w)\'[^\'\n]{1,100}\'(?!\w)'
)
_BRACKETED: Final = re.compile(r"\[[^\]\n]{0,80}\]|<[^>\n]{1,80}>")

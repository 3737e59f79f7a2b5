"""The one sentence splitter: paragraphs of wrapped lines, and the sentences in them.

Every character keeps its place, so that a sentence can be quoted. Each pattern begins at the sign that ends a
sentence, so that a long text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from mnemos.text.patterns import compile_lazily

CODE: Final = "\x01"
"""Replaces each character of code and addresses in a masked text."""
QUOTED: Final = "\x02"
"""Replaces each character of a quotation in a masked text."""

# A shorter line was not broken because it was full.
_FULL_LINE: Final = 60
_LINE: Final = re.compile(r"[^\n]+")
_CONTINUES: Final = re.compile(r"[ \t]{0,3}[a-zäöüéè(]")
_MONTHS: Final = "jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez"
# Not the full stop of an abbreviation, nor of a German date (3. März).
_STOP: Final = r"\.(?<!\.[a-z]\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bapprox\.)(?<!\bbzw\.)(?<!\bca\.)"
# After two signs of a row the others need not be tried: only the first may be that of an abbreviation.
_SIGN: Final = rf"[！？。]|(?<![.!?…]{{2}})(?:[!?…]|{_STOP})"
_AFTER: Final = rf"(?=[\s\x01\x02)\]\"*_~]|$)(?!\ (?:{_MONTHS})[a-z]*\b)"
_ENDING: Final = rf"(?:{_SIGN})[.!?…]*+{_AFTER}"
_END: Final = compile_lazily(_ENDING, re.IGNORECASE)
_END_OR_SEMICOLON: Final = compile_lazily(rf"{_ENDING}|;(?=\s)", re.IGNORECASE)


class Sentence(NamedTuple):
    """``text[start:end]`` is the sentence; ``mark`` are the signs it ends with, such as ``.`` or ``?!``."""

    start: int
    end: int
    mark: str


def find_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text in order. A line break ends one unless the line was full."""
    at = 0
    for line in _LINE.finditer(text):
        if line.start() >= at:
            at = find_paragraph_end(text, line)
            yield from split_paragraph(text, line.start(), at)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text without the blanks around them."""
    found = (text[one.start : one.end].strip() for one in find_sentences(text))
    return [sentence for sentence in found if sentence]


def split_paragraph(text: str, start: int, stop: int, *, at_semicolons: bool = False) -> Iterator[Sentence]:
    """Yield the sentences between two places; together they are all of it."""
    pattern = _END_OR_SEMICOLON() if at_semicolons else _END()
    for end in pattern.finditer(text, start, stop):
        yield Sentence(start, end.end(), end.group())
        start = end.end()
    if start < stop:
        yield Sentence(start, stop, "")


def find_paragraph_end(text: str, line: re.Match[str]) -> int:
    """Return the end of the last line that continues this one because it was full."""
    end = line
    while len(end.group()) >= _FULL_LINE and not end.group().rstrip().endswith((".", "!", "?", ":", ";")):
        following = _LINE.match(text, end.end() + 1)
        if following is None or not _CONTINUES.match(following.group()):
            break
        end = following
    return end.end()


def lower_in_place(text: str) -> str:
    """Lower a text and straighten its apostrophes, with every character where it was."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lower if lower.isascii() else lower.replace("’", "'").replace("\u00a0", " ")


def hide_code(match: re.Match[str]) -> str:
    return CODE * len(match.group())


def hide_quotation(match: re.Match[str]) -> str:
    return QUOTED * len(match.group())


def blank(match: re.Match[str]) -> str:
    """Replace a block by blanks; a line stays a line, so that nothing is joined across it."""
    return blank_text(match.group())


def blank_text(block: str) -> str:
    return _NO_LINE_BREAK.sub(" ", block)


_NO_LINE_BREAK: Final = re.compile(r"[^\n]")

"""The prose of a message: its sentences without code, logs, tables, quotations and blocks of data.

Every step is one pass, so that a long text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemos.language.notation import looks_like
from mnemos.language.sentences import (
    blank,
    blank_text,
    find_paragraph_end,
    hide_code,
    hide_quotation,
    lower_in_place,
    split_paragraph,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence or a line of notation on one line, without bullet and emphasis, and its place.

    ``mark`` is its last sign: ``.``, ``!``, ``?``, ``;`` or nothing.
    """

    text: str
    mark: str
    start: int
    end: int


def iterate_parts(text: str) -> Iterator[Part]:
    """Yield the sentences and the lines of notation in order."""
    shown = _blank_blocks(text)
    masked = mask(shown)
    at = 0
    for line in _LINE.finditer(shown):
        if line.start() < at:
            continue
        if "[" in line.group() and looks_like(line.group()):
            yield Part(line.group(), "", line.start(), line.end())
            at = line.end()
            continue
        at = find_paragraph_end(shown, line)
        for sentence in split_paragraph(masked, line.start(), at, at_semicolons=True):
            yield from _make_part(shown, sentence.start, sentence.end, sentence.mark[-1:])


def mask(text: str) -> str:
    """Lower a text and replace code and quotations character by character; the length stays."""
    lower = lower_in_place(text)
    if "`" in lower:
        lower = _CODE.sub(hide_code, lower)
    return _QUOTED.sub(hide_quotation, lower)


def _make_part(shown: str, start: int, end: int, mark: str) -> Iterator[Part]:
    begin = _BULLET.match(shown, start, end)
    start = begin.end() if begin else start
    written = shown[start:end].rstrip()
    if not written or end - start > _LONGEST or _TASK_BOX.match(written):
        return
    plain = _EMPHASIS.sub(r"\1", written.replace("**", "")) if "*" in written else written
    yield Part(" ".join(plain.split()), mark, start, start + len(written))


def _blank_blocks(text: str) -> str:
    if "```" in text or "~~~" in text:
        text = _FENCED.sub(_blank_fence, text)
    if "</" in text:
        text = _blank_elements(text)
    return _FOREIGN_LINE.sub(blank, text)


def _blank_fence(match: re.Match[str]) -> str:
    """Keep fenced notation, which is common; anything else in a fence is code."""
    body = match.group()
    lines = [
        line for line in body.splitlines() if line.strip() and not line.strip().startswith(("```", "~~~"))
    ]
    if lines and all(map(looks_like, lines)):
        return _FENCE_LINE.sub(blank, body)
    return blank(match)


def _blank_elements(text: str) -> str:
    """Blank what is between two tags of one name if it is a block: memory, files, results."""
    closings: dict[str, list[int]] = {}
    for tag in _CLOSING_TAG.finditer(text):
        closings.setdefault(tag[1], []).append(tag.end())
    kept: list[str] = []
    at = 0
    for tag in _OPENING_TAG.finditer(text):
        ends = closings.get(tag[1], [])
        place = bisect_right(ends, tag.end())
        if tag.start() < at or place == len(ends):
            continue
        block = text[tag.start() : ends[place]]
        if "\n" in block or _DATA_NAME.search(tag[1]):
            kept += (text[at : tag.start()], blank_text(block))
            at = ends[place]
    return "".join((*kept, text[at:]))


# A longer sentence says too much to be one fact.
_LONGEST: Final = 500
_LINE: Final = re.compile(r"[^\n]+")
_BULLET: Final = re.compile(r"[\s\ufeff]*(?:(?:[-•*+–—‣]|\(?\d{1,3}[.)])[ \t]+)*")
_TASK_BOX: Final = re.compile(r"\[[ xX]?\](?!:)|(?i:todo|fixme)\b")
_EMPHASIS: Final = re.compile(r"(?<![\w*])\*([^\s*][^*]{0,200})\*(?![\w*])")
_FENCED: Final = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_FENCE_LINE: Final = re.compile(r"(?:```|~~~)[^\n]*")
_OPENING_TAG: Final = re.compile(r"<([A-Za-z][\w:.-]{0,60})(?:\s[^<>\n]{0,300})?>")
_CLOSING_TAG: Final = re.compile(r"</([A-Za-z][\w:.-]{0,60})>")
_DATA_NAME: Final = re.compile(
    r"[-_]|context|memory|document|file|code|pre|output|result|system|std|log", re.IGNORECASE
)
_CODE: Final = re.compile(r"`[^`\n]{1,300}`")
_QUOTED: Final = re.compile(
    r'(?<!\w)"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|(?<![\w\'])\'[^\'\n]{1,100}\'(?!\w)'
)
# Quoted mail, prompts, headings, tables, logs, traces, listings, and code that nobody fenced.
_FOREIGN_LINE: Final = re.compile(
    r"""^(?:
        [ \t]*+(?:
            [>⏺⎿│┃]|[$❯%]\ |\#{1,6}\ |\||@@|diff\ --git|\+\+\+|---
          | \[?\d{4}-\d\d-\d\d[T\ ]\d\d:|\[?\d\d:\d\d:\d\d
          | \[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL|info|debug|warn(?:ing)?|error|fatal)[\]:]
          | \[[\w .:/-]{1,60}\]\ (?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL)\b|npm\ (?:ERR|WARN)
          | (?:FAILED|PASSED|ERROR|SKIPPED)[ ]
          | Traceback\ |File\ "|at\ [\w.$<>]{1,200}\(|(?:[\w.]{0,80}(?:Error|Exception)|\w{1,80}Warning):
          | [{}]|[\[\]],?[ \t]*$|["'][\w .-]{1,80}["'][ \t]*:
          | (?:def|class|import|from|const|var|function|public|private|static|return|export|async|fn|func|let)
            [ ][^\n]*[:{(,;][ \t]*$
          | (?:from\ [\w.]+\ )?import\ [\w., ]+$|\#include|(?:const|var|let)\ \w+\ ?=
          | [^\n]*(?:[{}]|\);|=>)[ \t]*$
          | (?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|GRANT)\ [A-Z*]
          | [A-Z][A-Z0-9_]+=\S*[ \t]*$
        )
      | (?:\t|\ {4,})(?![-•*+]\ |\d{1,3}[.)]\ )
    )[^\n]*$""",
    re.MULTILINE | re.VERBOSE,
)

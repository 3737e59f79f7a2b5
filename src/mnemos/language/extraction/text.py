"""The sentences that the writer of a message says: without code, logs, tables, quotations and blocks of data.

Every step is one pass, so that a long text costs what its length is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemos.language.notation import looks_like

CODE: Final = "\x01"
"""Stands for each character of a piece of code."""
QUOTED: Final = "\x02"
"""Stands for each character of what somebody else said."""


@dataclass(frozen=True, slots=True)
class Part:
    """A sentence or a line of notation: on one line, without bullet and emphasis, and its place.

    ``mark`` is what it ends with: ``.``, ``!``, ``?``, ``;`` or nothing.
    """

    text: str
    mark: str
    start: int
    end: int


def parts(text: str) -> Iterator[Part]:
    """The sentences and the lines of notation, in order."""
    shown = _without_blocks(text)
    hidden = masked(shown)
    at = 0
    for line in _LINE.finditer(shown):
        if line.start() < at:
            continue
        if "[" in line.group() and looks_like(line.group()):
            yield Part(line.group(), "", line.start(), line.end())
            at = line.end()
            continue
        stop = _paragraph_end(shown, line)
        yield from _sentences(shown, hidden, line.start(), stop)
        at = stop


def masked(text: str) -> str:
    """In lower case, code and quotations replaced character by character; as long as the text."""
    lower = _lowered(text)
    if "`" in lower:
        lower = _CODE.sub(_by_code, lower)
    return _QUOTED.sub(_by_quotation, lower)


def _sentences(shown: str, hidden: str, start: int, stop: int) -> Iterator[Part]:
    for end in _END.finditer(hidden, start, stop):
        yield from _part(shown, start, end.end(), end.group()[-1])
        start = end.end()
    yield from _part(shown, start, stop, "")


def _part(shown: str, start: int, end: int, mark: str) -> Iterator[Part]:
    begin = _BULLET.match(shown, start, end)
    start = begin.end() if begin else start
    written = shown[start:end].rstrip()
    if not written or end - start > _LONGEST or _TASK_BOX.match(written):
        return
    plain = _EMPHASIS.sub(r"\1", written.replace("**", "")) if "*" in written else written
    yield Part(" ".join(plain.split()), mark, start, start + len(written))


def _paragraph_end(shown: str, line: re.Match[str]) -> int:
    """Where the lines end that are one text, broken only because they were full."""
    end = line
    while len(end.group()) >= _FULL_LINE and not end.group().rstrip().endswith((".", "!", "?", ":", ";")):
        following = _LINE.match(shown, end.end() + 1)
        if following is None or not _GOES_ON.match(following.group()):
            break
        end = following
    return end.end()


def _without_blocks(text: str) -> str:
    if "```" in text or "~~~" in text:
        text = _FENCED.sub(_without_fence, text)
    if "</" in text:
        text = _without_elements(text)
    return _FOREIGN_LINE.sub(_blank, text)


def _without_fence(match: re.Match[str]) -> str:
    """Notation is often fenced; whatever else is fenced is code."""
    body = match.group()
    lines = [
        line for line in body.splitlines() if line.strip() and not line.strip().startswith(("```", "~~~"))
    ]
    if lines and all(map(looks_like, lines)):
        return _FENCE_LINE.sub(_blank, body)
    return _blank(match)


def _without_elements(text: str) -> str:
    """Without what is between two tags of one name, where that is a block: memory, files, results."""
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
            kept += (text[at : tag.start()], _blanked(block))
            at = ends[place]
    return "".join((*kept, text[at:]))


def _lowered(text: str) -> str:
    """In lower case, with straight apostrophes, and every character where it was."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    return lower if lower.isascii() else lower.replace("’", "'").replace("\u00a0", " ")


def _by_code(match: re.Match[str]) -> str:
    return CODE * len(match.group())


def _by_quotation(match: re.Match[str]) -> str:
    return QUOTED * len(match.group())


def _blank(match: re.Match[str]) -> str:
    return _blanked(match.group())


def _blanked(block: str) -> str:
    # A line stays a line: what is before and what is after are not one sentence.
    return _NO_LINE_BREAK.sub(" ", block)


# A longer sentence says too much at once to be one fact.
_LONGEST: Final = 500
_FULL_LINE: Final = 60
_LINE: Final = re.compile(r"[^\n]+")
_GOES_ON: Final = re.compile(r"[ \t]{0,3}[a-zäöüéè(]")
_NO_LINE_BREAK: Final = re.compile(r"[^\n]")
_BULLET: Final = re.compile(r"[\s\ufeff]*(?:(?:[-•*+–—‣]|\(?\d{1,3}[.)])[ \t]+)*")
_TASK_BOX: Final = re.compile(r"\[[ xX]?\](?!:)|(?i:todo|fixme)\b")
_EMPHASIS: Final = re.compile(r"(?<![\w*])\*([^\s*][^*]{0,200})\*(?![\w*])")
_MONTHS: Final = "jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez"
# The sign first: what stands before it is looked at only there.
_END: Final = re.compile(
    r"(?:[!?…！？。]|\.(?<!\.[a-z]\.)(?<!\betc\.)(?<!\bvs\.)(?<!\bapprox\.)(?<!\bbzw\.)(?<!\bca\.))[.!?…]*"
    rf"(?=[\s\x01\x02)\"*_]|$)(?!\ (?:{_MONTHS})[a-z]*\b)|;(?=\s)"
)
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

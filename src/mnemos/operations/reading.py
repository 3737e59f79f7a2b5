"""A session as Markdown, for people to read: nothing that was said can break out of its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, Any

from mnemos.operations.border import sound
from mnemos.operations.wording import called, spoken

_TICKS = re.compile(r"`{3,}")
_BLANKS = re.compile(r"\s+")
# Colours and their like, which programs print for terminals; and what else a terminal would obey.
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FENCE = re.compile(r"(`{3,})[^`]*|(~{3,}).*")
_LIKE_A_FENCE = re.compile(r".*(?:```|~~~)")
_SPAN = r"(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_TAG = r"(?P<before>\\*)<(?=[A-Za-z/!?])"
_TAGS = re.compile(_TAG)
_SPANS = re.compile(_SPAN)
_SPANS_AND_TAGS = re.compile(f"{_SPAN}|{_TAG}")
# What is shorter stands open, what is longer is folded away.
_SHORT = 200


def write_markdown(sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
    """Write exported sessions one after the other; how many."""
    count = 0
    for session in sessions:
        # What has half a character cannot be written to a file.
        stream.write("\n\n".join(_session(sound(session))) + "\n\n")
        count += 1
    return count


def _session(session: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {_line(session['title'] or session['id'])}"
    yield "\n".join(f"- {fact}" for fact in _about(session))
    for message in session["messages"]:
        yield from _message(message)


def _about(session: Mapping[str, Any]) -> Iterator[str]:
    yield f"Session {_code(session['id'])} from {_line(session['source'])}"
    if session["model"]:
        yield f"Model {_line(session['model'])}"
    yield f"Began {_when(session['started_at'])}"
    if session["ended_at"] is not None:
        reason = f" ({_line(session['end_reason'])})" if session["end_reason"] else ""
        yield f"Ended {_when(session['ended_at'])}{reason}"
    if session["parent_session_id"]:
        yield f"Goes on from {_code(session['parent_session_id'])}"
    yield f"{len(session['messages']):,} messages"


def _message(message: Mapping[str, Any]) -> Iterator[str]:
    who = _line(message["role"])
    tool = f" {_code(message['tool_name'])}" if message["tool_name"] else ""
    yield f"## {who}{tool}, {_when(message['timestamp'])}"
    said = spoken(message["content"])
    if message.get("forgotten"):
        yield "*forgotten*"
    elif said and message["role"] in ("tool", "function"):
        yield _folded("Result", said)
    elif said:
        yield _quoted(said)
    calls = message["tool_calls"]
    for call in calls if isinstance(calls, list) else [calls] if calls else []:
        yield _call(call)


def _call(call: Any) -> str:
    name, _, arguments = called(call).partition(" ")
    return _folded(f"Called {_code(name)}", _readable(arguments)) if arguments else f"Called {_code(name)}"


def _quoted(text: str) -> str:
    """As a quotation: a fence or a list that was begun in it ends with it, and tags are only words.

    A tag would reach beyond it, as a comment that has no end.
    """
    return "\n".join(f"> {line}".rstrip() for line in _without_tags(_lines(text)))


def _without_tags(lines: list[str]) -> Iterator[str]:
    """The lines, ``<`` escaped where it might begin a tag; in code, where it cannot, it stays as it is.

    What is code is told only where that is plain: fences at the beginning of lines, and spans in lines
    without other backticks. Elsewhere a backslash too many does no harm, and a tag would.
    """
    fences = _fenced(lines)
    spoken = [line for line, is_code in zip(lines, fences, strict=True) if not is_code]
    has_spans = not any("\\`" in line or "`" in _SPANS.sub("", line) for line in spoken)
    tags = _SPANS_AND_TAGS if has_spans else _TAGS
    for line, is_code in zip(lines, fences, strict=True):
        yield line if is_code else tags.sub(_escaped, line)


def _escaped(found: re.Match[str]) -> str:
    before = found["before"]
    # A span, or behind an odd number of backslashes, which escape it already.
    return found[0] if before is None or len(before) % 2 else f"{before}\\<"


def _fenced(lines: list[str]) -> list[bool]:
    """Which lines are code in fences; none when that cannot be told for sure."""
    is_code: list[bool] = []
    fence = ""
    for line in lines:
        opening = _FENCE.fullmatch(line)
        if fence:
            is_code.append(True)
            if line.rstrip() == fence[0] * max(len(fence), len(line.rstrip())):
                fence = ""
        elif opening:
            is_code.append(True)
            fence = opening[1] or opening[2]
        else:
            is_code.append(False)
        unsure = _LIKE_A_FENCE.match(line) and not (opening or line.rstrip() == fence)
        if unsure:
            return [False] * len(lines)
    return is_code


def _folded(title: str, text: str) -> str:
    """In a fence that nothing in it can close; a long one is folded away."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    block = f"{fence}text\n" + "\n".join(_lines(text)) + f"\n{fence}"
    if len(text) <= _SHORT and "\n" not in text.strip():
        return f"{title}:\n\n{block}"
    # Of a title in code, since no Markdown is read inside of a tag.
    plain = re.sub(r"`+ ?(.*?) ?`+", r"\1", title).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details>\n<summary>{plain}</summary>\n\n{block}\n\n</details>"


def _readable(arguments: str) -> str:
    """JSON over several lines, unless it is short."""
    if len(arguments) <= _SHORT:
        return arguments
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments


def _lines(text: str) -> list[str]:
    plain = _COLOURS.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("\ufffd", plain).split("\n")


def _line(text: str) -> str:
    """On one line, without what would make it something else than words."""
    plain = _BLANKS.sub(" ", "".join(_lines(text))).strip()
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", plain)


def _code(text: str) -> str:
    plain = _BLANKS.sub(" ", " ".join(_lines(text))).strip()
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def _when(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"

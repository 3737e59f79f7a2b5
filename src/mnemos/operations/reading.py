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
    """As a quotation: a fence or a list that was begun in it ends with it."""
    return "\n".join(f"> {line}".rstrip() for line in _lines(text))


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
    return text.replace("\0", "\ufffd").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _line(text: str) -> str:
    """On one line, without what would make it something else than words."""
    plain = _BLANKS.sub(" ", "".join(_lines(text))).strip()
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", plain)


def _code(text: str) -> str:
    plain = _BLANKS.sub(" ", text).strip()
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def _when(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"

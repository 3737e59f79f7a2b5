"""Operations that export and import sessions: JSON lines, or Markdown to read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from mnemos.errors import AlreadyExists, InvalidInput, NotFound, PermissionDenied
from mnemos.files import open_regular
from mnemos.memory.backlog import STORED, describe_backlog, work_off
from mnemos.operations.arguments import (
    Project,
    Since,
    Source,
    Until,
    path_of,
    replace_surrogates,
    resolve_sessions,
)
from mnemos.operations.base import LongOperation, Operation, Result, Traits, fill
from mnemos.operations.texts import message_text, plural, render_call
from mnemos.progress import Progress, part_of
from mnemos.sessions.session_types import ImportedSessions
from mnemos.text.stored_text import join_items, reveal

if TYPE_CHECKING:
    from mnemos.memory import Memory

_TICKS = re.compile(r"`{3,}")
_BLANKS = re.compile(r"\s+")
# Colours and other control sequences that programs print at terminals.
_COLOURS = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_FENCE = re.compile(r"(`{3,})[^`]*|(~{3,}).*")
_LIKE_A_FENCE = re.compile(r".*(?:```|~~~)")
_SPAN = r"(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
_TAG = r"(?<!\\)(?P<before>\\*+)<(?=[A-Za-z/!?])"
_TAGS = re.compile(_TAG)
_SPANS = re.compile(_SPAN)
_SPANS_AND_TAGS = re.compile(f"{_SPAN}|{_TAG}")
# Longer texts are folded.
_SHORT = 200


class ExportSessions(Operation, frozen=True, kw_only=True):
    """Write all or some sessions with their messages to a file, one JSON object per line. Markdown is for
    reading and can't be imported again."""

    traits: ClassVar[Traits] = Traits(
        title="Export sessions", local=True, positional=("path",), stdout="path", example="all.jsonl"
    )

    path: Annotated[str, Meta(description="New file to write")]
    session: Annotated[list[str] | None, Meta(description="Only these sessions")] = None
    source: Source = None
    project: Project = None
    since: Since = None
    until: Until = None
    format: Annotated[
        Literal["jsonl", "markdown"] | None, Meta(description="Default: markdown for .md, else jsonl")
    ] = None

    def writes(self) -> bool:
        # Not skipped if memory is disabled: without a file, the call has to fail.
        return False

    def run(self, memory: Memory) -> SessionsExported:
        memory.settings.check_enabled("no file was written")
        sessions = self._choose(memory)
        path = path_of(self.path)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise AlreadyExists(f"{path} already exists. Choose another name.") from None
        except FileNotFoundError:
            raise NotFound(f"There is no folder {path.parent}. Create it first.") from None
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be written: {exc.strerror}") from exc
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
                count = self._write(memory, sessions, stream)
        except BaseException:
            # Delete it, because half an export looks like a complete one.
            path.unlink()
            raise
        memory.changes.record_export(path)
        return SessionsExported(path=str(path), sessions=count)

    def write_lines(self, memory: Memory, stream: IO[str]) -> None:
        self._write(memory, self._choose(memory), stream)

    def _write(self, memory: Memory, sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
        by_name = "markdown" if self.path.lower().endswith((".md", ".markdown")) else "jsonl"
        if (self.format or by_name) == "markdown":
            return write_markdown(sessions, stream)
        return memory.sessions.write_jsonl(sessions, stream)

    def _choose(self, memory: Memory) -> Iterable[Mapping[str, Any]]:
        if self.session is None:
            return memory.sessions.export_all(
                self.source, self.project or None, since=self.since, until=self.until
            )
        return map(memory.sessions.export_session, resolve_sessions(memory, self.session))


class SessionsExported(Result, frozen=True, kw_only=True):
    path: str
    sessions: int

    def as_text(self) -> str:
        return join_items([f"Wrote {plural(self.sessions, 'session')} to {self.path}."])


class ImportSessions(LongOperation, frozen=True, kw_only=True):
    """Import sessions from an export. All are checked before any is stored; existing ones are skipped. Can be
    undone."""

    traits: ClassVar[Traits] = Traits(
        title="Import sessions",
        idempotent=True,
        local=True,
        begins=True,
        positional=("path",),
        stdin="text",
        example="all.jsonl",
    )

    path: Annotated[str | None, Meta(description="JSONL file")] = None
    text: Annotated[str | None, Meta(description="Or its lines as text")] = None

    def work(self, memory: Memory, progress: Progress) -> SessionsImported:
        report = self._store(memory, part_of(progress, 0, STORED, "Storing conversations"))
        return fill(SessionsImported, {**report, "coverage": work_off(memory, progress)})

    def _store(self, memory: Memory, progress: Progress) -> ImportedSessions:
        if self.text is not None:
            # Not splitlines, because a JSON string may contain U+2028 and similar line breaks.
            lines = self.text.split("\n")
            return memory.sessions.import_jsonl(lines, progress=progress)
        if self.path is None:
            raise InvalidInput("Pass a path, or the lines as text.")
        path = path_of(self.path)
        try:
            with open_regular(path) as stream:
                return memory.sessions.import_jsonl(stream, progress=progress)
        except FileNotFoundError:
            raise NotFound(f"There is no file {path}.") from None
        except OSError as exc:
            raise PermissionDenied(f"{path} cannot be read: {exc.strerror}") from exc


class SessionsImported(Result, frozen=True, kw_only=True):
    imported: list[str]
    skipped: list[str]
    messages: int
    coverage: float | None = None
    """The share of passages that are indexed for meaning; None if there are none."""

    def as_text(self) -> str:
        skipped = f" Skipped {len(self.skipped)} that already existed." if self.skipped else ""
        sessions = plural(len(self.imported), "session")
        done = f"Imported {sessions} with {plural(self.messages, 'message')}.{skipped}"
        return "\n".join([done, *describe_backlog(self.coverage)])


def write_markdown(sessions: Iterable[Mapping[str, Any]], stream: IO[str]) -> int:
    """Write exported sessions one after the other and return how many."""
    count = 0
    for session in sessions:
        # Lone surrogates cannot be written to a file.
        stream.write("\n\n".join(_render_session(replace_surrogates(session))) + "\n\n")
        count += 1
    return count


def _render_session(session: Mapping[str, Any]) -> Iterator[str]:
    yield f"# {_line(session['title'] or session['id'])}"
    yield "\n".join(f"- {fact}" for fact in _render_facts(session))
    for message in session["messages"]:
        yield from _render_message(message)


def _render_facts(session: Mapping[str, Any]) -> Iterator[str]:
    yield f"Session {_code(session['id'])} from {_line(session['source'])}"
    if session["model"]:
        yield f"Model {_line(session['model'])}"
    yield f"Began {_render_utc(session['started_at'])}"
    if session["ended_at"] is not None:
        reason = f" ({_line(session['end_reason'])})" if session["end_reason"] else ""
        yield f"Ended {_render_utc(session['ended_at'])}{reason}"
    if session["parent_session_id"]:
        yield f"Continues {_code(session['parent_session_id'])}"
    yield f"{len(session['messages']):,} messages"


def _render_message(message: Mapping[str, Any]) -> Iterator[str]:
    who = _line(message["role"])
    tool = f" {_code(message['tool_name'])}" if message["tool_name"] else ""
    yield f"## {who}{tool}, {_render_utc(message['timestamp'])}"
    text = message_text(message["content"])
    if message.get("forgotten"):
        yield "*forgotten*"
    elif text and message["role"] in ("tool", "function"):
        yield _fold("Result", text)
    elif text:
        yield _quote(text)
    calls = message["tool_calls"]
    for call in calls if isinstance(calls, list) else [calls] if calls else []:
        yield _render_call(call)


def _render_call(call: Any) -> str:
    name, _, arguments = render_call(call).partition(" ")
    return _fold(f"Called {_code(name)}", _indent_json(arguments)) if arguments else f"Called {_code(name)}"


def _quote(text: str) -> str:
    """Quote a text: tags are escaped, and its fences and lists end with it.

    An unclosed tag, such as a comment, would swallow what follows.
    """
    return "\n".join(f"> {line}".rstrip() for line in _escape_tags(_lines(text)))


def _escape_tags(lines: list[str]) -> Iterator[str]:
    """Escape ``<`` where it might begin a tag, except in code.

    Only fences at the beginning of lines and spans in lines without other backticks count as code. Elsewhere
    a needless backslash does no harm, and a tag would.
    """
    fences = _find_code(lines)
    prose = [line for line, is_code in zip(lines, fences, strict=True) if not is_code]
    has_spans = not any("\\`" in line or "`" in _SPANS.sub("", line) for line in prose)
    tags = _SPANS_AND_TAGS if has_spans else _TAGS
    for line, is_code in zip(lines, fences, strict=True):
        yield line if is_code else tags.sub(_escape_tag, line)


def _escape_tag(found: re.Match[str]) -> str:
    before = found["before"]
    # It is in a span, or already escaped by an odd number of backslashes.
    return found[0] if before is None or len(before) % 2 else f"{before}\\<"


def _find_code(lines: list[str]) -> list[bool]:
    """Find the lines that are code in fences; none if that is not certain."""
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


def _fold(title: str, text: str) -> str:
    """Put a text into a fence that it can't close, and fold a long one."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    block = f"{fence}text\n" + "\n".join(_lines(text)) + f"\n{fence}"
    if len(text) <= _SHORT and "\n" not in text.strip():
        return f"{title}:\n\n{block}"
    # Markdown is not rendered inside a tag.
    plain = re.sub(r"`+ ?(.*?) ?`+", r"\1", title).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details>\n<summary>{plain}</summary>\n\n{block}\n\n</details>"


def _indent_json(arguments: str) -> str:
    """Indent JSON, unless it is short."""
    if len(arguments) <= _SHORT:
        return arguments
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments


def _lines(text: str) -> list[str]:
    return [reveal(line, keep="\t") for line in _COLOURS.sub("", text).splitlines()]


def _line(text: str) -> str:
    """Render a text on one line with Markdown escaped."""
    plain = _BLANKS.sub(" ", " ".join(_lines(text))).strip()
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", plain)


def _code(text: str) -> str:
    plain = _BLANKS.sub(" ", " ".join(_lines(text))).strip()
    ticks = "`" * (max((len(run) for run in re.findall(r"`+", plain)), default=0) + 1)
    pad = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{ticks}{pad}{plain}{pad}{ticks}"


def _render_utc(moment: float) -> str:
    try:
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return f"{moment:g}"

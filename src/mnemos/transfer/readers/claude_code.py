"""Transcripts of Claude Code: a JSON line for each step of a conversation, in a file for each session.

The lines of one answer carry the same message id and are one message here. Sub-agents have a file of their
own, or in older versions stand between the others as side chains; each is a session with its parent.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from mnemos.transfer.foreign_files import (
    Tell,
    decoded,
    files_below,
    filled,
    is_file,
    is_folder,
    lines,
    moment,
    short,
    source_of,
)
from mnemos.transfer.reader import (
    BEGINNING,
    Conversation,
    Item,
    Left,
    Mark,
    Reader,
    Said,
    Source,
    Unread,
)
from mnemos.transfer.readers.claude_code_blocks import Answer, Chains, Line, Told, text_and_results

KIND: Final = "claude-code"
_AGENT: Final = "agent-"
_MOST_TITLES: Final = 100
# Bytes between two marks: what to go on with is not put together for every line.
_STEP: Final = 32_768

_decode = msgspec.json.Decoder(Line).decode


def find(path: Path, tell: Tell) -> Iterator[Source]:
    """The transcripts below a folder, those of sub-agents last."""
    if is_file(path):
        found = [path]
    else:
        projects = path / "projects"
        found = sorted(
            files_below(projects if is_folder(projects) else path, ".jsonl", tell),
            key=lambda file: file.name.startswith(_AGENT),
        )
    yield from (source for file in found if (source := source_of(file, tell)))


def read(source: Source, mark: Mark = BEGINNING) -> Iterator[Item]:
    transcript = _Transcript(mark.state if isinstance(mark.state, dict) else {}, source.changed_ns / 1e9)
    position, number = mark.position, mark.line
    marked = position
    with source.path.open("rb") as file:
        for line in lines(file, mark.position, mark.line):
            if line.data is None:
                yield Unread(line.number, "it is too long")
            else:
                try:
                    found = _line(line.data)
                except ValueError as exc:
                    if not line.is_whole:
                        yield Left("unfinished last lines")
                        break
                    yield Unread(line.number, f"it is no line of a transcript: {exc}")
                else:
                    yield from transcript.line(found, line.number)
            position, number = line.end, line.number
            if position - marked >= _STEP and not transcript.is_amid:
                marked = position
                yield Mark(position, number, transcript.state())
    yield from transcript.flushed()
    yield Mark(position, number, transcript.state())


READER: Final = Reader(KIND, "Claude Code", find, read)


def _line(data: bytes) -> Line:
    try:
        return _decode(data)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        # What it refuses, others may have written: a lone surrogate, for one.
        return msgspec.convert(decoded(data), Line)


class _Transcript:
    """One file on the way: what the lines so far tell about those that follow."""

    def __init__(self, state: dict[str, Any], changed: float) -> None:
        self._changed = changed
        self._told = Told.of(state)
        self._chains = Chains(state.get("chains"))
        self._titles: dict[str, str] = dict(state.get("titles") or {})
        self._begun: dict[str, Conversation] = {}
        self._answer: Answer | None = None
        self._time: float | None = state.get("time")

    @property
    def is_amid(self) -> bool:
        """Whether lines were read of which nothing was told yet."""
        return self._answer is not None

    def state(self) -> dict[str, Any]:
        return filled(
            time=self._time,
            chains=self._chains.state() or None,
            titles=dict(self._titles) or None,
            **self._told.state(),
        )

    def line(self, line: Line, number: int) -> Iterator[Item]:
        if line.type == "assistant" and line.message is not None:
            yield from self._assistant(line)
        elif line.type == "user" and line.message is not None:
            yield from self._user(line, line.message.content)
        elif line.type == "attachment" and (queued := line.queued()) is not None:
            # Typed while the agent was at work.
            yield from self._user(line, queued)
        elif line.type == "summary" and line.summary and line.leafUuid:
            self._titles[line.leafUuid] = line.summary
            while len(self._titles) > _MOST_TITLES:
                del self._titles[next(iter(self._titles))]
        elif line.type in ("custom-title", "ai-title") and (session_id := short(line.sessionId)):
            yield from self._titled(session_id, line.customTitle or line.aiTitle)
        elif line.type:
            yield Left("records of the program")
        else:
            yield Unread(number, "it does not say what it is")

    def flushed(self) -> Iterator[Item]:
        """What the lines of the last answer say."""
        answer, self._answer = self._answer, None
        if answer is not None:
            begun = self._begun.get(answer.session_id)
            yield from answer.items(self._told, begun.model if begun else None)

    # --- inside -----------------------------------------------------------------------------

    def _assistant(self, line: Line) -> Iterator[Item]:
        if line.isApiErrorMessage:
            yield Left("error messages")
            return
        session_id = yield from self._session(line)
        if self._answer is None or not self._answer.goes_on(session_id, line):
            yield from self.flushed()
            self._answer = Answer(session_id, line, self._when(line))
        self._answer.add(line)

    def _user(self, line: Line, content: Any) -> Iterator[Item]:
        yield from self.flushed()
        if line.is_put_in():
            yield Left("injected context")
            return
        session_id = yield from self._session(line)
        found = text_and_results(content, self._told)
        for what, count in found.left.items():
            yield Left(what, count)
        uuid = line.key_in(session_id)
        for number, fields in enumerate(found.messages):
            metadata = fields.pop("metadata", {}) | filled(uuid=line.uuid)
            yield Said(
                session_id,
                uuid if number == 0 else f"{uuid}#{number}",
                fields | {"timestamp": self._when(line), "metadata": metadata or None},
            )

    def _session(self, line: Line) -> Generator[Item, None, str]:
        """Tell of the session that a line belongs to, when something is new; its id."""
        main = short(line.sessionId) or "unknown"
        agent = self._chains.agent_of(line)
        session_id = (short(f"{main}:{_AGENT}{agent}") if agent else None) or main
        known = self._begun.get(session_id)
        title = self._titles.pop(line.uuid, None) if line.uuid in self._titles else None
        model = line.message.model if line.message is not None and line.type == "assistant" else None
        if known is None or (title and not known.title) or (model and not known.model):
            known = Conversation(
                session_id,
                "subagent" if agent else KIND,
                model=(known.model if known else None) or short(model),
                title=(known.title if known else None) or short(title),
                parent_id=main if agent else None,
                metadata=filled(
                    program=KIND if agent else None,
                    cwd=short(line.cwd),
                    git_branch=short(line.gitBranch),
                    version=short(line.version),
                )
                or None,
            )
            self._begun[session_id] = known
            yield known
        return session_id

    def _titled(self, session_id: str, title: str | None) -> Iterator[Item]:
        named = short(title)
        if named:
            known = self._begun.get(session_id, Conversation(session_id, KIND))
            self._begun[session_id] = known = replace(known, title=named)
            yield known

    def _when(self, line: Line) -> float:
        """When a line was written; one that does not say, when the one before it was, or else the file."""
        found = moment(line.timestamp)
        self._time = found if found is not None else self._time or self._changed
        return self._time

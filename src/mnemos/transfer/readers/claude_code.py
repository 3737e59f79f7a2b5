"""Reader of Claude Code transcripts: a file per session, a JSON line per step.

The lines of one answer share a message id and become one message. Sub-agents have their own file, or in older
versions are side chains within the file. Each becomes a session with a parent.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, Final

from mnemos.transfer.foreign_files import (
    Translator,
    clean_name,
    decode_struct,
    drop_empty,
    files_with,
    parse_time,
    remember,
    translate_lines,
)
from mnemos.transfer.reader import (
    BEGINNING,
    UNKNOWN_RECORDS,
    Conversation,
    ImportedMessage,
    Item,
    Mark,
    Reader,
    Skipped,
    SourceFile,
    Unreadable,
)
from mnemos.transfer.readers.claude_code_blocks import Answer, Chains, KnownCalls, Line, split_user_content
from mnemos.transfer.readers.dialogue import UNFINISHED, make_conversation

_OWN_RECORDS: Final = frozenset(
    """
    agent-color agent-name agent-setting attachment attribution-snapshot bridge-session content-replacement
    file-history-snapshot frame-link last-prompt marble-origami-commit marble-origami-reset
    marble-origami-snapshot mode permission-mode pr-link progress queue-operation remove-by-uuid
    speculation-accept summary system tag task-summary worktree-state
    """.split()
)
KIND: Final = "claude-code"
_AGENT: Final = "agent-"
_MOST_TITLES: Final = 100
# Bytes between two marks, because making the state for every line would be slow.
_STEP: Final = 32_768


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    return translate_lines(source, mark, _Transcript(source, mark), "not a transcript line")


# Sub-agents' transcripts come last.
_FIND: Final = files_with(".jsonl", folders=("projects",), key=lambda file: file.name.startswith(_AGENT))
READER: Final = Reader(KIND, "Claude Code", _FIND, read)


class _Transcript(Translator):
    """A file being read: what its lines so far tell about later ones."""

    def __init__(self, source: SourceFile, mark: Mark) -> None:
        state: dict[str, Any] = mark.state or {}
        self._changed = source.changed_ns / 1e9
        self._marked = mark.position
        self._known = KnownCalls.load(state)
        self._chains = Chains(state.get("chains"))
        self._titles: dict[str, str] = dict(state.get("titles") or {})
        self._begun: dict[str, Conversation] = {}
        self._answer: Answer | None = None
        self._time: float | None = state.get("time")
        self._held: list[str] = state.get("held") or []

    def state(self) -> dict[str, Any]:
        return drop_empty(
            time=self._time,
            held=self._held or None,
            chains=self._chains.state() or None,
            titles=dict(self._titles) or None,
            **self._known.state(),
        )

    def translate(self, data: bytes, number: int) -> Iterator[Item]:
        held, self._held = self._held, []
        for text in held:
            yield from self._assistant(decode_struct(text.encode(), Line), text.encode())
        line = decode_struct(data, Line)
        if line.type == "assistant" and line.message is not None:
            yield from self._assistant(line, data)
        elif line.type == "user" and line.message is not None:
            yield from self._user(line, line.message.content)
        elif line.type == "attachment" and (queued := line.get_queued()) is not None:
            # The user typed this while the agent was working.
            yield from self._user(line, queued)
        elif line.type == "summary" and line.summary and line.leafUuid:
            remember(self._titles, line.leafUuid, line.summary, _MOST_TITLES)
        elif line.type in ("custom-title", "ai-title") and (session_id := clean_name(line.sessionId)):
            yield from self._set_title(session_id, line.customTitle or line.aiTitle)
        elif line.type in _OWN_RECORDS:
            yield Skipped("records of the program")
        elif line.type:
            yield UNKNOWN_RECORDS
        else:
            yield Unreadable(number, "the line has no type")

    def advance(self, position: int, number: int) -> Iterator[Item]:
        # No mark within an answer, because its lines are not yielded yet.
        if position - self._marked >= _STEP and self._answer is None:
            self._marked = position
            yield Mark(position, number, self.state())

    def finish(self) -> Iterator[Item]:
        """Yield the last answer, unless it has only begun (thoughts are written first)."""
        if self._answer is not None and self._answer.has_begun():
            self._held = [data.decode("utf-8", "replace") for data in self._answer.data]
            yield UNFINISHED
        else:
            yield from self._finish_answer()

    def _finish_answer(self) -> Iterator[Item]:
        """Yield the message of the last answer."""
        answer, self._answer = self._answer, None
        if answer is not None:
            begun = self._begun.get(answer.session_id)
            yield from answer.items(self._known, begun.model if begun else None)

    def _assistant(self, line: Line, data: bytes) -> Iterator[Item]:
        if line.isApiErrorMessage:
            yield Skipped("error messages")
            return
        session_id = yield from self._open_session(line)
        if self._answer is None or not self._answer.continues(session_id, line):
            yield from self._finish_answer()
            self._answer = Answer(session_id, line, self._get_time(line))
        self._answer.add(line, data)

    def _user(self, line: Line, content: Any) -> Iterator[Item]:
        yield from self._finish_answer()
        if line.is_injected():
            yield Skipped("injected context")
            return
        session_id = yield from self._open_session(line)
        found = split_user_content(content, self._known)
        for what, count in found.skipped.items():
            yield Skipped(what, count)
        uuid = line.make_key(session_id)
        for number, fields in enumerate(found.messages):
            metadata = fields.pop("metadata", {}) | drop_empty(uuid=line.uuid)
            yield ImportedMessage(
                session_id,
                uuid if number == 0 else f"{uuid}#{number}",
                fields | {"timestamp": self._get_time(line), "metadata": metadata or None},
            )

    def _open_session(self, line: Line) -> Generator[Item, None, str]:
        """Yield a line's conversation if something is new, and return its id."""
        main = clean_name(line.sessionId) or "unknown"
        agent = self._chains.find_agent(line)
        session_id = (clean_name(f"{main}:{_AGENT}{agent}") if agent else None) or main
        known = self._begun.get(session_id)
        title = self._titles.pop(line.uuid, None) if line.uuid in self._titles else None
        model = line.message.model if line.message is not None and line.type == "assistant" else None
        if known is None or (title and not known.title) or (model and not known.model):
            known = make_conversation(
                KIND,
                session_id,
                model=(known.model if known else None) or model,
                title=(known.title if known else None) or title,
                parent_id=main if agent else None,
                is_agent=agent is not None,
                cwd=line.cwd,
                branch=line.gitBranch,
                version=line.version,
            )
            self._begun[session_id] = known
            yield known
        return session_id

    def _set_title(self, session_id: str, title: str | None) -> Iterator[Item]:
        named = clean_name(title)
        if named:
            known = self._begun.get(session_id, Conversation(session_id, KIND))
            self._begun[session_id] = known = replace(known, title=named)
            yield known

    def _get_time(self, line: Line) -> float:
        """Return the time of a line, or of the line before, or of the file."""
        found = parse_time(line.timestamp)
        self._time = found if found is not None else self._time or self._changed
        return self._time

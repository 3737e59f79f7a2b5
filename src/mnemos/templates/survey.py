"""Recorded conversations with what became of their tool calls: the newest first, and not too many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemos.errors import NotFound
from mnemos.templates.injection import LOADED, is_injected_line, loaded_template
from mnemos.templates.kinds import ToolSets, classify_task_type
from mnemos.templates.model import TaskType
from mnemos.templates.reading import Answered, Conversations, answered_calls

MOST_MESSAGES: Final = 200_000
"""So many are read at most, so that an answer takes seconds however much there is."""
_PAGE: Final = 100
_TOLD_BY: Final = ("system", "developer", "user")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, and of each of its answered calls whether it succeeded."""

    session_id: str
    """The first of its sessions."""
    sessions: tuple[str, ...]
    title: str | None
    source: str
    started_at: float
    end_reason: str | None
    """Why the last of its sessions ended."""
    turns: int
    calls: tuple[Answered, ...]
    outcomes: tuple[bool, ...]
    kind: TaskType
    template: str | None
    """The template it began with."""


@dataclass(slots=True)
class Survey:
    """Conversations one after the other; what was looked at is known when they have been gone through."""

    sessions: Conversations
    tools: ToolSets
    most: int
    source: str | None = None
    looked_at: int = 0
    """Sessions."""
    is_complete: bool = True
    """Whether there was nothing more to look at."""

    def conversations(self) -> Iterator[Conversation]:
        """Those that called tools."""
        seen: set[str] = set()
        room = MOST_MESSAGES
        for row in self._newest():
            if row["id"] in seen:
                continue
            try:
                line = self.sessions.get_lineage(row["id"])
                messages = [self.sessions.get_messages(one) for one in line]
            except NotFound:
                # Deleted since it was listed.
                continue
            seen.update(line)
            said = [message for several in messages for message in several]
            room -= len(said)
            if calls := list(answered_calls(said)):
                yield self._conversation(line, said, calls)
            if room <= 0:
                self.is_complete = False
                return

    def _newest(self) -> Iterator[Mapping[str, Any]]:
        while True:
            page = self.sessions.search_sessions(self.source, _PAGE, self.looked_at, archived=None)
            for row in page:
                if self.looked_at >= self.most:
                    self.is_complete = False
                    return
                self.looked_at += 1
                yield row
            if len(page) < _PAGE:
                return

    def _conversation(
        self, line: list[str], messages: list[dict[str, Any]], calls: list[Answered]
    ) -> Conversation:
        rows = [row for one in line if (row := self.sessions.get_session(one)) is not None]
        first, last = (rows[0], rows[-1]) if rows else ({}, {})
        return Conversation(
            line[0],
            tuple(line),
            first.get("title") or last.get("title"),
            first.get("source", ""),
            first.get("started_at", 0.0),
            last.get("end_reason"),
            sum(message["role"] == "user" and not is_injected_line(message) for message in messages),
            tuple(calls),
            tuple(call.succeeded(self.tools) for call in calls),
            classify_task_type([call.tool_name for call in calls], self.tools),
            _template_of(rows, messages),
        )


def _template_of(rows: list[dict[str, Any]], messages: list[dict[str, Any]]) -> str | None:
    """The template that a conversation began with: by its metadata, its prompt, or the message itself."""
    for row in rows:
        metadata = row.get("metadata")
        named = metadata.get("template") if isinstance(metadata, Mapping) else None
        if isinstance(named, str) and named:
            return named
        if told := loaded_template(row.get("system_prompt") or ""):
            return told
    for message in messages:
        content = message["content"]
        if message["role"] in _TOLD_BY and isinstance(content, str) and content.startswith(LOADED):
            return loaded_template(content)
    return None

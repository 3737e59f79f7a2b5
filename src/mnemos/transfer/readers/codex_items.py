"""The items that rollouts of Codex consist of, and what they say."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import msgspec

from mnemos.transfer.foreign_files import decoded, filled, short
from mnemos.transfer.readers.injected_text import parted

# What Codex, its editors and its skills put between tags into what a user says.
_INJECTED: Final = frozenset(
    {
        "environment_context", "user_instructions", "turn_aborted", "skill", "skills_instructions",
        "user_action", "subagent_notification", "collaboration_mode", "multi_agent_mode",
        "apps_instructions", "plugins_instructions", "recommended_plugins", "personality_spec",
        "model_switch", "hook_prompt", "goal_context", "memory_citation", "realtime_conversation",
        "user_shell_command",
    }
)  # fmt: skip
# Around what others wrote: instructions in a repository, and what commands print.
_FOREIGN: Final = tuple(
    frozenset({tag}) for tag in ("user_instructions", "user_shell_command", "skill", "subagent_notification")
)
_CITATIONS: Final = frozenset({"oai-mem-citation"})
# Told in the text of an answer, and apart from it in the event.
_PLANS: Final = frozenset({"proposed_plan"})
# Texts that are put in as a whole: how they begin, where they end, and what they are called.
_WHOLE: Final = (
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", "AGENTS.md"),
    ("<permissions instructions>", "</permissions instructions>", "permissions"),
    ("# Context from my IDE setup:", "## My request for Codex:", "ide_context"),
)
_RESULT: Final = '{"output":'
# Lines between an event and its item. Farther away, the same words are another message.
_NEAR: Final = 12


class Payload(msgspec.Struct):
    """What matters of an item or an event. Most names mean another thing in another type: hence Any."""

    type: str = ""
    id: Any = None
    role: Any = None
    content: Any = None
    summary: Any = None
    name: Any = None
    namespace: Any = None
    arguments: Any = None
    input: Any = None
    action: Any = None
    call_id: Any = None
    output: Any = None
    tools: Any = None
    revised_prompt: Any = None
    message: Any = None
    text: Any = None
    info: Any = None
    item: Any = None
    author: Any = None
    timestamp: Any = None
    cwd: Any = None
    model: Any = None
    originator: Any = None
    cli_version: Any = None
    source: Any = None
    git: Any = None
    forked_from_id: Any = None
    parent_thread_id: Any = None
    agent_nickname: Any = None
    agent_role: Any = None
    thread_name: Any = None


class Line(msgspec.Struct):
    """A line in its envelope, as Codex writes it since September 2025."""

    type: str = ""
    timestamp: Any = None
    record_type: Any = None
    payload: Payload | None = None


_decode_line = msgspec.json.Decoder(Line).decode


_decode_payload = msgspec.json.Decoder(Payload).decode


def line_of(data: bytes) -> Line:
    """A line, of the oldest form too; anything else raises ValueError."""
    try:
        line = _decode_line(data)
        return line if line.payload or line.record_type else _bare(_decode_payload(data))
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        # What it refuses, others may have written: a lone surrogate, for one.
        found = decoded(data)
        line = msgspec.convert(found, Line)
        return line if line.payload or line.record_type else _bare(msgspec.convert(found, Payload))


def is_json(data: bytes) -> bool:
    try:
        decoded(data)
    except ValueError:
        return False
    return True


@dataclass(slots=True)
class Words:
    """What a message says, apart from what was put in."""

    said: str = ""
    injected: list[tuple[str, str]] = field(default_factory=list)
    images: int = 0
    parts: list[str] = field(default_factory=list)

    def digests(self) -> list[str]:
        """By which the same text is known again: of all, and of each part that an event may have alone."""
        return [digest_of(self.said), *(map(digest_of, self.parts) if len(self.parts) > 1 else ())]


def words_of(role: str, content: Any) -> Words:
    """The words of a message; content that is none raises ValueError."""
    words = Words()
    for part in parts_of(content):
        text = part.get("text")
        if isinstance(text, str):
            if part.get("type") == "input_text" and _is_frame(text):
                continue
            said = _said(role, text, words)
            if said:
                words.parts.append(said)
        elif "image" in str(part.get("type")):
            words.images += 1
    words.said = "\n".join(words.parts)
    return words


def parts_of(content: Any) -> list[dict[str, Any]]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [
            {"type": "text", "text": part} if isinstance(part, str) else part
            for part in content
            if isinstance(part, dict | str)
        ]
    raise ValueError(f"its content is a {type(content).__name__}")


def digest_of(text: str) -> str:
    """The same for texts that differ in blanks only, or in the plan that an answer holds."""
    if "<" in text:
        text = parted(text, _PLANS).said
    return blake2b("".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def thoughts_of(payload: Payload) -> list[str]:
    """The summary of a chain of thought, or the chain where it is not encrypted."""
    for parts in (payload.summary, payload.content):
        found = [
            part["text"]
            for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
        ] if isinstance(parts, list) else []  # fmt: skip
        if found:
            return found
    return []


def called(payload: Payload) -> tuple[str, Any] | None:
    """The tool that an item calls, and with what; None for an item that is no call."""
    kind = payload.type
    if kind == "function_call":
        name = short(payload.name) or "unknown"
        space = short(payload.namespace)
        return f"{space}.{name}" if space else name, payload.arguments
    if kind == "custom_tool_call":
        return short(payload.name) or "unknown", payload.input
    if kind == "local_shell_call":
        return "local_shell", payload.action
    if kind == "web_search_call":
        return "web_search", payload.action
    if kind == "tool_search_call":
        return "tool_search", payload.arguments
    if kind == "image_generation_call":
        return "image_generation", filled(prompt=payload.revised_prompt)
    return None


def result_of(payload: Payload) -> tuple[str, dict[str, Any], int]:
    """What a tool answered, what is known about it, and how many images were in it."""
    output = payload.output if payload.output is not None else payload.tools
    if isinstance(output, str) and output.startswith(_RESULT):
        try:
            found = decoded(output)
        except ValueError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("output"), str):
            about = found.get("metadata")
            code = about.get("exit_code") if isinstance(about, dict) else None
            return found["output"], filled(exit_code=code if isinstance(code, int) else None), 0
    if isinstance(output, str):
        return output, {}, 0
    if isinstance(output, dict):
        success = output.get("success")
        text, images = _text_of(output.get("content", output.get("output")))
        return text, filled(is_error=True if success is False else None), images
    text, images = _text_of(output)
    return text, {}, images


def _text_of(content: Any) -> tuple[str, int]:
    if content is None:
        return "", 0
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        return _written(content), 0
    parts = [part for part in content if isinstance(part, dict)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    images = sum("image" in str(part.get("type")) for part in parts)
    return "\n".join(texts) if texts or images else _written(content), images


def _written(value: Any) -> str:
    """A value as JSON; of one that is nested too deep for it, nothing."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def _bare(payload: Payload) -> Line:
    return Line(timestamp=payload.timestamp, payload=payload)


def _said(role: str, text: str, words: Words) -> str:
    if role == "assistant":
        if "<" not in text:
            return text
        apart = parted(text, _CITATIONS)
        words.injected.extend(apart.injected)
        return apart.said
    text = text.strip()
    for beginning, ending, name in _WHOLE:
        if text.startswith(beginning) and (end := text.rfind(ending)) >= 0:
            end += len(ending)
            words.injected.append((name, text[:end]))
            text = text[end:].strip()
    apart = parted(text, _INJECTED, _FOREIGN)
    words.injected.extend(apart.injected)
    return apart.said


def _is_frame(text: str) -> bool:
    """Whether it only stands before or after an image."""
    return len(text) < 200 and (text.startswith("<image") or text == "</image>")


@dataclass(slots=True)
class Entry:
    """A message. ``fields`` None: it turned out to be a part of another. ``waits``: its item may follow."""

    key: str
    fields: dict[str, Any] | None
    waits: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(slots=True)
class _Event:
    """An event of which the item was not seen. ``entry`` None: it was told when the file was read before."""

    role: str
    digest: str
    line: int
    entry: Entry | None


class Pairs:
    """``made`` entries came so far, and ``told`` of them went."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._items: deque[tuple[str, str, int]] = deque(map(tuple, state.get("items") or ()))
        self._events: deque[_Event] = deque(
            _Event(role, digest, line, None) for role, digest, line in state.get("events") or ()
        )
        self._entries: deque[Entry] = deque()
        self.made = 0
        self.told = 0

    def state(self) -> dict[str, Any]:
        """What is to be known of those that went, for when their items or events come later."""
        return {
            "items": list(self._items),
            "events": [(event.role, event.digest, event.line) for event in self._events],
        }

    @property
    def last(self) -> Entry | None:
        return self._entries[-1] if self._entries else None

    def add(self, entry: Entry) -> None:
        self.made += 1
        self._entries.append(entry)

    def at(self, line: int) -> None:
        """Give up what is too far from this line."""
        first = line - _NEAR
        while self._items and self._items[0][2] < first:
            self._items.popleft()
        while self._events and self._events[0].line < first:
            event = self._events.popleft()
            if event.entry is not None:
                event.entry.waits = False

    def await_event(self, role: str, digests: Sequence[str], line: int) -> None:
        """Remember an item that came first: its event, or one for each of its parts, may follow."""
        self._items.extend((role, digest, line) for digest in digests)

    def await_item(self, role: str, digest: str, line: int) -> None:
        """Remember the last entry as an event that came first."""
        self._events.append(_Event(role, digest, line, self._entries[-1]))

    def had_item(self, role: str, digest: str) -> bool:
        """Whether the item of an event came already; it is the item of no other then."""
        for item in self._items:
            if item[:2] == (role, digest):
                self._items.remove(item)
                return True
        return False

    def had_events(self, role: str, digests: Sequence[str]) -> list[Entry] | None:
        """The entries of the events of an item, without those that went; None when there was no event."""
        # Of each text the first: the same may be said twice.
        first: dict[str, _Event] = {}
        for event in self._events:
            if event.role == role and event.digest in digests:
                first.setdefault(event.digest, event)
        for event in first.values():
            self._events.remove(event)
            if event.entry is not None:
                event.entry.waits = False
        return [event.entry for event in first.values() if event.entry is not None] if first else None

    def sure(self) -> Iterator[Entry]:
        """The entries to which nothing can come any more. The last one may still get its tokens."""
        while len(self._entries) > 1 and not self._entries[0].waits:
            yield self._next()

    def rest(self) -> Iterator[Entry]:
        while self._entries:
            yield self._next()

    def _next(self) -> Entry:
        self.told += 1
        return self._entries.popleft()

"""Lines and items of Codex rollouts, and the matching of items with their events.

A message is recorded as an item and as an event, next to each other in either order, perhaps with a thought
or a token count between them. So it is held back until its counterpart can't follow any more.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from mnemos.transfer.foreign_files import clean_name, decode_json, decode_object, drop_empty
from mnemos.transfer.readers.injected_text import split_injected

# Tags that Codex, its editors and skills inject into a user's message.
_INJECTED: Final = frozenset(
    {
        "environment_context", "user_instructions", "turn_aborted", "skill", "skills_instructions",
        "user_action", "subagent_notification", "collaboration_mode", "multi_agent_mode",
        "apps_instructions", "plugins_instructions", "recommended_plugins", "personality_spec",
        "model_switch", "hook_prompt", "goal_context", "memory_citation", "realtime_conversation",
        "user_shell_command",
    }
)  # fmt: skip
# Around text by others: instructions in a repository, and output of commands.
_FOREIGN: Final = tuple(
    frozenset({tag}) for tag in ("user_instructions", "user_shell_command", "skill", "subagent_notification")
)
_CITATIONS: Final = frozenset({"oai-mem-citation"})
# Part of the text of an answer, but not of its event.
_PLANS: Final = frozenset({"proposed_plan"})
# Texts that are injected as a whole: beginning, end, name.
_WHOLE: Final = (
    ("# AGENTS.md instructions", "</INSTRUCTIONS>", "AGENTS.md"),
    ("<permissions instructions>", "</permissions instructions>", "permissions"),
    ("# Context from my IDE setup:", "## My request for Codex:", "ide_context"),
)
_RESULT: Final = '{"output":'
# Lines between an event and its item. Farther apart, the same text is another message.
_NEAR: Final = 12
_PIECE: Final = 1 << 20
# Characters of messages that wait for their counterpart.
_MOST_HELD: Final = 4_000_000


Payload = Mapping[str, Any]
"""An item or an event. The other fields depend on ``type``."""


def parse_line(data: bytes) -> tuple[str, Any, Payload | None]:
    """Return the type, time and payload of a line; ValueError if it is not one.

    Since September 2025 Codex writes an envelope around each payload. The oldest lines have no type.
    """
    found = decode_object(data)
    kind, payload = found.get("type", ""), found.get("payload")
    if payload is None and found.get("record_type"):
        return "", None, None
    if payload is None:
        kind, payload = "", found
    inner = payload.get("type", "") if isinstance(payload, dict) else None
    if not isinstance(kind, str) or not isinstance(inner, str):
        raise ValueError("its type is not text")  # noqa: TRY004 - it is about the text
    return kind, found.get("timestamp"), payload


@dataclass(slots=True)
class Words:
    """The text of a message, separated from injected blocks."""

    text: str = ""
    injected: list[tuple[str, str]] = field(default_factory=list)
    images: int = 0
    parts: list[str] = field(default_factory=list)

    def digests(self) -> list[str]:
        """Return hashes of the text and, as an event may have one part only, of each part."""
        return [hash_text(self.text), *(map(hash_text, self.parts) if len(self.parts) > 1 else ())]


def extract_words(role: str, content: Any) -> Words:
    """Return the text of a message; ValueError if the content can't be one."""
    words = Words()
    for part in list_content_parts(content):
        text = part.get("text")
        if isinstance(text, str):
            if part.get("type") == "input_text" and _is_frame(text):
                continue
            part_text = _separate(role, text, words)
            if part_text:
                words.parts.append(part_text)
        elif "image" in str(part.get("type")):
            words.images += 1
    words.text = "\n".join(words.parts)
    return words


def list_content_parts(content: Any) -> list[dict[str, Any]]:
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
    raise ValueError(f"its content is of type {type(content).__name__}")


def hash_text(text: str) -> str:
    """Return a hash that ignores white space and the plan in an answer."""
    if "<" in text:
        text = split_injected(text, _PLANS).text
    digest = blake2b(digest_size=8)
    # In pieces: the list of the words of a long text takes many times its memory.
    for start in range(0, len(text), _PIECE):
        digest.update("".join(text[start : start + _PIECE].split()).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def extract_thoughts(payload: Payload) -> list[str]:
    """Return the summary of a chain of thought, or the chain if it is not encrypted."""
    for parts in (payload.get("summary"), payload.get("content")):
        found = [
            part["text"]
            for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
        ] if isinstance(parts, list) else []  # fmt: skip
        if found:
            return found
    return []


def get_call(payload: Payload) -> tuple[str, Any] | None:
    """Return the tool and arguments of a call; None for other items."""
    kind = payload.get("type", "")
    if kind == "function_call":
        name = clean_name(payload.get("name")) or "unknown"
        space = clean_name(payload.get("namespace"))
        return f"{space}.{name}" if space else name, payload.get("arguments")
    if kind == "custom_tool_call":
        return clean_name(payload.get("name")) or "unknown", payload.get("input")
    if kind == "local_shell_call":
        return "local_shell", payload.get("action")
    if kind == "web_search_call":
        return "web_search", payload.get("action")
    if kind == "tool_search_call":
        return "tool_search", payload.get("arguments")
    if kind == "image_generation_call":
        return "image_generation", drop_empty(prompt=payload.get("revised_prompt"))
    return None


def extract_result(payload: Payload) -> tuple[str, dict[str, Any], int]:
    """Return the output of a tool, its metadata, and the number of images in it."""
    output = payload.get("output") if payload.get("output") is not None else payload.get("tools")
    if isinstance(output, str) and output.startswith(_RESULT):
        try:
            found = decode_json(output)
        except ValueError:
            found = None
        if isinstance(found, dict) and isinstance(found.get("output"), str):
            about = found.get("metadata")
            code = about.get("exit_code") if isinstance(about, dict) else None
            return found["output"], drop_empty(exit_code=code if isinstance(code, int) else None), 0
    if isinstance(output, str):
        return output, {}, 0
    if isinstance(output, dict):
        success = output.get("success")
        text, images = _to_text(output.get("content", output.get("output")))
        return text, drop_empty(is_error=True if success is False else None), images
    text, images = _to_text(output)
    return text, {}, images


def _to_text(content: Any) -> tuple[str, int]:
    if content is None:
        return "", 0
    if isinstance(content, str):
        return content, 0
    if not isinstance(content, list):
        return _dump(content), 0
    parts = [part for part in content if isinstance(part, dict)]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    images = sum("image" in str(part.get("type")) for part in parts)
    return "\n".join(texts) if texts or images else _dump(content), images


def _dump(value: Any) -> str:
    """Return a value as JSON; empty if it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def _separate(role: str, text: str, words: Words) -> str:
    if role == "assistant":
        if "<" not in text:
            return text
        apart = split_injected(text, _CITATIONS)
        words.injected.extend(apart.injected)
        return apart.text
    text = text.strip()
    for beginning, ending, name in _WHOLE:
        if text.startswith(beginning) and (end := text.rfind(ending)) >= 0:
            end += len(ending)
            words.injected.append((name, text[:end]))
            text = text[end:].strip()
    apart = split_injected(text, _INJECTED, _FOREIGN)
    words.injected.extend(apart.injected)
    return apart.text


def _is_frame(text: str) -> bool:
    """True if it only frames an image."""
    return len(text) < 200 and (text.startswith("<image") or text == "</image>")


@dataclass(slots=True)
class PendingMessage:
    """A message. ``fields`` is None if it is part of another; ``waits`` if its item may follow."""

    key: str
    fields: dict[str, Any] | None
    waits: bool = False
    input_tokens: int = 0
    output_tokens: int = 0


def _length(entry: PendingMessage) -> int:
    content = (entry.fields or {}).get("content")
    return len(content) if isinstance(content, str) else 0


@dataclass(slots=True)
class _Event:
    """An event whose item is not seen yet. ``entry`` is None if it was yielded in a former run."""

    role: str
    digest: str
    line: int
    entry: PendingMessage | None


class Pairs:
    """Pairs items with events. ``made`` messages came so far, and ``yielded`` of them left."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._items: deque[tuple[str, str, int]] = deque(map(tuple, state.get("items") or ()))
        self._events: deque[_Event] = deque(
            _Event(role, digest, line, None) for role, digest, line in state.get("events") or ()
        )
        self._entries: deque[PendingMessage] = deque()
        self.made = 0
        self.yielded = 0

    def state(self) -> dict[str, Any]:
        """Return what is needed when counterparts of yielded messages come later."""
        return {
            "items": list(self._items),
            "events": [(event.role, event.digest, event.line) for event in self._events],
        }

    @property
    def last(self) -> PendingMessage | None:
        return self._entries[-1] if self._entries else None

    def add(self, entry: PendingMessage) -> None:
        self.made += 1
        self._entries.append(entry)
        if sum(map(_length, self._entries)) > _MOST_HELD:
            # Items without a counterpart are complete by themselves.
            for one in self._entries:
                one.waits = False
            for event in self._events:
                event.entry = None

    def advance(self, line: int) -> None:
        """Drop what is too far from this line."""
        first = line - _NEAR
        while self._items and self._items[0][2] < first:
            self._items.popleft()
        while self._events and self._events[0].line < first:
            event = self._events.popleft()
            if event.entry is not None:
                event.entry.waits = False

    def await_event(self, role: str, digests: Sequence[str], line: int) -> None:
        """Remember an item whose event, or one for each part, may follow."""
        self._items.extend((role, digest, line) for digest in digests)

    def await_item(self, role: str, digest: str, line: int) -> None:
        """Remember the last message as an event whose item may follow."""
        self._events.append(_Event(role, digest, line, self._entries[-1]))

    def match_item(self, role: str, digest: str) -> bool:
        """True if the item of an event came before; it then matches no other event."""
        for item in self._items:
            if item[:2] == (role, digest):
                self._items.remove(item)
                return True
        return False

    def match_events(self, role: str, digests: Sequence[str]) -> list[PendingMessage] | None:
        """Return the pending messages of an item's events; None if there was no event."""
        # The first of each text, which may be said twice.
        first: dict[str, _Event] = {}
        for event in self._events:
            if event.role == role and event.digest in digests:
                first.setdefault(event.digest, event)
        for event in first.values():
            self._events.remove(event)
            if event.entry is not None:
                event.entry.waits = False
        return [event.entry for event in first.values() if event.entry is not None] if first else None

    def take_final(self) -> Iterator[PendingMessage]:
        """Yield the messages that are complete. The last one may still get its tokens."""
        while len(self._entries) > 1 and not self._entries[0].waits:
            yield self._next()

    def take_rest(self) -> Iterator[PendingMessage]:
        while self._entries:
            yield self._next()

    def _next(self) -> PendingMessage:
        self.yielded += 1
        return self._entries.popleft()

"""The items that rollouts of Codex consist of, and what they say."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import msgspec

from mnemos.transfer.readers.injected import parted
from mnemos.transfer.values import decoded, filled, short

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

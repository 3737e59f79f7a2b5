"""Reader of Qwen Code: a JSON line per record, with Gemini's parts inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mnemos.text.stored_text import NAMES
from mnemos.transfer.foreign_files import (
    Translator,
    clean_name,
    decode_object,
    drop_empty,
    files_with,
    get_object,
    get_text,
    parse_time,
    translate_lines,
)
from mnemos.transfer.reader import (
    BEGINNING,
    Conversation,
    Item,
    Mark,
    Reader,
    Skipped,
    SourceFile,
    Unreadable,
)
from mnemos.transfer.readers.dialogue import INJECTED, OWN_RECORDS, Dialogue, make_conversation
from mnemos.transfer.readers.gemini_parts import split_parts

KIND: Final = "qwen"
_FOLDERS: Final = frozenset({"chats", "subagents"})
_INJECTED: Final = frozenset({"system-reminder", "hook_context", "state_snapshot", "session_context"})
# Messages in the user's role that no user wrote.
_NOT_SAID: Final = frozenset({"notification", "cron", "goal_runtime", "agent_bootstrap"})


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    return translate_lines(source, mark, _Chat(source, mark), "it is not a line of a chat")


READER: Final = Reader(
    KIND,
    "Qwen Code",
    files_with(
        ".jsonl",
        wanted=lambda file: not _FOLDERS.isdisjoint(file.parts),
        # Sub-agents' chats come last.
        key=lambda file: ("subagents" in file.parts, file),
    ),
    read,
)


class _Chat(Translator):
    """A file being read: what its lines so far tell about the session."""

    def __init__(self, source: SourceFile, mark: Mark) -> None:
        self._changed = source.changed_ns / 1e9
        self._about: dict[str, Any] = dict(mark.state or {})

    def state(self) -> dict[str, Any]:
        return self._about

    def translate(self, data: bytes, number: int) -> Iterator[Item]:
        record = decode_object(data)
        kind = record.get("type")
        if not isinstance(record.get("uuid"), str) or not isinstance(record.get("sessionId"), str):
            yield Unreadable(number, "this version of the format is not known")
        elif kind == "system":
            yield from self._system(record)
        elif get_text(record, "subtype") in _NOT_SAID:
            yield INJECTED
        elif kind in ("user", "assistant", "tool_result"):
            yield from self._speak(record)
        else:
            yield Unreadable(number, f"the type {kind!r:.40} is not known")

    def _system(self, record: Any) -> Iterator[Item]:
        payload = get_object(record, "systemPayload")
        title, parent = clean_name(payload.get("customTitle")), clean_name(payload.get("parentSessionId"))
        if title or parent:
            self._about |= drop_empty(title=title, parent=parent)
            yield self._open(record)
        else:
            yield OWN_RECORDS

    def _speak(self, record: Any) -> Iterator[Item]:
        parts = split_parts(get_object(record, "message").get("parts"))
        if record["type"] == "assistant" and not self._about.get("model"):
            self._about |= drop_empty(model=clean_name(record.get("model")))
        conversation = self._open(record)
        yield conversation
        if parts.images:
            yield Skipped("images", parts.images)
        at = parse_time(record.get("timestamp"))
        uuid = record["uuid"]
        say = Dialogue(conversation.id, self._changed, _INJECTED, _find_origin(record))
        shown = get_text(get_object(record, "systemPayload"), "displayText")
        if record["type"] == "user":
            yield from say.ask(shown or _unescape_fences(parts.text), at, uuid)
        elif record["type"] == "assistant":
            used = get_object(record, "usageMetadata")
            tokens = (used.get("promptTokenCount"), used.get("candidatesTokenCount"))
            model = record.get("model")
            model = model if model != self._about.get("model") else None
            yield from say.reply(parts.text, at, uuid, thoughts=parts.thoughts, tokens=tokens, model=model)
        # Some models give all their calls the same id.
        for number, (call_id, name, arguments) in enumerate(parts.calls):
            yield from say.call(call_id, name, arguments, at, f"{uuid}/{number}")
        for number, (call_id, name, text) in enumerate(parts.results):
            yield from say.answer(call_id, name, text, at, f"{uuid}/{number}")

    def _open(self, record: Any) -> Conversation:
        main = clean_name(record["sessionId"]) or "unknown"
        agent = clean_name(record.get("agentId")) if record.get("isSidechain") else None
        return make_conversation(
            KIND,
            f"{main}:agent-{agent}" if agent else main,
            model=self._about.get("model"),
            title=None if agent else self._about.get("title"),
            parent_id=main if agent else self._about.get("parent") or _find_origin(record),
            is_agent=agent is not None,
            cwd=record.get("cwd"),
            branch=record.get("gitBranch"),
            version=record.get("version"),
        )


def _unescape_fences(text: str) -> str:
    """Restore the marks of our fences, which Qwen Code escapes in a hook's output."""
    for name in NAMES if "&lt;" in text else ():
        text = text.replace(f"&lt;{name}&gt;", f"<{name}>").replace(f"&lt;/{name}&gt;", f"</{name}>")
    return text


def _find_origin(record: Any) -> str | None:
    """Return the session that a record was copied from by branching."""
    return clean_name(get_object(record, "forkedFrom").get("sessionId"))

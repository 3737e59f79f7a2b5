"""Reader of Gemini CLI: a JSON line per record, or one object in older versions.

A record is written again when more of it is known, so texts, calls and results have separate keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mnemos.files import open_regular
from mnemos.transfer.foreign_files import (
    Translator,
    clean_name,
    decode_object,
    drop_empty,
    files_with,
    get_object,
    get_objects,
    get_text,
    is_file,
    parse_time,
    read_whole,
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
from mnemos.transfer.readers.dialogue import OWN_RECORDS, Dialogue, make_conversation
from mnemos.transfer.readers.gemini_parts import split_parts

KIND: Final = "gemini"
_CHATS: Final = "chats"
_ROOT: Final = ".project_root"
_LONGEST_PATH: Final = 4_096
_INJECTED: Final = frozenset({"session_context", "hook_context", "state_snapshot", "environment_context"})
_OTHERS: Final = frozenset({"info", "error", "warning"})


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    chat = _Chat(source, mark)
    if source.path.suffix == ".json":
        try:
            yield from chat.translate(read_whole(source.path), 0)
        except ValueError as exc:
            yield Unreadable(0, f"it is not a chat: {exc}")
        # This file is always rewritten as a whole.
        yield BEGINNING
        return
    yield from translate_lines(source, mark, chat, "it is not a line of a chat")


READER: Final = Reader(
    KIND,
    "Gemini CLI",
    files_with(
        ".json",
        ".jsonl",
        wanted=lambda file: _CHATS in (file.parent.name, file.parent.parent.name),
        # Sub-agents' chats come last.
        key=lambda file: (file.parent.name != _CHATS, file),
    ),
    read,
)


class _Chat(Translator):
    """A file being read: what its lines so far tell about the session."""

    def __init__(self, source: SourceFile, mark: Mark) -> None:
        self._path = source.path
        self._changed = source.changed_ns / 1e9
        self._about: dict[str, Any] = dict(mark.state or {})
        self._dialogue = Dialogue(str(self._about.get("id", "")), self._changed, _INJECTED)

    def state(self) -> dict[str, Any]:
        return self._about

    def translate(self, data: bytes, number: int) -> Iterator[Item]:
        record = decode_object(data)
        changed = record.get("$set")
        if isinstance(record.get("sessionId"), str):
            self._begin(record)
            yield from self._read_messages(record, number)
        elif isinstance(changed, dict):
            self._learn(title=clean_name(changed.get("summary")))
            yield from self._read_messages(changed, number)
        elif "$rewindTo" in record:
            yield OWN_RECORDS
        elif isinstance(record.get("id"), str) and isinstance(record.get("type"), str):
            yield from self._message(record, number)
        else:
            yield Unreadable(number, "this version of the format is not known")

    def finish(self) -> Iterator[Item]:
        if self._about:
            yield self._conversation()

    def _begin(self, record: Any) -> None:
        session_id = clean_name(record["sessionId"]) or "unknown"
        above = self._path.parent
        is_agent = record.get("kind") == "subagent" or above.name != _CHATS
        self._learn(
            id=session_id,
            started_at=parse_time(record.get("startTime")),
            title=clean_name(record.get("summary")),
            parent=clean_name(above.name) if is_agent and above.parent.name == _CHATS else None,
            agent=is_agent or None,
            cwd=_find_root(self._path),
        )
        if self._dialogue.session_id != session_id:
            self._dialogue = Dialogue(session_id, self._changed, _INJECTED)

    def _learn(self, **fields: Any) -> None:
        self._about = self._about | drop_empty(**fields)

    def _conversation(self) -> Conversation:
        about = self._about
        return make_conversation(
            KIND,
            about["id"],
            started_at=about.get("started_at"),
            model=about.get("model"),
            title=about.get("title"),
            parent_id=about.get("parent"),
            is_agent=bool(about.get("agent")),
            cwd=about.get("cwd"),
        )

    def _read_messages(self, holder: Mapping[str, Any], number: int) -> Iterator[Item]:
        for record in get_objects(holder, "messages"):
            if isinstance(record.get("type"), str):
                yield from self._message(record, number)

    def _message(self, record: Any, number: int) -> Iterator[Item]:
        if "id" not in self._about:
            raise ValueError("it comes before a line with a session id")
        kind = record["type"]
        if kind in _OTHERS:
            yield OWN_RECORDS
            return
        if kind not in ("user", "gemini"):
            yield Unreadable(number, f"the type {kind!r:.40} is not known")
            return
        if kind == "gemini" and not self._about.get("model"):
            self._learn(model=clean_name(record.get("model")))
        yield self._conversation()
        yield from self._speak(record, clean_name(record.get("id")))

    def _speak(self, record: Any, key: str | None) -> Iterator[Item]:
        say = self._dialogue
        at = parse_time(record.get("timestamp"))
        parts = split_parts(record.get("displayContent") or record.get("content"))
        if parts.images:
            yield Skipped("images", parts.images)
        if record["type"] == "user":
            yield from say.ask(parts.text, at, key)
            parts = split_parts(record.get("content"))
        else:
            thoughts = [
                f"{get_text(thought, 'subject')}: {get_text(thought, 'description')}"
                for thought in get_objects(record, "thoughts")
            ]
            used = get_object(record, "tokens")
            tokens = (used.get("input"), used.get("output"))
            model = record.get("model")
            yield from say.reply(
                parts.text,
                at,
                key,
                thoughts=[*thoughts, *parts.thoughts],
                tokens=tokens,
                model=model if model != self._about.get("model") else None,
            )
            yield from self._calls(get_objects(record, "toolCalls"), at)
        for call_id, name, arguments in parts.calls:
            yield from say.call(call_id, name, arguments, at)
        for call_id, name, text in parts.results:
            yield from say.answer(call_id, name, text, at)

    def _calls(self, calls: list[dict[str, Any]], at: float | None) -> Iterator[Item]:
        for call in calls:
            yield from self._dialogue.call(call.get("id"), call.get("name"), call.get("args"), at)
            is_error = call.get("status") == "error"
            when = parse_time(call.get("timestamp"))
            for _, name, text in split_parts(call.get("result")).results:
                yield from self._dialogue.answer(call.get("id"), name, text, when, is_error=is_error)


def _find_root(path: Path) -> str | None:
    """Return a chat's project, which is in a file next to the folder of chats."""
    folder = next((one.parent for one in path.parents if one.name == _CHATS), None)
    if folder is None or not is_file(folder / _ROOT):
        return None
    try:
        with open_regular(folder / _ROOT) as file:
            return clean_name(file.read(_LONGEST_PATH).decode("utf-8", "replace"))
    except OSError:
        return None

"""Reader of Claude.ai exports: lists of messages that name their parents.

Edited messages and regenerated answers are still there. The branch that was viewed last is imported, and the
others are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mnemos.text.fences import strip_fences
from mnemos.transfer.chat_exports import chat_reader, follow_branch, hash_conversation, join_content
from mnemos.transfer.foreign_files import (
    clean_name,
    drop_empty,
    get_object,
    get_objects,
    get_text,
    make_call,
    parse_time,
)
from mnemos.transfer.reader import Conversation, ImportedMessage, Item, Skipped, Unreadable
from mnemos.transfer.readers.dialogue import OWN_RECORDS

KIND: Final = "claude"
_ROLES: Final = {"human": "user", "user": "user", "assistant": "assistant"}


Message = Mapping[str, Any]


def _items(talk: Mapping[str, Any], data: bytes, number: int, changed: float) -> Iterator[Item]:
    session_id = clean_name(talk.get("uuid")) or hash_conversation(KIND, data)
    started = parse_time(talk.get("created_at"))
    project = clean_name(get_object(talk, "project").get("name")) or clean_name(talk.get("project_uuid"))
    yield Conversation(
        session_id,
        KIND,
        started_at=started,
        model=clean_name(talk.get("model")),
        title=clean_name(talk.get("name")),
        metadata=drop_empty(project=project) or None,
    )
    known: list[Message] = []
    for place, message in enumerate(talk["chat_messages"], start=1):
        if isinstance(message, dict) and isinstance(message.get("sender"), str):
            known.append(message)
        else:
            yield Unreadable(number, f"message {place} of the conversation can't be read")
    messages, branches = _choose_messages(known, talk.get("current_leaf_message_uuid"))
    if branches:
        yield Skipped("other branches", branches)
    times = (parse_time(message.get("created_at")) for message in messages)
    at = started if started is not None else next((one for one in times if one is not None), changed)
    for place, message in enumerate(messages):
        found = parse_time(message.get("created_at"))
        at = found if found is not None else at
        role = _ROLES.get(message["sender"])
        if role is None:
            yield OWN_RECORDS
            continue
        uuid = clean_name(message.get("uuid")) or f"{session_id}/{place}"
        turn = _read_turn(role, message, uuid)
        yield from (Skipped(what, count) for what, count in turn.skipped.items())
        if not turn.messages:
            yield Skipped("empty messages")
        for part, fields in enumerate(turn.messages):
            metadata = fields.pop("metadata", {}) | {"uuid": uuid}
            key = uuid if part == 0 else f"{uuid}#{part}"
            yield ImportedMessage(session_id, key, fields | {"timestamp": at, "metadata": metadata})


@dataclass(slots=True)
class _Turn:
    """One message of Claude, split into several: a call, its result, and later text."""

    role: str
    uuid: str
    messages: list[dict[str, Any]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    texts: list[str] = field(default_factory=list)
    parts: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    called: list[tuple[str, str]] = field(default_factory=list)

    def add(self, part: Mapping[str, Any]) -> None:
        kind = part.get("type")
        if kind == "tool_use":
            self._call(part)
        elif kind == "tool_result":
            self._result(part)
        elif kind == "thinking" and isinstance(part.get("thinking"), str):
            self.thoughts.append(part["thinking"])
        elif isinstance(part.get("text"), str):
            if self.calls:
                self.flush()
            self.texts.append(part["text"])
        elif kind in ("image", "file", "document"):
            self.attach(str(kind), part.get("file_name"))
        else:
            self.skipped[OWN_RECORDS.what] += 1

    def attach(self, kind: str, name: Any, text: Any = None) -> None:
        if isinstance(text, str) and text:
            self.parts.append({"type": "text", "text": text} | drop_empty(name=clean_name(name)))
            return
        kind = "image" if kind == "image" or str(name).lower().endswith(_PICTURES) else "file"
        self.parts.append({"type": kind} | drop_empty(name=clean_name(name)))
        self.skipped[f"{kind}s"] += 1

    def flush(self) -> None:
        """Make a message of the text and calls so far."""
        text = strip_fences("\n\n".join(text for text in self.texts if text.strip()))
        content = join_content(text, self.parts)
        if content or self.calls or self.thoughts:
            self.messages.append(
                drop_empty(
                    role=self.role,
                    content=content,
                    tool_calls=self.calls or None,
                    metadata=drop_empty(thinking="\n\n".join(self.thoughts)),
                )
            )
        self.texts, self.parts, self.calls, self.thoughts = [], [], [], []

    def _call(self, part: Mapping[str, Any]) -> None:
        call_id = clean_name(part.get("id")) or f"{self.uuid}/{len(self.messages)}.{len(self.calls)}"
        made = make_call(call_id, part.get("name"), part.get("input"))
        self.calls.append(made)
        self.called.append((call_id, made["function"]["name"]))

    def _result(self, part: Mapping[str, Any]) -> None:
        self.flush()
        # A result without an id belongs to the first open call.
        call_id = clean_name(part.get("tool_use_id"))
        answered = next((one for one in self.called if call_id is None or one[0] == call_id), None)
        if answered is not None:
            self.called.remove(answered)
        self.messages.append(
            drop_empty(
                role="tool",
                content=self._output(part.get("content")) or "[no output]",
                tool_name=clean_name(part.get("name")) or (answered[1] if answered else None),
                tool_call_id=call_id or (answered[0] if answered else None),
                metadata=drop_empty(is_error=True if part.get("is_error") is True else None),
            )
        )

    def _output(self, content: Any) -> str:
        if isinstance(content, str):
            return content
        texts: list[str] = []
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and isinstance(part.get("text"), str):
                texts.append(part["text"])
            elif isinstance(part, dict) and part.get("type") == "image":
                self.skipped["images"] += 1
            elif isinstance(part, dict):
                # A search result: its title and address.
                texts += [str(part[key]) for key in ("title", "url") if isinstance(part.get(key), str)]
        return "\n".join(texts)


_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic")


def _read_turn(role: str, message: Message, uuid: str) -> _Turn:
    turn = _Turn(role, uuid)
    for part in get_objects(message, "content"):
        turn.add(part)
    if not turn.texts and not turn.messages and not turn.calls:
        turn.texts.append(get_text(message, "text"))
    named = set()
    for one in get_objects(message, "attachments"):
        named.add(get_text(one, "file_name"))
        turn.attach("file", one.get("file_name"), one.get("extracted_content"))
    for one in get_objects(message, "files"):
        name = one.get("file_name") or one.get("file_uuid")
        if not isinstance(name, str) or name not in named:
            turn.attach(str(one.get("file_kind")), name)
    turn.flush()
    return turn


def _choose_messages(messages: Sequence[Message], leaf: Any) -> tuple[Sequence[Message], int]:
    """Return the messages of the last viewed branch, and how many other branches."""
    by_id = {uuid: message for message in messages if (uuid := get_text(message, "uuid"))}
    parents = {uuid: get_text(message, "parent_message_uuid") or None for uuid, message in by_id.items()}
    if len(by_id) < len(messages) or by_id.keys().isdisjoint(parents.values()):
        # Messages without parents are in order.
        return messages, 0
    path, branches = follow_branch(parents, leaf)
    return [by_id[uuid] for uuid in path], branches


READER: Final = chat_reader(
    KIND, "Claude", "chat_messages", list, _items, (b'"mapping"', "a ChatGPT export; import it as chatgpt")
)

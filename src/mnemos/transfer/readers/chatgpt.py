"""Reader of ChatGPT exports: trees, because messages can be edited and answers regenerated.

The branch that was viewed last is imported, and the others are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import msgspec

from mnemos.transfer.chat_exports import ChatService, follow_branch
from mnemos.transfer.foreign_files import clean_name, drop_empty, make_call, parse_time
from mnemos.transfer.reader import Conversation, ImportedMessage, Item, Skipped, Unreadable

KIND: Final = "chatgpt"
# Ids of this length are globally unique; shorter ones only within their conversation.
_UNIQUE_LENGTH: Final = 32
_INJECTED_TYPES: Final = frozenset({"user_editable_context", "model_editable_context"})
_PARTS: Final = {"image": "images", "audio": "recordings", "video": "videos", "file": "files"}
_INJECTED: Final = Skipped("injected context")
_RECORD: Final = Skipped("records of the program")
_EMPTY: Final = Skipped("empty messages")


class Author(msgspec.Struct):
    role: str = ""
    name: Any = None


class Content(msgspec.Struct):
    content_type: str = ""
    parts: Any = None
    text: Any = None
    result: Any = None
    content: Any = None
    thoughts: Any = None
    title: Any = None
    url: Any = None


class About(msgspec.Struct):
    is_visually_hidden_from_conversation: Any = None
    model_slug: Any = None
    attachments: Any = None


class Message(msgspec.Struct):
    id: Any = None
    author: Author | None = None
    create_time: Any = None
    content: Content | None = None
    recipient: Any = None
    metadata: About | None = None


class Node(msgspec.Struct):
    message: Message | None = None


class _Branch:
    """One conversation, from its root to the message viewed last."""

    def __init__(self, tree: Mapping[str, Any], data: bytes, changed: float) -> None:
        self._tree = tree
        self.id = clean_name(tree.get("conversation_id")) or clean_name(tree.get("id")) or _hash(data)
        self._model = clean_name(tree.get("default_model_slug"))
        self._time = parse_time(tree.get("create_time"))
        self._changed = changed
        self._thoughts: list[str] = []
        # The last open call of each tool.
        self._calls: dict[str, str] = {}

    def items(self, number: int) -> Iterator[Item]:
        tree = self._tree
        parents = {node_id: _get_parent(node) for node_id, node in tree["mapping"].items()}
        path, branches = follow_branch(parents, tree.get("current_node"))
        yield Conversation(
            self.id,
            KIND,
            started_at=self._time,
            model=self._model,
            title=clean_name(tree.get("title")),
            metadata=drop_empty(
                gizmo_id=clean_name(tree.get("gizmo_id")),
                project=clean_name(tree.get("conversation_template_id")),
            )
            or None,
            archived=tree.get("is_archived") is True,
        )
        if branches:
            yield Skipped("other branches", branches)
        messages: dict[str, Message] = {}
        for node_id in path:
            try:
                message = msgspec.convert(tree["mapping"][node_id], Node).message
            except msgspec.ValidationError as exc:
                yield Unreadable(
                    number, f"message {clean_name(node_id)} of the conversation can't be read: {exc}"
                )
            else:
                if message is not None:
                    messages[node_id] = message
        if self._time is None:
            times = (parse_time(message.create_time) for message in messages.values())
            self._time = next((at for at in times if at is not None), self._changed)
        for node_id, message in messages.items():
            yield from self._message(node_id, message)

    def _message(self, node_id: str, message: Message) -> Iterator[Item]:
        author = message.author or Author()
        content = message.content or Content()
        known = message.metadata or About()
        at = parse_time(message.create_time)
        self._time = at if at is not None else self._time
        is_injected = (
            known.is_visually_hidden_from_conversation is True or content.content_type in _INJECTED_TYPES
        )
        if is_injected or author.role in ("system", "developer"):
            yield _INJECTED
        elif author.role not in ("user", "assistant", "tool"):
            yield _RECORD
        elif content.content_type == "thoughts":
            self._thoughts += _extract_thoughts(content.thoughts)
        elif content.content_type == "reasoning_recap":
            yield _RECORD
        else:
            words = _extract_words(content)
            fields = self._fields(author, message, words)
            if fields is None:
                yield _EMPTY
                return
            yield from (Skipped(what, count) for what, count in words.skipped.items())
            yield ImportedMessage(
                self.id, self._key(node_id), fields | self._describe(author.role, node_id, known)
            )

    def _fields(self, author: Author, message: Message, words: _Words) -> dict[str, Any] | None:
        recipient = clean_name(message.recipient) or "all"
        if author.role == "assistant" and recipient not in ("all", "assistant"):
            call_id = clean_name(message.id) or recipient
            self._calls[recipient] = call_id
            return {"role": "assistant", "tool_calls": [make_call(call_id, recipient, words.text)]}
        if author.role == "tool":
            name = clean_name(author.name)
            return drop_empty(
                role="tool",
                content=words.content or "[no output]",
                tool_name=name,
                tool_call_id=self._calls.pop(name or "", None),
            )
        return {"role": author.role, "content": words.content} if words.content else None

    def _describe(self, role: str, node_id: str, known: About) -> dict[str, Any]:
        """Return the time and the metadata of a message."""
        model = clean_name(known.model_slug) if role == "assistant" else None
        metadata = drop_empty(
            uuid=clean_name(node_id),
            model=model if model != self._model else None,
            files=_list_files(known.attachments),
        )
        if role == "assistant" and self._thoughts:
            metadata["thinking"] = "\n\n".join(self._thoughts)
            self._thoughts = []
        return drop_empty(
            timestamp=self._time if self._time is not None else self._changed, metadata=metadata or None
        )

    def _key(self, node_id: str) -> str:
        return node_id if len(node_id) >= _UNIQUE_LENGTH else f"{self.id}/{node_id}"


@dataclass(slots=True)
class _Words:
    """The content of a message: text, and parts if there is more than text."""

    text: str = ""
    parts: list[dict[str, Any]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def content(self) -> str | list[dict[str, Any]] | None:
        if not self.parts:
            return self.text if self.text.strip() else None
        return [*([{"type": "text", "text": self.text}] if self.text.strip() else []), *self.parts]


def _extract_words(content: Content) -> _Words:
    words = _Words()
    texts: list[str] = []
    for part in content.parts if isinstance(content.parts, list) else [content.parts]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            # The transcript of speech, or another piece of text.
            texts.append(part["text"])
        elif isinstance(part, dict) and isinstance(part.get("content_type"), str):
            kind = next((kind for kind in _PARTS if kind in part["content_type"]), "file")
            words.parts.append({"type": kind} | drop_empty(name=_get_file_name(part)))
            words.skipped[_PARTS[kind]] += 1
    if content.content_type == "tether_quote":
        texts += [value for value in (content.title, content.url) if isinstance(value, str)]
    texts += [value for value in (content.text, content.result, content.content) if isinstance(value, str)]
    words.text = "\n".join(text for text in texts if text)
    return words


def _get_file_name(part: Mapping[str, Any]) -> str | None:
    """Return the name of a file in the export."""
    for holder in (part, part.get("audio_asset_pointer"), part.get("video_container_asset_pointer")):
        if isinstance(holder, dict) and isinstance(holder.get("asset_pointer"), str):
            return clean_name(holder["asset_pointer"].rpartition("://")[2])
    return None


def _list_files(attachments: Any) -> list[str] | None:
    names = [
        name
        for one in (attachments if isinstance(attachments, list) else ())
        if isinstance(one, dict) and (name := clean_name(one.get("name")))
    ]
    return names or None


def _extract_thoughts(thoughts: Any) -> list[str]:
    found = []
    for one in thoughts if isinstance(thoughts, list) else ():
        if isinstance(one, dict):
            texts = [one[key] for key in ("summary", "content") if isinstance(one.get(key), str) and one[key]]
            found.append("\n".join(texts))
    return [text for text in found if text]


def _get_parent(node: Any) -> str | None:
    parent = node.get("parent") if isinstance(node, dict) else None
    return parent if isinstance(parent, str) else None


def _hash(data: bytes) -> str:
    return f"chatgpt-{blake2b(data, digest_size=12).hexdigest()}"


def _items(tree: Mapping[str, Any], data: bytes, number: int, changed: float) -> Iterator[Item]:
    return _Branch(tree, data, changed).items(number)


READER: Final = ChatService(
    KIND, "ChatGPT", "mapping", dict, _items, (b'"chat_messages"', "a Claude export; import it as claude")
).make_reader()

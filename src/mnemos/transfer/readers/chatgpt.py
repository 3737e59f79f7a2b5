"""Reader of ChatGPT exports: trees, because messages can be edited.

The branch that was viewed last is imported, and the others are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mnemos.transfer.chat_exports import chat_reader, follow_branch, hash_conversation, join_content
from mnemos.transfer.foreign_files import (
    clean_name,
    drop_empty,
    get_object,
    get_objects,
    make_call,
    parse_time,
)
from mnemos.transfer.reader import Conversation, ImportedMessage, Item, Skipped, Unreadable
from mnemos.transfer.readers.dialogue import INJECTED, OWN_RECORDS

KIND: Final = "chatgpt"
# Ids of this length are globally unique. Shorter ones are only unique in their conversation.
_UNIQUE_LENGTH: Final = 32
_INJECTED_TYPES: Final = frozenset({"user_editable_context", "model_editable_context"})
_PARTS: Final = {"image": "images", "audio": "recordings", "video": "videos", "file": "files"}


@dataclass(slots=True)
class _Branch:
    """A conversation being read, with the state that later messages need."""

    id: str
    model: str | None
    time: float
    thoughts: list[str] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    """The last open call of each tool."""

    def read(self, node_id: str, message: Mapping[str, Any]) -> Iterator[Item]:
        author, content = get_object(message, "author"), get_object(message, "content")
        known, role, kind = get_object(message, "metadata"), author.get("role"), content.get("content_type")
        at = parse_time(message.get("create_time"))
        self.time = at if at is not None else self.time
        is_hidden = known.get("is_visually_hidden_from_conversation") is True or kind in _INJECTED_TYPES
        if is_hidden or role in ("system", "developer"):
            yield INJECTED
        elif role not in ("user", "assistant", "tool") or kind == "reasoning_recap":
            yield OWN_RECORDS
        elif kind == "thoughts":
            self.thoughts += _extract_thoughts(content)
        else:
            text, parts = _split_parts(content)
            fields = self._make_fields(role, author, message, text, parts)
            if fields is None:
                yield Skipped("empty messages")
                return
            yield from (Skipped(_PARTS[part["type"]]) for part in parts)
            key = node_id if len(node_id) >= _UNIQUE_LENGTH else f"{self.id}/{node_id}"
            fields |= {"timestamp": self.time} | self._describe(role, node_id, known)
            yield ImportedMessage(self.id, key, fields)

    def _make_fields(
        self, role: str, author: Mapping[str, Any], message: Mapping[str, Any], text: str, parts: list[Any]
    ) -> dict[str, Any] | None:
        recipient = clean_name(message.get("recipient")) or "all"
        if role == "assistant" and recipient not in ("all", "assistant"):
            call_id = clean_name(message.get("id")) or recipient
            self.calls[recipient] = call_id
            return {"role": role, "tool_calls": [make_call(call_id, recipient, text)]}
        content = join_content(text, parts)
        if role != "tool":
            return {"role": role, "content": content} if content else None
        name = clean_name(author.get("name"))
        call = self.calls.pop(name or "", None)
        return drop_empty(role=role, content=content or "[no output]", tool_name=name, tool_call_id=call)

    def _describe(self, role: str, node_id: str, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the metadata of a message."""
        model = clean_name(known.get("model_slug")) if role == "assistant" else None
        thoughts: list[str] = []
        if role == "assistant":
            thoughts, self.thoughts = self.thoughts, []
        files = [name for one in get_objects(known, "attachments") if (name := clean_name(one.get("name")))]
        metadata = drop_empty(
            uuid=clean_name(node_id),
            model=model if model != self.model else None,
            files=files or None,
            thinking="\n\n".join(thoughts),
        )
        return {"metadata": metadata} if metadata else {}


def _items(tree: Mapping[str, Any], data: bytes, number: int, changed: float) -> Iterator[Item]:
    session_id = clean_name(tree.get("conversation_id")) or clean_name(tree.get("id"))
    session_id = session_id or hash_conversation(KIND, data)
    nodes = {node_id: node if isinstance(node, dict) else {} for node_id, node in tree["mapping"].items()}
    parents = {
        node_id: node["parent"] if isinstance(node.get("parent"), str) else None
        for node_id, node in nodes.items()
    }
    path, branches = follow_branch(parents, tree.get("current_node"))
    started, model = parse_time(tree.get("create_time")), clean_name(tree.get("default_model_slug"))
    about = drop_empty(
        gizmo_id=clean_name(tree.get("gizmo_id")), project=clean_name(tree.get("conversation_template_id"))
    )
    yield Conversation(
        session_id,
        KIND,
        started_at=started,
        model=model,
        title=clean_name(tree.get("title")),
        metadata=about or None,
        archived=tree.get("is_archived") is True,
    )
    if branches:
        yield Skipped("other branches", branches)
    messages: dict[str, Mapping[str, Any]] = {}
    for node_id in path:
        message = nodes[node_id].get("message")
        if isinstance(message, dict) and all(
            isinstance(message.get(name), dict | None) for name in ("author", "content", "metadata")
        ):
            messages[node_id] = message
        elif message is not None:
            yield Unreadable(number, f"message {clean_name(node_id)} of the conversation can't be read")
    times = (parse_time(message.get("create_time")) for message in messages.values())
    at = started if started is not None else next((one for one in times if one is not None), changed)
    branch = _Branch(session_id, model, at)
    for node_id, message in messages.items():
        yield from branch.read(node_id, message)


def _split_parts(content: Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """Return the text of a message, and its images and files."""
    texts: list[Any] = []
    parts: list[dict[str, Any]] = []
    listed = content.get("parts")
    for part in listed if isinstance(listed, list) else [listed]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            # A transcript of speech, or another piece of text.
            texts.append(part["text"])
        elif isinstance(part, dict) and isinstance(part.get("content_type"), str):
            kind = next((kind for kind in _PARTS if kind in part["content_type"]), "file")
            parts.append({"type": kind} | drop_empty(name=_get_file_name(part)))
    quoted = ("title", "url") if content.get("content_type") == "tether_quote" else ()
    texts += [content.get(name) for name in (*quoted, "text", "result", "content")]
    return "\n".join(text for text in texts if isinstance(text, str) and text), parts


def _get_file_name(part: Mapping[str, Any]) -> str | None:
    """Return the name of a file in the export."""
    for name in ("", "audio_asset_pointer", "video_container_asset_pointer"):
        pointer = (get_object(part, name) if name else part).get("asset_pointer")
        if isinstance(pointer, str):
            return clean_name(pointer.rpartition("://")[2])
    return None


def _extract_thoughts(content: Mapping[str, Any]) -> list[str]:
    found = (
        "\n".join(one[key] for key in ("summary", "content") if isinstance(one.get(key), str) and one[key])
        for one in get_objects(content, "thoughts")
    )
    return [text for text in found if text]


READER: Final = chat_reader(
    KIND, "ChatGPT", "mapping", dict, _items, (b'"chat_messages"', "a Claude export; import it as claude")
)

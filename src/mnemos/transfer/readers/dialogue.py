"""A conversation's messages, with keys by which each is stored once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final

from mnemos.transfer.foreign_files import clean_name, drop_empty, make_call, parse_count
from mnemos.transfer.reader import Conversation, ImportedMessage, Item, Skipped, Unreadable
from mnemos.transfer.readers.injected_text import describe_injected, split_injected

# Characters to keep of a model's thinking.
_LONGEST_THOUGHT: Final = 20_000

INJECTED: Final = Skipped("injected context")
UNFINISHED: Final = Skipped("unfinished answers")
OWN_RECORDS: Final = Skipped("records of the program")


def make_conversation(
    kind: str,
    session_id: str,
    *,
    started_at: float | None = None,
    model: Any = None,
    title: Any = None,
    parent_id: str | None = None,
    is_agent: bool = False,
    archived: bool = False,
    cwd: Any = None,
    branch: Any = None,
    version: Any = None,
) -> Conversation:
    """Make a session of a program, or of one of its sub-agents."""
    about = drop_empty(
        program=kind if is_agent else None,
        cwd=clean_name(cwd),
        git_branch=clean_name(branch),
        version=clean_name(version),
    )
    return Conversation(
        session_id,
        "subagent" if is_agent else kind,
        started_at=started_at,
        model=clean_name(model),
        title=clean_name(title),
        parent_id=parent_id,
        metadata=about or None,
        archived=archived,
    )


class Dialogue:
    """Makes the messages of one conversation.

    The key of a message is the program's id for it. Without one, it is the text and the number of its
    repetition, so inserting or removing messages changes no other key.
    """

    def __init__(
        self, session_id: str, at: float, injected: Collection[str] = (), origin: str | None = None
    ) -> None:
        """``at``: the time of messages without one of their own.

        ``injected``: the tags around text that the program adds to what a user says.
        ``origin``: the session that the messages were copied from, with their ids.
        """
        self.session_id = session_id
        self._at = at
        self._injected = injected
        self._origin = origin or session_id
        self._said: Counter[str] = Counter()
        self._unknown: set[str] = set()
        self._names: dict[str, Any] = {}

    def note_unknown(self, kind: Any) -> Iterator[Item]:
        """Yield a note that a kind of part is unknown, once for each kind."""
        if str(kind) not in self._unknown:
            self._unknown.add(str(kind))
            yield Unreadable(0, f"{self.session_id}: a part of the type {kind!r:.40} is not known")

    def ask(self, text: str, at: float | None, key: Any = None) -> Iterator[Item]:
        """Yield the user's text, without what the program added."""
        apart = split_injected(text, self._injected)
        if apart.text.strip():
            metadata = drop_empty(uuid=clean_name(key), injected=describe_injected(apart.injected))
            yield self._make(key, {"role": "user", "content": apart.text.strip()}, at, metadata)
        elif apart.injected:
            yield INJECTED

    def reply(
        self,
        text: str,
        at: float | None,
        key: Any = None,
        *,
        thoughts: Sequence[str] = (),
        tokens: tuple[Any, Any] = (0, 0),
        model: Any = None,
    ) -> Iterator[Item]:
        """Yield the model's text."""
        if text.strip():
            thinking = "\n\n".join(thoughts)[:_LONGEST_THOUGHT]
            metadata = drop_empty(uuid=clean_name(key), thinking=thinking, model=clean_name(model))
            fields = {"role": "assistant", "content": text.strip()}
            yield self._make(key, fields, at, metadata, (parse_count(tokens[0]), parse_count(tokens[1])))

    def call(
        self, call_id: Any, name: Any, arguments: Any, at: float | None, key: Any = None
    ) -> Iterator[Item]:
        """Yield a tool call. Its default key is its id."""
        if call_id:
            self._names[str(call_id)] = name
        fields = {"role": "assistant", "tool_calls": [make_call(call_id, name, arguments)]}
        yield self._make(f"call {key or call_id}" if key or call_id else None, fields, at, {})

    def answer(
        self, call_id: Any, name: Any, text: str, at: float | None, key: Any = None, *, is_error: bool = False
    ) -> Iterator[Item]:
        """Yield the result of a call. Its default name is the call's."""
        fields = drop_empty(
            role="tool",
            content=text.strip() or "[no output]",
            tool_name=clean_name(name or self._names.get(str(call_id))),
            tool_call_id=clean_name(call_id),
        )
        key = f"result {key or call_id}" if key or call_id else None
        yield self._make(key, fields, at, drop_empty(is_error=is_error or None))

    def _make(
        self,
        key: Any,
        fields: dict[str, Any],
        at: float | None,
        metadata: dict[str, Any],
        tokens: tuple[int, int] = (0, 0),
    ) -> ImportedMessage:
        if not key:
            key = self.count(f"{fields['role']}\0{fields.get('content')}\0{fields.get('tool_calls')}")
        fields["timestamp"] = self._at if at is None else at
        if metadata:
            fields["metadata"] = metadata
        return ImportedMessage(self.session_id, f"{self._origin}/{key}", fields, (), *tokens)

    def count(self, said: str) -> str:
        """Return a key for a message without an id: its hash and repetition number."""
        digest = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        self._said[digest] += 1
        return f"{digest}/{self._said[digest]}"


def render_content(content: Any) -> str:
    """Return text unchanged, the text of a list of parts, or other data as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        content = [content]
    return "\n".join(_render_part(part) for part in content)


def _render_part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for name in ("text", "Text"):
            if isinstance(part.get(name), str):
                return str(part[name])
        if "image" in str(part.get("type", "")).lower() or "Image" in part:
            return "[image]"
    return json.dumps(part, ensure_ascii=False)

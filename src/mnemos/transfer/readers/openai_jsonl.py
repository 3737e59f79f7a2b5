"""Reader of JSON lines in OpenAI's format, including our own exports.

A line is a conversation or a message. One without an id gets a hash of its content, which is the same
whenever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.inputs import can_be_name
from mnemos.sessions.records import MEMORY
from mnemos.text.fences import strip_fences_in_content
from mnemos.transfer.foreign_files import (
    Translator,
    clean_name,
    decode_object,
    drop_empty,
    files_with,
    make_call,
    parse_count,
    parse_time,
    remember,
    translate_lines,
)
from mnemos.transfer.reader import (
    BEGINNING,
    Conversation,
    ImportedMessage,
    Item,
    Mark,
    Reader,
    Skipped,
    SourceFile,
    Unreadable,
)

KIND: Final = "jsonl"
_TIMES: Final = ("timestamp", "created_at", "create_time", "created", "started_at", "ts")
_IDS: Final = ("id", "conversation_id", "session_id", "custom_id")
_ROLES: Final = {"human": "user", "function": "tool"}
_DATA: Final = frozenset({"data", "file_data", "b64_json"})
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_=\s-]{200}")
_DATA_URL: Final = re.compile(r"data:([\w.+/-]{0,100})[^,]{0,100},")
# A shorter id, such as 7, is only unique within its file.
_UNIQUE_LENGTH: Final = 16
_MAX_CALLS: Final = 64
# More than any message needs, and within the stores' limits.
_MAX_DEPTH: Final = 40
_PIECE: Final = 1 << 20


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    lines = _Lines(source, mark)
    is_wrong = False
    for item in translate_lines(source, mark, lines, "it is neither a conversation nor a message"):
        is_wrong = is_wrong or isinstance(item, Unreadable)
        yield item
    if is_wrong and not lines.is_understood:
        raise InvalidInput(f"{source.path} has no conversations in OpenAI's format")


READER: Final = Reader(KIND, "JSON lines", files_with(".jsonl"), read)


class _Lines(Translator):
    """A file being read. ``state`` is for the session that a file of messages forms."""

    def __init__(self, source: SourceFile, mark: Mark) -> None:
        self.is_understood = mark != BEGINNING
        self._name = source.path.stem
        self._changed = source.changed_ns / 1e9
        self._session = _Session.load(mark.state) if mark.state else None
        self._model: str | None = None

    def state(self) -> dict[str, Any] | None:
        return self._session.state() if self._session else None

    def translate(self, data: bytes, number: int) -> Iterator[Item]:  # noqa: ARG002
        found = decode_object(data)
        body = found.get("body")
        if isinstance(body, dict) and "messages" in body:
            # This is a line of a batch request.
            found = {**found, **body}
        if isinstance(found.get("messages"), list):
            items = list(self._conversation(found, data))
        elif isinstance(found.get("role"), str):
            items = list(self._message(found, data))
        else:
            raise ValueError("it has neither messages nor a role")  # noqa: TRY004 - it is about the text
        self.is_understood = True
        yield from items

    def _conversation(self, found: Mapping[str, Any], data: bytes) -> Iterator[Item]:
        listed = [one if isinstance(one, dict) else {} for one in found["messages"]]
        at = _get_start(found)
        times = [parse_time(one) for one in map(_get_time, listed)]
        first = next((one for one in times if one is not None), None)
        is_ours = "started_at" in found and "source" in found
        session_id = _get_id(found) or f"jsonl-{_hash(data)}"
        if len(session_id) < _UNIQUE_LENGTH and not is_ours:
            session_id = f"{_name(self._name)}:{session_id}"
        session = _Session(
            session_id, time=at if at is not None else first if first is not None else self._changed
        )
        said: list[Item] = []
        for one in listed:
            said += session.items(one, is_exact=is_ours)
        yield _make_conversation(session_id, found, at, session.prompt)
        tokens = (parse_count(found.get("input_tokens")), parse_count(found.get("output_tokens")))
        for item in said:
            if isinstance(item, ImportedMessage) and any(tokens):
                item = ImportedMessage(item.session_id, item.key, item.fields, (), *tokens)
                tokens = (0, 0)
            yield item

    def _message(self, found: Mapping[str, Any], data: bytes) -> Iterator[Item]:
        if self._session is None:
            # Many files begin with the same text, so the name of the file counts too.
            session_id = f"jsonl-{_hash(self._name.encode('utf-8', 'surrogateescape') + data)}"
            self._session = _Session(_name(found.get("session_id")) or session_id, time=self._changed)
        said = list(self._session.items(found, is_exact=False))
        self._model = self._model or _name(found.get("model"))
        yield Conversation(self._session.id, KIND, model=self._model, system_prompt=self._session.prompt)
        yield from said


@dataclass(slots=True)
class _Session:
    """The state that later messages of a session need."""

    id: str
    time: float
    said: int = 0
    calls: dict[str, str] = field(default_factory=dict)
    prompt: str | None = None

    @classmethod
    def load(cls, state: Mapping[str, Any]) -> _Session:
        return cls(state["id"], state["time"], state["said"], dict(state.get("calls") or {}))

    def state(self) -> dict[str, Any]:
        return drop_empty(id=self.id, time=self.time, said=self.said, calls=dict(self.calls) or None)

    def items(self, found: Mapping[str, Any], *, is_exact: bool) -> Iterator[Item]:
        """Yield a message. ``is_exact``: our own export, which is kept unchanged."""
        at = parse_time(_get_time(found))
        self.time = at if at is not None else self.time
        role = found.get("role")
        if not isinstance(role, str) or not role.strip() or len(role) > 64 or not role.isprintable():
            yield Skipped("records of the program")
            return
        if found.get("forgotten") is True:
            yield Skipped("forgotten messages")
            return
        role = role if is_exact else _ROLES.get(role, role)
        pruner = _Pruner(keeps_bytes=is_exact)
        given = _get_content(found, pruner)
        content = strip_fences_in_content(given)
        if role in ("system", "developer") and not self.said and not is_exact and isinstance(content, str):
            self.prompt = self.prompt or content
            return
        calls = _get_calls(found, pruner)
        if pruner.removed:
            yield Skipped("images and files", pruner.removed)
        if not content and not calls and not is_exact:
            if role != "tool":
                yield Skipped("empty messages")
                return
            content = "[no output]"
        made = self._make_message(role, found, content, calls, pruner.prune(found.get("metadata")))
        if given and (role == "tool" or is_exact):
            # Fences identify results of the memory's own tools.
            made.fields["content"] = given
        yield made

    def _make_message(
        self, role: str, found: Mapping[str, Any], content: Any, calls: Any, metadata: Any
    ) -> ImportedMessage:
        for one in calls if isinstance(calls, list) else ():
            self._remember(one)
        call_id = clean_name(found.get("tool_call_id"))
        thought = found.get("reasoning_content")
        fields = drop_empty(
            role=role,
            content=content,
            tool_name=self._get_tool(role, found, call_id),
            tool_calls=calls,
            tool_call_id=call_id,
            token_count=parse_count(found.get("token_count")) or None,
            timestamp=self.time,
            origin=MEMORY if found.get("origin") == MEMORY else None,
            metadata=(metadata if isinstance(metadata, dict) else {})
            | drop_empty(
                name=clean_name(found.get("name")) if role != "tool" else None,
                thinking=thought if isinstance(thought, str) else None,
            )
            or None,
        )
        own = _name(found.get("id"))
        name = own or f"{self.said}.{_hash_message(role, content, calls)}"
        self.said += 1
        return ImportedMessage(self.id, f"{self.id}/{name}", fields)

    def _get_tool(self, role: str, found: Mapping[str, Any], call_id: str | None) -> str | None:
        named = clean_name(found.get("tool_name"))
        if named is None and role == "tool":
            named = clean_name(found.get("name")) or self.calls.pop(call_id or "", None)
        return named

    def _remember(self, made: Any) -> None:
        function = made.get("function") if isinstance(made, dict) else None
        name = clean_name(function.get("name")) if isinstance(function, dict) else None
        call_id = clean_name(made.get("id")) if isinstance(made, dict) else None
        if name and call_id:
            remember(self.calls, call_id, name, _MAX_CALLS)


@dataclass(slots=True)
class _Pruner:
    """Removes and counts the bytes of images and files."""

    keeps_bytes: bool = False
    removed: int = 0

    def prune(self, value: Any, key: str = "", depth: int = 0) -> Any:
        if isinstance(value, str):
            return value if self.keeps_bytes else self._text(value, key)
        if depth > _MAX_DEPTH and isinstance(value, dict | list):
            return "[nested deeper]"
        if isinstance(value, dict):
            return {name: self.prune(inner, name, depth + 1) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.prune(inner, key, depth + 1) for inner in value]
        if isinstance(value, float) and not abs(value) < float("inf"):
            return None
        return value

    def _text(self, text: str, key: str) -> str:
        if text.startswith("data:") and (found := _DATA_URL.match(text)):
            self.removed += 1
            return f"[{found.group(1) or 'data'}, {_decoded_size(len(text) - found.end())} bytes]"
        if key in _DATA and _BASE64.match(text):
            self.removed += 1
            return f"[base64, {_decoded_size(len(text))} bytes]"
        return text


def _decoded_size(letters: int) -> int:
    """Return the decoded size of base64 text, with three bytes for four letters."""
    return letters * 3 // 4


def _make_conversation(
    session_id: str, found: Mapping[str, Any], at: float | None, prompt: str | None
) -> Conversation:
    metadata = _Pruner().prune(found.get("metadata"))
    config = found.get("model_config")
    own_prompt = found.get("system_prompt")
    return Conversation(
        session_id,
        _name(found.get("source")) or KIND,
        started_at=at,
        model=_name(found.get("model")),
        title=_name(found.get("title")),
        parent_id=_name(found.get("parent_session_id")),
        user_id=_name(found.get("user_id")) or _name(found.get("user")),
        system_prompt=own_prompt if isinstance(own_prompt, str) else prompt,
        model_config=_Pruner().prune(config) if isinstance(config, dict) else None,
        metadata=metadata if isinstance(metadata, dict) and metadata else None,
        end_reason=clean_name(found.get("end_reason")),
        ended_at=parse_time(found.get("ended_at")),
        archived=found.get("archived") is True,
    )


def _get_content(found: Mapping[str, Any], pruner: _Pruner) -> Any:
    content = found.get("content")
    if content is None and isinstance(found.get("refusal"), str):
        content = found["refusal"]
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        return pruner.prune(content)
    return None if content is None else str(content)


def _get_calls(found: Mapping[str, Any], pruner: _Pruner) -> Any:
    calls = found.get("tool_calls")
    if isinstance(calls, dict | list):
        return pruner.prune(calls)
    legacy = found.get("function_call")
    if isinstance(legacy, dict):
        return [make_call(None, legacy.get("name"), pruner.prune(legacy.get("arguments")))]
    return None


def _get_time(found: Mapping[str, Any]) -> Any:
    return next((found[key] for key in _TIMES if found.get(key) is not None), None)


def _get_start(found: Mapping[str, Any]) -> float | None:
    started = parse_time(found.get("started_at"))
    return started if started is not None else parse_time(_get_time(found))


def _get_id(found: Mapping[str, Any]) -> str | None:
    return next((named for key in _IDS if (named := _name(found.get(key)))), None)


def _name(value: Any) -> str | None:
    """Return a valid name unchanged, since our exports may contain joiners."""
    return value if isinstance(value, str) and can_be_name("name", value) else clean_name(value)


def _hash_message(role: str, content: Any, calls: Any) -> str:
    if isinstance(content, str) and len(content) > _PIECE:
        # In pieces, because the representation of a long text takes several times its memory.
        parts = (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))
        content = [_hash(part.encode("utf-8", "surrogatepass")) for part in parts]
    return _hash(repr((role, content, calls)).encode("utf-8", "surrogatepass"))


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()

"""JSON lines in the way of OpenAI: a conversation a line, or a message a line; and the lines that we export.

Where a conversation or a message has no id, a hash of what is read is one: reading again gives the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.inputs import can_be_name
from mnemos.text.fences import strip_fences_in_content
from mnemos.transfer.foreign_files import (
    Tell,
    call,
    count,
    decoded,
    files_below,
    filled,
    is_file,
    lines,
    moment,
    record,
    short,
    source_of,
)
from mnemos.transfer.reader import BEGINNING, Conversation, Item, Left, Mark, Reader, Said, Source, Unread

KIND: Final = "jsonl"
_TIMES: Final = ("timestamp", "created_at", "create_time", "created", "started_at", "ts")
_IDS: Final = ("id", "conversation_id", "session_id", "custom_id")
_ROLES: Final = {"human": "user", "function": "tool"}
_DATA: Final = frozenset({"data", "file_data", "b64_json"})
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_=\s-]{200}")
_DATA_URL: Final = re.compile(r"data:([\w.+/-]{0,100})[^,]{0,100},")
# A shorter id, such as 7, is only one's own within its file.
_TELLING: Final = 16
_MOST_CALLS: Final = 64
# Deeper than anything that a message needs, and less than a store takes.
_DEEPEST: Final = 40


def find(path: Path, tell: Tell) -> Iterator[Source]:
    found = [path] if is_file(path) else files_below(path, ".jsonl", tell)
    yield from (source for file in found if (source := source_of(file, tell)))


def read(source: Source, mark: Mark = BEGINNING) -> Iterator[Item]:
    file_of_lines = _Lines(source, mark.state if isinstance(mark.state, dict) else {})
    position, number = mark.position, mark.line
    understood, wrong = mark != BEGINNING, 0
    with source.path.open("rb") as file:
        for line in lines(file, mark.position, mark.line):
            if line.data is None:
                yield Unread(line.number, "it is too long")
            else:
                try:
                    items = list(file_of_lines.items(line.data))
                except ValueError as exc:
                    if not line.is_whole and not _is_json(line.data):
                        yield Left("unfinished last lines")
                        break
                    wrong += 1
                    yield Unread(line.number, f"it is no conversation and no message: {exc}")
                else:
                    understood = True
                    yield from items
            position, number = line.end, line.number
            yield Mark(position, number, file_of_lines.state())
    if wrong and not understood:
        raise InvalidInput(
            f"{source.path} holds no conversations in OpenAI's format: none of its lines is one"
        )
    yield Mark(position, number, file_of_lines.state())


READER: Final = Reader(KIND, "JSON lines", find, read)


class _Lines:
    """A file on its way. ``state``: what is known of the session that a file of single messages is."""

    def __init__(self, source: Source, state: dict[str, Any]) -> None:
        self._name = source.path.stem
        self._changed = source.changed_ns / 1e9
        self._known = state
        self._session = _Session.of(state) if state else None
        self._is_told = False

    def state(self) -> dict[str, Any] | None:
        return self._session.state() if self._session else None

    def items(self, data: bytes) -> Iterator[Item]:
        """What a line says; one that says nothing we know raises ValueError."""
        found = record(data)
        body = found.get("body")
        if isinstance(body, dict) and "messages" in body:
            # A request of a batch.
            found = {**found, **body}
        if isinstance(found.get("messages"), list):
            yield from self._conversation(found, data)
        elif isinstance(found.get("role"), str):
            yield from self._message(found, data)
        else:
            raise ValueError("it has neither messages nor a role")  # noqa: TRY004 - it is about the text

    def _conversation(self, found: Mapping[str, Any], data: bytes) -> Iterator[Item]:
        listed = [one if isinstance(one, dict) else {} for one in found["messages"]]
        at = _time_of(found)
        times = [moment(one) for one in map(_time_in, listed)]
        first = next((one for one in times if one is not None), None)
        is_ours = "started_at" in found and "source" in found
        session_id = _id_of(found) or f"jsonl-{_hash(data)}"
        if len(session_id) < _TELLING and not is_ours:
            session_id = f"{_name(self._name)}:{session_id}"
        session = _Session(
            session_id, time=at if at is not None else first if first is not None else self._changed
        )
        said: list[Item] = []
        for one in listed:
            said += session.items(one, is_exact=is_ours)
        yield _conversation(session_id, found, at, session.prompt)
        tokens = (count(found.get("input_tokens")), count(found.get("output_tokens")))
        for item in said:
            if isinstance(item, Said) and any(tokens):
                item = Said(item.session_id, item.key, item.fields, (), *tokens)
                tokens = (0, 0)
            yield item

    def _message(self, found: Mapping[str, Any], data: bytes) -> Iterator[Item]:
        if self._session is None:
            # Many files begin with the same words, so the name of the file counts too.
            session_id = f"jsonl-{_hash(self._name.encode('utf-8', 'surrogateescape') + data)}"
            self._session = _Session(_name(found.get("session_id")) or session_id, time=self._changed)
        prompt = self._session.prompt
        said = list(self._session.items(found, is_exact=False))
        if not self._is_told or self._session.prompt != prompt:
            self._is_told = True
            model = _name(found.get("model"))
            yield Conversation(self._session.id, KIND, model=model, system_prompt=self._session.prompt)
        yield from said


@dataclass(slots=True)
class _Session:
    """What the messages so far tell about those that follow."""

    id: str
    time: float
    said: int = 0
    calls: dict[str, str] = field(default_factory=dict)
    prompt: str | None = None

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> _Session:
        return cls(state["id"], state["time"], state["said"], dict(state.get("calls") or {}))

    def state(self) -> dict[str, Any]:
        return filled(id=self.id, time=self.time, said=self.said, calls=dict(self.calls) or None)

    def items(self, found: Mapping[str, Any], *, is_exact: bool) -> Iterator[Item]:
        """A message. ``is_exact``: it is one of ours, of which nothing is said in another way."""
        at = moment(_time_in(found))
        self.time = at if at is not None else self.time
        role = found.get("role")
        if not isinstance(role, str) or not role.strip() or len(role) > 64 or not role.isprintable():
            yield Left("records of the program")
            return
        if found.get("forgotten") is True:
            yield Left("forgotten messages")
            return
        role = role if is_exact else _ROLES.get(role, role)
        pruned = _Pruned(keeps_bytes=is_exact)
        content = _content(found, pruned)
        if role in ("system", "developer") and not self.said and not is_exact and isinstance(content, str):
            self.prompt = self.prompt or content
            return
        calls = _calls(found, pruned)
        if pruned.removed:
            yield Left("images and files", pruned.removed)
        if not content and not calls and not is_exact:
            if role != "tool":
                yield Left("empty messages")
                return
            content = "[no output]"
        yield self._said(role, found, content, calls, pruned.of(found.get("metadata")))

    def _said(self, role: str, found: Mapping[str, Any], content: Any, calls: Any, metadata: Any) -> Said:
        for one in calls if isinstance(calls, list) else ():
            self._remember(one)
        call_id = short(found.get("tool_call_id"))
        thought = found.get("reasoning_content")
        fields = filled(
            role=role,
            content=content,
            tool_name=self._tool(role, found, call_id),
            tool_calls=calls,
            tool_call_id=call_id,
            token_count=count(found.get("token_count")) or None,
            timestamp=self.time,
            metadata=(metadata if isinstance(metadata, dict) else {})
            | filled(
                name=short(found.get("name")) if role != "tool" else None,
                thinking=thought if isinstance(thought, str) else None,
            )
            or None,
        )
        own = _name(found.get("id"))
        name = own or f"{self.said}.{_hash(repr((role, content, calls)).encode('utf-8', 'surrogatepass'))}"
        self.said += 1
        return Said(self.id, f"{self.id}/{name}", fields)

    def _tool(self, role: str, found: Mapping[str, Any], call_id: str | None) -> str | None:
        named = short(found.get("tool_name"))
        if named is None and role == "tool":
            named = short(found.get("name")) or self.calls.pop(call_id or "", None)
        return named

    def _remember(self, made: Any) -> None:
        function = made.get("function") if isinstance(made, dict) else None
        name = short(function.get("name")) if isinstance(function, dict) else None
        call_id = short(made.get("id")) if isinstance(made, dict) else None
        if name and call_id:
            self.calls[call_id] = name
            while len(self.calls) > _MOST_CALLS:
                del self.calls[next(iter(self.calls))]


@dataclass(slots=True)
class _Pruned:
    """Values without the bytes of images and files in them, which are counted."""

    keeps_bytes: bool = False
    removed: int = 0

    def of(self, value: Any, key: str = "", depth: int = 0) -> Any:
        if isinstance(value, str):
            return value if self.keeps_bytes else self._text(value, key)
        if depth > _DEEPEST and isinstance(value, dict | list):
            return "[nested deeper]"
        if isinstance(value, dict):
            return {name: self.of(inner, name, depth + 1) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner, key, depth + 1) for inner in value]
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
    """Three bytes are four letters."""
    return letters * 3 // 4


def _conversation(
    session_id: str, found: Mapping[str, Any], at: float | None, prompt: str | None
) -> Conversation:
    metadata = _Pruned().of(found.get("metadata"))
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
        model_config=_Pruned().of(config) if isinstance(config, dict) else None,
        metadata=metadata if isinstance(metadata, dict) and metadata else None,
        end_reason=short(found.get("end_reason")),
        ended_at=moment(found.get("ended_at")),
        archived=found.get("archived") is True,
    )


def _content(found: Mapping[str, Any], pruned: _Pruned) -> Any:
    content = found.get("content")
    if content is None and isinstance(found.get("refusal"), str):
        content = found["refusal"]
    if isinstance(content, str):
        return strip_fences_in_content(content)
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        return strip_fences_in_content(pruned.of(content))
    return None if content is None else str(content)


def _calls(found: Mapping[str, Any], pruned: _Pruned) -> Any:
    calls = found.get("tool_calls")
    if isinstance(calls, dict | list):
        return pruned.of(calls)
    legacy = found.get("function_call")
    if isinstance(legacy, dict):
        return [call(None, legacy.get("name"), pruned.of(legacy.get("arguments")))]
    return None


def _time_in(found: Mapping[str, Any]) -> Any:
    return next((found[key] for key in _TIMES if found.get(key) is not None), None)


def _time_of(found: Mapping[str, Any]) -> float | None:
    started = moment(found.get("started_at"))
    return started if started is not None else moment(_time_in(found))


def _id_of(found: Mapping[str, Any]) -> str | None:
    return next((named for key in _IDS if (named := _name(found.get(key)))), None)


def _name(value: Any) -> str | None:
    """A name as it is written where it can be one: ours may hold what is not printed, such as joiners."""
    return value if isinstance(value, str) and can_be_name("name", value) else short(value)


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()


def _is_json(data: bytes) -> bool:
    try:
        decoded(data)
    except ValueError:
        return False
    return True

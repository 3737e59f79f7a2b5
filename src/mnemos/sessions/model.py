"""Sessions and messages between what hosts pass in and what an engine stores."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, get_args

import msgspec

from mnemos.errors import InvalidInput, NotFound, TooLarge
from mnemos.inputs import MAX_NAME, moment, name, whole
from mnemos.sessions.redaction import Redact, redacted
from mnemos.storage.base import Document, Glimpse, MessageRow, NewMessage, SessionRow

FORGOTTEN = "[forgotten]"

_encode = msgspec.json.Encoder().encode

MAX_DEPTH = 100

Role = Literal["user", "assistant", "system", "tool", "developer", "function"]
ROLES = frozenset(get_args(Role))
_LONGEST_SPEAKER = 48
_NAME_BEFORE_COLON = re.compile(r"([A-Z][\w'.-]+(?: [A-Z][\w'.-]*){0,2}): ")

MESSAGE_FIELDS = frozenset(
    {
        "role", "content", "tool_name", "tool_calls", "tool_call_id", "token_count", "timestamp",
        "metadata",
    }
)  # fmt: skip


def new_message(fields: Mapping[str, Any], *, now: float, redact: Redact, max_bytes: int) -> NewMessage:
    """Check the arguments of ``append_message`` and make them ready to store."""
    given = fields.get
    role = given("role")
    # A list, which no set can be asked for, is no role either.
    if not isinstance(role, str) or role not in ROLES:
        _check_role(role)
    content, encoded = _stored_content(given("content"), redact)
    # Most messages have few of these, and every append comes through here.
    calls, metadata = given("tool_calls"), given("metadata")
    tool_calls = None if calls is None else _stored_calls(calls, redact)
    about = None if metadata is None else _stored_json("metadata", metadata, redact)
    size = len(content or "") + len(tool_calls or "") + len(about or "")
    if size > max_bytes // 4:
        _check_size("the message", max_bytes, content, tool_calls, about)
    tool_name, tool_call_id = given("tool_name"), given("tool_call_id")
    timestamp, token_count = given("timestamp"), given("token_count")
    return NewMessage(
        str(role),
        now if timestamp is None else moment("timestamp", timestamp),
        None if tool_name is None else name("tool_name", tool_name),
        None if tool_call_id is None else name("tool_call_id", tool_call_id),
        None if token_count is None else whole("token_count", token_count),
        encoded,
        about,
        tool_calls,
        content,
        0 if calls is None else _count_calls(calls),
    )


def _check_role(role: Any) -> None:
    """Hosts may have roles of their own: any short word is one."""
    if not isinstance(role, str) or not role.strip() or len(role) > 64 or not role.isprintable():
        raise InvalidInput(f"role is {role!r}; use user, assistant, system or tool")


def message_dict(row: MessageRow) -> dict[str, Any]:
    """A message as hosts see it; a forgotten one says so."""
    message = {
        "id": row.id,
        "session_id": row.session_id,
        "role": row.role,
        "content": content_of(row),
        "tool_name": row.tool_name,
        "tool_calls": loaded(row.tool_calls),
        "tool_call_id": row.tool_call_id,
        "token_count": row.token_count,
        "timestamp": row.timestamp,
        "metadata": loaded(row.metadata),
    }
    if row.forgotten:
        message["forgotten"] = True
    return message


def session_dict(row: SessionRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "source": row.source,
        "user_id": row.user_id,
        "model": row.model,
        "model_config": loaded(row.model_config),
        "system_prompt": row.system_prompt,
        "parent_session_id": row.parent_session_id,
        "started_at": row.started_at,
        "ended_at": row.ended_at,
        "end_reason": row.end_reason,
        "message_count": row.message_count,
        "tool_call_count": row.tool_call_count,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "title": row.title,
        "metadata": loaded(row.metadata),
        "archived": row.archived,
    }


def content_of(row: MessageRow | Glimpse) -> Any:
    if row.forgotten:
        return FORGOTTEN
    return loaded(row.content) if row.encoded else row.content


def text_of(row: MessageRow | Glimpse) -> str:
    """What the message says, as text: of several parts, the text parts."""
    return _spoken(content_of(row))


def document_of(row: MessageRow) -> Document:
    """What can be found in a message: its text, and the names and arguments of its tools."""
    said = text_of(row) if row.encoded else row.content or ""
    return Document(said, tools_of(row), _speaker(row, said))


def tools_of(row: MessageRow) -> str:
    """The names and arguments of the tools in a message."""
    if row.tool_calls is None:
        return row.tool_name or ""
    calls = " ".join(_call_words(loaded(row.tool_calls)))
    return f"{row.tool_name} {calls}" if row.tool_name else calls


def names_speaker(row: MessageRow) -> bool:
    """Whether a message tells in its metadata who speaks."""
    return _named_by(row) != ""


def _named_by(row: MessageRow) -> str:
    if row.metadata is None or ('"speaker"' not in row.metadata and '"name"' not in row.metadata):
        return ""
    return _named_in(row.metadata)


def _speaker(row: MessageRow, said: str) -> str:
    """The name of who speaks, where the message tells it: in its metadata, as its role, or before a colon."""
    named_there = _named_by(row)
    if named_there:
        return named_there
    if row.role not in ROLES:
        return row.role
    if ": " in said[:_LONGEST_SPEAKER]:
        named = _NAME_BEFORE_COLON.match(said)
        if named is not None:
            return named.group(1)
    return ""


@lru_cache(maxsize=4_096)
def _named_in(metadata: str) -> str:
    """The speaker that metadata names; many messages of one speaker have the same."""
    known = loaded(metadata)
    if isinstance(known, dict):
        for key in ("speaker", "name"):
            if isinstance(known.get(key), str):
                return str(known[key])[:MAX_NAME]
    return ""


def calls_without_arguments(row: MessageRow) -> str | None:
    """The skeleton of a forgotten message's calls: an answer must still find the call it answers."""
    calls = loaded(row.tool_calls)
    if not isinstance(calls, list):
        return None
    kept = [
        {
            "id": call.get("id"),
            "type": "function",
            "function": {"name": call_name(call), "arguments": "{}"},
        }
        for call in calls
        if isinstance(call, dict)
    ]
    return dumped(kept)


def call_name(call: Mapping[str, Any]) -> str:
    function = call.get("function")
    named = function.get("name") if isinstance(function, Mapping) else call.get("name")
    return named if isinstance(named, str) else ""


# --- values ---------------------------------------------------------------------------------


def message_id(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{value!r} is no message id; use a whole number, such as 42")
    if not 0 < value < 1 << 53:
        raise NotFound(f"there is no message {value}")
    return value


def optional_text(label: str, value: Any, max_bytes: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{label} is a {type(value).__name__}; use a text")
    clean = value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    _check_size(label, max_bytes, clean)
    return clean


def _exactly(value: Any) -> str:
    """JSON that loads back the same; what JSON cannot hold raises TypeError or ValueError."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text if is_storable(text) else json.dumps(value, allow_nan=False, separators=(",", ":"))


PlainCalls = list[dict[str, str | dict[str, str]]]
"""Tool calls as most are, whose JSON msgspec writes just as ``json`` does, and in a tenth of the time."""


NOT_PLAIN = (msgspec.ValidationError, UnicodeEncodeError, TypeError)
"""What is raised for a value that is not plain, or texts of a class of their own are in it."""


def plain_json(value: Any) -> str:
    """JSON in UTF-8; a lone surrogate, which has none, raises UnicodeEncodeError."""
    return _encode(value).decode()


def dumped(value: Any) -> str:
    """JSON that any engine can store and that loads back the same."""
    try:
        return plain_json(value)
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; escaped, it survives.
        return json.dumps(value)


def loaded(text: str | None) -> Any:
    """The value of stored JSON; of a text that is none, which only damage can leave, the text itself."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def optional_json(label: str, value: Any, redact: Redact, max_bytes: int) -> str | None:
    text = _stored_json(label, value, redact)
    _check_size(label, max_bytes, text)
    return text


# --- inside ---------------------------------------------------------------------------------


def _stored_content(content: Any, redact: Redact) -> tuple[str | None, bool]:
    if content is None:
        return None, False
    if isinstance(content, str):
        clean = redact(content)
        return (clean, False) if is_storable(clean) else (dumped(clean), True)
    if isinstance(content, list):
        return _stored_json("content", content, redact), True
    raise InvalidInput(
        f"content is a {type(content).__name__}; use a text, or a list of parts such as "
        '[{"type": "text", "text": "…"}]'
    )


def is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stored_calls(value: Any, redact: Redact) -> str | None:
    try:
        text = plain_json(msgspec.convert(value, PlainCalls))
    except NOT_PLAIN:
        return _stored_json("tool_calls", value, redact)
    return text if redact(text) is text else _stored_json("tool_calls", value, redact)


def _stored_json(label: str, value: Any, redact: Redact) -> str | None:
    if value is None:
        return None
    if _is_too_deep(value):
        raise InvalidInput(f"{label} is nested more than {MAX_DEPTH} levels deep")
    try:
        text = _exactly(value)
        # The text of all tells cheaply whether there is any secret; only then each text is looked at.
        return text if redact(text) is text else _exactly(redacted(value, redact))
    except (TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InvalidInput(f"{label} cannot be written as JSON: {exc}") from exc


def _is_too_deep(value: Any) -> bool:
    """Whether walking through the value could run out of stack, now or whenever it is read."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list, tuple))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def _check_size(label: str, max_bytes: int, *texts: str | None) -> None:
    size = sum(len(text.encode()) for text in texts if text)
    if size > max_bytes:
        raise TooLarge(
            f"{label} has {size:,} bytes, more than the {max_bytes:,} allowed; keep large data in "
            "a file and store its name, or raise max_message_bytes in config.toml"
        )


def _count_calls(tool_calls: Any) -> int:
    if isinstance(tool_calls, (list, tuple)):
        return len(tool_calls)
    return 1 if isinstance(tool_calls, dict) else 0


def _spoken(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _part_text(part)))
    return ""


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text")
        if isinstance(text, str):
            return text
        return _spoken(part.get("content"))
    return ""


def _call_words(value: Any) -> list[str]:
    """Every text in a structure of calls; arguments written as JSON are looked into."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [word for item in value for word in _call_words(item)]
    if isinstance(value, dict):
        return [
            word
            for key, item in value.items()
            if key not in ("id", "type", "index")
            for word in ([key] if key not in ("function", "name", "arguments") else []) + _call_words(item)
        ]
    return [] if value is None or isinstance(value, bool) else [str(value)]

"""Session and message records: host arguments in, rows for the engine out, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import msgspec

from mnemos.errors import InvalidInput, NotFound, Refused, TooLarge
from mnemos.inputs import (
    MAX_DEPTH,
    clean_name,
    find_nearest,
    make_plain,
    moment,
    name,
    optional_moment,
    whole,
)
from mnemos.sessions.session_types import Message, MetadataChange, Role, Session
from mnemos.sessions.tool_names import call_name
from mnemos.storage.base import Glimpse, MessageRow, NewMessage, SessionRow
from mnemos.structs import convert
from mnemos.text.secrets import Redact, redact_id, redact_value

FORGOTTEN = "[forgotten]"
# The origin of a message that only repeats what the memory returned.
MEMORY = "memory"
# The source of an imported session that names none.
IMPORTED = "import"

_encode = msgspec.json.Encoder().encode

ROLES = frozenset(get_args(Role))
# Other programs' names for roles.
_OTHER_NAMES = {"human": "user", "ai": "assistant", "model": "assistant", "bot": "assistant"}
_PARTS = (
    "text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "image", "image_url",
    "input_image", "input_audio", "file", "input_file", "document", "tool_use", "tool_result",
)  # fmt: skip

MESSAGE_FIELDS = frozenset(
    {
        "role", "content", "tool_name", "tool_calls", "tool_call_id", "token_count", "timestamp",
        "metadata", "origin", "key",
    }
)  # fmt: skip


def new_message(
    fields: Mapping[str, Any], *, now: float, redact: Redact, max_bytes: int, any_role: bool = False
) -> NewMessage:
    """Check the arguments of ``append_message`` and return the row to store.

    ``any_role`` accepts any short word as a role, because other programs' records have further roles.
    """
    given = fields.get
    role: Any = given("role")
    # The type is checked first, because a list is unhashable.
    if not isinstance(role, str) or role not in ROLES:
        _check_role(role, any_role=any_role)
    content, encoded = _encode_content(given("content"), redact)
    # This runs for every append, and most messages have few of these fields.
    calls, metadata = given("tool_calls"), given("metadata")
    tool_calls = None if calls is None else _encode_calls(calls, redact)
    about = None if metadata is None else _encode_json("metadata", metadata, redact)
    size = len(content or "") + len(tool_calls or "") + len(about or "")
    if size > max_bytes // 4:
        _check_size("the message", max_bytes, content, tool_calls, about)
    tool_name, tool_call_id = given("tool_name"), given("tool_call_id")
    timestamp, token_count, origin = given("timestamp"), given("token_count"), given("origin")
    key = given("key")
    return NewMessage(
        role if role in ROLES else redact(str(role)),
        now if timestamp is None else moment("timestamp", timestamp),
        None if tool_name is None else _clean_name("tool_name", tool_name, redact),
        None if tool_call_id is None else _clean_name("tool_call_id", tool_call_id, redact),
        None if token_count is None else whole("token_count", token_count),
        encoded,
        about,
        tool_calls,
        content,
        None if origin is None else _check_origin(origin),
        None if key is None else redact_id(name("key", key), redact),
        0 if calls is None else _count_calls(calls),
    )


def _check_role(role: Any, *, any_role: bool) -> None:
    is_word = isinstance(role, str) and bool(role.strip()) and len(role) <= 64 and role.isprintable()
    if is_word and any_role:
        return
    word = role.strip().lower() if is_word else ""
    near = _OTHER_NAMES.get(word) or find_nearest(word, sorted(ROLES))
    advice = f"Did you mean {near!r}?" if near else "Use user, assistant, system, developer or tool."
    raise InvalidInput(f"Unknown role {role!r}. {advice}")


def _clean_name(label: str, value: Any, redact: Redact) -> str | None:
    """Clean a name instead of refusing it: a host must not lose a message."""
    if not isinstance(value, str):
        raise InvalidInput(f"{label} must be a string, not {type(value).__name__}")
    return redact(clean_name(value) or "") or None


def _check_origin(origin: Any) -> str:
    if origin == MEMORY:
        return MEMORY
    raise InvalidInput(f"origin must be {MEMORY!r} or omitted, not {origin!r}.")


def new_session(fields: Mapping[str, Any], *, started: float, redact: Redact, max_bytes: int) -> SessionRow:
    """Check the fields of a session and return the row to store. ``started`` is the default time."""
    given = fields.get
    started_at = given("started_at")
    prompt = check_text("system_prompt", given("system_prompt"), max_bytes)
    without_secret = partial(redact_id, redact=redact)
    return SessionRow(
        id=without_secret(name("session id", given("id"))),
        source=redact(name("source", fields.get("source", IMPORTED))),
        user_id=_read_name("user_id", given("user_id"), without_secret),
        model=_read_name("model", given("model"), redact),
        model_config=encode_json("model_config", given("model_config"), redact, max_bytes),
        system_prompt=None if prompt is None else redact(prompt),
        parent_session_id=_read_name("parent_session_id", given("parent_session_id"), without_secret),
        started_at=moment("started_at", started if started_at is None else started_at),
        ended_at=optional_moment("ended_at", given("ended_at")),
        end_reason=_read_name("end_reason", given("end_reason"), redact),
        message_count=0,
        tool_call_count=0,
        input_tokens=whole("input_tokens", fields.get("input_tokens", 0)),
        output_tokens=whole("output_tokens", fields.get("output_tokens", 0)),
        title=_read_name("title", given("title"), redact),
        metadata=encode_json("metadata", given("metadata"), redact, max_bytes),
        archived=bool(given("archived")),
        project=_read_name("project", given("project"), redact),
        branch=_read_name("branch", given("branch"), redact),
        updated_at=moment("updated_at", started if given("updated_at") is None else given("updated_at")),
    )


def _read_name(label: str, value: Any, redact: Redact) -> str | None:
    return None if value is None else redact(name(label, value))


def change_metadata(row: SessionRow, change: MetadataChange, redact: Redact, max_bytes: int) -> str | None:
    """Return a session's metadata with these keys set, or the result of the given function.

    Setting keys of metadata that is not an object raises Refused.
    """
    if not isinstance(change, Mapping):
        return encode_json("metadata", change(load_json(row.metadata)), redact, max_bytes)
    kept = load_json(row.metadata or "{}")
    if not isinstance(kept, dict):
        raise Refused(
            f"The metadata of session {row.id!r} is a {type(kept).__name__} and has no keys. "
            "It was left unchanged."
        )
    return encode_json("metadata", kept | dict(change), redact, max_bytes)


def message_dict(row: MessageRow) -> Message:
    """Return a message as hosts see it. A forgotten message is marked as such."""
    message: Message = {
        "id": row.id,
        "session_id": row.session_id,
        "role": row.role,
        "content": content_of(row),
        "tool_name": row.tool_name,
        "tool_calls": load_json(row.tool_calls),
        "tool_call_id": row.tool_call_id,
        "token_count": row.token_count,
        "timestamp": row.timestamp,
        "metadata": load_json(row.metadata),
    }
    if row.forgotten:
        message["forgotten"] = True
    if row.origin is not None:
        message["origin"] = row.origin
    if row.key is not None:
        message["key"] = row.key
    if row.retired:
        message["retired"] = True
    return message


def session_dict(row: SessionRow) -> Session:
    return {
        "id": row.id,
        "source": row.source,
        "user_id": row.user_id,
        "model": row.model,
        "model_config": load_json(row.model_config),
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
        "metadata": load_json(row.metadata),
        "archived": row.archived,
        "project": row.project,
        "branch": row.branch,
        "revision": row.revision,
        "updated_at": row.updated_at,
    }


def content_of(row: MessageRow | Glimpse) -> Any:
    if row.forgotten:
        return FORGOTTEN
    return load_json(row.content) if row.encoded else row.content


def calls_without_arguments(row: MessageRow) -> str | None:
    """Return a forgotten message's calls without their arguments, so that results still match."""
    calls = load_json(row.tool_calls)
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
    return dump_json(kept)


# --- values ---------------------------------------------------------------------------------


def check_message_id(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{value!r} is not a message id. Use a whole number such as 42.")
    if not 0 < value < 1 << 53:
        raise NotFound(f"There is no message {value}.")
    return value


def check_text(label: str, value: Any, max_bytes: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise InvalidInput(f"{label} must be a string, not {type(value).__name__}")
    clean = value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    _check_size(label, max_bytes, clean)
    return clean


def _dump_exactly(value: Any) -> str:
    """Encode a value as JSON that decodes to the same value, or raise TypeError or ValueError."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text if is_storable(text) else json.dumps(value, allow_nan=False, separators=(",", ":"))


PlainCalls = list[dict[str, str | dict[str, str]]]
"""The common form of tool calls. msgspec encodes it exactly as ``json`` does, ten times faster."""

NOT_PLAIN = (msgspec.ValidationError, UnicodeEncodeError, TypeError)
"""Raised for values that are not plain, or that hold subclasses of str."""


def dump_plain(value: Any) -> str:
    """Encode as JSON; a lone surrogate raises UnicodeEncodeError."""
    return _encode(value).decode()


def dump_json(value: Any) -> str:
    """Encode a value as JSON that any engine can store and that decodes to the same value."""
    try:
        return dump_plain(value)
    except UnicodeEncodeError:
        # A lone surrogate can't be encoded as UTF-8, so it is escaped.
        return json.dumps(value)


def load_json(text: str | None) -> Any:
    """Decode stored JSON. Damaged text is returned unchanged."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def encode_json(label: str, value: Any, redact: Redact, max_bytes: int) -> str | None:
    text = _encode_json(label, value, redact)
    _check_size(label, max_bytes, text)
    return text


# --- encoding -------------------------------------------------------------------------------


def _encode_content(content: Any, redact: Redact) -> tuple[str | None, bool]:
    if content is None:
        return None, False
    if isinstance(content, str):
        clean = redact(content)
        return (clean, False) if is_storable(clean) else (dump_json(clean), True)
    if isinstance(content, list):
        return _encode_json("content", content, redact), True
    if isinstance(content, dict):
        # A single part becomes a list of one. Any other object is a result, stored as text as APIs require.
        is_part = content.get("type") in _PARTS
        return _encode_json("content", [content] if is_part else content, redact), is_part
    raise InvalidInput(
        f"content must be a string or a list of parts, not {type(content).__name__}. "
        'A part is {"type": "text", "text": "…"}.'
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


def _encode_calls(value: Any, redact: Redact) -> str | None:
    try:
        text = dump_plain(convert(value, PlainCalls))
    except NOT_PLAIN:
        return _encode_json("tool_calls", value, redact)
    return text if redact(text) is text else _encode_json("tool_calls", value, redact)


def _encode_json(label: str, value: Any, redact: Redact) -> str | None:
    if value is None:
        return None
    if _is_too_deep(value):
        raise InvalidInput(f"{label} is nested more than {MAX_DEPTH} levels deep")
    try:
        try:
            text = _dump_exactly(value)
        except TypeError:
            value = make_plain(value)
            text = _dump_exactly(value)
        # Scanning the whole text at once is cheap. Strings are checked one by one only if it may have a
        # secret.
        return text if redact(text) is text else _dump_exactly(redact_value(value, redact))
    except (TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InvalidInput(f"{label} can't be encoded as JSON: {exc}") from exc


def _is_too_deep(value: Any) -> bool:
    """True if walking the value could overflow the stack, now or when it is read."""
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
            f"{label} has {size:,} bytes. The limit is {max_bytes:,}. Keep large data in a file and store "
            "its name, or raise max_message_bytes in config.toml."
        )


def _count_calls(tool_calls: Any) -> int:
    if isinstance(tool_calls, (list, tuple)):
        return len(tool_calls)
    return 1 if isinstance(tool_calls, dict) else 0

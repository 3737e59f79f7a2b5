"""Session and message records: host arguments in, rows for the engine out, and back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, get_args

import msgspec

from mnemos.errors import InvalidInput, NotFound, Refused, TooLarge
from mnemos.inputs import (
    MAX_DEPTH,
    MAX_NAME,
    clean_name,
    find_nearest,
    make_plain,
    moment,
    name,
    optional_moment,
    whole,
)
from mnemos.sessions.session_types import Message, Role, Session
from mnemos.sessions.tool_names import call_name, may_be_own_tool
from mnemos.storage.base import Document, Glimpse, MessageRow, NewMessage, SessionRow
from mnemos.text.fences import strip_fences
from mnemos.text.secrets import Redact, redact_id, redact_value

FORGOTTEN = "[forgotten]"
# The origin of a message that only repeats the memory.
MEMORY = "memory"
# The source of an imported session that names none.
IMPORTED = "import"

_encode = msgspec.json.Encoder().encode

ROLES = frozenset(get_args(Role))
# Names that other programs have for a role.
_OTHER_NAMES = {"human": "user", "ai": "assistant", "model": "assistant", "bot": "assistant"}
_PARTS = (
    "text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "image", "image_url",
    "input_image", "input_audio", "file", "input_file", "document", "tool_use", "tool_result",
)  # fmt: skip
_LONGEST_SPEAKER = 48
_NAME_BEFORE_COLON = re.compile(r"([A-Z][\w'.-]+(?: [A-Z][\w'.-]*){0,2}): ")

MESSAGE_FIELDS = frozenset(
    {
        "role", "content", "tool_name", "tool_calls", "tool_call_id", "token_count", "timestamp",
        "metadata", "origin",
    }
)  # fmt: skip


def new_message(
    fields: Mapping[str, Any], *, now: float, redact: Redact, max_bytes: int, any_role: bool = False
) -> NewMessage:
    """Check the arguments of ``append_message`` and return the row to store.

    ``any_role`` accepts every short word as a role: records of other programs have roles of their own.
    """
    given = fields.get
    role: Any = given("role")
    # A list is unhashable, so its type is checked first.
    if not isinstance(role, str) or role not in ROLES:
        _check_role(role, any_role=any_role)
    content, encoded = _encode_content(given("content"), redact)
    # Every append comes through here, and most messages have few of these.
    calls, metadata = given("tool_calls"), given("metadata")
    tool_calls = None if calls is None else _encode_calls(calls, redact)
    about = None if metadata is None else _encode_json("metadata", metadata, redact)
    size = len(content or "") + len(tool_calls or "") + len(about or "")
    if size > max_bytes // 4:
        _check_size("the message", max_bytes, content, tool_calls, about)
    tool_name, tool_call_id = given("tool_name"), given("tool_call_id")
    timestamp, token_count, origin = given("timestamp"), given("token_count"), given("origin")
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
        0 if calls is None else _count_calls(calls),
    )


def _check_role(role: Any, *, any_role: bool) -> None:
    is_word = isinstance(role, str) and bool(role.strip()) and len(role) <= 64 and role.isprintable()
    if is_word and any_role:
        return
    word = role.strip().lower() if is_word else ""
    near = _OTHER_NAMES.get(word) or find_nearest(word, sorted(ROLES))
    advice = f"Did you mean {near!r}?" if near else "Use user, assistant, system, developer or tool."
    raise InvalidInput(f"role {role!r} is not known. {advice}")


def _clean_name(label: str, value: Any, redact: Redact) -> str | None:
    """Clean a name instead of refusing it: a host must not lose a message."""
    if not isinstance(value, str):
        raise InvalidInput(f"{label} must be a string, not {type(value).__name__}")
    return redact(clean_name(value) or "") or None


def _check_origin(origin: Any) -> str:
    if origin == MEMORY:
        return MEMORY
    raise InvalidInput(f"origin is {origin!r}. Use {MEMORY!r}, or leave it out.")


def new_session(fields: Mapping[str, Any], *, started: float, redact: Redact, max_bytes: int) -> SessionRow:
    """Check the fields of a session and return the row to store; ``started`` is the default time."""
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
    )


def _read_name(label: str, value: Any, redact: Redact) -> str | None:
    return None if value is None else redact(name(label, value))


def merge_metadata(
    row: SessionRow, metadata: Mapping[str, Any], redact: Redact, max_bytes: int
) -> str | None:
    """Return the metadata of a session with these keys set; other keys stay.

    Stored metadata that is not an object raises Refused.
    """
    kept = load_json(row.metadata or "{}")
    if not isinstance(kept, dict):
        raise Refused(
            f"The metadata of session {row.id!r} is a {type(kept).__name__} and has no keys. "
            "It was left unchanged."
        )
    return encode_json("metadata", kept | dict(metadata), redact, max_bytes)


def message_dict(row: MessageRow) -> Message:
    """Return a message as hosts see it, marked if it was forgotten."""
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
    }


def content_of(row: MessageRow | Glimpse) -> Any:
    if row.forgotten:
        return FORGOTTEN
    return load_json(row.content) if row.encoded else row.content


def text_of(row: MessageRow | Glimpse) -> str:
    """Return the text of a message; of several parts, the text parts."""
    return _join_text(content_of(row))


def document_of(row: MessageRow) -> Document:
    """Return the searchable text of a message, with the names and arguments of its tools.

    Recalled text in it is left out, and so are calls of the memory's tools and their results.
    """
    if row.origin is not None and row.tool_calls is None:
        return Document("", "")
    said = strip_fences(text_of(row) if row.encoded else row.content or "")
    return Document(said, tools_of(row), _speaker(row, said))


def is_echo(row: MessageRow) -> bool:
    """True if a message only repeats the memory."""
    if row.origin is None:
        return False
    document = document_of(row)
    return not document.said.strip() and not document.tool


def tools_of(row: MessageRow) -> str:
    """Return the names and arguments of the tool calls in a message, without those of the memory."""
    if row.tool_calls is None:
        return "" if row.origin is not None else row.tool_name or ""
    made = load_json(row.tool_calls)
    if row.origin is not None:
        made = _drop_own_calls(made)
    calls = " ".join(_call_words(made))
    return f"{row.tool_name} {calls}" if row.tool_name else calls


def _drop_own_calls(calls: Any) -> list[Any]:
    """Return the calls of other tools, of a message that calls the memory."""
    if not isinstance(calls, list):
        return []
    others = [call for call in calls if isinstance(call, dict) and not may_be_own_tool(call_name(call))]
    # A host may give the tools names of its own.
    return others if len(others) < len(calls) else []


def names_speaker(row: MessageRow) -> bool:
    """True if the metadata of a message names the speaker."""
    return _speaker_in_metadata(row) != ""


def _speaker_in_metadata(row: MessageRow) -> str:
    if row.metadata is None or ('"speaker"' not in row.metadata and '"name"' not in row.metadata):
        return ""
    return _parse_speaker(row.metadata)


def _speaker(row: MessageRow, said: str) -> str:
    """Return the speaker named in the metadata, by the role, or before a colon."""
    named = _speaker_in_metadata(row)
    if named:
        return named
    if row.role not in ROLES:
        return row.role
    if ": " in said[:_LONGEST_SPEAKER]:
        before_colon = _NAME_BEFORE_COLON.match(said)
        if before_colon is not None:
            return before_colon.group(1)
    return ""


@lru_cache(maxsize=4_096)
def _parse_speaker(metadata: str) -> str:
    """Return the speaker in metadata; cached, because many messages of one speaker share it."""
    known = load_json(metadata)
    if isinstance(known, dict):
        for key in ("speaker", "name"):
            if isinstance(known.get(key), str):
                return str(known[key])[:MAX_NAME]
    return ""


def calls_without_arguments(row: MessageRow) -> str | None:
    """Return the calls of a forgotten message without arguments, so that answers still match."""
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
    """Encode as JSON that loads back the same; raise TypeError or ValueError if there is none."""
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
    """Encode as JSON that any engine can store and that loads back the same."""
    try:
        return dump_plain(value)
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8; escaped, it survives.
        return json.dumps(value)


def load_json(text: str | None) -> Any:
    """Decode stored JSON; a damaged text is returned as it is."""
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


# --- inside ---------------------------------------------------------------------------------


def _encode_content(content: Any, redact: Redact) -> tuple[str | None, bool]:
    if content is None:
        return None, False
    if isinstance(content, str):
        clean = redact(content)
        return (clean, False) if is_storable(clean) else (dump_json(clean), True)
    if isinstance(content, list):
        return _encode_json("content", content, redact), True
    if isinstance(content, dict):
        # One part is a list of parts. Any other object is a result, stored as the text that APIs want.
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
        text = dump_plain(msgspec.convert(value, PlainCalls))
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
        # The whole text shows cheaply that there is no secret; otherwise each string is checked.
        return text if redact(text) is text else _dump_exactly(redact_value(value, redact))
    except (TypeError, ValueError, OverflowError, RecursionError) as exc:
        raise InvalidInput(f"{label} can't be encoded as JSON: {exc}") from exc


def _is_too_deep(value: Any) -> bool:
    """True if walking through the value could overflow the stack, now or when it is read."""
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
            f"{label} has {size:,} bytes, more than {max_bytes:,}. Keep large data in a file and store "
            "its name, or raise max_message_bytes in config.toml."
        )


def _count_calls(tool_calls: Any) -> int:
    if isinstance(tool_calls, (list, tuple)):
        return len(tool_calls)
    return 1 if isinstance(tool_calls, dict) else 0


def _join_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text for part in content if (text := _part_text(part)))
    return ""


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("refusal") if part.get("type") == "refusal" else part.get("text")
        if isinstance(text, str):
            return text
        return _join_text(part.get("content"))
    return ""


def _call_words(value: Any) -> list[str]:
    """Return every string in a structure of calls, keys included."""
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

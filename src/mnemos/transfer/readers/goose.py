"""Reader of the ``sessions.db`` of Goose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemos.storage import AgentDatabase
from mnemos.transfer.foreign_files import (
    clean_name,
    decode_json,
    get_object,
    get_objects,
    get_text,
    parse_time,
)
from mnemos.transfer.reader import Item, Skipped
from mnemos.transfer.readers.agent_database import Row, decode_column, make_reader
from mnemos.transfer.readers.dialogue import INJECTED, Dialogue, make_conversation, render_content

KIND: Final = "goose"
_INJECTED: Final = frozenset({"info-msg", "system-reminder"})
_READ: Final = ("text", "thinking")
_NOT_SAID: Final = tuple(
    """
    actionRequired contextLengthExceeded conversationCompacted frontendToolRequest reasoning redactedThinking
    summarizationRequested systemNotification toolConfirmationRequest
    """.split()
)


def _read_session(database: AgentDatabase, row: Row) -> Iterator[Item]:
    is_agent = row.get("session_type") == "sub_agent"
    started = parse_time(row.get("created_at"))
    yield make_conversation(
        KIND,
        f"goose-{row['id']}",
        started_at=started,
        model=get_text(decode_column(row.get("model_config_json")), "model_name"),
        title=clean_name(row.get("name")) or row.get("description"),
        is_agent=is_agent,
        cwd=row.get("working_dir"),
    )
    say = Dialogue(f"goose-{row['id']}", started or 0.0, _INJECTED)
    for message in database.rows("messages", row["id"]):
        # Goose's own prompts, such as summaries, are only for the model.
        if decode_column(message.get("metadata_json")).get("userVisible") is False:
            yield INJECTED
            continue
        parts = get_objects({"parts": decode_json(message["content_json"])}, "parts")
        yield from _read_message(say, message, parts)


def _read_message(say: Dialogue, message: Row, parts: list[dict[str, Any]]) -> Iterator[Item]:
    at = parse_time(message.get("created_timestamp"))
    texts = "\n".join(get_text(part, "text") for part in parts if part.get("type") == "text")
    thoughts = [get_text(part, "thinking") for part in parts if part.get("type") == "thinking"]
    # Goose rewrites a session to shorten it, so the keys come from the content.
    if message.get("role") == "user":
        yield from say.ask(texts, at)
    else:
        yield from say.reply(texts, at, thoughts=thoughts)
    for part in parts:
        kind, call_id = part.get("type"), clean_name(part.get("id"))
        if kind == "toolRequest":
            call = get_object(get_object(part, "toolCall"), "value")
            yield from say.call(call_id, call.get("name"), call.get("arguments"), at)
        elif kind == "toolResponse":
            yield from _read_result(say, get_object(part, "toolResult"), call_id, at)
        elif kind == "image":
            yield Skipped("images")
        elif kind not in _READ and kind not in _NOT_SAID:
            yield from say.note_unknown(kind)


def _read_result(
    say: Dialogue, result: Mapping[str, Any], call_id: str | None, at: float | None
) -> Iterator[Item]:
    value = result.get("value")
    content = value.get("content") if isinstance(value, dict) else value
    is_error = result.get("status") == "error" or (isinstance(value, dict) and bool(value.get("isError")))
    yield from say.answer(
        call_id, None, get_text(result, "error") or render_content(content), at, is_error=is_error
    )


READER: Final = make_reader(KIND, "Goose", "sessions.db", _read_session)

"""Reader of Zed's ``threads.db``: a JSON document per thread, usually compressed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemos.files import zstd
from mnemos.storage import AgentDatabase
from mnemos.transfer.foreign_files import (
    LONGEST,
    clean_name,
    decode_object,
    get_object,
    get_objects,
    get_text,
    parse_time,
)
from mnemos.transfer.reader import Item, Unreadable
from mnemos.transfer.readers.agent_database import Row, make_reader
from mnemos.transfer.readers.dialogue import INJECTED, Dialogue, make_conversation, render_content

KIND: Final = "zed"
_VERSION: Final = "0.3.0"
_OLDER: Final = frozenset({"0.1.0", "0.2.0"})


def _read_thread(database: AgentDatabase, row: Row) -> Iterator[Item]:
    for found in database.rows("messages", row["id"]):
        thread = decode_object(_unpack(found))
        version = thread.get("version")
        if version not in (_VERSION, *_OLDER):
            yield Unreadable(0, f"thread {row['id']} has version {version!r:.20}, which is not known")
            return
        parent = clean_name(found.get("parent_id"))
        folders = found.get("folder_paths")
        created = parse_time(found.get("created_at"))
        yield make_conversation(
            KIND,
            row["id"],
            started_at=created,
            model=get_object(thread, "model").get("model"),
            title=thread.get("title") or thread.get("summary"),
            parent_id=parent,
            is_agent=parent is not None,
            cwd=folders.split("\n")[0] if isinstance(folders, str) else None,
        )
        say = Dialogue(row["id"], created or parse_time(thread.get("updated_at")) or 0.0)
        for message in get_objects(thread, "messages"):
            yield from _read_older(say, message) if version in _OLDER else _read_message(say, message)


def _unpack(row: Mapping[str, Any]) -> bytes:
    data = row["data"] if isinstance(row["data"], bytes) else str(row["data"]).encode()
    if row["data_type"] != "zstd":
        return data
    packing = zstd()
    try:
        unpacked = packing.ZstdDecompressor().decompress(data, max_length=LONGEST + 1)
    except packing.ZstdError as exc:
        raise ValueError(f"it can't be decompressed: {exc}") from exc
    if len(unpacked) > LONGEST:
        raise ValueError(f"it is longer than {LONGEST >> 20} MB")
    return bytes(unpacked)


def _read_message(say: Dialogue, message: Mapping[str, Any]) -> Iterator[Item]:
    user, agent = get_object(message, "User"), get_object(message, "Agent")
    if user:
        parts = get_objects(user, "content")
        yield from say.ask(
            "\n".join(get_text(part, "Text") for part in parts), None, clean_name(user.get("id"))
        )
    elif agent:
        parts = get_objects(agent, "content")
        texts = [get_text(part, "Text") for part in parts]
        thoughts = [get_text(get_object(part, "Thinking"), "text") for part in parts]
        yield from say.reply("\n".join(filter(None, texts)), None, thoughts=[*filter(None, thoughts)])
        results = get_object(agent, "tool_results")
        for part in parts:
            use = get_object(part, "ToolUse")
            if use:
                given = use.get("input")
                given = (
                    given.get("value")
                    if isinstance(given, dict) and given.keys() == {"type", "value"}
                    else given
                )
                yield from say.call(use.get("id"), use.get("name"), given, None)
                yield from _read_result(say, get_object(results, str(use.get("id"))))
    else:
        yield INJECTED


def _read_result(say: Dialogue, result: Mapping[str, Any]) -> Iterator[Item]:
    if result:
        text = render_content(result.get("content"))
        is_error = bool(result.get("is_error"))
        yield from say.answer(
            result.get("tool_use_id"), result.get("tool_name"), text, None, is_error=is_error
        )


def _read_older(say: Dialogue, message: Mapping[str, Any]) -> Iterator[Item]:
    segments = get_objects(message, "segments")
    text = "\n".join(get_text(part, "text") for part in segments if part.get("type") == "text")
    if message.get("role") == "user":
        yield from say.ask(text, None)
        return
    yield from say.reply(text, None)
    for use in get_objects(message, "tool_uses"):
        yield from say.call(use.get("id"), use.get("name"), use.get("input"), None)
    for result in get_objects(message, "tool_results"):
        yield from _read_result(say, result)


READER: Final = make_reader(KIND, "Zed", "threads.db", _read_thread)

"""Reader of Cline, and its offshoot Roo Code: a JSON file per task.

Cline's newer versions keep ``ID.messages.json`` with what is known of the session next to it. Older ones, and
Roo Code, keep ``api_conversation_history.json`` in the folder of the task. Both hold messages in the format
of Anthropic's API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.transfer.foreign_files import (
    clean_name,
    decode_json,
    files_with,
    get_object,
    get_objects,
    get_text,
    parse_time,
    read_beside,
    read_whole,
)
from mnemos.transfer.reader import BEGINNING, Item, Mark, Reader, Skipped, SourceFile
from mnemos.transfer.readers.dialogue import INJECTED, Dialogue, make_conversation, render_content

_HISTORY: Final = "api_conversation_history.json"
_MESSAGES: Final = ".messages.json"
_ITEM: Final = "history_item.json"
_INJECTED: Final = frozenset(
    "environment_details explicit_instructions file_content folder_content new_task slash_command".split()
)
# Tags around a user's words.
_SPOKEN: Final = re.compile(r"</?(?:user_input|task|feedback|user_message|answer)(?: [^<>]*)?>")
# The result of a tool that was not called through the API.
_RESULT: Final = re.compile(r"\[(\w+)[^\n]*\] Result:\s*")
_FOLDER: Final = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]+)\)")


def read(kind: str, source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:  # noqa: ARG001
    try:
        found = decode_json(read_whole(source.path))
        holder = found if isinstance(found, dict) else {"messages": found}
        if not isinstance(holder.get("messages"), list):
            raise InvalidInput(
                f"{source.path} has no list of messages: this version of the format is unknown"
            )
        yield from _read_messages(kind, source, holder)
    except ValueError as exc:
        raise InvalidInput(f"{source.path} is not a conversation: {exc}") from exc
    yield BEGINNING


def make_reader(kind: str, title: str) -> Reader:
    return Reader(kind, title, files_with(_HISTORY, _MESSAGES), partial(read, kind), resumes=False)


READER: Final = make_reader("cline", "Cline")
ROO: Final = make_reader("roo", "Roo Code")


def _read_messages(kind: str, source: SourceFile, holder: Mapping[str, Any]) -> Iterator[Item]:
    messages = get_objects(holder, "messages")
    name = source.path.name
    about = read_beside(
        source.path.with_name(f"{name.removesuffix(_MESSAGES)}.json" if name.endswith(_MESSAGES) else _ITEM)
    )
    first = next((get_text(part, "text") for one in messages for part in _parts(one)), "")
    folder = _FOLDER.search("\n".join(get_text(part, "text") for one in messages[:1] for part in _parts(one)))
    task = source.path.parent.name if name == _HISTORY else name.removesuffix(_MESSAGES)
    models = [get_text(get_object(one, "modelInfo"), "id") for one in messages]
    started = parse_time(about.get("started_at")) or next(
        (at for one in messages if (at := parse_time(one.get("ts")))), None
    )
    session = clean_name(f"{kind}-{holder.get('sessionId') or task}") or kind
    yield make_conversation(
        kind,
        session,
        started_at=started,
        model=clean_name(about.get("model")) or next(filter(None, models), None),
        title=get_object(about, "metadata").get("title") or about.get("task") if first else None,
        cwd=clean_name(about.get("cwd") or about.get("workspace")) or (folder[1] if folder else None),
        branch=get_object(get_object(about, "metadata"), "git").get("branch"),
    )
    say = Dialogue(session, started or source.changed_ns / 1e9, _INJECTED)
    for message in messages:
        yield from _read_message(say, message)


def _read_message(say: Dialogue, message: Mapping[str, Any]) -> Iterator[Item]:
    at, key = parse_time(message.get("ts")), clean_name(message.get("id"))
    if message.get("isSummary") or message.get("isTruncationMarker"):
        yield INJECTED
        return
    is_user = message.get("role") == "user"
    tool = ""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in _parts(message):
        kind, text = part.get("type"), get_text(part, "text")
        call = clean_name(part.get("id") or part.get("tool_use_id"))
        if kind == "tool_result":
            result, is_error = render_content(part.get("content")), bool(part.get("is_error"))
            own = call and f"{key}/{call}"
            yield from say.answer(call, part.get("name"), result, at, own, is_error=is_error)
        elif kind == "image":
            yield Skipped("images")
        elif is_user and (found := _RESULT.match(text)):
            # The text is in this part or the next one.
            tool = found[1]
            if text[found.end() :].strip():
                yield from say.answer(None, tool, text[found.end() :], at)
                tool = ""
        elif is_user and tool and not _SPOKEN.search(text) and "<environment_details>" not in text:
            yield from say.answer(None, tool, text, at)
            tool = ""
        elif kind == "thinking":
            thoughts.append(get_text(part, "thinking"))
        elif text:
            texts.append(_SPOKEN.sub("", text) if is_user else text)
    joined = "\n".join(texts)
    if is_user:
        yield from say.ask(joined, at, key)
        return
    used = get_object(message, "metrics")
    tokens = (used.get("inputTokens"), used.get("outputTokens"))
    yield from say.reply(joined, at, key, thoughts=thoughts, tokens=tokens)
    for part in _parts(message):
        if part.get("type") == "tool_use":
            call = clean_name(part.get("id"))
            yield from say.call(call, part.get("name"), part.get("input"), at, call and f"{key}/{call}")


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return (
        [{"type": "text", "text": content}] if isinstance(content, str) else get_objects(message, "content")
    )

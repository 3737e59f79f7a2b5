"""Reader of Continue: a JSON file per session of the editor or the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mnemos.errors import InvalidInput
from mnemos.transfer.foreign_files import (
    clean_name,
    decode_object,
    files_with,
    get_object,
    get_objects,
    get_text,
    is_file,
    parse_folder,
    parse_time,
    read_whole,
)
from mnemos.transfer.reader import BEGINNING, Item, Mark, Reader, SourceFile
from mnemos.transfer.readers.dialogue import (
    OWN_RECORDS,
    UNFINISHED,
    Dialogue,
    make_conversation,
    render_content,
)

KIND: Final = "continue"
_LIST: Final = "sessions.json"
_UNTITLED: Final = frozenset({"Untitled Session", "New Session", "Chat"})
_INJECTED: Final = frozenset({"system-reminder", "context"})
_RUNNING: Final = frozenset({"generating", "generated", "calling"})


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:  # noqa: ARG001
    try:
        session = decode_object(read_whole(source.path))
    except ValueError as exc:
        raise InvalidInput(f"{source.path} is not a session: {exc}") from exc
    session_id = clean_name(session.get("sessionId"))
    if session_id is None or not isinstance(session.get("history"), list):
        raise InvalidInput(f"{source.path} has no history: this version of the format is unknown")
    history = get_objects(session, "history")
    title = clean_name(session.get("title"))
    models = [get_object(get_object(item, "message"), "usage").get("model") for item in history]
    yield make_conversation(
        KIND,
        session_id,
        started_at=_find_start(source.path, session_id),
        model=clean_name(next(filter(None, models), None)) or session.get("chatModelTitle"),
        title=None if title in _UNTITLED else title,
        cwd=parse_folder(session.get("workspaceDirectory")),
    )
    say = Dialogue(session_id, source.changed_ns / 1e9, _INJECTED)
    for number, item in enumerate(history, 1):
        yield from _read_item(say, item, is_last=number == len(history))
    yield BEGINNING


READER: Final = Reader(
    KIND, "Continue", files_with(".json", wanted=lambda file: file.name != _LIST), read, resumes=False
)


def _read_item(say: Dialogue, item: Mapping[str, Any], *, is_last: bool) -> Iterator[Item]:
    message = get_object(item, "message")
    role, text = message.get("role"), render_content(message.get("content"))
    states = get_objects(item, "toolCallStates")
    if role == "user":
        yield from say.ask(text, None)
    elif role == "assistant":
        used = get_object(message, "usage")
        if is_last and not used and not states and not item.get("promptLogs"):
            # The editor also saves while an answer is being written.
            yield UNFINISHED
            return
        thought = get_object(item, "reasoning").get("text")
        tokens = (used.get("prompt_tokens"), used.get("completion_tokens"))
        thoughts = [thought] if isinstance(thought, str) else []
        yield from say.reply(text, None, thoughts=thoughts, tokens=tokens)
        for state in states:
            yield from _read_call(say, state)
    elif role != "tool":
        # Skip thinking and the system prompt. Results are with their calls.
        yield OWN_RECORDS


def _read_call(say: Dialogue, state: Mapping[str, Any]) -> Iterator[Item]:
    if get_text(state, "status") in _RUNNING:
        yield UNFINISHED
        return
    function = get_object(get_object(state, "toolCall"), "function")
    call_id, name = state.get("toolCallId"), function.get("name")
    # Some models reuse call ids, so the keys come from the content.
    yield from say.call(call_id, name, function.get("arguments"), None, key=say.count(f"{state}"))
    output = "\n".join(str(one.get("content") or "") for one in get_objects(state, "output"))
    is_error = state.get("status") == "errored"
    yield from say.answer(call_id, name, output, None, key=say.count(f"{state}="), is_error=is_error)


def _find_start(path: Path, session_id: str) -> float | None:
    """Return a session's start, which only the list of sessions tells."""
    listed = path.with_name(_LIST)
    try:
        found = decode_object(b'{"list":' + read_whole(listed) + b"}") if is_file(listed) else {}
    except (ValueError, OSError):
        return None
    one = next((one for one in get_objects(found, "list") if one.get("sessionId") == session_id), {})
    created = one.get("dateCreated")
    return parse_time(int(created)) if isinstance(created, str) and created.isdigit() else parse_time(created)

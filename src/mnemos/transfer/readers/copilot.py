"""Reader of VS Code's chats, such as Copilot: a file per session, or its log.

The log begins with the whole session. Each further line replaces a value, adds to a list or deletes a value.
"""

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
    parse_folder,
    parse_time,
    read_beside,
    read_whole,
)
from mnemos.transfer.reader import BEGINNING, Item, Mark, Reader, SourceFile
from mnemos.transfer.readers.dialogue import UNFINISHED, Dialogue, make_conversation

KIND: Final = "copilot"
CHATS: Final = "chatSessions"
_WORKSPACE: Final = "workspace.json"
_VERSIONS: Final = (None, 1, 2, 3)
_INITIAL, _SET, _PUSH, _DELETE = range(4)
# States of an answer: complete, cancelled, failed.
_ENDED: Final = (1, 2, 3)
_READ: Final = (None, "markdownContent", "inlineReference", "thinking")
# Parts that only show progress, file changes or buttons.
_NOT_SAID: Final = tuple(
    """
    agent clearToPreviousToolInvocation codeblockUri codeCitation command confirmation elicitation
    elicitationSerialized extensions externalEdit hook markdownVuln mcpServersStarting
    mcpServersStartingSerialized move multiDiffData notebookEdit notebookEditGroup prepareToolInvocation
    progressMessage progressTask progressTaskResult progressTaskSerialized pullRequest questionCarousel
    reference textEdit textEditGroup toolInvocation treeData undoStop usedContext warning workspaceEdit
    """.split()
)


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:  # noqa: ARG001
    try:
        session = _load(source.path)
    except (ValueError, KeyError, IndexError, TypeError) as exc:
        raise InvalidInput(f"{source.path} is not a chat: {exc}") from exc
    session_id = clean_name(session.get("sessionId"))
    is_known = session_id is not None and isinstance(session.get("requests"), list)
    if not is_known or session.get("version") not in _VERSIONS:
        raise InvalidInput(f"{source.path} has no requests, or an unknown version of the format")
    requests = get_objects(session, "requests")
    started = parse_time(session.get("creationDate"))
    yield make_conversation(
        KIND,
        str(session_id),
        started_at=started,
        model=next((one["modelId"] for one in requests if one.get("modelId")), None),
        title=session.get("customTitle"),
        cwd=_find_folder(source.path),
    )
    say = Dialogue(str(session_id), started or source.changed_ns / 1e9)
    for number, request in enumerate(requests, 1):
        yield from _read_request(say, request, is_last=number == len(requests))
    yield BEGINNING


READER: Final = Reader(
    KIND, "Copilot Chat", files_with(".json", ".jsonl", folders=(CHATS, f"*/{CHATS}")), read, resumes=False
)


def _load(path: Path) -> Mapping[str, Any]:
    """Return a session after all changes, ignoring an incomplete last line."""
    data = read_whole(path)
    if path.suffix != ".jsonl":
        return decode_object(data)
    state: Any = None
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = decode_object(line)
        except ValueError:
            if number == len(lines):
                break
            raise
        if entry.get("kind") == _INITIAL:
            state = entry["v"]
        else:
            _apply(state, entry)
    if not isinstance(state, dict):
        raise ValueError("its log does not start with a session")  # noqa: TRY004 - of the text
    return state


def _apply(state: Any, entry: Mapping[str, Any]) -> None:
    *path, last = entry["k"]
    for step in path:
        state = state[step]
    kind = entry.get("kind")
    if kind == _SET:
        if isinstance(state, list) and last == len(state):
            state.append(entry.get("v"))
        else:
            state[last] = entry.get("v")
    elif kind == _DELETE:
        state[last] = None
    elif kind == _PUSH:
        listed = state.get(last) if isinstance(state, dict) else state[last]
        listed = listed if isinstance(listed, list) else []
        if isinstance(entry.get("i"), int):
            del listed[entry["i"] :]
        listed.extend(entry.get("v") or ())
        state[last] = listed
    else:
        raise ValueError(f"a change of kind {kind!r:.20} is not known")


def _read_request(say: Dialogue, request: Mapping[str, Any], *, is_last: bool) -> Iterator[Item]:
    at, key = parse_time(request.get("timestamp")), clean_name(request.get("requestId"))
    message = request.get("message")
    text = message if isinstance(message, str) else get_text(get_object(request, "message"), "text")
    yield from say.ask(text, at, key)
    state = get_object(request, "modelState").get("value")
    has_ended = state in _ENDED or (state is None and (request.get("result") or request.get("isCanceled")))
    if is_last and not has_ended:
        yield UNFINISHED
        return
    parts = get_objects(request, "response")
    for part in parts:
        if part.get("kind") == "toolInvocationSerialized":
            yield from _read_tool(say, part, at)
        elif part.get("kind") not in _READ and part.get("kind") not in _NOT_SAID:
            yield from say.note_unknown(part.get("kind"))
    texts = [_render(part) for part in parts]
    thoughts = [_text(part.get("value")) for part in parts if part.get("kind") == "thinking"]
    yield from say.reply("".join(texts), at, key and f"{key}/answer", thoughts=[*filter(None, thoughts)])


def _read_tool(say: Dialogue, part: Mapping[str, Any], at: float | None) -> Iterator[Item]:
    call_id, name = clean_name(part.get("toolCallId")), part.get("toolId")
    details = get_object(part, "resultDetails")
    given = get_text(details, "input") or {"message": _text(part.get("invocationMessage"))}
    yield from say.call(call_id, name, given, at)
    output = "\n".join(get_text(one, "value") for one in get_objects(details, "output") if one.get("isText"))
    said = output or _text(part.get("pastTenseMessage"))
    if said:
        yield from say.answer(call_id, name, said, at, is_error=bool(details.get("isError")))


def _render(part: Mapping[str, Any]) -> str:
    """Return the text of an answer's part: Markdown, or the name of a file in it."""
    kind = part.get("kind")
    if kind is None:
        return _text(part)
    if kind == "markdownContent":
        return _text(part.get("content"))
    if kind == "inlineReference":
        reference = get_object(part, "inlineReference")
        place = get_text(reference, "path") or get_text(get_object(reference, "uri"), "path")
        return get_text(part, "name") or get_text(reference, "name") or place
    return ""


def _text(value: Any) -> str:
    """Return a text, or the text of a Markdown value."""
    return value if isinstance(value, str) else get_text(value, "value") if isinstance(value, dict) else ""


def _find_folder(path: Path) -> str | None:
    """Return a workspace's folder, which is in a file next to the folder of chats."""
    return parse_folder(read_beside(path.parent.with_name(_WORKSPACE)).get("folder"))

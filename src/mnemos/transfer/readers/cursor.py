"""Reader of Cursor's global ``state.vscdb``: a value per conversation and message.

The format is not public; it is known from descriptions by others. Only keys of conversations and messages are
read: the database also holds secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from mnemos.errors import MnemosError
from mnemos.storage import AgentDatabase, agent_database
from mnemos.transfer.foreign_files import (
    clean_name,
    find_database,
    get_object,
    get_objects,
    get_text,
    is_file,
    parse_folder,
    parse_time,
    read_beside,
)
from mnemos.transfer.reader import BEGINNING, Item, Mark, Reader, Skipped, SourceFile, Unreadable
from mnemos.transfer.readers.agent_database import Row, decode_column, read_changed
from mnemos.transfer.readers.dialogue import UNFINISHED, Dialogue, make_conversation, render_content

KIND: Final = "cursor"
_FILE: Final = "state.vscdb"
_USER, _ASSISTANT = 1, 2
_WORKSPACES: Final = "workspaceStorage"
# In milliseconds. A conversation may have the time of its start until an answer is complete.
_OVERLAP: Final = 3_600_000


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    return read_changed(source, mark, KIND, _Conversations(source.path).read, overlap=_OVERLAP)


READER: Final = Reader(KIND, "Cursor", find_database(_FILE), read, holds_many=True)


class _Conversations:
    """A database's conversations, and the folders they belong to."""

    def __init__(self, path: Path) -> None:
        self._storage = path.parent.parent / _WORKSPACES
        self._folders: dict[str, str | None] | None = None

    def read(self, database: AgentDatabase, row: Row) -> Iterator[Item]:
        about = decode_column(next((one["data"] for one in database.rows("about", row["id"])), ""))
        bubbles = _order(about, {one["id"]: one["data"] for one in database.rows("bubbles", row["id"])})
        if bubbles is None:
            version = about.get("_v")
            yield Unreadable(
                0, f"conversation {row['id']}: version {version!r:.20} of the format is not known"
            )
            return
        started = parse_time(about.get("createdAt"))
        yield make_conversation(
            KIND,
            row["id"],
            started_at=started,
            model=get_object(about, "modelConfig").get("modelName"),
            title=about.get("name"),
            archived=about.get("isArchived") is True,
            cwd=_find_folder(bubbles) or self._find_workspace(row["id"]),
            branch=about.get("createdOnBranch"),
        )
        say = Dialogue(row["id"], started or 0.0)
        at = started
        for number, (key, bubble) in enumerate(bubbles, 1):
            at = parse_time(bubble.get("createdAt")) or at
            is_open = number == len(bubbles) and about.get("status") == "generating"
            if is_open and bubble.get("type") == _ASSISTANT:
                yield UNFINISHED
            else:
                yield from _speak(say, bubble, key, at, number)

    def _find_workspace(self, conversation: str) -> str | None:
        """Return the folder of the workspace that lists a conversation."""
        if self._folders is None:
            self._folders = {}
            for file in sorted(self._storage.glob("*/workspace.json")):
                folder = parse_folder(read_beside(file).get("folder"))
                self._folders |= dict.fromkeys(_list_conversations(file.with_name(_FILE)), folder)
        return self._folders.get(conversation)


def _order(about: Mapping[str, Any], stored: dict[str, Any]) -> list[tuple[str, Mapping[str, Any]]] | None:
    """Return a conversation's messages in order; None if it doesn't list them.

    Older versions keep them within the conversation.
    """
    if isinstance(about.get("fullConversationHeadersOnly"), list):
        ids = [get_text(one, "bubbleId") for one in get_objects(about, "fullConversationHeadersOnly")]
        inline = get_object(about, "conversationMap")
        found = [(one, _decode(stored.get(one)) or get_object(inline, one)) for one in ids]
        # A missing message was never written, or was deleted.
        return [(one, bubble) for one, bubble in found if bubble]
    if isinstance(about.get("conversation"), list):
        return [(get_text(one, "bubbleId"), one) for one in get_objects(about, "conversation")]
    return None


def _decode(data: Any) -> Mapping[str, Any]:
    try:
        return decode_column(data)
    except ValueError:
        return {"type": "damaged"}


def _speak(
    say: Dialogue, bubble: Mapping[str, Any], key: str, at: float | None, number: int
) -> Iterator[Item]:
    if bubble.get("type") == _USER:
        yield from say.ask(get_text(bubble, "text"), at, key)
        images = len(bubble["images"]) if isinstance(bubble.get("images"), list) else 0
        if images:
            yield Skipped("images", images)
        return
    if bubble.get("type") != _ASSISTANT:
        kind = bubble.get("type")
        yield Unreadable(number, f"{say.session_id}: a message of the type {kind!r:.20} is not known")
        return
    used = get_object(bubble, "tokenCount")
    thinking = get_text(get_object(bubble, "thinking"), "text")
    tokens = (used.get("inputTokens"), used.get("outputTokens"))
    yield from say.reply(
        get_text(bubble, "text"), at, key, thoughts=[thinking] if thinking else (), tokens=tokens
    )
    tool = get_object(bubble, "toolFormerData")
    name = tool.get("name")
    if isinstance(name, str) and name:
        call_id = clean_name(tool.get("toolCallId"))
        yield from say.call(call_id, name, tool.get("rawArgs") or tool.get("params"), at, key)
        if tool.get("result"):
            is_error = tool.get("status") == "error"
            yield from say.answer(call_id, name, render_content(tool["result"]), at, key, is_error=is_error)


def _find_folder(bubbles: list[tuple[str, Mapping[str, Any]]]) -> str | None:
    """Return the first workspace folder that a message belongs to."""
    for _, bubble in bubbles:
        folders = bubble.get("workspaceUris")
        for folder in folders if isinstance(folders, list) else ():
            if found := parse_folder(folder):
                return found
    return None


def _list_conversations(path: Path) -> list[str]:
    """Return the ids that a workspace's database lists."""
    if not is_file(path):
        return []
    try:
        with agent_database(path, "cursor_workspace") as database:
            listed = [decode_column(row["data"]) for row in database.sessions()]
    except (MnemosError, ValueError):
        # The workspace only tells the folder of a conversation.
        return []
    return [get_text(one, "composerId") for data in listed for one in get_objects(data, "allComposers")]

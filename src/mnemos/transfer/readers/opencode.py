"""Reader of OpenCode's ``opencode.db``: messages and their parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from mnemos.storage import AgentDatabase
from mnemos.transfer.foreign_files import clean_name, get_object, parse_time
from mnemos.transfer.reader import Conversation, Item, Skipped
from mnemos.transfer.readers.agent_database import Row, decode_column, make_reader
from mnemos.transfer.readers.dialogue import INJECTED, UNFINISHED, Dialogue, make_conversation

KIND: Final = "opencode"
_UNTITLED: Final = ("New session - ", "Child session - ")
_INJECTED: Final = frozenset({"system-reminder"})
_NOT_SAID: Final = tuple("agent compaction patch retry snapshot step-finish step-start subtask".split())


def _read_session(database: AgentDatabase, row: Row) -> Iterator[Item]:
    messages = [
        (message["id"], decode_column(message["data"])) for message in database.rows("messages", row["id"])
    ]
    parts: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for part in database.rows("parts", row["id"]):
        parts.setdefault(part["message_id"], []).append((part["id"], decode_column(part["data"])))
    models = [clean_name(data.get("modelID")) for _, data in messages if data.get("modelID")]
    yield _begin(row, models[0] if models else None)
    say = Dialogue(row["id"], parse_time(row.get("time_created")) or 0.0, _INJECTED)
    for number, (key, data) in enumerate(messages, 1):
        times = get_object(data, "time")
        is_answer = data.get("role") == "assistant"
        if is_answer and not times.get("completed") and number == len(messages):
            # It is still being written. An interrupted one is complete once another message follows.
            yield UNFINISHED
        elif is_answer and data.get("summary") is True:
            yield INJECTED
        else:
            model = clean_name(data.get("modelID"))
            about = _Message(
                say, data, parse_time(times.get("created")), model if model not in models[:1] else None
            )
            yield from about.read_parts(parts.get(key, []))


def _begin(row: Row, model: str | None) -> Conversation:
    title, parent = clean_name(row.get("title")), clean_name(row.get("parent_id"))
    return make_conversation(
        KIND,
        row["id"],
        started_at=parse_time(row.get("time_created")),
        model=model,
        title=None if title and title.startswith(_UNTITLED) else title,
        parent_id=parent,
        is_agent=parent is not None,
        archived=bool(row.get("time_archived")),
        cwd=row.get("directory"),
        version=row.get("version"),
    )


class _Message:
    """A message being read, part after part."""

    def __init__(self, say: Dialogue, data: Mapping[str, Any], at: float | None, model: str | None) -> None:
        self._say = say
        self._is_user = data.get("role") == "user"
        self._at = at
        self._model = model
        self._thoughts: list[str] = []
        used = get_object(data, "tokens")
        self._tokens = (used.get("input"), used.get("output"))

    def read_parts(self, parts: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Item]:
        for key, part in parts:
            kind, text = part.get("type"), part.get("text")
            if kind == "text" and isinstance(text, str):
                yield from self._text(key, part, text)
            elif kind == "reasoning" and isinstance(text, str):
                self._thoughts.append(text)
            elif kind == "tool":
                yield from self._tool(key, part)
            elif kind == "file":
                yield Skipped("files")
            elif kind not in _NOT_SAID:
                yield from self._say.note_unknown(kind)

    def _text(self, key: str, part: Mapping[str, Any], text: str) -> Iterator[Item]:
        if part.get("synthetic") or part.get("ignored"):
            yield INJECTED
        elif self._is_user:
            yield from self._say.ask(text, self._at, key)
        else:
            reply = partial(self._say.reply, text, self._at, key)
            yield from reply(thoughts=self._thoughts, tokens=self._tokens, model=self._model)
            self._thoughts, self._tokens = [], (None, None)

    def _tool(self, key: str, part: Mapping[str, Any]) -> Iterator[Item]:
        state = get_object(part, "state")
        times = get_object(state, "time")
        call_id, name = part.get("callID"), part.get("tool")
        # Some models give all their calls the same id.
        yield from self._say.call(
            call_id, name, state.get("input"), parse_time(times.get("start")) or self._at, key
        )
        output = state.get("output", state.get("error"))
        if isinstance(output, str):
            at = parse_time(times.get("end")) or self._at
            is_error = state.get("status") == "error"
            yield from self._say.answer(call_id, name, output, at, key, is_error=is_error)


READER: Final = make_reader(KIND, "OpenCode", "opencode.db", _read_session)

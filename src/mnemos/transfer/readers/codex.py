"""Reader of Codex rollouts: a JSON line per item of the model or event for the user.

Every message is an item, because Codex resumes from items alone; its event says the same and is not read. A
fork begins with a copy of its parent session, whose messages keep the keys that they have there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mnemos.transfer.foreign_files import (
    COMPRESSED,
    Translator,
    clean_name,
    drop_empty,
    files_with,
    make_call,
    parse_count,
    parse_time,
    remember,
    translate_lines,
)
from mnemos.transfer.reader import (
    BEGINNING,
    UNKNOWN_RECORDS,
    Conversation,
    ImportedMessage,
    Item,
    Mark,
    Reader,
    Skipped,
    SourceFile,
    Unreadable,
)
from mnemos.transfer.readers.codex_items import (
    Payload,
    Words,
    extract_result,
    extract_thoughts,
    extract_words,
    get_call,
    hash_text,
    parse_line,
)
from mnemos.transfer.readers.dialogue import INJECTED, OWN_RECORDS
from mnemos.transfer.readers.injected_text import describe_injected

KIND: Final = "codex"
_MAX_CALLS: Final = 64
_LONGEST_THOUGHT: Final = 20_000
_OWN_ITEMS: Final = ("ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other")
_ENVELOPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def read(source: SourceFile, mark: Mark = BEGINNING) -> Iterator[Item]:
    rollout = _Rollout(source, mark)
    if rollout.is_begun:
        yield rollout.conversation()
    yield from translate_lines(source, mark, rollout, "it is not a line of a rollout")


READER: Final = Reader(
    KIND,
    "Codex",
    files_with(
        ".jsonl",
        f".jsonl{COMPRESSED}",
        folders=("sessions", "archived_sessions"),
        # Sorted by start time, so that a fork comes after its parent.
        key=lambda file: (not file.name.startswith("rollout-"), file.name),
    ),
    read,
)


class _Rollout(Translator):
    """A file being read: what its lines so far tell about later ones."""

    def __init__(self, source: SourceFile, mark: Mark) -> None:
        state: dict[str, Any] = mark.state or {}
        self._changed = source.changed_ns / 1e9
        self._is_archived = "archived_sessions" in source.path.parts
        self._about: dict[str, Any] = state.get("session") or {"id": _name_session(source.path)}
        self.is_begun = bool(state.get("begun"))
        # The session that the messages come from, and their number.
        self._origin: str = state.get("origin") or self._about["id"]
        self._count: int = state.get("count") or 0
        self._time: float | None = state.get("time")
        self._model: str | None = state.get("model")
        self._calls: dict[str, str] = dict(state.get("calls") or {})
        self._thought: str = state.get("thought") or ""
        self._total: tuple[int, int] = tuple(state.get("total") or (0, 0))
        # Tokens of the last message, which waits for them, or else of the next one.
        self._tokens: tuple[int, int] = tuple(state.get("tokens") or (0, 0))
        self._last: ImportedMessage | None = None
        # The end of the previous line.
        self._before = Mark(mark.position, mark.line, self.state())

    def state(self) -> dict[str, Any]:
        return drop_empty(
            begun=self.is_begun or None,
            session=self._about,
            origin=self._origin,
            count=self._count or None,
            time=self._time,
            model=self._model,
            calls=dict(self._calls) if self._calls else None,
            thought=self._thought,
            total=self._total,
            tokens=self._tokens if self._last is None else None,
        )

    def conversation(self) -> Conversation:
        known = self._about
        return Conversation(
            known["id"],
            "subagent" if known.get("agent") else KIND,
            started_at=known.get("started_at"),
            model=known.get("model"),
            title=known.get("title"),
            parent_id=known.get("parent"),
            metadata=known.get("metadata"),
            archived=self._is_archived,
        )

    def translate(self, data: bytes, number: int) -> Iterator[Item]:
        kind, timestamp, payload = parse_line(data)
        if payload is None:
            return
        self._set_time(parse_time(timestamp))
        if kind == "response_item":
            yield from self._item(payload)
        elif kind == "event_msg":
            yield from self._event(payload)
        elif kind == "session_meta":
            yield from self._begin(payload)
        elif kind == "turn_context":
            yield from self._turn(payload)
        elif kind == "compacted":
            yield INJECTED
        elif kind:
            yield UNKNOWN_RECORDS
        elif payload.get("type", "") not in ("", *_ENVELOPES):
            yield from self._item(payload)
        elif payload.get("id") is not None and payload.get("timestamp") is not None:
            yield from self._begin(payload)
        else:
            yield Unreadable(number, "the line has no type")

    def advance(self, position: int, number: int) -> Iterator[Item]:
        self._before = Mark(position, number, self.state())
        return iter(())

    def finish(self) -> Iterator[Item]:
        if self._last is not None:
            yield replace(self._last, input_tokens=self._tokens[0], output_tokens=self._tokens[1])
            self._last, self._tokens = None, (0, 0)

    def _begin(self, payload: Payload) -> Iterator[Item]:
        session_id = clean_name(payload.get("id"))
        if session_id is None:
            raise ValueError("it has no session id")
        if self.is_begun:
            if session_id not in (self._origin, self._about["id"]):
                # Here, a copy of another session's history begins.
                self._origin, self._count = session_id, 0
            return
        started = parse_time(payload.get("timestamp"))
        self._set_time(started)
        spawned = _get_spawn(payload.get("source"))
        found = payload.get("git")
        git = found if isinstance(found, dict) else {}
        parent = clean_name(spawned.get("parent_thread_id")) or clean_name(payload.get("parent_thread_id"))
        source = payload.get("source")
        is_agent = isinstance(source, dict) and ("subagent" in source or "sub_agent" in source)
        self._about = drop_empty(
            id=session_id,
            started_at=started,
            model=self._about.get("model"),
            title=self._about.get("title"),
            parent=parent or clean_name(payload.get("forked_from_id")),
            agent=is_agent or None,
            metadata=drop_empty(
                program=KIND if is_agent else None,
                agent=clean_name(spawned.get("agent_nickname")) or clean_name(payload.get("agent_nickname")),
                agent_role=clean_name(spawned.get("agent_role")) or clean_name(payload.get("agent_role")),
                cwd=clean_name(payload.get("cwd")),
                git_branch=clean_name(git.get("branch")),
                version=clean_name(payload.get("cli_version")),
                originator=clean_name(payload.get("originator")),
            )
            or None,
        )
        self._origin, self._count = session_id, 0
        self.is_begun = True
        yield self.conversation()

    def _turn(self, payload: Payload) -> Iterator[Item]:
        self._model = clean_name(payload.get("model")) or self._model
        if self._model and not self._about.get("model"):
            yield from self._learn(model=self._model)

    def _item(self, payload: Payload) -> Iterator[Item]:
        kind = payload.get("type", "")
        # An `agent_message` comes from another agent.
        if kind in ("message", "agent_message"):
            role = payload.get("role") if kind == "message" else "user"
            if role not in ("user", "assistant"):
                yield INJECTED
                return
            yield from self._message(role, extract_words(role, payload.get("content")), payload)
        elif kind == "reasoning":
            self._think(extract_thoughts(payload))
        elif (tool := get_call(payload)) is not None:
            yield from self._call(payload, *tool)
        elif kind.endswith("_output"):
            yield from self._result(payload)
        else:
            yield OWN_RECORDS if kind in _OWN_ITEMS else UNKNOWN_RECORDS

    def _event(self, payload: Payload) -> Iterator[Item]:
        kind = payload.get("type", "")
        if kind == "token_count":
            self._count_tokens(payload.get("info"))
        elif kind == "thread_name_updated" and clean_name(payload.get("thread_name")):
            yield from self._learn(title=clean_name(payload.get("thread_name")))

    def _message(self, role: str, words: Words, payload: Payload) -> Iterator[Item]:
        if words.images:
            yield Skipped("images", words.images)
        if not (self._about.get("metadata") or {}).get("cwd"):
            yield from self._learn_folder(dict(words.injected).get("environment_context", ""))
        if not words.text:
            yield INJECTED if words.injected else Skipped("empty messages")
            return
        metadata = drop_empty(
            uuid=clean_name(payload.get("id")),
            name=clean_name(payload.get("author")),
            injected=describe_injected(words.injected),
        )
        yield from self._say(hash_text(words.text), {"role": role, "content": words.text}, metadata)

    def _call(self, payload: Payload, name: str, arguments: Any) -> Iterator[Item]:
        call_id = clean_name(payload.get("call_id")) or clean_name(payload.get("id")) or ""
        if call_id:
            remember(self._calls, call_id, name, _MAX_CALLS)
        made = make_call(call_id, name, arguments)
        yield from self._say(
            call_id or hash_text(made["function"]["arguments"]),
            {"role": "assistant", "tool_calls": [made]},
            drop_empty(uuid=clean_name(payload.get("id"))),
        )

    def _result(self, payload: Payload) -> Iterator[Item]:
        text, known, images = extract_result(payload)
        if images:
            yield Skipped("images", images)
        call_id = clean_name(payload.get("call_id")) or ""
        yield from self._say(
            f"{call_id or hash_text(text)}=",
            drop_empty(
                role="tool",
                content=text or "[no output]",
                tool_name=self._calls.pop(call_id, None) or clean_name(payload.get("name")),
                tool_call_id=call_id,
            ),
            known,
        )

    def _say(self, name: str, fields: dict[str, Any], metadata: dict[str, Any]) -> Iterator[Item]:
        if not self.is_begun:
            self.is_begun = True
            yield self.conversation()
        if self._last is not None:
            yield from self.finish()
            yield self._before
        role = fields["role"]
        if role == "assistant":
            metadata |= drop_empty(
                thinking=self._thought, model=self._model if self._model != self._about.get("model") else None
            )
        if role != "tool":
            self._thought = ""
        fields["timestamp"] = self._time if self._time is not None else self._changed
        if metadata:
            fields["metadata"] = metadata
        self._last = ImportedMessage(self._about["id"], f"{self._origin}/{self._count}/{name}", fields)
        self._count += 1

    def _learn_folder(self, environment: str) -> Iterator[Item]:
        """Learn the folder from injected text, its only place in the oldest rollouts."""
        _, opened, rest = environment.partition("<cwd>")
        cwd = clean_name(rest.partition("</cwd>")[0]) if opened else None
        if cwd:
            yield from self._learn(metadata=(self._about.get("metadata") or {}) | {"cwd": cwd})

    def _learn(self, **news: Any) -> Iterator[Item]:
        self._about = self._about | news
        if self.is_begun:
            yield self.conversation()

    def _set_time(self, at: float | None) -> None:
        if at is not None:
            self._time = at

    def _think(self, thoughts: list[str]) -> None:
        joined = "\n\n".join(filter(None, (self._thought, *thoughts)))
        # The state is stored as JSON, which can't hold a lone surrogate.
        self._thought = joined[:_LONGEST_THOUGHT].encode("utf-8", "replace").decode()

    def _count_tokens(self, info: Any) -> None:
        """Count the tokens since the last total."""
        total = info.get("total_token_usage") if isinstance(info, dict) else None
        if not isinstance(total, dict):
            return
        now = (parse_count(total.get("input_tokens")), parse_count(total.get("output_tokens")))
        is_reset = now < self._total
        more = now if is_reset else (now[0] - self._total[0], max(0, now[1] - self._total[1]))
        self._total = now
        self._tokens = (self._tokens[0] + more[0], self._tokens[1] + more[1])


def _name_session(path: Path) -> str:
    """Return a session id made from the name of a file without one."""
    stem = path.name.removesuffix(COMPRESSED).removesuffix(".jsonl")
    found = _ID.search(stem)
    return found.group() if found else clean_name(stem) or "unknown"


def _get_spawn(source: Any) -> dict[str, Any]:
    """Return what a session knows about the one that started it."""
    agent = source.get("subagent", source.get("sub_agent")) if isinstance(source, dict) else None
    spawn = agent.get("thread_spawn") if isinstance(agent, dict) else None
    return spawn if isinstance(spawn, dict) else {}

"""Rollouts of Codex: a JSON line for each item that the model saw and each event that a user saw.

What was said stands there as both: it is told once, as the item where there is one. A fork begins with a copy
of the session it comes from, and its messages carry the keys that they have there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mnemos.transfer.foreign_files import (
    PACKED,
    Tell,
    call,
    count,
    files_below,
    filled,
    is_file,
    is_folder,
    lines,
    moment,
    opened,
    short,
    source_of,
)
from mnemos.transfer.reader import BEGINNING, Conversation, Item, Left, Mark, Reader, Said, Source, Unread
from mnemos.transfer.readers.codex_items import (
    Entry,
    Line,
    Pairs,
    Payload,
    Words,
    called,
    digest_of,
    is_json,
    line_of,
    result_of,
    thoughts_of,
    words_of,
)
from mnemos.transfer.readers.injected_text import about

KIND: Final = "codex"
_FOLDERS: Final = ("sessions", "archived_sessions")
_MOST_CALLS: Final = 64
_LONGEST_THOUGHT: Final = 20_000
_ENVELOPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_INJECTED: Final = Left("injected context")


def find(path: Path, tell: Tell) -> Iterator[Source]:
    """The rollouts below a folder, by when they were begun, so that a fork comes after its parent."""
    if is_file(path):
        found = [path]
    else:
        folders = [path / name for name in _FOLDERS if is_folder(path / name)] or [path]
        below = (
            file
            for folder in folders
            for suffix in (".jsonl", f".jsonl{PACKED}")
            for file in files_below(folder, suffix, tell)
        )
        everything = sorted(below, key=lambda file: file.name)
        found = [file for file in everything if file.name.startswith("rollout-")] or everything
    yield from (source for file in found if (source := source_of(file, tell)))


def read(source: Source, mark: Mark = BEGINNING) -> Iterator[Item]:
    rollout = _Rollout(source, mark.state if isinstance(mark.state, dict) else {})
    position, number = mark.position, mark.line
    marked = -1
    if rollout.is_begun:
        yield rollout.conversation()
    with opened(source.path) as file:
        for line in lines(file, mark.position, mark.line):
            before = Mark(position, number, rollout.state())
            made = rollout.pairs.made
            if line.data is None:
                yield Unread(line.number, "it is too long")
            else:
                try:
                    yield from rollout.line(line_of(line.data), line.number)
                except ValueError as exc:
                    if not line.is_whole and not is_json(line.data):
                        yield Left("unfinished last lines")
                        break
                    yield Unread(line.number, f"it is no line of a rollout: {exc}")
            position, number = line.end, line.number
            yield from rollout.told_for_sure()
            if rollout.pairs.told >= made and before.position > marked:
                marked = before.position
                yield before
    yield from rollout.rest()
    yield Mark(position, number, rollout.state())


READER: Final = Reader(KIND, "Codex", find, read)


class _Rollout:
    """One file on the way: what the lines so far tell about those that follow."""

    def __init__(self, source: Source, state: dict[str, Any]) -> None:
        self._changed = source.changed_ns / 1e9
        self._is_archived = "archived_sessions" in source.path.parts
        self._about: dict[str, Any] = state.get("session") or {"id": _named(source.path)}
        self.is_begun = bool(state.get("begun"))
        # The session that the messages are from, and how many there were of it.
        self._origin: str = state.get("origin") or self._about["id"]
        self._count: int = state.get("count") or 0
        self._time: float | None = state.get("time")
        self._model: str | None = state.get("model")
        self._calls: dict[str, str] = dict(state.get("calls") or {})
        self._thought: str = state.get("thought") or ""
        self._past_thought = ""
        self._total: tuple[int, int] = tuple(state.get("total") or (0, 0))
        self._carried: tuple[int, int] = tuple(state.get("carried") or (0, 0))
        self.pairs = Pairs(state)

    def state(self) -> dict[str, Any]:
        return filled(
            begun=self.is_begun or None,
            session=self._about,
            origin=self._origin,
            count=self._count or None,
            time=self._time,
            model=self._model,
            calls=dict(self._calls) if self._calls else None,
            thought=self._thought,
            total=self._total,
            carried=self._carried,
            **self.pairs.state(),
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

    def line(self, line: Line, number: int) -> Iterator[Item]:
        """What a line says; messages are kept until it is sure that nothing belongs to them any more."""
        self.pairs.at(number)
        payload = line.payload
        if payload is None:
            return
        self._pass(moment(line.timestamp))
        if line.type == "response_item":
            yield from self._item(payload, number)
        elif line.type == "event_msg":
            yield from self._event(payload, number)
        elif line.type == "session_meta":
            yield from self._begin(payload)
        elif line.type == "turn_context":
            yield from self._turn(payload)
        elif line.type == "compacted":
            yield _INJECTED
        elif line.type:
            yield Left("records of the program")
        elif payload.type and payload.type not in _ENVELOPES:
            yield from self._item(payload, number)
        elif payload.id is not None and payload.timestamp is not None:
            yield from self._begin(payload)
        else:
            yield Unread(number, "it says of no type what it is")

    def told_for_sure(self) -> Iterator[Said]:
        return self._told(self.pairs.sure())

    def rest(self) -> Iterator[Said]:
        return self._told(self.pairs.rest())

    # --- lines ------------------------------------------------------------------------------

    def _begin(self, payload: Payload) -> Iterator[Item]:
        session_id = short(payload.id)
        if session_id is None:
            raise ValueError("it names no session")
        if self.is_begun:
            if session_id not in (self._origin, self._about["id"]):
                # A copy of another session's history begins.
                self._origin, self._count = session_id, 0
            return
        started = moment(payload.timestamp)
        self._pass(started)
        spawned = _spawned(payload.source)
        git = payload.git if isinstance(payload.git, dict) else {}
        parent = short(spawned.get("parent_thread_id")) or short(payload.parent_thread_id)
        is_agent = _is_agent(payload.source)
        self._about = filled(
            id=session_id,
            started_at=started,
            model=self._about.get("model"),
            title=self._about.get("title"),
            parent=parent or short(payload.forked_from_id),
            agent=is_agent or None,
            metadata=filled(
                program=KIND if is_agent else None,
                agent=short(spawned.get("agent_nickname")) or short(payload.agent_nickname),
                agent_role=short(spawned.get("agent_role")) or short(payload.agent_role),
                cwd=short(payload.cwd),
                git_branch=short(git.get("branch")),
                version=short(payload.cli_version),
                originator=short(payload.originator),
            )
            or None,
        )
        self._origin, self._count = session_id, 0
        self.is_begun = True
        yield self.conversation()

    def _turn(self, payload: Payload) -> Iterator[Item]:
        self._model = short(payload.model) or self._model
        if self._model and not self._about.get("model"):
            yield from self._learn(model=self._model)

    def _item(self, payload: Payload, number: int) -> Iterator[Item]:
        kind = payload.type
        if kind == "message":
            role = payload.role
            if role not in ("user", "assistant"):
                yield _INJECTED
                return
            yield from self._message(role, words_of(role, payload.content), payload, number)
        elif kind == "reasoning":
            self._think(thoughts_of(payload))
        elif kind == "agent_message":
            # What another agent said to this one.
            yield from self._message("user", words_of("user", payload.content), payload, number)
        elif (tool := called(payload)) is not None:
            yield from self._call(payload, *tool)
        elif kind.endswith("_output"):
            yield from self._result(payload)
        else:
            yield Left("records of the program")

    def _event(self, payload: Payload, number: int) -> Iterator[Item]:
        kind = payload.type
        if kind == "user_message":
            yield from self._heard("user", payload.message, number)
        elif kind == "agent_message":
            yield from self._heard("assistant", payload.message, number)
        elif kind in ("agent_reasoning", "agent_reasoning_raw_content"):
            self._think([payload.text] if isinstance(payload.text, str) else [])
        elif kind == "token_count":
            self._tokens(payload.info)
        elif kind == "item_completed" and isinstance(payload.item, dict):
            role = {"UserMessage": "user", "AgentMessage": "assistant"}.get(str(payload.item.get("type")))
            if role:
                yield from self._heard(role, payload.item.get("content"), number)
        elif kind == "thread_name_updated" and short(payload.thread_name):
            yield from self._learn(title=short(payload.thread_name))

    # --- messages ---------------------------------------------------------------------------

    def _message(self, role: str, words: Words, payload: Payload, number: int) -> Iterator[Item]:
        if words.images:
            yield Left("images", words.images)
        if not (self._about.get("metadata") or {}).get("cwd"):
            yield from self._placed(dict(words.injected).get("environment_context", ""))
        if not words.said:
            yield _INJECTED if words.injected else Left("empty messages")
            return
        metadata = filled(uuid=short(payload.id), name=short(payload.author), injected=about(words.injected))
        digests = words.digests()
        events = self.pairs.had_events(role, digests)
        if events is None:
            self.pairs.await_event(role, digests, number)
            yield from self._say(digests[0], filled(role=role, content=words.said), metadata)
            return
        for place, entry in enumerate(events):
            if place or entry.fields is None:
                entry.fields = None
            else:
                known = entry.fields.get("metadata") or {}
                entry.fields |= {"content": words.said, "metadata": known | metadata | self._thinking(role)}

    def _heard(self, role: str, content: Any, number: int) -> Iterator[Item]:
        words = words_of(role, content)
        if not words.said:
            return
        digest = digest_of(words.said)
        if self.pairs.had_item(role, digest):
            return
        yield from self._say(
            digest, {"role": role, "content": words.said}, filled(injected=about(words.injected)), waits=True
        )
        self.pairs.await_item(role, digest, number)

    def _call(self, payload: Payload, name: str, arguments: Any) -> Iterator[Item]:
        call_id = short(payload.call_id) or short(payload.id) or ""
        if call_id:
            self._calls[call_id] = name
            while len(self._calls) > _MOST_CALLS:
                del self._calls[next(iter(self._calls))]
        made = call(call_id, name, arguments)
        yield from self._say(
            call_id or digest_of(made["function"]["arguments"]),
            {"role": "assistant", "tool_calls": [made]},
            filled(uuid=short(payload.id)),
        )

    def _result(self, payload: Payload) -> Iterator[Item]:
        text, known, images = result_of(payload)
        if images:
            yield Left("images", images)
        call_id = short(payload.call_id) or ""
        yield from self._say(
            f"{call_id or digest_of(text)}=",
            filled(
                role="tool",
                content=text or "[no output]",
                tool_name=self._calls.pop(call_id, None) or short(payload.name),
                tool_call_id=call_id,
            ),
            known,
        )

    def _say(
        self, name: str, fields: dict[str, Any], metadata: dict[str, Any], *, waits: bool = False
    ) -> Iterator[Item]:
        if not self.is_begun:
            self.is_begun = True
            yield self.conversation()
        role = fields["role"]
        if role == "user":
            self._thought = ""
        elif role == "assistant":
            metadata |= self._thinking(role)
            if self._model != self._about.get("model"):
                metadata["model"] = self._model
        fields["timestamp"] = self._time if self._time is not None else self._changed
        if metadata:
            fields["metadata"] = metadata
        self.pairs.add(Entry(f"{self._origin}/{self._count}/{name}", fields, waits, *self._carried))
        self._carried = (0, 0)
        self._count += 1

    def _told(self, entries: Iterator[Entry]) -> Iterator[Said]:
        for entry in entries:
            if entry.fields is not None:
                tokens = (entry.input_tokens, entry.output_tokens)
                yield Said(self._about["id"], entry.key, entry.fields, (), *tokens)

    # --- what stays -------------------------------------------------------------------------

    def _placed(self, environment: str) -> Iterator[Item]:
        """The oldest rollouts tell the folder only in what is put in before the first message."""
        _, opened, rest = environment.partition("<cwd>")
        cwd = short(rest.partition("</cwd>")[0]) if opened else None
        if cwd:
            yield from self._learn(metadata=(self._about.get("metadata") or {}) | {"cwd": cwd})

    def _learn(self, **news: Any) -> Iterator[Item]:
        self._about = self._about | news
        if self.is_begun:
            yield self.conversation()

    def _pass(self, at: float | None) -> None:
        if at is not None:
            self._time = at

    def _think(self, thoughts: list[str]) -> None:
        for text in thoughts:
            # Summaries, too, stand there as event and as item.
            if text and text not in self._thought and text not in self._past_thought:
                joined = f"{self._thought}\n\n{text}" if self._thought else text
                # Where reading goes on is written as JSON, which cannot hold half a character.
                self._thought = joined[:_LONGEST_THOUGHT].encode("utf-8", "replace").decode()

    def _thinking(self, role: str) -> dict[str, Any]:
        if role != "assistant" or not self._thought:
            return {}
        self._past_thought, self._thought = self._thought, ""
        return {"thinking": self._past_thought}

    def _tokens(self, info: Any) -> None:
        """Count what was used since the total was last told."""
        total = info.get("total_token_usage") if isinstance(info, dict) else None
        if not isinstance(total, dict):
            return
        now = (count(total.get("input_tokens")), count(total.get("output_tokens")))
        is_anew = now < self._total
        more = now if is_anew else (now[0] - self._total[0], max(0, now[1] - self._total[1]))
        self._total = now
        last = self.pairs.last
        if last is not None:
            last.input_tokens += more[0]
            last.output_tokens += more[1]
        else:
            self._carried = (self._carried[0] + more[0], self._carried[1] + more[1])


def _named(path: Path) -> str:
    """The id of a session by the name of its file, for when nothing in it tells."""
    stem = path.name.removesuffix(PACKED).removesuffix(".jsonl")
    found = _ID.search(stem)
    return found.group() if found else short(stem) or "unknown"


def _is_agent(source: Any) -> bool:
    return isinstance(source, dict) and ("subagent" in source or "sub_agent" in source)


def _spawned(source: Any) -> dict[str, Any]:
    """What a session that another one started knows of it."""
    agent = source.get("subagent", source.get("sub_agent")) if isinstance(source, dict) else None
    spawn = agent.get("thread_spawn") if isinstance(agent, dict) else None
    return spawn if isinstance(spawn, dict) else {}

"""Homes that are synced in tests, and writes to them chosen by chance."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import get_ident
from typing import Any, cast

from mnemos.errors import MnemosError
from mnemos.memory import Memory
from mnemos.progress import no_progress
from mnemos.sessions.sessions import Sessions
from mnemos.templates.template import SessionTemplate, TaskType
from mnemos.testing import FixedClock
from mnemos.transfer.sync.exchange import Answering, Report, sync
from mnemos.transfer.sync.peers import read_frame, write_frame
from mnemos.transfer.sync.state import OWN, State

START = 1_767_225_600.0
SENTENCES = (
    "I live in Berlin.", "I live in Munich.", "I moved to Hamburg.", "My dog is called Rex.",
    "We deploy on Fridays.", "We deploy on Mondays.", "The staging server is srv-7.",
    "V[port]: 8080", "V[port]: 9090", "C[style]: use tabs", "D[database]: PostgreSQL", "~[port]: unknown now",
)  # fmt: skip


class LocalPeer:
    """Another memory of this process, reached through the same frames as one elsewhere."""

    def __init__(self, memory: Memory, name: str = "the other home") -> None:
        self.name = name
        self._answering = Answering(memory)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return read_frame(write_frame(self._answering.answer(read_frame(write_frame(request)))))


def open_home(place: Path | None = None, *, now: float = START, **flags: Any) -> Memory:
    where = ":memory:" if place is None else place
    return Memory.at(where, clock=FixedClock(now), embedder="none", **flags)


def meet(one: Memory, two: Memory, **flags: Any) -> Report:
    return sync(one, LocalPeer(two), no_progress, **flags)


def export(memory: Memory) -> dict[str, list[Any]]:
    """Everything that a sync carries, in one form."""
    state = State(memory)
    everything: dict[str, list[Any]] = {}
    for address in sorted(state.digests):
        records = [{key: one[key] for key in one if key != OWN} for one in state.read(address)]
        is_ordered = address.startswith("session/")
        everything[address] = records if is_ordered else sorted(records, key=lambda one: json.dumps(one))
    return everything


def texts(memory: Memory, session_id: str) -> list[Any]:
    return [message["content"] for message in memory.sessions.get_messages(session_id)]


def say(memory: Memory, session_id: str, *contents: str, role: str = "user") -> list[int]:
    memory.sessions.ensure_session(session_id, source="test")
    return memory.sessions.append_messages(session_id, [{"role": role, "content": one} for one in contents])


def meet_in_part(one: Memory, two: Memory, killed: Memory, writes: int) -> None:
    """Sync, and stop after a number of transactions of one of the homes."""
    write, left = killed.storage.write, writes

    def write_and_end(work: Callable[[Any], Any], **given: Any) -> Any:
        nonlocal left
        done = write(work, **given)
        left -= get_ident() == caller
        if left < 1 and get_ident() == caller:
            raise KeyboardInterrupt
        return done

    caller, storage = get_ident(), cast(Any, killed.storage)
    storage.write = write_and_end
    try:
        meet(one, two)
    except KeyboardInterrupt:
        pass
    finally:
        storage.write = write


def settle(homes: list[Memory], most: int = 6) -> int:
    """Sync every pair until nothing changes; return the number of rounds that took."""
    for number in range(1, most + 1):
        reports = [meet(one, two) for one in homes for two in homes if one is not two]
        if all(one.received.is_empty and one.sent.is_empty and one.is_same for one in reports):
            return number
    raise AssertionError(f"still changing after {most} rounds: {reports}")


class Scribbler:
    """Writes to a home by chance."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._count = 0

    def write(self, memory: Memory) -> str:
        """Change something, and return the name of the change."""
        clock = memory.clock
        assert isinstance(clock, FixedClock)
        # Now and then nothing happens between two writes.
        clock.advance(self._chance.choice([0.0, 0.000001, 0.5, 40.0]))
        self._count += 1
        change = self._chance.choice(_CHANGES)
        try:
            change(self, memory)
        except MnemosError:
            # There was nothing to change.
            return "nothing"
        return change.__name__

    def _session(self) -> str:
        return f"s{self._chance.randrange(4)}"

    def _pick(self, found: list[Any]) -> Any:
        if not found:
            raise MnemosError("nothing to choose from")
        return self._chance.choice(found)

    def append(self, memory: Memory) -> None:
        role = self._chance.choice(["user", "assistant"])
        new = [f"{self._count}.{number}" for number in range(self._chance.randint(1, 3))]
        say(memory, self._session(), *new, role=role)

    def title(self, memory: Memory) -> None:
        memory.sessions.set_title(self._session(), f"title {self._count}")

    def archive(self, memory: Memory) -> None:
        change = self._chance.choice([Sessions.archive, Sessions.unarchive, Sessions.reopen_session])
        change(memory.sessions, self._session())

    def end(self, memory: Memory) -> None:
        memory.sessions.end_session(self._session(), "done")

    def pop(self, memory: Memory) -> None:
        memory.sessions.pop_message(self._session())

    def rewrite(self, memory: Memory) -> None:
        memory.sessions.rewrite(self._session(), [{"role": "user", "content": f"summary {self._count}"}])

    def delete_session(self, memory: Memory) -> None:
        memory.sessions.delete_session(self._session())

    def forget_session(self, memory: Memory) -> None:
        memory.forget(f"session:{self._session()}")

    def forget_message(self, memory: Memory) -> None:
        message = self._pick(memory.sessions.get_messages(self._session()))
        memory.forget(f"message:{message['id']}")

    def undo(self, memory: Memory) -> None:
        memory.undo()

    def remember(self, memory: Memory) -> None:
        memory.remember(self._chance.choice(SENTENCES))

    def withdraw(self, memory: Memory) -> None:
        memory.forget(self._pick([fact.id for fact in memory.facts.iterate()]))

    def forget_fact(self, memory: Memory) -> None:
        memory.forget(f"fact:{self._pick([fact.id for fact in memory.facts.iterate()])}")

    def purge(self, memory: Memory) -> None:
        memory.facts.purge(older_than_days=0)

    def note(self, memory: Memory) -> None:
        memory.notebook.add(f"note {self._count}", target=self._chance.choice(["memory", "user"]))

    def change_note(self, memory: Memory) -> None:
        memory.notebook.replace(self._pick(memory.notebook.entries()), f"changed note {self._count}")

    def remove_note(self, memory: Memory) -> None:
        memory.notebook.remove(self._pick(memory.notebook.entries()))

    def set_entry(self, memory: Memory) -> None:
        memory.entries.store("default", f"k{self._chance.randrange(4)}", f"value {self._count}")

    def delete_entry(self, memory: Memory) -> None:
        memory.entries.delete("default", f"k{self._chance.randrange(4)}")

    def save_template(self, memory: Memory) -> None:
        name = f"t{self._chance.randrange(3)}"
        memory.templates.save(SessionTemplate(name, TaskType.CODE, [], f"version {self._count}"))

    def delete_template(self, memory: Memory) -> None:
        memory.templates.delete_template(f"t{self._chance.randrange(3)}")

    def delegate(self, memory: Memory) -> None:
        child = f"child{self._chance.randrange(3)}"
        memory.sessions.ensure_session(child, source="test", parent_session_id=self._session())
        say(memory, child, f"task {self._count}")

    def prepare(self, memory: Memory) -> None:
        """Change what a session has beside its messages."""
        session_id = self._session()
        memory.sessions.update_system_prompt(session_id, f"prompt {self._count}")
        memory.sessions.update_metadata(session_id, {"count": self._count})
        memory.sessions.update_token_counts(session_id, 3, 4)

    def prune(self, memory: Memory) -> None:
        memory.sessions.prune_sessions(older_than_days=0.0005)

    def append_once(self, memory: Memory) -> None:
        key = f"key{self._chance.randrange(6)}"
        memory.sessions.append_message(self._session(), "user", f"once {self._count}", key=key)

    def append_odd(self, memory: Memory) -> None:
        say(
            memory,
            self._session(),
            self._chance.choice(["", "\ud800", "🚀 é", "a\x00b", "sk-ant-" + "a" * 40]),
        )

    def append_call(self, memory: Memory) -> None:
        """A call and its result as OpenAI's clients write them, with names in any order."""
        function = {"name": "shell", "arguments": '{"z": 1, "a": [2, 1]}'}
        call = {"type": "function", "id": f"call{self._count}", "function": function}
        parts = [
            {"type": "text", "text": f"result {self._count}"},
            {"type": "image", "data": {"z": 1, "a": 2.0}},
        ]
        memory.sessions.ensure_session(session_id := self._session(), source="test")
        memory.sessions.append_messages(
            session_id,
            [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "content": parts, "metadata": {"z": {"y": 1, "b": None}, "a": 1.5}},
            ],
        )
        memory.sessions.update_metadata(session_id, {"z": self._count, "a": {"y": 1, "b": 2}})
        memory.entries.put("default", f"k{self._chance.randrange(4)}", {"z": self._count, "a": 1})

    def rewrite_end(self, memory: Memory) -> None:
        message = self._pick(memory.sessions.get_messages(self._session()))
        new = [{"role": "user", "content": f"rewritten {self._count}"}]
        memory.sessions.rewrite(message["session_id"], new, from_id=message["id"])

    def work(self, memory: Memory) -> None:
        mark = self._chance.choice("V✓")
        scope = f"work {self._chance.randrange(2)}"
        memory.facts.write(f"{mark}[step{self._chance.randrange(3)}]: {self._count}", scope=scope)

    def replace_fact(self, memory: Memory) -> None:
        known = self._pick([fact.id for fact in memory.facts.iterate()])
        memory.remember(f"My cat is called Tom {self._count}.", replaces=known)

    def remember_of_user(self, memory: Memory) -> None:
        memory.remember(self._chance.choice(SENTENCES), user_id=self._chance.choice(["alice", "bob"]))

    def remember_message(self, memory: Memory) -> None:
        session_id = self._session()
        (number,) = say(memory, session_id, f"My car is number {self._count}.")
        memory.facts.remember(f"My car is number {self._count}.", session_id=session_id, message_id=number)

    def edit_notes(self, memory: Memory) -> None:
        entries = memory.notebook.entries()
        self._chance.shuffle(entries)
        memory.notebook.write("memory", "\n§\n".join([*entries[:4], f"by hand {self._count}"]))

    def forget_passage(self, memory: Memory) -> None:
        kind = self._chance.choice(["note", "entry"])
        known = memory.storage.read(lambda tx: [one.ref for one in tx.passages.of_kind(kind)])
        memory.forget(f"{kind}:{self._pick(known)}")

    def set_entry_for_a_while(self, memory: Memory) -> None:
        key, until = f"k{self._chance.randrange(4)}", memory.clock() + self._chance.choice([10.0, 1e5])
        memory.entries.put("default", key, f"value {self._count}", expires_at=until)

    def undo_any(self, memory: Memory) -> None:
        memory.undo(self._pick(memory.log(20)).id)

    def set_clock(self, memory: Memory) -> None:
        memory.clock.advance(self._chance.choice([-60.0, -5.0, 60.0]))  # type: ignore[attr-defined]


_CHANGES: list[Callable[[Scribbler, Memory], None]] = [
    *[Scribbler.append] * 8,
    *[Scribbler.remember] * 4,
    *[Scribbler.note] * 2,
    *[Scribbler.set_entry] * 2,
    Scribbler.title, Scribbler.archive, Scribbler.end, Scribbler.pop, Scribbler.rewrite,
    Scribbler.delete_session, Scribbler.forget_session, Scribbler.forget_message, Scribbler.undo,
    Scribbler.withdraw, Scribbler.forget_fact, Scribbler.purge, Scribbler.change_note, Scribbler.remove_note,
    Scribbler.delete_entry, Scribbler.save_template, Scribbler.delete_template,
    Scribbler.delegate, Scribbler.prepare, Scribbler.prune, Scribbler.append_once, Scribbler.append_odd,
    Scribbler.append_call,
    Scribbler.rewrite_end, Scribbler.work, Scribbler.replace_fact, Scribbler.remember_of_user,
    Scribbler.remember_message, Scribbler.edit_notes, Scribbler.forget_passage,
    Scribbler.set_entry_for_a_while, Scribbler.undo_any, Scribbler.set_clock,
]  # fmt: skip


@contextmanager
def three_homes() -> Iterator[list[Memory]]:
    """Three homes whose clocks differ by minutes."""
    homes = [open_home(now=START + skew) for skew in (0.0, 137.25, -612.5)]
    try:
        yield homes
    finally:
        for home in homes:
            home.close()

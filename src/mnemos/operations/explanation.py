"""The operation that explains where something in memory comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta, field
from msgspec.structs import replace

from mnemos.errors import InvalidInput, NotFound
from mnemos.operations.arguments import User
from mnemos.operations.base import Info, Operation, Result, Traits
from mnemos.operations.facts import FactInfo
from mnemos.operations.texts import cut, day, message_text, render_time, render_title
from mnemos.sessions.session_types import Message
from mnemos.text.stored_text import join_items, render_speaker

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.storage.audit import AuditRow
    from mnemos.storage.base import Reads
    from mnemos.storage.facts import FactRow

_MOST_IN_CHAIN = 50
_MOST_FROM_MESSAGE = 20
_EXCERPT = 240
_REF = re.compile(
    r"(?:fact:)?(?P<fact>f\d{1,17})|message:(?P<message>\d{1,17})|(?:note:)?(?P<note>(?:memory|user):[0-9a-f]{12})"
    r"|entry:(?P<entry>.{1,200})"
)


class SaidInfo(Info, frozen=True, kw_only=True):
    """The conversation (and message, if known) that something comes from."""

    session_id: str | None
    title: str | None = None
    project: str | None = None
    message_id: int | None = None
    role: str | None = None
    at: float | None = None
    excerpt: str = ""
    short_id: str | None = None
    """Beginning of ``session_id`` that is enough to name it."""

    def render(self) -> list[str]:
        name = "" if self.title is None else f"{render_title(self.title, self.project)} "
        lines = [f"Session: {name}({self.short_id or self.session_id})"] if self.session_id else []
        if self.message_id is not None:
            said = (
                f'{render_speaker(self.role)}, {render_time(self.at)}: "{self.excerpt}"'
                if self.role
                else "it no longer exists"
            )
            lines.append(f"Message: message:{self.message_id}, {said}")
        return lines


class Explain(Operation, frozen=True, kw_only=True):
    """Explain where something in memory comes from: who stated it, when, in which conversation and message,
    what it replaced, what replaced it, and in which prompt it is shown. Use it when the user asks how you
    know something, or doubts it."""

    traits: ClassVar[Traits] = Traits(
        title="Explain",
        help="Explain where something in memory comes from: who stated it, when, in which conversation and "
        "message, what it replaced, what replaced it, and in which prompt it is shown.",
        read_only=True,
        positional=("ref",),
        example="f2",
    )

    ref: Annotated[str, Meta(description="f12, message:ID, note:ID or entry:ID, as recall returns them")]
    user_id: User = None

    def run(self, memory: Memory) -> Explained:
        ref = self.ref.strip()
        found = _REF.fullmatch(f"message:{ref}" if ref.isascii() and ref.isdecimal() else ref)
        if found is None:
            raise InvalidInput(
                f"{cut(self.ref, 80)!r} is not a reference. Use f12, message:ID, note:ID or entry:ID."
            )
        if found["fact"]:
            return _explain_fact(memory, found["fact"], self.user_id)
        if found["message"]:
            return _explain_message(memory, int(found["message"]), self.user_id)
        if found["note"]:
            return _explain_note(memory, found["note"])
        return _explain_entry(memory, found["entry"], self.user_id)


class Explained(Result, frozen=True, kw_only=True):
    ref: str
    kind: str
    content: str
    """The line of a fact, the text of a note, an entry or a message."""
    state: str = ""
    """For a fact: live, superseded or retired."""
    where: str = ""
    """The part of every prompt that shows it, or the place where it is kept."""
    stated_by: str | None = None
    actor: str | None = None
    """The name in the log."""
    at: float | None = None
    updated_at: float | None = None
    origin: str | None = None
    """For a message: ``memory`` if it repeats what memory gave."""
    source: SaidInfo | None = None
    fact: FactInfo | None = None
    """The fact itself."""
    replaced: list[FactInfo] = field(default_factory=list)
    """The facts it replaced, directly or not, oldest first."""
    replaced_by: list[FactInfo] = field(default_factory=list)
    """The facts that replaced it, directly or not, oldest first."""
    may_replace: list[FactInfo] = field(default_factory=list)
    may_be_replaced_by: list[FactInfo] = field(default_factory=list)
    facts: list[FactInfo] = field(default_factory=list)
    """The facts that a message stated."""

    def as_text(self) -> str:
        lines = [f"{self.ref}  {self.content}"]
        if self.state or self.where:
            lines.append(", ".join(filter(None, (self.state, self.where))))
        lines += self._render_author()
        lines += self.source.render() if self.source else []
        if self.replaced or self.replaced_by:
            lines += ["History:", *(f"  {_render_step(one)}" for one in self.replaced)]
            lines += [f"  {self.ref}  (this one)", *(f"  {_render_step(one)}" for one in self.replaced_by)]
        for title, some in (
            ("May replace", self.may_replace),
            ("May be replaced by", self.may_be_replaced_by),
            ("Stated", self.facts),
        ):
            lines += [f"{title} {_render_step(one)}" for one in some]
        return join_items(lines)

    def _render_author(self) -> list[str]:
        who = {
            "user": "the user",
            "agent": "the agent",
            "import": "an import",
            "tool": "the output of a tool",
        }
        by = f"Stated by {who[self.stated_by]}" if self.stated_by else "Stored"
        if self.at is not None:
            by += f" on {render_time(self.at)}"
        if self.updated_at is not None and self.updated_at != self.at:
            by += f", changed on {render_time(self.updated_at)}"
        if self.actor:
            by += f", written by {self.actor}"
        return [f"{by}."] if by != "Stored" else []


def _render_step(fact: FactInfo) -> str:
    from mnemos.facts.hot_set import escape
    from mnemos.language.notation import format_line

    until = f" to {day(fact.ended_at)}" if fact.ended_at else ""
    line = format_line(fact.type, escape(fact.target), escape(fact.content))
    state = "" if fact.state == "live" else f" ({fact.state})"
    return f"{fact.id}  {day(fact.at)}{until}  {line}{state}"


def _explain_fact(memory: Memory, ref: str, user: str | None) -> Explained:
    from mnemos.facts.fact import number_of
    from mnemos.facts.fact_reader import get_row
    from mnemos.facts.hot_set import render_fact

    number = number_of(ref)

    def work(tx: Reads) -> tuple[FactRow, list[FactRow], list[FactRow], list[FactRow]]:
        pairs = tx.facts.doubts([number])
        return (
            get_row(tx, ref, user),
            tx.facts.predecessors(number, _MOST_IN_CHAIN),
            tx.facts.successors(number, _MOST_IN_CHAIN),
            list(tx.facts.get({one for pair in pairs for one in pair if one != number}).values()),
        )

    row, before, after, doubts = memory.storage.read(work)
    return Explained(
        ref=ref,
        kind="fact",
        content=render_fact(row),
        state=row.state,
        where=_find_block(memory, row),
        stated_by=row.stated_by,
        actor=row.actor,
        at=row.recorded_at,
        source=_find_source(memory, row.session_id, row.message_id),
        fact=_inform([row], user)[0],
        replaced=_inform(before, user),
        replaced_by=_inform(after, user),
        may_replace=_inform([one for one in doubts if one.id < number], user),
        may_be_replaced_by=_inform([one for one in doubts if one.id > number], user),
    )


def _inform(rows: Sequence[FactRow], user: str | None) -> list[FactInfo]:
    from mnemos.facts.fact import fact_of

    return [FactInfo.of(fact_of(row)) for row in rows if user is None or row.user_id in (None, user)]


def _find_block(memory: Memory, row: FactRow) -> str:
    from mnemos.facts.hot_set import escape

    if row.state != "live":
        return ""
    if not row.hot:
        return "cold: found by search, not in prompts unasked"
    is_shown = escape(row.content) in memory.facts.status(user_id=row.user_id).text
    return "hot: in the facts of every prompt" if is_shown else "hot, but not printed for lack of room"


def _find_source(memory: Memory, session_id: str | None, message_id: int | None) -> SaidInfo | None:
    message = None if message_id is None else _find_message(memory, message_id)
    session_id = session_id or (message["session_id"] if message else None)
    if session_id is None and message_id is None:
        return None
    session = memory.sessions.get_session(session_id) if session_id else None
    source = SaidInfo(
        session_id=session_id,
        title=memory.sessions.find_title(session_id) if session_id and session else None,
        project=session["project"] if session else None,
        message_id=message_id,
        short_id=memory.sessions.shorten_ids([session_id])[session_id] if session_id else None,
    )
    if message is None:
        return source
    from mnemos.facts.hot_set import escape

    said = escape(" ".join(message_text(message["content"]).split()))
    return replace(source, role=message["role"], at=message["timestamp"], excerpt=cut(said, _EXCERPT))


def _find_message(memory: Memory, message_id: int) -> Message | None:
    try:
        return next(iter(memory.sessions.get_messages_around(message_id, 0, 0)), None)
    except NotFound:
        # The message may be gone: facts outlive the messages that stated them.
        return None


def _explain_message(memory: Memory, number: int, user: str | None) -> Explained:
    (message,) = memory.sessions.get_messages_around(number, 0, 0)
    session = memory.sessions.get_session(message["session_id"])
    if user is not None and (session is None or session["user_id"] not in (None, user)):
        raise NotFound(f"There is no message {number}.")
    source = _find_source(memory, message["session_id"], number)
    stated = memory.storage.read(lambda tx: tx.facts.of_message(number, _MOST_FROM_MESSAGE))
    return Explained(
        ref=f"message:{number}",
        kind="message",
        content=f'{render_speaker(message["role"])}: "{source.excerpt if source else ""}"',
        at=message["timestamp"],
        origin=message.get("origin"),
        source=None if source is None else replace(source, message_id=None),
        facts=_inform(stated, user),
    )


def _explain_note(memory: Memory, ref: str) -> Explained:
    from mnemos.notebook.note_changes import ref as log_ref
    from mnemos.notebook.notebook import digest
    from mnemos.notebook.notes import Book, parse_entries

    name, _, wanted = ref.partition(":")
    book = Book(name)
    found = [entry for entry in memory.notebook.entries(book) if digest(entry) == wanted]
    removed = {} if found else memory.notebook.removed(book)
    found = found or [entry for entry in removed if digest(entry) == wanted]
    if not found:
        raise NotFound(f"{book.filename} has no entry {ref!r}. Recall returns the ids of notes.")

    def has_added(change: AuditRow) -> bool:
        was_there = change.before is not None and found[0] in parse_entries(change.before)
        return change.after is not None and found[0] in parse_entries(change.after) and not was_there

    changes = memory.storage.read(lambda tx: tx.audit.on(log_ref(book)))
    added = next(filter(has_added, changes), None)
    return Explained(
        ref=f"note:{ref}",
        kind="note",
        content=memory.notebook.render(found[:1])[0],
        where=f"removed on {render_time(removed[found[0]])}, kept in the log"
        if removed
        else f"{book.filename}: in every prompt of new sessions",
        actor=None if added is None else added.actor,
        at=None if added is None else added.at,
    )


def _explain_entry(memory: Memory, name: str, user_id: str | None) -> Explained:
    from mnemos.storage.entries import USUAL_USER

    user, key, actor = user_id or USUAL_USER, name, None
    backend = memory.backend
    if name.isascii() and name.isdecimal() and len(name) < 16:
        number = int(name)
        owner = memory.storage.read(lambda tx: tx.entries.owner(number))
        if owner is None or (user_id is not None and owner[0] != user_id):
            raise NotFound(
                f"There is no entry {name!r} in this space. `mnemos recall` shows the ids of entries."
            )
        (user, key), backend = owner, memory.entries
        set_by = memory.storage.read(lambda tx: tx.audit.on(f"entry:{number}", 1))
        actor = set_by[0].actor if set_by else None
    entry = backend.retrieve(user, key)
    if entry is None:
        raise NotFound(f"{user} has no entry {cut(key, 80)!r}")
    return Explained(
        ref=f"entry:{name}",
        kind="entry",
        content=f"{entry.key}: {cut(entry.value, _EXCERPT)}",
        where=f"entry of {user} in {backend.backend_name}",
        actor=actor,
        at=entry.created_at,
        updated_at=entry.updated_at,
    )

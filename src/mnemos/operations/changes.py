"""What was changed, taking it back, and forgetting for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.operations.base import Done, Operation, Result, Traits
from mnemos.operations.border import MOST
from mnemos.operations.moments import shown
from mnemos.operations.wording import cut, traces

if TYPE_CHECKING:
    from mnemos.memory import Memory

_SHOWN = 80


class ShowLog(Operation, frozen=True, kw_only=True):
    """Show what was changed, by whom and when, newest first; messages themselves are not logged."""

    traits: ClassVar[Traits] = Traits(title="Show changes", read_only=True, example=("--limit", "10"))

    limit: Annotated[int, Meta(ge=1, le=1000, description="At most so many")] = 20
    before: Annotated[int, Meta(ge=0, le=MOST, description="Only entries before this number")] | None = None

    def run(self, memory: Memory) -> Log:
        return Log(
            entries=[
                {
                    "id": row.id,
                    "at": row.at,
                    "actor": row.actor,
                    "operation": row.operation,
                    "ref": row.ref,
                    "before": None if row.before is None else cut(row.before, _SHOWN),
                    "after": None if row.after is None else cut(row.after, _SHOWN),
                    "undone_by": row.undone_by,
                }
                for row in memory.log(self.limit, before=self.before)
            ]
        )


class Log(Result, frozen=True, kw_only=True):
    entries: list[dict[str, Any]]

    def as_text(self) -> str:
        lines = [
            f"{e['id']}  {shown(e['at'])}  {e['actor']}  {e['operation']}  {e['ref']}"
            + (f"  (undone by {e['undone_by']})" if e["undone_by"] else "")
            for e in self.entries
        ]
        return "\n".join(lines) or "No changes yet."


class Undo(Operation, frozen=True, kw_only=True):
    """Take back a change: the one named, or the newest that can be taken back."""

    traits: ClassVar[Traits] = Traits(title="Undo a change", positional=("entry",), example=())

    entry: Annotated[int, Meta(ge=0, le=MOST, description="The number of an entry of the log")] | None = None

    def run(self, memory: Memory) -> Done:
        return Done(done=memory.undo(self.entry))


class Forget(Operation, frozen=True, kw_only=True):
    """Erase a message, a session, a fact, a note, an entry or a template for good: rows, index, log. It
    cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Forget for good",
        destructive=True,
        idempotent=True,
        positional=("ref",),
        example=("message:42", "--yes"),
    )

    ref: Annotated[
        str, Meta(description="message:ID, session:ID, fact:ID, note:ID, entry:ID or template:NAME")
    ]

    def run(self, memory: Memory) -> Forgotten:
        return Forgotten(**memory.forget(self.ref))

    def at_stake(self, memory: Memory) -> str:
        kind, _, name = self.ref.partition(":")
        if kind == "message" and name.isdecimal() and int(name) <= MOST:
            memory.sessions.get_messages_around(int(name), 0, 0)
        return f"{self.ref}, for good: undo will not bring it back"


class Forgotten(Result, frozen=True, kw_only=True):
    ref: str
    forgotten: bool
    pending: bool
    copies: list[str]

    def as_text(self) -> str:
        return "\n".join([f"{self.ref} is forgotten.", *traces(self.copies, pending=self.pending)])

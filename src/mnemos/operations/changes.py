"""The operation that lists changes in order, for programs that follow a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.memory.change_feed import read_changes
from mnemos.operations.arguments import leave_unlisted, up_to
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.texts import render_time
from mnemos.text.stored_text import join_items, one_line

if TYPE_CHECKING:
    from mnemos.memory import Memory


class ListChanges(Operation, frozen=True, kw_only=True):
    """List changes in the order they were made: new messages and sessions, and entries of the log. Pass the
    cursor of an answer to get what follows; without one, the newest changes are listed."""

    traits: ClassVar[Traits] = Traits(title="List changes", read_only=True, example="--limit 5")

    since: Annotated[
        str | None,
        Meta(description="Cursor from an earlier answer, 0-0-0 for the start, or a date or time"),
    ] = None
    limit: Annotated[int, up_to(1000)] = 50
    recalls: Annotated[bool, leave_unlisted("Also list questions asked from now on")] = False

    def run(self, memory: Memory) -> ChangesFound:
        page = read_changes(memory, self.since, self.limit, recalls=self.recalls)
        return ChangesFound(
            changes=[fill(ChangeInfo, one) for one in page.changes], cursor=page.cursor, more=page.more
        )


class ChangeInfo(Info, frozen=True, kw_only=True):
    """A change. ``action`` is append, create, ask, or an operation of the log."""

    cursor: str
    """Pass it as ``since`` to get what follows."""
    kind: str
    """message, session, fact, note, entry, template, recall or log."""
    ref: str
    at: float
    action: str
    actor: str | None
    session_id: str | None
    text: str
    """The beginning of the text."""


class ChangesFound(Result, frozen=True, kw_only=True):
    changes: list[ChangeInfo]
    cursor: str
    more: bool

    def as_text(self) -> str:
        lines = [
            one_line(f"{render_time(one.at)}  {one.action}  {one.ref}  {one.text}").rstrip()
            for one in self.changes
        ]
        more = " (more follow)" if self.more else ""
        return join_items([*lines, f"Cursor: {self.cursor}{more}"])

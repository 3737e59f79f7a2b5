"""Operations that read long sessions page by page."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.operations.arguments import MOST, Session, User, up_to
from mnemos.operations.base import Info, Operation, Result, Traits, fill
from mnemos.operations.sessions import MessageInfo, render_messages
from mnemos.operations.texts import plural, render_size
from mnemos.text.stored_text import join_items

if TYPE_CHECKING:
    from mnemos.memory import Memory


def _message_id(where: str) -> Meta:
    return Meta(ge=0, le=MOST, description=f"Id of a message: show those {where} it")


class ReadPage(Operation, frozen=True, kw_only=True):
    """Read some messages of a session in full, by position or near a message."""

    traits: ClassVar[Traits] = Traits(
        title="Read messages of a session",
        help="Show some messages of a session in full: the first ones, those from a position on, or those "
        "before, after or around a message. Long sessions take no longer than short ones.",
        read_only=True,
        positional=("session",),
        example="trip-to-lisbon --at 2 --limit 3",
    )

    session: Session
    at: Annotated[int, Meta(ge=0, le=MOST, description="Number of messages to skip")] | None = None
    around: Annotated[int, _message_id("around")] | None = None
    after: Annotated[int, _message_id("after")] | None = None
    before: Annotated[int, _message_id("before")] | None = None
    limit: Annotated[int, up_to(1000)] = 50
    user_id: User = None

    def run(self, memory: Memory) -> MessagesRead:
        page = memory.sessions.get_page(
            memory.sessions.resolve_session(self.session, user_id=self.user_id),
            at=self.at,
            around=self.around,
            after=self.after,
            before=self.before,
            limit=self.limit,
        )
        return fill(MessagesRead, page)


class MessagesRead(Result, frozen=True, kw_only=True):
    session_id: str
    messages: list[MessageInfo]
    start: int
    """Number of messages before the first of them."""
    total: int
    """Number of messages of the session."""

    def as_text(self) -> str:
        if not self.messages:
            return f"No messages here. The session has {plural(self.total, 'message')}."
        end = self.start + len(self.messages)
        shown = f"(messages {self.start + 1:,} to {end:,} of {self.total:,})"
        return join_items([*render_messages(self.messages), shown])


class ShowOutline(Operation, frozen=True, kw_only=True):
    """Show the outline of a session: id, role and size of each message, in columns."""

    traits: ClassVar[Traits] = Traits(
        title="Show the outline of a session",
        help="Show how many messages of each role a session has, and how large they are. --json has the id, "
        "role and size of each message, in columns.",
        read_only=True,
        positional=("session",),
        example="trip-to-lisbon",
    )

    session: Session
    user_id: User = None

    def run(self, memory: Memory) -> SessionOutline:
        session_id = memory.sessions.resolve_session(self.session, user_id=self.user_id)
        return fill(SessionOutline, memory.sessions.get_outline(session_id))


class DayBegun(Info, frozen=True, kw_only=True):
    """A local date, and the position of its first message."""

    position: int
    date: str


class SessionOutline(Result, frozen=True, kw_only=True):
    """An outline in columns, where each message has the same position in all."""

    session_id: str
    steps: list[int]
    """Differences between successive ids, which are short to send; the first is an id."""
    roles: list[int]
    """Positions in ``role_names``."""
    sizes: list[int]
    """Bytes of text and tool calls."""
    role_names: list[str]
    days: list[DayBegun]

    def as_text(self) -> str:
        counts, sizes = Counter(self.roles), Counter[int]()
        for role, size in zip(self.roles, self.sizes, strict=True):
            sizes[role] += size
        lines = [
            f"{name}: {plural(counts[role], 'message')}, {render_size(sizes[role])}"
            for role, name in enumerate(self.role_names)
        ]
        return join_items(
            [f"{plural(len(self.steps), 'message')} on {plural(len(self.days), 'day')}", *lines]
        )

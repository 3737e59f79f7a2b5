"""Operations that mark a session: as ended, as named, as archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.operations.base import Done, Operation, Traits
from mnemos.operations.wording import Session

if TYPE_CHECKING:
    from mnemos.memory import Memory
    from mnemos.sessions.sessions import Sessions


def _traits(title: str) -> Traits:
    return Traits(title=title, idempotent=True, positional=("session",), example=("SESSION",))


class _Mark(Operation, frozen=True, kw_only=True):
    """Mark a session that may be named by its id, the beginning of it, or its title."""

    session: Session

    def run(self, memory: Memory) -> Done:
        session_id = memory.sessions.resolve_session(self.session)
        return Done(done=f"{session_id} {self.mark(memory.sessions, session_id)}.")

    def mark(self, sessions: Sessions, session_id: str) -> str:
        """Do it; what is then so of the session."""
        raise NotImplementedError


class EndSession(_Mark, frozen=True, kw_only=True):
    """Mark a session as ended; the first reason stays."""

    traits: ClassVar[Traits] = _traits("End a session")

    reason: Annotated[str, Meta(description="Why it ended")] = "ended"

    def mark(self, sessions: Sessions, session_id: str) -> str:
        sessions.end_session(session_id, self.reason)
        return "has ended"


class ReopenSession(_Mark, frozen=True, kw_only=True):
    """Take back that a session has ended."""

    traits: ClassVar[Traits] = _traits("Reopen a session")

    def mark(self, sessions: Sessions, session_id: str) -> str:
        sessions.reopen_session(session_id)
        return "is open again"


class TitleSession(_Mark, frozen=True, kw_only=True):
    """Give a session a title; an empty one takes it away. Can be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Name a session",
        idempotent=True,
        positional=("session", "title"),
        example=("SESSION", "Moving the database"),
    )

    title: str

    def mark(self, sessions: Sessions, session_id: str) -> str:
        sessions.set_title(session_id, self.title or None)
        return f"is called {self.title!r}" if self.title else "has no title"


class ArchiveSession(_Mark, frozen=True, kw_only=True):
    """Leave a session out of lists; searches still find it. Can be undone."""

    traits: ClassVar[Traits] = _traits("Archive a session")

    def mark(self, sessions: Sessions, session_id: str) -> str:
        sessions.archive(session_id)
        return "is archived"


class UnarchiveSession(_Mark, frozen=True, kw_only=True):
    """Put an archived session back into lists."""

    traits: ClassVar[Traits] = _traits("Unarchive a session")

    def mark(self, sessions: Sessions, session_id: str) -> str:
        sessions.unarchive(session_id)
        return "is not archived any more"

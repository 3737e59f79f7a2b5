"""Operations that mark a session: as ended, as named, as archived."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.operations.base import Done, Operation, Progress, Traits
from mnemos.operations.wording import Session

if TYPE_CHECKING:
    from mnemos.memory import Memory


class EndSession(Operation, frozen=True, kw_only=True):
    """Mark a session as ended; the first reason stays."""

    traits: ClassVar[Traits] = Traits(
        title="End a session", idempotent=True, positional=("session",), example=("SESSION",)
    )

    session: Session
    reason: Annotated[str, Meta(description="Why it ended")] = "ended"

    def run(self, memory: Memory, progress: Progress) -> Done:  # noqa: ARG002
        session_id = memory.sessions.resolve_session(self.session)
        memory.sessions.end_session(session_id, self.reason)
        return Done(done=f"{session_id} has ended.")


class ReopenSession(Operation, frozen=True, kw_only=True):
    """Take back that a session has ended."""

    traits: ClassVar[Traits] = Traits(
        title="Reopen a session", idempotent=True, positional=("session",), example=("SESSION",)
    )

    session: Session

    def run(self, memory: Memory, progress: Progress) -> Done:  # noqa: ARG002
        session_id = memory.sessions.resolve_session(self.session)
        memory.sessions.reopen_session(session_id)
        return Done(done=f"{session_id} is open again.")


class TitleSession(Operation, frozen=True, kw_only=True):
    """Give a session a title; an empty one takes it away. Can be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Name a session",
        idempotent=True,
        positional=("session", "title"),
        example=("SESSION", "Moving the database"),
    )

    session: Session
    title: str

    def run(self, memory: Memory, progress: Progress) -> Done:  # noqa: ARG002
        session_id = memory.sessions.resolve_session(self.session)
        memory.sessions.set_title(session_id, self.title or None)
        return Done(
            done=f"{session_id} is called {self.title!r}." if self.title else f"{session_id} has no title."
        )


class ArchiveSession(Operation, frozen=True, kw_only=True):
    """Leave a session out of lists; searches still find it. Can be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Archive a session", idempotent=True, positional=("session",), example=("SESSION",)
    )

    session: Session

    def run(self, memory: Memory, progress: Progress) -> Done:  # noqa: ARG002
        session_id = memory.sessions.resolve_session(self.session)
        memory.sessions.archive(session_id)
        return Done(done=f"{session_id} is archived.")


class UnarchiveSession(Operation, frozen=True, kw_only=True):
    """Put an archived session back into lists."""

    traits: ClassVar[Traits] = Traits(
        title="Unarchive a session", idempotent=True, positional=("session",), example=("SESSION",)
    )

    session: Session

    def run(self, memory: Memory, progress: Progress) -> Done:  # noqa: ARG002
        session_id = memory.sessions.resolve_session(self.session)
        memory.sessions.unarchive(session_id)
        return Done(done=f"{session_id} is not archived any more.")

"""The operation that shows whatever an id names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, ClassVar

from msgspec import Meta

from mnemos.errors import NotFound
from mnemos.operations.arguments import User
from mnemos.operations.base import Operation, Result, Traits
from mnemos.operations.explanation import Explain, Explained
from mnemos.operations.sessions import SessionShown, show_messages
from mnemos.operations.templates import ShowTemplate, TemplateShown
from mnemos.operations.texts import cut

if TYPE_CHECKING:
    from mnemos.memory import Memory

_KIND = re.compile(r"(session|message|fact|note|memory|user|entry|template):(.+)", re.DOTALL)
_FACT = re.compile(r"f\d{1,17}")
_NUMBER = re.compile(r"[0-9]{1,16}")


class Show(Operation, frozen=True, kw_only=True):
    """Show what an id refers to: a session with its messages, a message, or a fact, note, entry or template
    and where it comes from."""

    traits: ClassVar[Traits] = Traits(
        title="Show anything",
        read_only=True,
        positional=("id",),
        words=True,
        example="message:42 --around 2",
    )

    id: Annotated[
        str,
        Meta(
            description="message:42, f12, entry:KEY, note:ID or template:NAME; or a session by its id, the "
            "beginning of its id, or its title"
        ),
    ]
    around: Annotated[int, Meta(ge=0, le=50, description="Messages to show before and after a message")] = 0
    user_id: User = None

    def run(self, memory: Memory) -> Shown:
        text = self.id.strip()
        named = _KIND.fullmatch(text)
        kind, name = (named[1], named[2]) if named else ("", text)
        if kind == "session":
            return self._show_session(memory, name)
        if kind == "message" and _NUMBER.fullmatch(name):
            return self._show_message(memory, int(name))
        if kind == "template":
            return Shown(kind=kind, template=ShowTemplate(name=name).run(memory))
        if kind in ("fact", "note", "memory", "user", "entry"):
            return self._explain(memory, text)
        return self._guess(memory, text)

    def _guess(self, memory: Memory, text: str) -> Shown:
        """Show what a bare id names: a fact, a session, or the number of a message."""
        try:
            if _FACT.fullmatch(text):
                return self._explain(memory, text)
        except NotFound:
            # A session's id may begin like a fact's.
            pass
        try:
            return self._show_session(memory, text)
        except NotFound:
            if _NUMBER.fullmatch(text):
                return self._show_message(memory, int(text))
            raise NotFound(
                f"Nothing has the id {cut(text, 80)!r}. The tool sessions_list lists sessions, and the tool "
                "sessions_search finds messages."
            ) from None

    def _explain(self, memory: Memory, ref: str) -> Shown:
        explained = Explain(ref=ref, user_id=self.user_id).run(memory)
        return Shown(kind=explained.kind, explained=explained)

    def _show_session(self, memory: Memory, name: str) -> Shown:
        session_id = memory.sessions.resolve_session(name, user_id=self.user_id)
        return Shown(
            kind="session",
            session=show_messages(memory, session_id, memory.sessions.get_messages(session_id)),
        )

    def _show_message(self, memory: Memory, number: int) -> Shown:
        messages = memory.sessions.get_messages_around(number, self.around, self.around)
        session_id = messages[0]["session_id"]
        if self.user_id is not None:
            # This raises NotFound for another user's session.
            memory.sessions.resolve_session(session_id, user_id=self.user_id)
        return Shown(kind="message", session=show_messages(memory, session_id, messages))


class Shown(Result, frozen=True, kw_only=True):
    """The object that an id names. ``kind`` decides which field is filled."""

    kind: str
    session: SessionShown | None = None
    """A session, or the session of a message with that message and those around it."""
    explained: Explained | None = None
    """A fact, note or entry, and where it comes from."""
    template: TemplateShown | None = None

    @property
    def part(self) -> Result:
        found = self.session or self.explained or self.template
        if found is None:
            raise TypeError(f"{self.kind} is not shown")
        return found

    def as_text(self) -> str:
        return self.part.as_text()

"""Operations that store sessions and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from mnemos.errors import InvalidInput
from mnemos.operations.arguments import Revision, Session
from mnemos.operations.base import Operation, Result, Traits, fill
from mnemos.operations.sessions import MessageInfo, name_session
from mnemos.operations.texts import message_text, plural
from mnemos.text.stored_text import join_items, render_speaker

if TYPE_CHECKING:
    from mnemos.memory import Memory


class CreateSession(Operation, frozen=True, kw_only=True):
    """Create a session."""

    traits: ClassVar[Traits] = Traits(
        title="Create a session",
        begins=True,
        positional=("session_id",),
        example='garden --title "The garden"',
    )

    session_id: Annotated[str, Meta(description="A new id of your choice")]
    source: Annotated[str | None, Meta(description="Program it comes from; default: from the settings")] = (
        None
    )
    model: Annotated[str | None, Meta(description="Model that was used")] = None
    system_prompt: Annotated[str | None, Meta(description="System prompt of the session")] = None
    user_id: Annotated[str | None, Meta(description="User it belongs to")] = None
    parent_session_id: Annotated[str | None, Meta(description="Session that this one continues")] = None
    title: Annotated[str | None, Meta(description="Title for people")] = None
    project: Annotated[str | None, Meta(description="Repository or folder; default: the current one")] = None
    branch: Annotated[str | None, Meta(description="Git branch")] = None
    model_config: Annotated[dict[str, Any] | None, Meta(description="Settings of the model")] = None
    metadata: Annotated[dict[str, Any] | None, Meta(description="Any JSON object")] = None
    started_at: Annotated[float | None, Meta(description="Unix seconds; default: now")] = None
    ensure: Annotated[bool, Meta(description="If it exists, set its empty fields instead of failing")] = False

    def run(self, memory: Memory) -> Created:
        parent = self.parent_session_id
        sessions = memory.sessions
        session_id = (sessions.ensure_session if self.ensure else sessions.create_session)(
            self.session_id,
            self.source,
            self.model,
            self.model_config,
            self.system_prompt,
            self.user_id,
            parent and sessions.resolve_session(parent),
            title=self.title,
            started_at=self.started_at,
            metadata=self.metadata,
            project=self.project,
            branch=self.branch,
        )
        return Created(session_id=session_id, ensured=self.ensure)


class Created(Result, frozen=True, kw_only=True):
    session_id: str
    ensured: bool = False
    """It may have existed before."""

    def as_text(self) -> str:
        done = f"Session {self.session_id} exists." if self.ensured else f"Created session {self.session_id}."
        return join_items([done])


class AppendMessage(Operation, frozen=True, kw_only=True):
    """Append a message to a session, or several at once: all or none."""

    traits: ClassVar[Traits] = Traits(
        title="Append messages",
        positional=("session_id", "role", "content"),
        stdin="content",
        example='trip-to-lisbon user "Book the morning train"',
    )

    session_id: Session
    role: Annotated[str | None, Meta(description="user, assistant, system or tool")] = None
    content: Annotated[str | None, Meta(description="Text of the message")] = None
    tool_name: Annotated[str | None, Meta(description="Tool that returned this result")] = None
    tool_call_id: Annotated[str | None, Meta(description="Id of the tool call it answers")] = None
    messages: Annotated[
        list[dict[str, Any]] | None,
        Meta(
            description="Instead of one message: several {role, content, tool_calls, tool_name, "
            "tool_call_id, token_count, timestamp, metadata, origin, key}, or messages of the OpenAI or "
            "Anthropic API"
        ),
    ] = None
    key: Annotated[
        str | None, Meta(description="Your own id for it; a message with a known key is not stored again")
    ] = None
    metadata: Annotated[
        dict[str, Any] | None, Meta(description="Keys to set in the metadata of the session; others stay")
    ] = None
    if_revision: Revision = None

    def run(self, memory: Memory) -> Appended:
        session_id = memory.sessions.resolve_session(self.session_id)
        single = {
            "role": self.role,
            "content": self.content,
            "tool_name": self.tool_name,
            "tool_call_id": self.tool_call_id,
            "key": self.key,
        }
        if self.messages is None and self.role is None:
            raise InvalidInput("role is missing. Pass role and content, or messages.")
        if self.messages is not None and any(single.values()):
            raise InvalidInput("Pass role and content, or messages, not both.")
        ids = memory.sessions.append_messages(
            session_id,
            [single] if self.messages is None else self.messages,
            metadata=self.metadata,
            if_revision=self.if_revision,
        )
        return Appended(message_id=ids[-1] if ids else 0, message_ids=ids)


class Appended(Result, frozen=True, kw_only=True):
    message_id: int
    """Id of the last message; 0 if nothing was stored."""
    message_ids: list[int]

    def as_text(self) -> str:
        return f"Stored {', '.join(f'message:{one}' for one in self.message_ids) or 'nothing'}."


class PopMessage(Operation, frozen=True, kw_only=True):
    """Delete the newest message of a session, and return it. Cannot be undone."""

    traits: ClassVar[Traits] = Traits(
        title="Delete the newest message",
        destructive=True,
        positional=("session",),
        example="trip-to-lisbon --yes",
    )

    session: Session
    if_revision: Revision = None

    def run(self, memory: Memory) -> Popped:
        session_id = memory.sessions.resolve_session(self.session)
        message = memory.sessions.pop_message(session_id, if_revision=self.if_revision)
        return Popped(message=None if message is None else fill(MessageInfo, message))

    def at_stake(self, memory: Memory) -> str:
        session_id = memory.sessions.resolve_session(self.session)
        return f"the newest message of {name_session(memory, session_id)} permanently"


class Popped(Result, frozen=True, kw_only=True):
    message: MessageInfo | None
    """The message that was deleted; null if there was none."""

    def as_text(self) -> str:
        if self.message is None:
            return "The session has no messages."
        lead = f"Deleted message {self.message.id}, {render_speaker(self.message.role)}: "
        return join_items([lead + message_text(self.message.content)])


class RewriteSession(Operation, frozen=True, kw_only=True):
    """Replace the messages of a session, or those from one message on.

    The replaced messages are no longer part of the conversation, but searches and recall still find them.
    """

    traits: ClassVar[Traits] = Traits(
        title="Replace messages of a session",
        positional=("session",),
        example="trip-to-lisbon",
    )

    session: Session
    messages: Annotated[
        list[dict[str, Any]] | None, Meta(description="New messages, each with role and content")
    ] = None
    from_id: Annotated[int | None, Meta(description="Id of the first message to replace; default: all")] = (
        None
    )
    metadata: Annotated[dict[str, Any] | None, Meta(description="Keys to set; others are kept")] = None
    if_revision: Revision = None

    def run(self, memory: Memory) -> Rewritten:
        session_id = memory.sessions.resolve_session(self.session)
        ids = memory.sessions.rewrite(
            session_id,
            self.messages or [],
            from_id=self.from_id,
            metadata=self.metadata,
            if_revision=self.if_revision,
        )
        return Rewritten(message_ids=ids)


class Rewritten(Result, frozen=True, kw_only=True):
    message_ids: list[int]

    def as_text(self) -> str:
        return f"Stored {plural(len(self.message_ids), 'message')} in place of those before."

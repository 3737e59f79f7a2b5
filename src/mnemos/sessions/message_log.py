"""The messages of sessions: appended, read back, counted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from mnemos.errors import InvalidInput, NotFound
from mnemos.inputs import LAST_MOMENT, MAX_NAME, Moment, can_be_name, name, whole
from mnemos.language.moments import read_moment
from mnemos.sessions import echoes
from mnemos.sessions.chat_format import Conversation, Format, build_conversation
from mnemos.sessions.lookups import Clock, Lookups
from mnemos.sessions.records import (
    MESSAGE_FIELDS,
    NOT_PLAIN,
    PlainCalls,
    change_metadata,
    check_message_id,
    dump_plain,
    is_storable,
    message_dict,
    new_message,
)
from mnemos.sessions.sdk_messages import read_messages as read_sdk_messages
from mnemos.sessions.session_pages import Place, read_outline, read_page
from mnemos.sessions.session_types import Message, MessagePage, MetadataChange, Outline, Role
from mnemos.sessions.session_upkeep import pop_message
from mnemos.sessions.working_history import hold_session, read_messages, retire_messages
from mnemos.settings import Settings
from mnemos.storage.base import MessageRow, NewMessage, Storage, Writes
from mnemos.structs import convert
from mnemos.text.secrets import Redact

_IS_TEXT = False
# Make NewMessage without the Python call of its class, which would add half to the time.
_message = tuple.__new__
_Name = Annotated[str, Meta(min_length=1, max_length=MAX_NAME)]


class _Plain(Struct, forbid_unknown_fields=True, gc=False):
    """The common form of a message: a known role, text, and calls that have only one JSON encoding."""

    role: Role
    content: str | None = None
    tool_name: _Name | None = None
    tool_calls: PlainCalls | None = None
    tool_call_id: _Name | None = None
    token_count: Annotated[int, Meta(ge=0, lt=1 << 53)] | None = None
    timestamp: Annotated[float, Meta(gt=-LAST_MOMENT, lt=LAST_MOMENT)] | None = None
    metadata: None = None
    origin: Literal["memory"] | None = None
    key: _Name | None = None


class MessageLog(Lookups):
    """The part of ``Sessions`` that stores and reads messages."""

    def __init__(self, storage: Storage, settings: Settings, clock: Clock, called: Collection[str]) -> None:
        super().__init__(storage, settings, clock)
        self._private: set[str] = set()
        self._called = called

    def append_message(
        self,
        session_id: str,
        role: Role,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        token_count: int | None = None,
        *,
        timestamp: float | None = None,
        metadata: Any = None,
        origin: str | None = None,
        key: str | None = None,
        if_revision: int | None = None,
    ) -> int:
        """Store one message and return its id. An unknown session raises NotFound.

        Searches never find a message with ``origin="memory"``; calls of memory tools and their results get it
        automatically. Content with several tool results becomes several messages, and the id of the last is
        returned. ``key`` is your own id for the message: if the session already has a message with this key,
        nothing changes and that message's id is returned. If the session's revision isn't ``if_revision``,
        Conflict is raised.
        """
        given, most = locals(), self._settings.max_message_bytes
        if content is not None and not isinstance(content, str):
            message_fields = {field: given[field] for field in MESSAGE_FIELDS}
            return self.append_messages(session_id, (message_fields,), if_revision=if_revision)[-1]
        now = self._clock()
        message = new_message(given, now=now, redact=self._redact, max_bytes=most)
        if self._is_off(session_id):
            return 0
        if if_revision is not None:
            return self._write(session_id, (message,), now, if_revision=if_revision)[0]
        return self._storage.write(lambda tx: echoes.append(tx, session_id, (message,), now, self._called))[0]

    def append_messages(
        self,
        session_id: str,
        messages: Sequence[Any],
        *,
        metadata: MetadataChange | None = None,
        if_revision: int | None = None,
    ) -> list[int]:
        """Store several messages, all or none, and return the new ids in order.

        Accepts dicts with the argument names of ``append_message``, and messages of the OpenAI and Anthropic
        SDKs. Unknown fields are kept in the metadata. ``metadata`` updates the session's metadata in the same
        transaction, as ``update_metadata`` does.
        """
        new, now = self._check_new(messages), self._clock()
        if self._is_off(session_id):
            return [0] * len(new)
        return self._write(session_id, new, now, metadata=metadata, if_revision=if_revision)

    def rewrite(
        self,
        session_id: str,
        messages: Sequence[Any],
        *,
        from_id: int | None = None,
        metadata: MetadataChange | None = None,
        if_revision: int | None = None,
    ) -> list[int]:
        """Replace the working history, or the part from message ``from_id`` on; return the new ids.

        The replaced messages are retired: ``get_messages`` leaves them out, searches and recall still find
        them, and exports mark them. A new message may reuse the ``key`` of one that it replaces. ``messages``
        takes the same forms as in ``append_messages``. Everything happens in one transaction. A ``from_id``
        that is not in the session raises NotFound.
        """
        first = 0 if from_id is None else check_message_id(from_id)
        new, now = self._check_new(messages), self._clock()
        if self._is_off(session_id):
            return [0] * len(new)
        return self._write(session_id, new, now, retire=first, metadata=metadata, if_revision=if_revision)

    def pop_message(self, session_id: str, *, if_revision: int | None = None) -> Message | None:
        """Delete the newest message of the working history and return it; None if there is none.

        Searches and recall no longer find it. This can't be undone. An unknown session raises NotFound.
        """

        def work(tx: Writes) -> MessageRow | None:
            hold_session(tx, session_id, if_revision)
            now = self._clock()
            row = pop_message(tx, session_id, now)
            if row is not None:
                tx.sessions.revise(session_id, now)
            return row

        row = None if self._is_off(session_id) else self._storage.write(work)
        return None if row is None else message_dict(row)

    def get_messages(
        self, session_id: str, *, last: int | None = None, since: Moment | None = None
    ) -> list[Message]:
        """Return the messages in order, or the ``last`` few. An unknown session raises NotFound.

        Messages that ``rewrite`` retired are left out. ``since`` leaves out earlier messages.
        """
        newest = None if last is None else whole("last", last)
        start = None if since is None else read_moment("since", since, self._clock())
        return [message_dict(row) for row in self._rows(session_id, newest, start)]

    def conversation(self, session_id: str, *, format: Format = "openai") -> Conversation:
        """Return the messages in the format of the OpenAI or the Anthropic SDK, ready to send."""
        return build_conversation(self._rows(session_id), format)

    def get_messages_as_conversation(self, session_id: str, format: Format = "openai") -> Conversation:
        """Return the same as ``conversation``."""
        return self.conversation(session_id, format=format)

    def get_messages_around(self, message_id: int, before: int = 5, after: int = 5) -> list[Message]:
        """Return a message and its neighbours in order. An unknown message raises NotFound."""
        counts = {"before": whole("before", before), "after": whole("after", after)}
        wanted = check_message_id(message_id)
        rows = self._storage.read(lambda tx: tx.sessions.around(wanted, **counts))
        if not rows:
            raise NotFound(f"There is no message {message_id!r}.")
        return [message_dict(row) for row in rows]

    def get_page(
        self,
        session_id: str,
        *,
        at: int | None = None,
        around: int | None = None,
        after: int | None = None,
        before: int | None = None,
        limit: int = 50,
    ) -> MessagePage:
        """Return a page of a session, by default the first. The cost doesn't grow with the session.

        ``at`` skips this number of messages. ``around``, ``after`` and ``before`` take the id of a message.
        An unknown session or message raises NotFound.
        """
        name("session_id", session_id)
        place = Place.check(at=at, around=around, after=after, before=before)
        most = whole("limit", limit)
        return self._storage.read(lambda tx: read_page(tx, session_id, place, most))

    def get_outline(self, session_id: str) -> Outline:
        """Return the id, role and size of every message, in columns. An unknown session raises NotFound."""
        name("session_id", session_id)
        return self._storage.read(lambda tx: read_outline(tx, session_id))

    def message_count(self, session_id: str | None = None) -> int:
        """Count the messages of a session or of the space; 0 for an unknown session."""
        if session_id is not None and not can_be_name("session_id", session_id):
            return 0
        return self._storage.read(lambda tx: tx.sessions.message_count(session_id))

    def _rows(self, session_id: str, last: int | None = None, since: float | None = None) -> list[MessageRow]:
        name("session_id", session_id)
        return self._storage.read(lambda tx: read_messages(tx, session_id, last, since))

    def _check_new(self, messages: Sequence[Any]) -> list[NewMessage]:
        return new_messages(
            messages,
            clock=self._clock,
            redact=self._redact,
            max_bytes=self._settings.max_message_bytes,
        )

    def _write(
        self,
        session_id: str,
        new: Sequence[NewMessage],
        now: float,
        *,
        retire: int | None = None,
        metadata: MetadataChange | None = None,
        if_revision: int | None = None,
    ) -> list[int]:
        """Append messages after retiring those from the id ``retire`` on, and change the metadata."""

        def work(tx: Writes) -> list[int]:
            guarded = (retire, metadata, if_revision) != (None, None, None)
            revision = hold_session(tx, session_id, if_revision) if guarded else None
            if retire is not None:
                retire_messages(tx, session_id, retire, [one.key for one in new if one.key])
            if metadata is not None:
                self._set_metadata(tx, session_id, metadata)
            ids = echoes.append(tx, session_id, new, now, self._called)
            # An append that stored something has already counted as a write.
            if (retire, metadata) != (None, None) and tx.sessions.hold(session_id) == revision:
                tx.sessions.revise(session_id, now)
            return ids

        return self._storage.write(work)

    def _set_metadata(self, tx: Writes, session_id: str, change: MetadataChange) -> bool:
        row = tx.sessions.get(session_id)
        if row is None:
            return False
        changed = change_metadata(row, change, self._redact, self._settings.max_message_bytes)
        return tx.sessions.set_metadata(session_id, changed)

    @property
    def has_private(self) -> bool:
        """True if a private session was started through this object."""
        return bool(self._private)

    def _is_off(self, session_id: str, *, private: bool = False) -> bool:
        name("session_id", session_id)
        if private:
            self._private.add(session_id)
        return self._settings.disabled or session_id in self._private


def new_messages(
    messages: Sequence[Any],
    *,
    clock: Callable[[], float],
    redact: Redact,
    max_bytes: int,
) -> list[NewMessage]:
    """Check messages like ``new_message``, but faster if all of them are plain.

    Plain messages are checked together. Otherwise each is read as a message of an SDK and checked on its own,
    so that an error can name the message.
    """
    found = _plain_messages(messages, clock, redact, max_bytes)
    if found is None:
        if not isinstance(messages, (list, tuple)):
            raise InvalidInput(f"messages must be a list of messages, not {type(messages).__name__}")
        given = read_sdk_messages(messages)
        return [new_message(one, now=clock(), redact=redact, max_bytes=max_bytes) for one in given]
    return found


def _plain_messages(
    messages: Sequence[Any],
    clock: Callable[[], float],
    redact: Redact,
    max_bytes: int,
) -> list[NewMessage] | None:
    try:
        plain = convert(messages, list[_Plain])
        calls = [None if one.tool_calls is None else dump_plain(one.tool_calls) for one in plain]
    except NOT_PLAIN:
        return None
    texts = [one.content or "" for one in plain]
    texts += [text for text in calls if text]
    names = [one.tool_name for one in plain if one.tool_name is not None]
    names += [one.tool_call_id for one in plain if one.tool_call_id is not None]
    names += [one.key for one in plain if one.key is not None]
    if sum(map(len, texts)) > max_bytes // 4 or not all(map(is_storable, texts)) or not _are_names(names):
        return None
    texts.append("\n".join(names))
    clean = list(map(redact, texts))
    if clean[len(plain) :] != texts[len(plain) :]:
        # There is a secret in a name or in a call's arguments, which must remain valid JSON.
        return None
    return [
        _message(
            NewMessage,
            (
                one.role,
                clock() if one.timestamp is None else one.timestamp,
                one.tool_name,
                one.tool_call_id,
                one.token_count,
                _IS_TEXT,
                None,
                text,
                None if one.content is None else content,
                one.origin,
                one.key,
                len(one.tool_calls) if one.tool_calls else 0,
            ),
        )
        for one, content, text in zip(plain, clean, calls, strict=False)
    ]


def _are_names(names: Sequence[str]) -> bool:
    """True if all names are printable and not blank, so that they need no further check."""
    return "".join(names).isprintable() and all(map(str.strip, names))

"""The messages of sessions: appended, read back, counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from mnemos.errors import NotFound
from mnemos.inputs import can_be_name, name, whole
from mnemos.sessions import echoes
from mnemos.sessions.chat_format import Conversation, Format, build_conversation
from mnemos.sessions.lineage import read_messages
from mnemos.sessions.lookups import Clock, Lookups
from mnemos.sessions.message_batch import RedactAll, new_messages
from mnemos.sessions.records import MESSAGE_FIELDS, check_message_id, message_dict, new_message
from mnemos.sessions.session_pages import Place, read_outline, read_page
from mnemos.sessions.session_types import Message, MessagePage, Outline, Role
from mnemos.settings import Settings
from mnemos.storage.base import MessageRow, Storage
from mnemos.text.secrets import redact_all


class MessageLog(Lookups):
    """The part of ``Sessions`` that keeps what was said."""

    def __init__(self, storage: Storage, settings: Settings, clock: Clock, called: Collection[str]) -> None:
        super().__init__(storage, settings, clock)
        self._redact_all: RedactAll = redact_all if settings.redact else list
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
    ) -> int:
        """Store one message and return its id. An unknown session raises NotFound.

        With ``origin="memory"`` it is never found. Calls of memory tools and their results have it anyway.
        Content with several tool results becomes several messages; the id is that of the last.
        """
        given, most = locals(), self._settings.max_message_bytes
        if content is not None and not isinstance(content, str):
            return self.append_messages(session_id, ({key: given[key] for key in MESSAGE_FIELDS},))[-1]
        message = new_message(given, now=self._clock(), redact=self._redact, max_bytes=most)
        if self._is_off(session_id):
            return 0
        return self._storage.write(lambda tx: echoes.append(tx, session_id, (message,), self._called))[0]

    def append_messages(self, session_id: str, messages: Sequence[Any]) -> list[int]:
        """Store several messages, all or none, and return the ids of what was stored, in order.

        Takes dicts with the argument names of ``append_message``, and messages of the OpenAI and Anthropic
        SDKs as they are. Fields that are not known are kept in the metadata.
        """
        new = new_messages(
            messages,
            clock=self._clock,
            redact=self._redact,
            redact_all=self._redact_all,
            max_bytes=self._settings.max_message_bytes,
        )
        if self._is_off(session_id):
            return [0] * len(new)
        return self._storage.write(lambda tx: echoes.append(tx, session_id, new, self._called))

    def get_messages(self, session_id: str) -> list[Message]:
        """Return all messages in order. An unknown session raises NotFound."""
        return [message_dict(row) for row in self._rows(session_id)]

    def conversation(self, session_id: str, *, format: Format = "openai") -> Conversation:
        """Return the messages as the OpenAI or the Anthropic SDK accepts them, ready to send."""
        return build_conversation(self._rows(session_id), format)

    def get_messages_as_conversation(self, session_id: str, format: Format = "openai") -> Conversation:
        """Return the same as ``conversation``."""
        return self.conversation(session_id, format=format)

    def get_messages_around(self, message_id: int, before: int = 5, after: int = 5) -> list[Message]:
        """Return a message and its neighbours in the session, in order. Unknown raises NotFound."""
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
        """Return some messages of a session, the first by default. A long one costs no more than a short one.

        ``at``: after this number of messages. ``around``, ``after`` and ``before``: near the message of that
        id. An unknown session or message raises NotFound.
        """
        name("session_id", session_id)
        place = Place.check(at=at, around=around, after=after, before=before)
        most = whole("limit", limit)
        return self._storage.read(lambda tx: read_page(tx, session_id, place, most))

    def get_outline(self, session_id: str) -> Outline:
        """Return id, role and size of every message in columns. An unknown session raises NotFound."""
        name("session_id", session_id)
        return self._storage.read(lambda tx: read_outline(tx, session_id))

    def message_count(self, session_id: str | None = None) -> int:
        """Count the messages of a session or of the space; 0 for an unknown session."""
        if session_id is not None and not can_be_name("session_id", session_id):
            return 0
        return self._storage.read(lambda tx: tx.sessions.message_count(session_id))

    def _rows(self, session_id: str) -> list[MessageRow]:
        name("session_id", session_id)
        return self._storage.read(lambda tx: read_messages(tx, session_id))

    def _is_off(self, session_id: str, *, private: bool = False) -> bool:
        name("session_id", session_id)
        if private:
            self._private.add(session_id)
        return self._settings.disabled or session_id in self._private

"""Writing conversations down: sessions begin, messages are appended, sessions end."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mnemos.errors import AlreadyExists, Ambiguous, Disabled, InvalidInput, NotFound, Refused
from mnemos.inputs import can_be_name, moment, name, optional_name, whole
from mnemos.sessions import undo
from mnemos.sessions.conversation import conversation
from mnemos.sessions.model import (
    dumped,
    loaded,
    message_dict,
    new_message,
    optional_json,
    optional_text,
    session_dict,
)
from mnemos.sessions.model import message_id as as_message_id
from mnemos.sessions.redaction import Redact
from mnemos.sessions.turns import RedactAll, new_messages
from mnemos.settings import Settings
from mnemos.storage.base import (
    Filters,
    MessageRow,
    NewMessage,
    Reads,
    Results,
    SessionRow,
    Storage,
    Writes,
)
from mnemos.text.secrets import redact as redact_secrets
from mnemos.text.secrets import redact_all

log = logging.getLogger("mnemos.sessions")

_EVERYTHING = 1 << 62

Ranking = Callable[[str, Filters], Results]
"""Messages that answer a question, best first."""
Clock = Callable[[], float]


class Recording:
    """The sessions and messages of one space, as they come in and as they were.

    Times are Unix seconds. Every method is one transaction unless it says otherwise. With
    ``MNEMOS_DISABLED`` set, and for private sessions, writes change nothing; ``append_message`` then
    answers 0, which is no message's id.
    """

    def __init__(
        self, storage: Storage, settings: Settings, clock: Clock, ranking: Ranking | None = None
    ) -> None:
        """``ranking``: what answers a question in plain words better than its words alone do."""
        self._storage = storage
        self._ranking = ranking
        self._settings = settings
        self._clock = clock
        self._redact: Redact = redact_secrets if settings.redact else _unchanged
        self._redact_all: RedactAll = redact_all if settings.redact else list
        self._private: set[str] = set()
        if settings.disabled:
            log.warning("MNEMOS_DISABLED is set: nothing is stored")

    # --- lifecycle --------------------------------------------------------------------------

    def create_session(
        self,
        session_id: str,
        source: str | None = None,
        model: str | None = None,
        model_config: Any = None,
        system_prompt: str | None = None,
        user_id: str | None = None,
        parent_session_id: str | None = None,
        *,
        title: str | None = None,
        started_at: float | None = None,
        metadata: Any = None,
        private: bool = False,
    ) -> str:
        """Write a new session at once and return its id.

        An id in use raises AlreadyExists, an unknown parent NotFound. A ``private`` session is never
        written, nor is any message appended to it through this object.
        """
        session = self._new_session(locals())
        if self._is_off(session.id, private=private):
            return session.id
        if not self._storage.write(lambda tx: tx.sessions.create(session)):
            raise AlreadyExists(f"session {session.id!r} exists already; choose another id, or append to it")
        return session.id

    def ensure_session(
        self,
        session_id: str,
        source: str | None = None,
        model: str | None = None,
        model_config: Any = None,
        system_prompt: str | None = None,
        user_id: str | None = None,
        parent_session_id: str | None = None,
        *,
        title: str | None = None,
        started_at: float | None = None,
        metadata: Any = None,
        private: bool = False,
    ) -> str:
        """Create the session if it is missing, else set what is still empty; overwrite nothing."""
        session = self._new_session(locals())

        def work(tx: Writes) -> None:
            if not tx.sessions.create(session):
                tx.sessions.fill(session)

        if not self._is_off(session.id, private=private):
            self._storage.write(work)
        return session.id

    def end_session(self, session_id: str, end_reason: str) -> None:
        """Mark the session as ended. The first reason and time stay."""
        reason = name("end_reason", end_reason)
        now = self._clock()
        self._change(session_id, lambda tx: tx.sessions.end(session_id, reason, now))

    def reopen_session(self, session_id: str) -> None:
        self._change(session_id, lambda tx: tx.sessions.reopen(session_id))

    def update_system_prompt(self, session_id: str, system_prompt: str | None) -> None:
        prompt = self._redacted(
            optional_text("system_prompt", system_prompt, self._settings.max_message_bytes)
        )
        self._change(session_id, lambda tx: tx.sessions.set_system_prompt(session_id, prompt))

    def update_metadata(self, session_id: str, metadata: Mapping[str, Any]) -> None:
        """Set these keys of the session's metadata; the others stay. Metadata without keys raises Refused."""
        if not isinstance(metadata, Mapping):
            raise InvalidInput(f"metadata is a {type(metadata).__name__}; give the keys to set, as an object")
        most = self._settings.max_message_bytes

        def work(tx: Writes) -> bool:
            before = tx.sessions.get(session_id)
            if before is None:
                return False
            kept = loaded(before.metadata or "{}")
            if not isinstance(kept, dict):
                raise Refused(
                    f"the metadata of session {session_id!r} is a {type(kept).__name__}, to which no key "
                    "can be added; it was left as it is"
                )
            merged = optional_json("metadata", kept | dict(metadata), self._redact, most)
            return tx.sessions.set_metadata(session_id, merged)

        self._change(session_id, work)

    def update_token_counts(self, session_id: str, input_tokens: int = 0, output_tokens: int = 0) -> None:
        """Add to the session's token counts."""
        counts = whole("input_tokens", input_tokens), whole("output_tokens", output_tokens)
        self._change(session_id, lambda tx: tx.sessions.add_tokens(session_id, *counts))

    def set_title(self, session_id: str, title: str | None) -> None:
        """Name the session, or with None take its name away. Can be undone."""
        new = self._redacted(optional_name("title", title))

        def work(tx: Writes) -> bool:
            before = tx.sessions.get(session_id)
            if before is None:
                return False
            self._note(tx, undo.TITLE, undo.ref(session_id), before.title, new)
            return tx.sessions.set_title(session_id, new)

        self._change(session_id, work)

    def archive(self, session_id: str) -> None:
        """Leave the session out of lists; searches still find it. Can be undone."""
        self._set_archived(session_id, archived=True)

    def unarchive(self, session_id: str) -> None:
        self._set_archived(session_id, archived=False)

    def get_session(self, session_id: str) -> dict[str, Any] | None:
        if not can_be_name("session_id", session_id):
            return None
        row = self._storage.read(lambda tx: tx.sessions.get(session_id))
        return session_dict(row) if row else None

    def resolve_session(self, id_prefix_or_title: str) -> str:
        """The id meant by an id, the beginning of one, or a title.

        An exact id wins over a title, a title over a beginning. Several raise Ambiguous, none NotFound.
        """
        text = name("session", id_prefix_or_title)
        matches = self._storage.read(lambda tx: _meant(tx, text))
        if not matches:
            raise NotFound(f"no session has an id beginning with {text!r}, nor that title")
        if len(matches) > 1:
            some = ", ".join(row.id for row in matches[:5])
            raise Ambiguous(f"{text!r} may mean several sessions ({some} …); give more of the id")
        return matches[0].id

    # --- messages ---------------------------------------------------------------------------

    def append_message(
        self,
        session_id: str,
        role: str,
        content: Any = None,
        tool_name: str | None = None,
        tool_calls: Any = None,
        tool_call_id: str | None = None,
        token_count: int | None = None,
        *,
        timestamp: float | None = None,
        metadata: Any = None,
    ) -> int:
        """Store one message and return its id. An unknown session raises NotFound."""
        message = self._new_message(
            {
                "role": role,
                "content": content,
                "tool_name": tool_name,
                "tool_calls": tool_calls,
                "tool_call_id": tool_call_id,
                "token_count": token_count,
                "timestamp": timestamp,
                "metadata": metadata,
            }
        )
        if self._is_off(session_id):
            return 0
        return self._storage.write(lambda tx: tx.sessions.append(session_id, (message,)))[0]

    def append_messages(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store several messages, all or none: a reader never sees half a turn."""
        new = new_messages(
            messages,
            clock=self._clock,
            redact=self._redact,
            redact_all=self._redact_all,
            max_bytes=self._settings.max_message_bytes,
        )
        if self._is_off(session_id):
            return [0] * len(new)
        return self._storage.write(lambda tx: tx.sessions.append(session_id, new))

    def get_messages(self, session_id: str) -> list[dict[str, Any]]:
        """All messages in order. An unknown session raises NotFound."""
        return [message_dict(row) for row in self._rows(session_id)]

    def get_messages_as_conversation(self, session_id: str) -> list[dict[str, Any]]:
        """The messages in OpenAI's format, ready to send."""
        return conversation(self._rows(session_id))

    def get_messages_around(self, message_id: int, before: int = 5, after: int = 5) -> list[dict[str, Any]]:
        """A message with its neighbours in the same session, in order. Unknown raises NotFound."""
        counts = {"before": whole("before", before), "after": whole("after", after)}
        wanted = as_message_id(message_id)
        rows = self._storage.read(lambda tx: tx.sessions.around(wanted, **counts))
        if not rows:
            raise NotFound(f"there is no message {message_id!r}")
        return [message_dict(row) for row in rows]

    def message_count(self, session_id: str | None = None) -> int:
        """Messages of a session, or of the space; 0 for an unknown session."""
        if session_id is not None and not can_be_name("session_id", session_id):
            return 0
        return self._storage.read(lambda tx: tx.sessions.message_count(session_id))

    # --- inside -----------------------------------------------------------------------------

    def _new_session(self, given: Mapping[str, Any]) -> SessionRow:
        started_at = given["started_at"]
        most = self._settings.max_message_bytes
        return SessionRow(
            id=name("session_id", given["session_id"]),
            source=name("source", given["source"] or self._settings.source),
            user_id=optional_name("user_id", given["user_id"]),
            model=optional_name("model", given["model"]),
            model_config=optional_json("model_config", given["model_config"], self._redact, most),
            system_prompt=self._redacted(optional_text("system_prompt", given["system_prompt"], most)),
            parent_session_id=optional_name("parent_session_id", given["parent_session_id"]),
            started_at=self._clock() if started_at is None else moment("started_at", started_at),
            ended_at=None,
            end_reason=None,
            message_count=0,
            tool_call_count=0,
            input_tokens=0,
            output_tokens=0,
            title=self._redacted(optional_name("title", given["title"])),
            metadata=optional_json("metadata", given["metadata"], self._redact, most),
            archived=False,
        )

    def _new_message(self, fields: Mapping[str, Any]) -> NewMessage:
        return new_message(
            fields,
            now=self._clock(),
            redact=self._redact,
            max_bytes=self._settings.max_message_bytes,
        )

    def _rows(self, session_id: str) -> list[MessageRow]:
        name("session_id", session_id)

        def work(tx: Reads) -> list[MessageRow]:
            if tx.sessions.get(session_id) is None:
                raise NotFound(f"there is no session {session_id!r}")
            return tx.sessions.messages(session_id, after=0, limit=_EVERYTHING)

        return self._storage.read(work)

    def _set_archived(self, session_id: str, *, archived: bool) -> None:
        def work(tx: Writes) -> bool:
            row = tx.sessions.get(session_id)
            if row is None:
                return False
            if row.archived is not archived:
                self._note(tx, undo.ARCHIVE, undo.ref(session_id), dumped(row.archived), dumped(archived))
            return tx.sessions.set_archived(session_id, archived=archived)

        self._change(session_id, work)

    def _change(self, session_id: str, work: Callable[[Writes], bool]) -> None:
        """Run a change that answers False when the session is unknown."""
        name("session_id", session_id)
        if not self._is_off(session_id) and not self._storage.write(work):
            raise NotFound(f"there is no session {session_id!r}")

    def _note(self, tx: Writes, operation: str, ref: str, before: str | None, after: str | None) -> int:
        return tx.audit.record(
            at=self._clock(),
            actor=self._settings.actor,
            operation=operation,
            ref=ref,
            before=before,
            after=after,
        )

    def _check_enabled(self) -> None:
        if self._settings.disabled:
            raise Disabled("memory is disabled (MNEMOS_DISABLED is set); nothing was changed")

    def _redacted(self, text: str | None) -> str | None:
        return None if text is None else self._redact(text)

    def _is_off(self, session_id: str, *, private: bool = False) -> bool:
        name("session_id", session_id)
        if private:
            self._private.add(session_id)
        return self._settings.disabled or session_id in self._private


def _meant(tx: Reads, text: str) -> list[SessionRow]:
    exact = tx.sessions.get(text)
    return [exact] if exact else tx.sessions.titled(text, 10) or tx.sessions.beginning(text, 10)


def _unchanged(text: str) -> str:
    return text

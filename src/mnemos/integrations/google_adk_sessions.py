"""A session service for Google ADK: ``Runner(…, session_service=…)``.

A session of ADK is a session here, and an event a message with the event's id as its key. The state of a
session is in its metadata, written in the same transaction as the event. The state of a user and of an app
is the metadata of an archived session. A writer whose session was changed by another one is refused.
"""

from __future__ import annotations

import json
import time
from typing import Any
from uuid import uuid4

from mnemos.errors import AlreadyExists, Conflict, NotFound
from mnemos.integrations.shared.history import item_of, list_sessions, message_of, name_session
from mnemos.integrations.shared.memory_source import OpenedStore, framework
from mnemos.sessions import session_types

with framework("google-adk"):
    from google.adk.errors import StaleSessionError
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events.event import Event
    from google.adk.sessions.base_session_service import BaseSessionService as Base
    from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse
    from google.adk.sessions.session import Session
    from google.adk.sessions.state import State
    from pydantic_core import to_jsonable_python

SOURCE, _STATE = "google-adk-sessions", "google-adk-state"
# Other stores may round times by up to this difference.
_SAME_TIME = 0.001
_APP, _USER = State.APP_PREFIX, State.USER_PREFIX


class MnemosSessionService(OpenedStore, Base):
    """Sessions of ADK in a memory shared with other agents and processes."""

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        wanted = (session_id or "").strip() or str(uuid4())
        own, shared = _divide(app_name, user_id, state or {})
        about = {"app": app_name, "user": user_id, "id": wanted, "state": own, "updated": time.time()}
        try:
            await self._memory.sessions.create_session(
                name_session(SOURCE, app_name, user_id, wanted),
                SOURCE,
                user_id=name_session(app_name, user_id),
                metadata=about,
            )
        except AlreadyExists as exc:
            raise AlreadyExistsError(f"Session with id {wanted} already exists.") from exc
        await self._share(shared)
        made = await self.get_session(app_name=app_name, user_id=user_id, session_id=wanted)
        if made is None:
            raise SessionNotFoundError(f"Session {wanted} was deleted at once.")
        return made

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        name = name_session(SOURCE, app_name, user_id, session_id.strip())
        stored = await self._memory.sessions.get_session(name)
        if stored is None:
            return None
        last, since = (config.num_recent_events, config.after_timestamp) if config else (None, None)
        try:
            messages = [] if last == 0 else await self._memory.sessions.get_messages(name, last=last)
        except NotFound:
            return None
        # Only in JSON are bytes base64.
        events = [Event.model_validate_json(json.dumps(item_of(one, _read_text))) for one in messages]
        kept = [event for event in events if since is None or event.timestamp >= since]
        return _make_session(stored, await self._read_shared(app_name, user_id), kept)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        about = {"app": app_name} if user_id is None else {"app": app_name, "user": user_id}
        stored = await list_sessions(self._memory, SOURCE, metadata=about)
        users = {one["metadata"]["user"] for one in stored}
        shared = {user: await self._read_shared(app_name, user) for user in users}
        sessions = [_make_session(one, shared[one["metadata"]["user"]], []) for one in stored]
        sessions.sort(key=lambda one: (one.last_update_time, one.user_id, one.id))
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session. Can be undone. The states of the user and the app are kept."""
        await self._memory.sessions.delete_session(
            name_session(SOURCE, app_name, user_id, session_id.strip())
        )

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        return await self._read_state(name_session(_STATE, app_name, user_id))

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial:
            return event
        name = name_session(SOURCE, session.app_name, session.user_id, session.id)
        stored = await self._memory.sessions.get_session(name)
        if stored is None:
            raise SessionNotFoundError(f"Session {session.id} not found.")
        if not _is_current(session, stored):
            raise _stale(session)
        self._apply_temp_state(session, event)
        event = self._trim_temp_delta_state(event)
        own, shared = _divide(session.app_name, session.user_id, event.actions.state_delta)
        item = event.model_dump(mode="json", exclude_none=True, fallback=str)
        role = "user" if event.author == "user" else "assistant"
        message = message_of(item, role=role, key=event.id or None, timestamp=event.timestamp)
        about = {"state": {**stored["metadata"]["state"], **own}, "updated": event.timestamp}
        try:
            await self._memory.sessions.append_messages(
                name, [message], metadata=about, if_revision=stored["revision"]
            )
        except Conflict as exc:
            raise _stale(session) from exc
        except NotFound as exc:
            raise SessionNotFoundError(f"Session {session.id} not found.") from exc
        await self._share(shared)
        session._storage_update_marker = str(stored["revision"] + 1)
        session.last_update_time = event.timestamp
        return self._commit_event_to_session(session, event)

    async def _share(self, states: dict[str, dict[str, Any]]) -> None:
        """Write the state that all sessions of a user or an app share."""
        for name, delta in states.items():
            if delta and await self._memory.sessions.get_session(name) is None:
                await self._memory.sessions.ensure_session(name, _STATE)
                await self._memory.sessions.archive(name)
            if delta:
                await self._memory.sessions.update_metadata(name, delta)

    async def _read_shared(self, app_name: str, user_id: str) -> dict[str, Any]:
        app = await self._read_state(name_session(_STATE, app_name))
        user = await self._read_state(name_session(_STATE, app_name, user_id))
        return {_APP + key: app[key] for key in app} | {_USER + key: user[key] for key in user}

    async def _read_state(self, name: str) -> dict[str, Any]:
        stored = await self._memory.sessions.get_session(name)
        return dict(stored["metadata"] or {}) if stored else {}


def _read_text(message: Any) -> dict[str, Any]:
    author, role = ("user", "user") if message["role"] == "user" else ("agent", "model")
    content = {"role": role, "parts": [{"text": message["content"]}]}
    about = {"id": message.get("key", ""), "timestamp": message["timestamp"]}
    return {"author": author, "content": content, **about}


def _divide(app_name: str, user_id: str, state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a state into the session's part and the app's and user's, as JSON."""
    plain = to_jsonable_python({str(key): value for key, value in state.items()}, fallback=str)
    app = {key.removeprefix(_APP): plain[key] for key in plain if key.startswith(_APP)}
    user = {key.removeprefix(_USER): plain[key] for key in plain if key.startswith(_USER)}
    own = {key: plain[key] for key in plain if not key.startswith((_APP, _USER, State.TEMP_PREFIX))}
    return own, {name_session(_STATE, app_name): app, name_session(_STATE, app_name, user_id): user}


def _make_session(stored: session_types.Session, shared: dict[str, Any], events: list[Event]) -> Session:
    about = stored["metadata"]
    made = Session(
        id=about["id"],
        app_name=about["app"],
        user_id=about["user"],
        state={**about["state"], **shared},
        events=events,
        last_update_time=about["updated"],
    )
    made._storage_update_marker = str(stored["revision"])
    return made


def _is_current(session: Session, stored: session_types.Session) -> bool:
    if session._storage_update_marker is None:
        return bool(stored["metadata"]["updated"] <= session.last_update_time + _SAME_TIME)
    return bool(session._storage_update_marker == str(stored["revision"]))


def _stale(session: Session) -> StaleSessionError:
    return StaleSessionError(
        f"Session {session.id} was modified in storage by another writer. Load it again."
    )

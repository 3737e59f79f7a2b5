"""Echoes: stored messages that only repeat the memory, so searches leave them out.

Calls of the memory's own tools, their results, and messages that hold only recalled text get the origin
``memory``. Every message passes through ``append`` on its way into a session, regardless of its sender.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from mnemos.sessions.message_text import text_of
from mnemos.sessions.records import MEMORY, load_json
from mnemos.sessions.tool_names import call_name, is_own_tool, may_be_own_tool
from mnemos.storage.base import Glimpse, NewMessage, Writes
from mnemos.text.fences import has_fence, is_fenced

_RESULTS: Final = frozenset({"tool", "function"})
# The fence of a message that is only recalled text begins within these characters. Content may be JSON.
_BEGINNING: Final = 100


def append(
    tx: Writes,
    session_id: str,
    messages: Sequence[NewMessage],
    at: float,
    called_here: Collection[str] = (),
) -> list[int]:
    """Store messages with their origin at a time, and return their ids.

    ``called_here``: tools of the memory that the host has called in this process.
    """
    if any(map(_may_echo, messages)):
        messages = _Batch(tx, session_id, messages, called_here).mark()
    return tx.sessions.append(session_id, messages, at)


def _may_echo(message: NewMessage) -> bool:
    """True for calls, results and text that may be fenced. All other messages skip the check."""
    if message.tool_calls is not None or message.role in _RESULTS:
        return True
    return message.content is not None and "<" in message.content[:_BEGINNING]


class _Batch:
    """Messages on their way into a session, and the calls that their results belong to."""

    def __init__(
        self, tx: Writes, session_id: str, messages: Sequence[NewMessage], called_here: Collection[str]
    ) -> None:
        self._tx = tx
        self._session_id = session_id
        self._messages = list(messages)
        self._called_here = called_here
        # The place of each call and the name of its tool. The place of a stored call is its negated id.
        self._calls: dict[str, tuple[int | None, str]] = {}
        # True for stored messages that are flagged.
        self._stored: dict[int, bool] = {}

    def mark(self) -> list[NewMessage]:
        for place, message in enumerate(self._messages):
            if message.tool_calls is not None:
                self._mark_calls(place, message.tool_calls)
            elif message.role in _RESULTS:
                self._mark_result(place, message)
            elif is_fenced(_text_of(message)):
                self._flag(place)
        return self._messages

    def _mark_calls(self, place: int, tool_calls: str) -> None:
        for call_id, name in _list_calls(tool_calls):
            self._calls[call_id] = place, name
            if is_own_tool(name, self._called_here):
                self._flag(place)

    def _mark_result(self, place: int, message: NewMessage) -> None:
        text = _text_of(message)
        is_echo = message.origin is not None or is_fenced(text)
        if message.tool_name is not None and not is_echo and not self._may_be_own(message.tool_name):
            # Most results name another program's tool, so their calls need not be looked up.
            return
        call_place, called = self._find_call(message.tool_call_id)
        name = message.tool_name or called
        if (
            is_echo
            or is_own_tool(name, self._called_here)
            or (may_be_own_tool(name) and (has_fence(text) or self._is_flagged(call_place)))
        ):
            self._flag(place)
            if self._may_be_own(called):
                self._flag(call_place)

    def _may_be_own(self, name: str) -> bool:
        return may_be_own_tool(name) or is_own_tool(name, self._called_here)

    def _find_call(self, call_id: str | None) -> tuple[int | None, str]:
        if call_id is None:
            return None, ""
        if call_id not in self._calls:
            self._calls[call_id] = self._look_up(call_id)
        return self._calls[call_id]

    def _look_up(self, call_id: str) -> tuple[int | None, str]:
        """Find a call that was stored before its result."""
        row = self._tx.sessions.find_call(self._session_id, call_id)
        if row is None:
            return None, ""
        self._stored[row.id] = row.origin is not None
        return -row.id, dict(_list_calls(row.tool_calls)).get(call_id, "")

    def _is_flagged(self, place: int | None) -> bool:
        if place is None:
            return False
        return self._stored[-place] if place < 0 else self._messages[place].origin is not None

    def _flag(self, place: int | None) -> None:
        if place is None or self._is_flagged(place):
            return
        if place < 0:
            self._tx.sessions.set_origin(-place, MEMORY)
            self._stored[-place] = True
        else:
            self._messages[place] = self._messages[place]._replace(origin=MEMORY)


def _text_of(message: NewMessage) -> str:
    if not message.encoded:
        return message.content or ""
    return text_of(Glimpse(message.role, message.content, encoded=True, forgotten=False))


def _list_calls(tool_calls: str | None) -> Iterator[tuple[str, str]]:
    """Yield the id and the tool name of each call."""
    calls = load_json(tool_calls)
    for call in calls if isinstance(calls, list) else [calls]:
        if isinstance(call, dict):
            call_id = call.get("id")
            yield call_id if isinstance(call_id, str) else "", call_name(call)

"""Open an engine for the contract, write rows and search them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Protocol

import pytest
from msgspec.structs import replace

from mnemos.storage.base import Filters, MessageRow, NewMessage, Order, Results, SessionRow, Storage
from mnemos.text.query import parse

NOW = 1_767_225_600.0
DAY = 86_400.0
EVERYTHING = 1 << 62


class Opener(Protocol):
    """Opens the same data again, in a space."""

    def __call__(self, space: str = "default", *, read_only: bool = False) -> Storage: ...


Settled = Callable[[Storage], None]


class Contract:
    """Fixtures that all parts of the contract share."""

    several_openers: ClassVar[bool] = True
    restorable: ClassVar[bool] = True
    counts_by_space: ClassVar[bool] = False
    seams: ClassVar[Sequence[int]] = (65_536, 100_000, 131_072, 200_000, 262_144)

    @pytest.fixture
    def open_storage(self) -> Opener:
        raise NotImplementedError("give your class a fixture open_storage; see contract.storage")

    @pytest.fixture
    def storage(self, open_storage: Opener) -> Storage:
        return open_storage()

    @pytest.fixture
    def open_another(self, open_storage: Opener) -> Opener:
        """``open_storage`` for the tests that open the data more than once."""
        if not self.several_openers:
            pytest.skip("the data of this engine can be opened only once")
        return open_storage

    @pytest.fixture(params=["fresh", "indexed"])
    def settled(self, request: pytest.FixtureRequest) -> Settled:
        """Leave new messages pending or index them: searches must find the same."""
        return settle if request.param == "indexed" else (lambda _: None)


def session_row(session_id: str = "s", **fields: Any) -> SessionRow:
    empty = SessionRow(
        id=session_id,
        source="cli",
        user_id=None,
        model=None,
        model_config=None,
        system_prompt=None,
        parent_session_id=None,
        started_at=NOW,
        ended_at=None,
        end_reason=None,
        message_count=0,
        tool_call_count=0,
        input_tokens=0,
        output_tokens=0,
        title=None,
        metadata=None,
        archived=False,
    )
    return replace(empty, **fields)


def message(content: str | None = "hello", role: str = "user", **fields: Any) -> NewMessage:
    """A message; ``tool_calls`` may be given as Python values, and are counted."""
    calls = fields.pop("tool_calls", None)
    plain = NewMessage(
        role=role,
        content=content,
        encoded=False,
        tool_name=None,
        tool_calls=None if calls is None else json.dumps(calls),
        tool_call_id=None,
        token_count=None,
        timestamp=NOW,
        metadata=None,
        origin=None,
        key=None,
        calls=len(calls or ()),
    )
    return plain._replace(**fields)


def call(name: str, call_id: str = "call_1", **arguments: Any) -> dict[str, Any]:
    """A tool call as OpenAI writes it: the arguments are JSON in a string."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


def create(storage: Storage, session_id: str = "s", **fields: Any) -> bool:
    row = session_row(session_id, **fields)
    return storage.write(lambda tx: tx.sessions.create(row))


def append(storage: Storage, session_id: str, *messages: NewMessage | str) -> list[int]:
    new = [message(one) if isinstance(one, str) else one for one in messages]
    return storage.write(lambda tx: tx.sessions.append(session_id, new, NOW))


def tell(storage: Storage, session_id: str, *messages: NewMessage | str, **fields: Any) -> list[int]:
    """Create a session with these messages and return their ids."""
    create(storage, session_id, **fields)
    return append(storage, session_id, *messages)


def settle(storage: Storage) -> None:
    """Index everything, even while others index too."""
    given_up = time.monotonic() + 120
    while storage.catch_up():
        assert time.monotonic() < given_up, "the index never catches up"


def session(storage: Storage, session_id: str = "s") -> SessionRow:
    row = storage.read(lambda tx: tx.sessions.get(session_id))
    assert row is not None, f"session {session_id!r} is not there"
    return row


def messages(storage: Storage, session_id: str = "s") -> list[MessageRow]:
    return storage.read(lambda tx: tx.sessions.messages(session_id, after=0, limit=EVERYTHING))


def contents(storage: Storage, session_id: str = "s") -> list[str | None]:
    return [row.content for row in messages(storage, session_id)]


def search(
    storage: Storage,
    query: str,
    *,
    order: Order = Order.RELEVANCE,
    limit: int = 100,
    offset: int = 0,
    **filters: Any,
) -> Results:
    asked = Filters(**filters)
    return storage.read(
        lambda tx: tx.sessions.search(parse(query), asked, order=order, limit=limit, offset=offset)
    )


def found(storage: Storage, query: str, **options: Any) -> list[int]:
    """Return the ids of the hits, in order."""
    return [hit.message_id for hit in search(storage, query, **options).hits]


def found_whole(storage: Storage, query: str, **options: Any) -> list[int]:
    """Return the ids of the hits that match every clause: none if the answer is partial."""
    results = search(storage, query, **options)
    return [] if results.partial else [hit.message_id for hit in results.hits]

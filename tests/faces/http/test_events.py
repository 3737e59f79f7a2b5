"""The stream of changes: every one once, whoever makes it and however often a client reconnects."""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from mnemos.errors import Busy
from mnemos.faces.http import limits
from mnemos.faces.http.events import Events
from mnemos.faces.http.http_request import Request
from mnemos.faces.http.operation_calls import OperationCalls
from mnemos.faces.http.replies import Reply
from mnemos.faces.http.request_log import Entry
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import Grant, Scope, create_token, revoke_token
from mnemos.operations.changes import ChangesFound, ListChanges
from mnemos.settings import Settings

from ..mcp.wire import SECONDS
from .schemas import check
from .servers import Server, serving

WRITER = """
import sys
from mnemos.memory import Memory
with Memory.at(sys.argv[1]) as memory:
    for number in range(60):
        memory.sessions.create_session(f"live-{number}", "cli")
        memory.sessions.append_message(f"live-{number}", "user", f"message {number}")
        memory.sessions.append_message(f"live-{number}", "assistant", "noted")
        memory.facts.write(f"V[number]: {number}")
    memory.sessions.create_session("last", "cli")
"""
Event = tuple[str, str, dict[str, Any]]


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled / "home", tmp_path / "home")


@pytest.fixture
def server(home: Path) -> Iterator[Server]:
    with serving(home) as one:
        yield one


@contextmanager
def listening(server: Server, since: str = "", token: str = "") -> Iterator[Iterator[Event]]:
    """The events of a connection, as name, id and data; they end with it."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)) as connection:
        headers = {"authorization": f"Bearer {token or server.token}"}
        connection.request("GET", "/v1/events", headers=headers | ({"last-event-id": since} if since else {}))
        answer = connection.getresponse()
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
        yield read_events(answer)


def read_events(answer: http.client.HTTPResponse) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in answer:
        name, colon, value = line.decode().rstrip("\n").partition(": ")
        if colon:
            fields[name] = value
        elif fields:
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}


def refs(memory: Memory, since: str) -> list[str]:
    """Every change after a cursor, as the operation lists them."""
    found: list[str] = []
    while True:
        page = memory.call("changes", {"since": since, "limit": 7})
        found += [one["ref"] for one in page["changes"]]
        since = page["cursor"]
        if not page["more"]:
            return found


def test_no_change_of_another_process_is_lost_or_repeated_over_100_reconnections(
    server: Server, home: Path
) -> None:
    chance = random.Random(20261117)
    # Several, because one may not connect this often.
    tokens = [create_token(Settings(home=home), "x", "read", now=time.time())[1] for _ in range(8)]
    with listening(server) as events:
        name, begun, _ = next(events)
    assert name == "ready"
    seen: list[str] = []
    cursor, connections = begun, 0
    with subprocess.Popen([sys.executable, "-c", WRITER, str(home)]) as writer:
        while "session:last" not in seen:
            connections += 1
            with listening(server, cursor, tokens[connections % 8]) as events:
                for name, after, data in events:
                    cursor = after
                    if name != "ready":
                        check({"$ref": "#/components/schemas/ChangeInfo"}, data)
                        seen.append(data["ref"])
                    if chance.random() < 0.5 or seen[-1:] == ["session:last"]:
                        break
        assert writer.wait() == 0
    assert connections >= 100
    with Memory.at(home) as memory:
        assert seen == refs(memory, begun)
    assert len(seen) == len(set(seen)) == 241


def test_changes_of_the_server_itself_are_seen_by_all_streams(server: Server) -> None:
    with listening(server) as one, listening(server) as other:
        assert next(one)[0] == next(other)[0] == "ready"
        stored = server.post("remember", {"text": "The kiln needs 40 kW"}).json["stored"][0]
        for events in (one, other):
            name, _, data = next(events)
            assert (name, data["ref"]) == ("fact", f"fact:{stored['id']}")
            assert "40 kW" in data["text"]


def test_questions_are_events_once_they_are_logged(server: Server) -> None:
    with listening(server) as events:
        begun = next(events)[1]
        assert server.post("recall", {"query": "which kiln?"}).status == 200
        name, after, data = next(events)
        assert (name, data["text"], begun.count("-")) == ("recall", "which kiln?", 3)
    with listening(server, after) as events:
        assert next(events)[0] == "ready"
        server.post("notebook_add", {"content": "Fire it on Mondays"})
        assert next(events)[0] == "note"
    # A cursor of the operation, or of an older client, goes on without the questions before.
    with listening(server, after.rpartition("-")[0]) as events:
        assert [next(events)[0] for _ in range(2)] == ["ready", "note"]


def test_streams_end_at_once_when_the_server_stops(server: Server) -> None:
    with listening(server) as events:
        begun = next(events)[1]
        assert server.stop() == 0
        name, cursor, _ = next(events)
        assert (name, cursor) == ("end", begun)
        assert list(events) == []


def test_a_stream_over_the_limit_is_refused_and_a_closed_one_makes_room(server: Server) -> None:
    with ExitStack() as opened:
        for _ in range(limits.STREAMS):
            next(opened.enter_context(listening(server)))
        refused = server.send("GET", "/v1/events")
        assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "busy", "1")
    deadline = time.monotonic() + SECONDS
    while server.send("GET", "/metrics").body.count(b"mnemos_event_streams 0\n") == 0:
        assert time.monotonic() < deadline
    with listening(server) as events:
        assert next(events)[0] == "ready"


def test_a_token_hears_only_of_its_own_space_and_until_it_is_revoked(server: Server, home: Path) -> None:
    settings = Settings(home=home, space="work")
    kept, token = create_token(settings, "work", "read", now=time.time())
    with listening(server, token=token) as events:
        assert next(events)[0] == "ready"
        server.post("sessions_append", {"session_id": "empty", "role": "user", "content": "not for work"})
        with Memory.at(home, space="work") as memory:
            memory.facts.write("V[desk]: 4")
        assert next(events)[2]["text"] == "V[desk]: 4"
        revoke_token(settings, kept.id)
        with Memory.at(home, space="work") as memory:
            memory.facts.write("V[desk]: 5")
        assert next(events)[0] == "end"


def test_streams_need_a_token_that_allows_changes(server: Server, home: Path) -> None:
    _, token = create_token(Settings(home=home), "asks", "read", operations="recall", now=time.time())
    assert server.send("GET", "/v1/events", token=token).status == 403
    assert server.send("GET", "/v1/events", token="").status == 401
    assert server.send("POST", "/v1/events").status == 405


def test_a_wrong_cursor_is_invalid_input(server: Server) -> None:
    for cursor in ("", "7", "a-b-c", "1-2", "1-2-3-4-5", "-1-2-3", "1-2-99999999999999999", "٣-٣-٣"):
        assert server.send("GET", f"/v1/events?since={quote(cursor)}").code == "invalid_input"
        assert server.post("changes", {"since": cursor}).code == "invalid_input"
    assert server.send("GET", "/v1/events?sinse=0-0-0").code == "invalid_input"


def test_a_cursor_from_before_a_restore_continues_with_what_comes(server: Server) -> None:
    with listening(server, "999999-999999-999999") as events:
        assert next(events)[0] == "ready"
        server.post("sessions_append", {"session_id": "empty", "role": "user", "content": "after it"})
        assert next(events)[2]["text"] == "user: after it"


def test_a_stream_that_cannot_begin_fails_with_its_error_and_the_next_one_begins(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [Busy("The database is locked.")]
    read = ListChanges.run

    def fail_once(self: ListChanges, memory: Memory) -> ChangesFound:
        if self.since is not None and failures:
            raise failures.pop()
        return read(self, memory)

    async def never(*_: object) -> Any:
        await asyncio.get_running_loop().create_future()

    monkeypatch.setattr(ListChanges, "run", fail_once)

    async def open_streams() -> None:
        grant = Grant("t", "default", Scope.READ)
        events = Events(OperationCalls(Spaces(memory), workers), lambda _: grant)

        async def begin(query: bytes) -> Reply:
            scope = {"method": "GET", "path": "/v1/events", "query_string": query, "headers": []}
            return await events.answer(Request(scope, never, never, Entry("r", 0.0), grant))

        open_all_along = await begin(b"")
        with pytest.raises(Busy):
            await begin(b"since=0-0-0")
        assert (await begin(b"since=0-0-0")).status == open_all_along.status == 200
        events.stop()

    workers = Workers()
    with Memory.at(home) as memory:
        asyncio.run(open_streams())
        workers.close()

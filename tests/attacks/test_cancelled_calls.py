"""Cancelled calls: the SQL stops, is rolled back and is not answered, and the next query starts at once."""

from __future__ import annotations

import http.client
import json
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from faces.mcp.connections import Connected, Served, connected, over_pipe, serving
from faces.mcp.wire import INITIALIZE, Wire
from mnemos.memory import Memory

# Without a cancellation, each of these tests fails: the next query gives up after its 30 seconds.
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
LONGEST = 600
WAYS = ("pipe, 2025", "pipe, 2026", "http, 2025", "http, 2026")
MODERN = "2026-07-28"
# The work of a call before it is stopped in the middle.
BEGUN = [
    "SELECT 1",
    "INSERT INTO kept SELECT i, 'new' FROM (SELECT 1 AS i)",
    "UPDATE kept SET what = 'changed'",
    "DELETE FROM kept",
    "DROP TABLE kept",
    "ALTER TABLE kept ADD COLUMN more",
    "CREATE TABLE other AS SELECT * FROM kept",
    "CREATE TEMP TABLE passing AS SELECT * FROM kept",
    "CREATE INDEX by_what ON kept (what)",
]

Query = Callable[..., Mapping[str, Any]]


def wait_until_running(query: Query) -> None:
    """Return once the endless query has the worker: others then get the error that it is busy."""
    while query("SELECT 1", timeout=0.01).get("error", {}).get("code") != "busy":
        pass


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a table of 300 rows; to be copied, not used."""
    home = tmp_path_factory.mktemp("cancelled") / "home"
    with Memory.at(home, space="default") as memory:
        memory.workspace.query("CREATE TABLE kept (n, what)")
        memory.workspace.query("INSERT INTO kept VALUES (?, 'old')", rows=[[n] for n in range(300)])
    return home


@pytest.fixture(scope="module")
def served(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    copy = shutil.copytree(home, tmp_path_factory.mktemp("served") / "home")
    with serving(copy, "--tools", "all") as one:
        yield one


# --- the official client ---------------------------------------------------------------------------


@pytest.fixture(params=WAYS)
def client(request: pytest.FixtureRequest, home: Path, tmp_path: Path) -> Iterator[Connected]:
    transport, era = request.param.split(", ")
    mode = "legacy" if era == "2025" else "auto"
    with ExitStack() as stack:
        if transport == "pipe":
            copy = shutil.copytree(home, tmp_path / "copy")
            yield stack.enter_context(connected(over_pipe(copy, "--tools", "all"), mode))
        else:
            yield stack.enter_context(connected(request.getfixturevalue("served"), mode))


def test_a_client_that_cancels_a_query_gets_the_next_one_answered(client: Connected) -> None:
    def query(sql: str, **arguments: Any) -> Mapping[str, Any]:
        answer = client.call_tool("sqlite_query", {"query": sql, **arguments}).structured_content
        assert isinstance(answer, dict)
        return answer

    running: Future[Any] = client.start("call_tool", "sqlite_query", {"query": ENDLESS, "timeout": LONGEST})
    wait_until_running(query)
    running.cancel()
    assert query("SELECT count(*) FROM kept")["rows"] == [[300]]


# --- raw, over a pipe ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wire(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    copy = shutil.copytree(home, tmp_path_factory.mktemp("piped") / "home")
    with Wire(copy, "--tools", "all") as served:
        yield served
        code, said = served.end()
        assert code == 0
        assert "Traceback" not in said


def cancel(wire: Wire, asked: object) -> None:
    wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})


def query_of(wire: Wire) -> Query:
    def query(sql: str, **arguments: Any) -> Mapping[str, Any]:
        content: dict[str, Any] = wire.call("sqlite_query", {"query": sql, **arguments})["structuredContent"]
        return content

    return query


def test_a_cancelled_call_changes_nothing_and_is_not_answered(
    wire: Wire, attempts: Callable[[int], None]
) -> None:
    attempts(len(BEGUN))
    query = query_of(wire)
    schema = query("SELECT name, sql FROM sqlite_schema")["rows"]
    for begun in BEGUN:
        running = wire.begin("sqlite_query", {"query": f"{begun}; {ENDLESS}", "timeout": LONGEST})
        wait_until_running(query)
        cancel(wire, running)
        # Every answer is the one to the question just asked: none is to the cancelled call.
        assert query("SELECT count(*), min(what), max(what) FROM kept")["rows"] == [[300, "old", "old"]]
        assert query("SELECT name, sql FROM sqlite_schema")["rows"] == schema
    assert wire.answers_before_a_ping() == []


def test_a_cancelled_import_or_export_leaves_nothing_behind(
    wire: Wire, attempts: Callable[[int], None]
) -> None:
    attempts(2)
    query = query_of(wire)
    exports = {"query": ENDLESS.replace("count(*)", "i"), "path": "endless.csv"}
    imports = {"table": "half", "text": "a,b\n" + "1,2\n" * 1_000_000}
    for tool, arguments in (("sqlite_export", exports), ("sqlite_import", imports)):
        running = wire.begin(tool, arguments)
        wait_until_running(query)
        cancel(wire, running)
        assert query("SELECT count(*) FROM sqlite_schema WHERE name = 'half'")["rows"] == [[0]]
    assert wire.answers_before_a_ping() == []
    databases = Path(wire.call("stats", {})["structuredContent"]["location"]).parent
    assert not list(databases.rglob("*endless*"))


def test_a_call_that_is_cancelled_while_it_waits_is_not_run(wire: Wire) -> None:
    query = query_of(wire)
    running = wire.begin("sqlite_query", {"query": ENDLESS, "timeout": LONGEST})
    wait_until_running(query)
    waiting = [
        wire.begin("sqlite_query", {"query": "INSERT INTO kept VALUES (999, 'late')", "timeout": LONGEST})
        for _ in range(20)
    ]
    for number in (*waiting, running):
        cancel(wire, number)
    assert query("SELECT count(*) FROM kept WHERE what = 'late'")["rows"] == [[0]]
    assert wire.answers_before_a_ping() == []


def test_cancelling_one_call_leaves_the_waiting_ones_alone(wire: Wire) -> None:
    query = query_of(wire)
    query("CREATE TABLE tally (n)")
    running = wire.begin("sqlite_query", {"query": ENDLESS, "timeout": LONGEST})
    wait_until_running(query)
    waiting = [wire.begin("sqlite_query", {"query": f"INSERT INTO tally VALUES ({n})"}) for n in range(5)]
    cancel(wire, running)
    answers = [wire.receive() for _ in waiting]
    assert sorted(answer["id"] for answer in answers) == waiting
    assert not any("isError" in answer["result"] for answer in answers)
    assert query("SELECT count(*) FROM tally")["rows"] == [[5]]


@pytest.mark.parametrize("asked", [0, -1, 10**9, "none", "", None, 1.5, True, [1], {}, "9" * 10_000])
def test_cancelling_what_is_not_running_stops_nothing(wire: Wire, asked: object) -> None:
    begun = wire.begin("sqlite_query", {"query": "SELECT count(*) FROM kept"})
    cancel(wire, asked)
    answer = wire.receive()
    assert (answer["id"], answer["result"]["structuredContent"]["rows"]) == (begun, [[300]])
    # It is answered already.
    cancel(wire, begun)
    cancel(wire, begun)
    assert wire.answers_before_a_ping() == []


def test_a_write_that_is_cancelled_at_any_moment_is_there_whole_or_not_at_all(
    home: Path, tmp_path: Path, attempts: Callable[[int], None]
) -> None:
    attempts(20)
    copy = shutil.copytree(home, tmp_path / "copy")
    with Wire(copy) as wire:
        for n in range(20):
            both = f"INSERT INTO kept VALUES ({n}, 'first'); INSERT INTO kept VALUES ({n}, 'second')"
            number = wire.begin("sqlite_query", {"query": both})
            # Some are cancelled before they start, some while they run or commit, some too late.
            for _ in range(n % 3):
                wire.answers_before_a_ping()
            cancel(wire, number)
        assert wire.end()[0] == 0
    with Memory.at(copy, space="default") as memory:
        counts = memory.workspace.query("SELECT count(*) FROM kept WHERE what <> 'old' GROUP BY n").rows
        assert all(row == [2] for row in counts)
        assert memory.workspace.check("default") == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_that_is_stopped_does_not_wait_for_a_query(
    home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    copy = shutil.copytree(home, tmp_path / "copy")
    with Wire(copy) as wire:
        wire.begin("sqlite_query", {"query": f"DELETE FROM kept; {ENDLESS}", "timeout": LONGEST})
        wait_until_running(query_of(wire))
        wire.process.send_signal(number)
        assert wire.end() == (0, "")
    with Memory.at(copy, space="default") as memory:
        assert memory.workspace.query("SELECT count(*) FROM kept").rows == [[300]]
        assert memory.workspace.check("default") == []


# --- raw, over HTTP --------------------------------------------------------------------------------


class Browser:
    """Requests of one client over HTTP, of either era of the protocol."""

    def __init__(self, served: Served, era: str) -> None:
        self._port = served.port
        self._headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            **served.headers,
        }
        self._is_modern = era == "2026"
        if not self._is_modern:
            with self.begin("initialize", INITIALIZE) as waiting:
                self._headers["mcp-session-id"] = waiting.getresponse().headers["mcp-session-id"]
            self.send("notifications/initialized", {}, number=None)

    @contextmanager
    def begin(
        self, method: str, params: dict[str, Any], number: int | None = 1
    ) -> Iterator[http.client.HTTPConnection]:
        """Send a request, and hang up at the end whether it was answered or not."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        message |= {} if number is None else {"id": number}
        headers = dict(self._headers)
        if self._is_modern:
            prefix = "io.modelcontextprotocol/"
            meta = {f"{prefix}protocolVersion": MODERN, f"{prefix}clientCapabilities": {}}
            message["params"] = {**params, "_meta": meta}
            headers |= {"mcp-protocol-version": MODERN, "mcp-method": method}
            headers |= {"mcp-name": params["name"]} if "name" in params else {}
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        with closing(connection):
            connection.request("POST", "/mcp", json.dumps(message).encode(), headers)
            yield connection

    def send(self, method: str, params: dict[str, Any], number: int | None = 1) -> bytes:
        with self.begin(method, params, number) as waiting:
            return waiting.getresponse().read()

    def query(self, sql: str, **arguments: Any) -> Mapping[str, Any]:
        answer = json.loads(self.send("tools/call", call_of(sql, **arguments), number=2))
        content: dict[str, Any] = answer["result"]["structuredContent"]
        return content


def call_of(sql: str, **arguments: Any) -> dict[str, Any]:
    return {"name": "sqlite_query", "arguments": {"query": sql, **arguments}}


@pytest.mark.parametrize("era", ["2025", "2026"])
def test_a_client_that_hangs_up_stops_its_query(served: Served, era: str) -> None:
    browser = Browser(served, era)
    with browser.begin("tools/call", call_of(f"DELETE FROM kept; {ENDLESS}", timeout=LONGEST)):
        wait_until_running(browser.query)
    assert browser.query("SELECT count(*) FROM kept")["rows"] == [[300]]


def test_a_cancelled_request_over_http_ends_without_a_result(served: Served) -> None:
    browser = Browser(served, "2025")
    with browser.begin("tools/call", call_of(ENDLESS, timeout=LONGEST)) as waiting:
        wait_until_running(browser.query)
        browser.send("notifications/cancelled", {"requestId": 1}, number=None)
        answer = json.loads(waiting.getresponse().read())
    assert "result" not in answer
    assert answer["id"] == 1


def test_nobody_cancels_the_call_of_another_client(served: Served) -> None:
    one, other, third = Browser(served, "2025"), Browser(served, "2025"), Browser(served, "2026")
    with one.begin("tools/call", call_of(ENDLESS, timeout=LONGEST)):
        wait_until_running(other.query)
        for client in (other, third):
            client.send("notifications/cancelled", {"requestId": 1}, number=None)
            assert client.query("SELECT 1", timeout=0.01)["error"]["code"] == "busy"
    assert other.query("SELECT 1")["rows"] == [[1]]

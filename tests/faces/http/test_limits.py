"""A server under load and at its end: limits, metrics, signals, and a kill."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.http import limits
from mnemos.faces.http.api import Api
from mnemos.faces.http.limits import Rates
from mnemos.faces.http.request_log import RequestLog
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import Doorkeeper, create_token, load_owner_token
from mnemos.settings import Settings
from mnemos.testing import FixedClock

from .servers import Server, serving

HOST = "127.0.0.1:1"
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled / "home", tmp_path / "home")


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.at(home) as memory:
        yield memory


def ask(
    memory: Memory, name: str, arguments: dict[str, Any], token: str = "", *, is_public: bool = False
) -> tuple[int, dict[str, Any]]:
    """Send one request to the application in this process, by default with the owner's token."""
    workers = Workers()
    doorkeeper = Doorkeeper(memory.settings)
    api = Api(Spaces(memory), workers, doorkeeper, [HOST], RequestLog(), is_public=is_public)
    body = {"type": "http.request", "body": json.dumps(arguments).encode()}
    answer = asyncio.run(send(api, name, token or load_owner_token(memory.settings), body))
    workers.close()
    return answer


async def send(
    api: Api, name: str, token: str, *received: dict[str, Any], done: Callable[[], object] = lambda: None
) -> tuple[int, dict[str, Any]]:
    """Send the pieces of a body, and return the answer. ``done``: called when they have been received."""
    headers = {"host": HOST, "authorization": f"Bearer {token}", "content-type": "application/json"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/v1/{name}",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
    }
    sent: list[Any] = []
    left = list(received)

    async def receive() -> dict[str, Any]:
        if len(left) == 1:
            done()
        return left.pop(0) if left else await asyncio.get_running_loop().create_future()

    async def collect(message: Any) -> None:
        sent.append(message)

    await api(scope, receive, collect)
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_the_owners_token_is_not_for_other_machines(memory: Memory) -> None:
    status, answer = ask(memory, "memory_status", {}, is_public=True)
    assert (status, answer["error"]["code"]) == (401, "unauthenticated")
    _, token = create_token(memory.settings, "phone", "admin", now=time.time())
    assert ask(memory, "memory_status", {}, token, is_public=True)[0] == 200
    status, answer = ask(memory, "backup", {"path": "/tmp/copy.db"}, token, is_public=True)
    assert (status, answer["error"]["code"]) == (403, "not_allowed")


def test_an_operation_over_its_time_is_stopped(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CALL_SECONDS", 0.05)
    began = time.monotonic()
    status, answer = ask(memory, "sqlite_query", {"query": ENDLESS})
    assert (status, answer["error"]["code"]) == (504, "timed_out")
    # Before the workspace would have ended it.
    assert time.monotonic() - began < 20


def test_too_many_requests_at_once_are_sent_away(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IN_FLIGHT", 0)
    status, answer = ask(memory, "memory_status", {})
    assert (status, answer["error"]["code"]) == (503, "busy")


def test_an_unexpected_failure_is_an_error_that_quotes_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Lisbon, near the river"

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError(text)

    monkeypatch.setattr("mnemos.operations.registry.run_for_host", fail)
    lines: list[str] = []
    monkeypatch.setattr("mnemos.faces.http.request_log.log.error", lambda *args: lines.append(str(args)))
    status, answer = ask(memory, "memory_status", {})
    assert (status, answer["error"]["code"]) == (500, "internal")
    assert "Lisbon" not in str(answer) + str(lines)
    assert "ZeroDivisionError" in lines[0]


def test_a_token_may_be_used_in_bursts_and_then_steadily() -> None:
    clock = FixedClock(0.0)
    rates = Rates(clock)
    burst = int(limits.BURST)
    assert [rates.take("a") for _ in range(burst)] == [0.0] * burst
    assert rates.take("a") == pytest.approx(1 / limits.PER_SECOND)
    assert rates.take("b") == 0.0
    clock.now = 1.0
    steady = int(limits.PER_SECOND)
    assert [rates.take("a") for _ in range(steady)] == [0.0] * steady
    assert rates.take("a") > 0
    clock.now = 1_000_000.0
    assert [rates.take("a") for _ in range(burst)] == [0.0] * burst
    assert rates.take("a") > 0


def test_the_memories_of_many_spaces_do_not_all_stay_open(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SPACES", 2)
    spaces = Spaces(memory)
    seen = []
    with spaces.use("busy") as busy:
        for name in ("a", "b", "c", "d"):
            with spaces.use(name) as one:
                seen.append(one)
                one.facts.write("V[x]: 1")
        assert busy.facts.count() == 0
        with spaces.use("d") as again:
            assert again is seen[-1]
        with spaces.use("a") as reopened:
            assert reopened is not seen[0]
            assert reopened.facts.count() == 1
    with spaces.use(memory.settings.space) as own:
        assert own is memory
    spaces.close()


def test_too_many_requests_of_a_token_get_a_time_to_retry(home: Path) -> None:
    _, token = create_token(Settings(home=home), "eager", "read", now=time.time())
    with serving(home) as server:
        answers = [server.post("memory_status", b"{", token=token) for _ in range(int(limits.BURST) * 3)]
        last = next(answer for answer in answers if answer.status != 400)
        assert (last.status, last.code, last.headers["retry-after"]) == (429, "rate_limited", "1")
        assert server.post("memory_status").status == 200


def test_metrics_count_requests_and_tell_no_contents(home: Path) -> None:
    with serving(home) as server:
        assert server.send("GET", "/metrics", token="").status == 401
        server.post("recall", {"query": "Lisbon"})
        server.post("recall", b"{")
        server.post("no_such_operation_Lisbon")
        text = server.send("GET", "/metrics").body.decode()
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert lines['mnemos_requests_total{operation="recall",status="200"}'] == "1"
    assert lines['mnemos_requests_total{operation="recall",status="400"}'] == "1"
    assert lines['mnemos_requests_total{operation="",status="404"}'] == "1"
    assert float(lines['mnemos_request_seconds_total{operation="recall"}']) > 0
    assert int(lines["mnemos_database_bytes"]) > 0
    assert int(lines["mnemos_messages"]) > 0
    assert int(lines["mnemos_vectors"]) + int(lines["mnemos_passages_without_vectors"]) > 0
    assert lines["mnemos_requests_in_flight"] == "0"
    assert "Lisbon" not in text
    assert "default" not in text


BODY = {"type": "http.request", "body": json.dumps({"query": ENDLESS}).encode()}


@pytest.mark.parametrize("pieces", [[BODY], [BODY | {"more_body": True}]], ids=["a long call", "half a body"])
def test_a_request_that_does_not_end_gets_an_error_when_the_server_stops(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, pieces: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr(limits, "STOP_SECONDS", 0.0)
    workers, lines = Workers(), list[bytes]()
    api = Api(Spaces(memory), workers, Doorkeeper(memory.settings), [HOST], RequestLog(lines.append))
    token = load_owner_token(memory.settings)

    async def stop() -> tuple[int, dict[str, Any]]:
        received = asyncio.Event()
        asked = asyncio.create_task(send(api, "sqlite_query", token, *pieces, done=received.set))
        await received.wait()
        api.stop()
        if "more_body" in pieces[0]:
            # As uvicorn does in the end.
            asyncio.get_running_loop().call_later(0.05, asked.cancel)
        return await asked

    status, answer = asyncio.run(stop())
    assert workers.close(time.monotonic() + 60)
    assert (status, answer["error"]["code"]) == (503, "unavailable")
    assert [json.loads(line)["status"] for line in lines] == [503]


def test_every_acknowledged_turn_is_there_and_none_is_halved_when_the_server_stops(home: Path) -> None:
    acknowledged: set[str] = set()
    enough = threading.Event()

    def append(server: Server, writer: int) -> None:
        with suppress(OSError, ValueError, HTTPException):
            for turn in range(1000):
                name = f"writer {writer} turn {turn}"
                said = [{"role": role, "content": name} for role in ("user", "assistant", "tool")]
                answer = server.post(
                    "sessions_append", {"session_id": "empty", "messages": said}, tokens[writer]
                )
                if answer.status != 200:
                    assert (answer.status, answer.code) == (503, "unavailable")
                    return
                acknowledged.add(name)
                if len(acknowledged) >= 50:
                    enough.set()

    settings = Settings(home=home)
    tokens = [create_token(settings, f"w{n}", "write", now=time.time())[1] for n in range(50)]
    with serving(home) as server, ThreadPoolExecutor(50) as pool:
        writers = [pool.submit(append, server, writer) for writer in range(50)]
        enough.wait(60)
        assert server.stop() == 0
        for one in writers:
            one.result()
    with Memory.at(home) as memory:
        stored = Counter(message["content"] for message in memory.sessions.get_messages("empty"))
    turns = {name: count for name, count in stored.items() if name.startswith("writer")}
    assert acknowledged <= turns.keys()
    assert set(turns.values()) == {3}


@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGTERM, 1), (signal.SIGTERM, 2), (signal.SIGKILL, 1)]
)
def test_what_was_acknowledged_is_there_after_the_end(
    home: Path, number: signal.Signals, workers: int
) -> None:
    acknowledged: list[int] = []
    enough = threading.Event()

    def append(server: Server, writer: int) -> None:
        try:
            for turn in range(10_000):
                said = {"session_id": "empty", "role": "user", "content": f"writer {writer} turn {turn}"}
                answer = server.post("sessions_append", said, token=tokens[writer])
                if answer.status != 200:
                    return
                acknowledged.append(answer.json["message_id"])
                if len(acknowledged) >= 50:
                    enough.set()
        except (OSError, ValueError, HTTPException):
            return
        finally:
            enough.set()

    settings = Settings(home=home)
    tokens = [create_token(settings, f"w{n}", "write", now=time.time())[1] for n in range(4)]
    with serving(home, "--workers", str(workers)) as server:
        writers = [threading.Thread(target=append, args=(server, one)) for one in range(4)]
        for one in writers:
            one.start()
        enough.wait(60)
        server.process.send_signal(number)
        assert server.process.wait(timeout=30) == (0 if number is signal.SIGTERM else -signal.SIGKILL)
        for one in writers:
            one.join()
    assert len(acknowledged) >= 50
    with serving(home) as again, Memory.at(home) as memory:
        assert again.post("memory_status").status == 200
        stored = {message["id"] for message in memory.sessions.get_messages("empty")}
    assert set(acknowledged) <= stored

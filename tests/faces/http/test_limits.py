"""A server under load and at its end: limits, metrics, signals, and a kill."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from mnemos.faces.http import limits
from mnemos.faces.http.api import Api
from mnemos.faces.http.rates import Rates
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
    token = token or load_owner_token(memory.settings)
    sent: list[Any] = []
    headers = {"host": HOST, "authorization": f"Bearer {token}", "content-type": "application/json"}
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/v1/{name}",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(arguments).encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(api(scope, receive, send))
    workers.close()
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

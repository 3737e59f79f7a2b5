"""Attacks on the HTTP server: other sites, slow clients, oversized and nested bodies."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faces.http.servers import Server, serving
from faces.mcp.connections import Served, connected
from mnemos.faces.http import limits
from mnemos.faces.http.connections import make_server
from mnemos.memory import Memory
from mnemos.memory.access_tokens import create_token, revoke_token
from mnemos.settings import Settings

pytestmark = pytest.mark.area("HTTP server: other sites, slow clients, oversized bodies, tokens")

SECRET = "The launch code is 0000"
SLOW_CLIENTS = 100
SLOW_QUERY = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("attacked") / "home"
    with Memory.at(home, space="default") as memory:
        memory.notebook.add(SECRET)
        memory.sessions.create_session("s", "cli")
        memory.workspace.query("CREATE TABLE people (name)")
    return home


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    with serving(home, "--allowed-host", "memory.example.com") as one:
        yield one


HOSTS = (
    *(
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost",
        "127.0.0.1.evil.example",
    ),
    *("localhost.:{port}", "0.0.0.0:{port}", "127.1:{port}", "[::]:{port}", "x@127.0.0.1:{port}", "*"),
    *(
        "127.0.0.1:{port}:{port}",
        "memory.example.com.evil.example",
        "memory.example.com:1",
        "127.0.0.1:{port}/",
    ),
)
ORIGINS = (
    *("null", "http://evil.example", "http://127.0.0.1", "http://localhost.evil.example:{port}", "file://"),
    *("http://127.0.0.1:1", "ftp://127.0.0.1:{port}", "127.0.0.1:{port}", "*", "chrome-extension://abc"),
)


def test_a_request_for_another_host_is_refused_before_anything_else(
    server: Server, attempts: Callable[[int], None]
) -> None:
    attempts(len(HOSTS) * 3)
    for host in HOSTS:
        headers = {"host": host.format(port=server.port), "content-type": "application/json"}
        for method, path in (("POST", "/v1/notebook_show"), ("GET", "/health"), ("GET", "/nowhere")):
            answer = server.send(method, path, b"{}", **headers)
            assert (answer.status, answer.code) == (421, "misdirected"), host
            assert SECRET.encode() not in answer.body


def test_another_site_is_refused_even_with_a_token(server: Server, attempts: Callable[[int], None]) -> None:
    attempts(len(ORIGINS))
    for origin in ORIGINS:
        answer = server.post("notebook_show", origin=origin.format(port=server.port))
        assert (answer.status, answer.code) == (403, "not_allowed"), origin


def test_options_are_refused_with_and_without_a_token(server: Server) -> None:
    for path in ("/v1/recall", "/health", "/nowhere", "/openapi.json"):
        for token in ("", None):
            assert server.send("OPTIONS", path, token=token).status == 405, path


def test_the_host_of_a_proxy_is_answered_if_it_was_allowed(server: Server) -> None:
    given = {"host": "memory.example.com", "origin": "https://memory.example.com"}
    assert server.post("notebook_show", **given).status == 200


@pytest.mark.parametrize(
    "header", ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via", "X-FORWARDED-PROTO"]
)
def test_files_of_this_machine_are_not_reached_through_a_proxy(
    server: Server, tmp_path: Path, header: str
) -> None:
    target = tmp_path / "copy.db"
    answer = server.post("backup", {"path": str(target)}, **{header: "for=127.0.0.1"})
    assert (answer.status, answer.code, target.exists()) == (403, "not_allowed", False)
    assert server.post("notebook_show", **{header: "127.0.0.1"}).status == 200


@pytest.mark.parametrize(
    ("name", "size", "status"),
    [
        ("recall", limits.BODY_BYTES, 400),
        ("recall", limits.BODY_BYTES + 1, 413),
        ("sessions_append", limits.BODY_BYTES + 1, 200),
        ("sessions_append", limits.APPEND_BYTES + 1, 413),
    ],
)
def test_a_body_over_the_limit_is_refused(server: Server, name: str, size: int, status: int) -> None:
    frame = json.dumps({"session_id": "s", "role": "user", "content": ""}).encode()
    body = frame[:-2] + b"x" * (size - len(frame)) + b'"}'
    assert len(body) == size
    assert server.post(name, body).status == status


def test_a_body_without_a_length_is_counted(server: Server) -> None:
    with server.connect() as one:
        one.sendall(_head(server, "recall", b"transfer-encoding: chunked"))
        chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        for _ in range(limits.BODY_BYTES // 0x10000 + 1):
            one.sendall(chunk)
        assert one.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("depth", [limits.JSON_DEPTH + 1, 1000, 10_000, 300_000])
@pytest.mark.parametrize("shape", ["list", "object"])
def test_deeply_nested_json_is_refused(server: Server, depth: int, shape: str) -> None:
    opening, closing = (b"[", b"]") if shape == "list" else (b'{"a":', b"}")
    inner = b"1" if shape == "object" else b""
    body = b'{"query":' + opening * (depth - 1) + inner + closing * (depth - 1) + b"}"
    answer = server.post("recall", body)
    assert answer.status in (400, 413)
    assert server.post("memory_status").status == 200


def test_slow_clients_do_not_keep_others_from_being_served(
    server: Server, settings: Settings, attempts: Callable[[int], None]
) -> None:
    attempts(2 * SLOW_CLIENTS)
    _, slow = create_token(settings, "slow", "read", now=time.time())
    with ExitStack() as stack:
        heads = [stack.enter_context(server.connect()) for _ in range(SLOW_CLIENTS)]
        bodies = [stack.enter_context(server.connect()) for _ in range(SLOW_CLIENTS)]
        for one in heads:
            one.sendall(b"POST /v1/recall HTTP/1.1\r\nHost: 127")
        for one in bodies:
            one.sendall(_head(server, "recall", b"content-length: 100", token=slow) + b"{")
        for _ in range(20):
            assert server.post("memory_status").status == 200
        # Without a word, and without waiting for the rest.
        assert [one.recv(100) for one in heads] == [b""] * SLOW_CLIENTS
    assert server.post("memory_status").status == 200


def test_slow_queries_of_one_token_leave_others_served(
    home: Path, settings: Settings, attempts: Callable[[int], None]
) -> None:
    attempts(limits.POOL)
    greedy, other = (create_token(settings, name, "read", now=time.time())[1] for name in ("greedy", "other"))
    body = json.dumps({"query": SLOW_QUERY, "read_only": True}).encode()
    length = f"content-length: {len(body)}".encode()
    with serving(home) as server, ExitStack() as stack:
        for _ in range(limits.POOL):
            stack.enter_context(server.connect()).sendall(
                _head(server, "sqlite_query", length, token=greedy) + body
            )
        while f"in_flight {limits.IN_FLIGHT}\n".encode() not in server.send("GET", "/metrics").body:
            pass
        refused = server.post("sqlite_query", {"query": "SELECT 1"}, token=greedy)
        assert (refused.status, refused.code) == (503, "busy")
        for _ in range(10):
            assert server.post("memory_status", token=other).status == 200
            assert server.post("recall", {"query": "launch"}, token=other).status == 200
        for name, given in (("memory_status", {}), ("recall", {"query": "launch"})):
            assert server.post(name, given, token=greedy).status == 200
        server.process.kill()
        server.process.wait()


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\r\n" * 50_000,
        b"POST /v1/recall HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"POST /v1/recall HTTP/1.1\r\nContent-Length: -1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 20_000 + b"\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=["TLS", "version", "blank lines", "two hosts", "length", "long path", "many headers", "HTTP 2"],
)
def test_what_is_not_a_request_is_refused_and_changes_nothing(server: Server, raw: bytes) -> None:
    with server.connect() as one:
        one.sendall(raw)
        one.shutdown(socket.SHUT_WR)
        assert SECRET.encode() not in one.recv(1000)
    assert server.post("memory_status").status == 200


def _head(server: Server, name: str, *more: bytes, token: str = "") -> bytes:
    lines = [
        f"POST /v1/{name} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}".encode(),
        f"Authorization: Bearer {token or server.token}".encode(),
        b"Content-Type: application/json",
        *more,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n"


# --- tokens -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def settings(home: Path) -> Settings:
    return Settings(home=home)


def test_a_token_reaches_its_own_space_only(server: Server, settings: Settings, home: Path) -> None:
    (theirs, text) = create_token(replace(settings, space="theirs"), "x", "admin", now=time.time())
    assert server.post("remember", {"text": "The safe is behind the clock"}, token=text).status == 200
    for name, given in (("notebook_show", {}), ("recall", {"query": "launch code"}), ("log", {})):
        answer = server.post(name, given, token=text)
        assert (answer.status, b"0000" in answer.body) == (200, False)
    assert server.post("sessions_show", {"session": "s"}, token=text).status == 404
    assert b"clock" not in server.post("recall", {"query": "where is the safe?"}).body
    # No argument and no header chooses another one.
    assert server.post("notebook_show", {"space": "default"}, token=text).status == 400
    answer = server.post("notebook_show", token=text, x_space="default", mnemos_space="default")
    assert SECRET.encode() not in answer.body
    assert theirs.id not in server.post("stats", token=text).body.decode()


REFUSED = (
    ("read", "remember", {"text": "x y z"}),
    ("read", "sessions_append", {"session_id": "s", "role": "user", "content": "x"}),
    ("read", "doctor", {"repair": True}),
    ("read", "sessions_delete", {"session": "s"}),
    ("read", "sqlite_query", {"query": "CREATE TABLE t (x)"}),
    ("write", "sessions_delete", {"session": "s"}),
    ("write", "forget", {"ref": "session:s"}),
    ("write", "undo", {}),
    ("write", "notebook_undo", {}),
    ("write", "memory", {"action": "remove", "old_text": "launch"}),
    ("write", "memory", {"operations": [{"action": "remove", "old_text": "launch"}]}),
    ("write", "memory_backend", {"action": "delete", "user_id": "u", "key": "k"}),
    ("write", "sqlite_query", {"query": "DROP TABLE people"}),
    ("write", "sqlite_query", {"query": "SELECT 1; -- x\n/* y */ delete/**/FROM people"}),
    ("write", "sqlite_query", {"query": "WITH a AS (SELECT 1) DELETE FROM people"}),
    ("write", "sqlite_query", {"query": "ALTER TABLE people DROP name"}),
    ("write", "sqlite_query", {"query": "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM people; END"}),
    ("write", "sqlite_query", {"query": "DROP TABLE people", "plan": True}),
    ("write", "sqlite_restore", {"database": "default"}),
    ("write", "backup", {"path": "copy.db"}),
    ("admin", "backup", {"path": "copy.db"}),
    ("admin", "restore", {"path": "copy.db"}),
    ("admin", "connect_cursor", {}),
    ("admin", "import_jsonl", {"path": "x"}),
)


@pytest.mark.parametrize(("scope", "name", "arguments"), REFUSED)
def test_a_lower_scope_is_refused(
    server: Server, settings: Settings, scope: str, name: str, arguments: dict[str, Any]
) -> None:
    _, text = create_token(settings, "x", scope, now=time.time())
    for query in ("", "?preview=true", "?text=false"):
        answer = server.post(name + query, arguments, token=text)
        assert (answer.status, answer.code) == (403, "not_allowed")
    assert server.post("sessions_show", {"session": "s"}, token=text).status == 200


def test_the_log_names_the_token_that_made_a_change_or_asked(server: Server, settings: Settings) -> None:
    _, text = create_token(settings, "greenhouse", "write", now=time.time())
    assert server.post("notebook_add", {"content": "Water the plants"}, token=text).status == 200
    assert server.post("log", {"limit": 1}, token=text).json["entries"][0]["actor"] == "greenhouse"
    assert server.post("notebook_add", {"content": "Feed the fish"}).status == 200
    assert server.post("log", {"limit": 1}).json["entries"][0]["actor"] not in ("greenhouse", "")


def test_expired_and_revoked_tokens_are_refused_by_a_running_server(
    server: Server, settings: Settings
) -> None:
    _, expired = create_token(settings, "x", "admin", days=1, now=time.time() - 2 * 86_400)
    kept, revoked = create_token(settings, "x", "admin", now=time.time())
    assert server.post("notebook_show", token=revoked).status == 200
    revoke_token(settings, kept.id)
    answers = [server.post("notebook_show", token=text) for text in (expired, revoked)]
    assert [(answer.status, answer.code) for answer in answers] == [(401, "unauthenticated")] * 2


def test_mcp_takes_the_same_tokens_with_the_same_limits(home: Path, settings: Settings) -> None:
    _, reading = create_token(settings, "x", "read", now=time.time())
    _, elsewhere = create_token(replace(settings, space="elsewhere"), "x", "write", now=time.time())
    with serving(home, "--mcp", "--tools", "all") as server:
        with connected(Served(f"http://127.0.0.1:{server.port}/mcp", reading), "auto") as client:
            assert SECRET in client.call_tool("notebook_show", {}).content[0].text
            assert SECRET in client.read_resource("mnemos://notebook").contents[0].text
            refused = client.call_tool("notebook_add", {"content": "x y z"})
            assert (refused.is_error, refused.structured_content["error"]["code"]) == (True, "not_allowed")
        with connected(Served(f"http://127.0.0.1:{server.port}/mcp", elsewhere), "legacy") as client:
            assert SECRET not in client.call_tool("notebook_show", {}).content[0].text
            assert SECRET not in client.read_resource("mnemos://notebook").contents[0].text
            assert not client.call_tool("notebook_add", {"content": "x y z"}).is_error
        assert "x y z" not in str(server.post("notebook_show").json)


STREAMED = (
    ("POST", "/v1/sessions_export", "application/x-ndjson", "application/json"),
    ("POST", "/v1/export", "application/zstd", "application/json"),
    ("POST", "/v1/backup", "application/vnd.sqlite3", "application/json"),
    ("POST", "/v1/notebook_show", "text/event-stream", "application/json"),
    ("POST", "/v1/import_jsonl", "application/json", "application/x-ndjson"),
    ("GET", "/v1/events", "text/event-stream", ""),
    ("GET", "/openapi.json", "application/json", ""),
    ("GET", "/metrics", "text/plain", ""),
)


def test_streams_files_and_events_pass_the_same_checks(
    server: Server, settings: Settings, attempts: Callable[[int], None]
) -> None:
    _, elsewhere = create_token(settings, "x", "read", operations="recall", now=time.time())
    port = f"127.0.0.1:{server.port}"
    wrong: tuple[tuple[str | None, dict[str, str], int], ...] = (
        ("", {}, 401),
        ("mnm_00000000_" + "x" * 43, {}, 401),
        (None, {"host": "evil.example"}, 421),
        (None, {"host": port, "origin": "http://evil.example"}, 403),
    )
    attempts(len(STREAMED) * len(wrong))
    for method, path, accept, media in STREAMED:
        sent = {"accept": accept, **({"content-type": media} if media else {})}
        for token, headers, status in wrong:
            answer = server.send(method, path, b"{}" if media else None, token=token, **sent, **headers)
            assert answer.status == status, (path, headers)
            assert SECRET.encode() not in answer.body
        if path.startswith("/v1/"):
            answer = server.send(method, path, b"{}" if media else None, token=elsewhere, **sent)
            assert (answer.status, answer.code) == (403, "not_allowed"), path


def test_no_token_and_no_content_is_in_the_log_the_metrics_or_the_files_of_the_home(
    home: Path, settings: Settings, attempts: Callable[[int], None]
) -> None:
    _, text = create_token(settings, "noisy", "admin", now=time.time())
    said = "an unmistakable sentence about marmalade"
    with serving(home) as server:
        for query in ("", "?text=false", "?person=true", f"?{said.replace(' ', '+')}=true"):
            server.post(f"remember{query}", {"text": said}, token=text)
            server.post(f"recall{query}", {"query": said}, token=text, accept="text/event-stream")
            server.post(f"{said.replace(' ', '_')}{query}", {}, token=text)
        server.send("GET", f"/v1/events?since={text}", token=text)
        server.post("recall", {"query": text}, token=text)
        metrics = server.send("GET", "/metrics", token=text).body.decode()
        assert server.stop() == 0
        log = "".join(server.log)
    attempts(14)
    assert "remember" in log
    assert "remember" in metrics
    for secret in (text, text.rpartition("_")[2], "marmalade"):
        assert secret not in log + metrics
    kept = b"".join(one.read_bytes() for one in home.rglob("*") if one.is_file())
    assert b"marmalade" in kept
    assert text.encode() not in kept


# --- with shorter limits, in this process -----------------------------------------------------------


async def _swallow(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body"})


async def _dawdle(scope: Any, receive: Any, send: Any) -> None:
    """Take a body only after the time in which a client must send it."""
    await asyncio.sleep(4 * limits.BODY_SECONDS)
    await _swallow(scope, receive, send)


@contextmanager
def _listening(app: Any = _swallow) -> Iterator[int]:
    serving = make_server(app, lifespan=False)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        thread = threading.Thread(target=lambda: asyncio.run(serving.serve(sockets=[listening])))
        thread.start()
        try:
            yield port
        finally:
            serving.should_exit = True
            thread.join()


PIECES = {
    "nothing": [],
    "half a head": [b"GET / HTTP/1.1\r\nHo"],
    "half a second head": [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET / HT"],
    "half a body": [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n12"],
    "half a chunk": [b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n12"],
    "blank lines": [b"\r\n\r\n"],
    "blank lines after a second request": [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n\r\n"],
}


@pytest.mark.parametrize("kind", PIECES)
def test_a_connection_that_goes_quiet_is_closed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.05)
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    with _listening() as port, socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        received = b""
        for number, piece in enumerate(PIECES[kind]):
            received += one.recv(1000) if number else b""
            one.sendall(piece)
        while more := one.recv(1000):
            received += more
        assert received.count(b"HTTP/1.1 204") == (1 if "second" in kind else 0)


def test_a_client_is_not_cut_off_where_the_server_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    body = b"x" * 50_000_000
    with _listening(_dawdle) as port, socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        one.sendall(f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        one.sendall(body)
        assert one.recv(12) == b"HTTP/1.1 204"


def _send_headers(one: socket.socket) -> None:
    for _ in range(10_000):
        one.sendall(b"a: " + b"b" * 10_000 + b"\r\n")


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "second"])
def test_a_head_without_end_is_cut_off(first: bytes) -> None:
    with _listening() as port, socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        if first:
            one.sendall(first)
            assert one.recv(1000).startswith(b"HTTP/1.1 204")
        one.sendall(b"GET / HTTP/1.1\r\n")
        with pytest.raises(OSError, match=r"reset|[Bb]roken"):
            _send_headers(one)


def test_the_next_request_may_begin_before_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HEAD_SECONDS", 0.05)
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.1)
    whole = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    with _listening(_dawdle) as port, socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        one.sendall(whole + whole[:9])
        assert one.recv(1000).startswith(b"HTTP/1.1 204")
        # The rest never comes.
        assert one.recv(1000) == b""


def test_an_offer_to_upgrade_is_answered_as_if_it_were_not_there() -> None:
    offer = b"Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
    with _listening() as port, socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        one.sendall(b"POST / HTTP/1.1\r\n" + offer + b"Content-Length: 2\r\n\r\n{}")
        assert one.recv(1000).startswith(b"HTTP/1.1 204")

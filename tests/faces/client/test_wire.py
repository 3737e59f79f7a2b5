"""The connection to a server: what is sent again and what is not, errors, tokens, threads and processes."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, Self

import pytest

import mnemos
from mnemos.client import wire
from mnemos.client.remote_memory import connect
from mnemos.client.wire import Address, Wire, make_error
from mnemos.errors import (
    Busy,
    Disabled,
    InvalidInput,
    MnemosError,
    NotAllowed,
    NotFound,
    ReadOnly,
    StorageError,
    TimedOut,
    TooLarge,
    Unavailable,
)

from ..http.servers import Server, serving
from ..http.test_api import every_error

TOKEN = "mnm_" + "x" * 40
OK = {"sessions": [], "total": 0, "text": "No sessions."}


class Script:
    """A server that plays answers in order: a value, bytes as they are, or None to hang up."""

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.requests: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.close()
        self._thread.join(30)

    def _serve(self) -> None:
        while self._answers:
            connection, _ = self._listening.accept()
            with connection:
                while self._answers and self._answer(connection):
                    pass

    def _answer(self, connection: socket.socket) -> bool:
        if not (request := _read_request(connection)):
            return False
        self.requests.append(request)
        answer = self._answers.pop(0)
        if answer is None:
            return False
        if not isinstance(answer, bytes):
            status, value = answer if isinstance(answer, tuple) else (200, answer)
            body = json.dumps(value).encode()
            head = f"HTTP/1.1 {status} X\r\nRetry-After: 0\r\nContent-Length: {len(body)}\r\n\r\n"
            answer = head.encode() + body
        connection.sendall(answer)
        return True


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := connection.recv(65536)):
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(v) for k, v in _headers(head) if k == b"content-length"), 0)
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def _headers(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        yield name.strip().lower(), value.strip()


def connected(script: Script) -> Any:
    return connect(script.url, TOKEN)


# --- what is sent again ---------------------------------------------------------------------


def test_a_read_is_sent_again_once_after_a_lost_connection() -> None:
    with Script(None, OK) as script, closing(connected(script)) as memory:
        assert memory.sessions.session_count() == 0
        assert len(script.requests) == 2
    with Script(None, None) as script, closing(connected(script)) as memory:
        with pytest.raises(Unavailable, match="was lost") as caught:
            memory.sessions.session_count()
        assert len(script.requests) == 2
        assert "may have been done" not in str(caught.value)


def test_a_write_is_never_sent_twice_and_the_error_says_that_it_may_have_been_done() -> None:
    with Script(None, {"message_ids": [1]}) as script, closing(connected(script)) as memory:
        with pytest.raises(Unavailable, match="may have been done"):
            memory.sessions.append_message("s", "user", "hi")
        assert len(script.requests) == 1
        # The next one has a connection of its own.
        assert memory.sessions.append_message("s", "user", "hi") == 1


def test_an_answer_that_ends_early_counts_as_lost() -> None:
    half = b"HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\n{"
    lost = pytest.raises(Unavailable, match="may have been done")
    with Script(half) as script, closing(connected(script)) as memory, lost:
        memory.sessions.append_message("s", "user", "hi")


def test_a_connection_that_the_server_closed_meanwhile_is_not_used_for_a_write() -> None:
    with Script(OK) as script, closing(connected(script)) as memory:
        assert memory.sessions.session_count() == 0
        script._thread.join(30)
        # The script has hung up. A write on the old connection would be lost; a new one is refused at once.
        script._listening.close()
        with pytest.raises(Unavailable, match="cannot be reached"):
            memory.sessions.append_message("s", "user", "hi")


def test_an_idle_connection_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []
    with Script(OK, OK, OK, OK) as script, closing(connected(script)) as memory:
        original = Wire._connect
        monkeypatch.setattr(Wire, "_connect", lambda self, s: made.append(1) or original(self, s))
        for _ in range(3):
            memory.sessions.session_count()
        assert len(made) == 1
        monkeypatch.setattr(wire, "_IDLE_SECONDS", 0.0)
        memory.sessions.session_count()
        assert len(made) == 2


def test_a_token_that_is_used_too_often_waits_and_is_sent_again() -> None:
    busy = (429, {"error": {"code": "rate_limited", "message": "Try again."}, "request_id": "r"})
    with Script(busy, busy, {"message_ids": [5]}) as script, closing(connected(script)) as memory:
        assert memory.sessions.append_message("s", "user", "hi") == 5
    with Script(*[busy] * wire._WAITS) as script, closing(connected(script)) as memory:
        with pytest.raises(Busy) as caught:
            memory.sessions.append_message("s", "user", "hi")
        assert caught.value.code == "rate_limited"


def test_an_answer_that_does_not_come_raises_timed_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection = Wire(Address.parse(f"http://127.0.0.1:{listening.getsockname()[1]}"), TOKEN)
        for writes, advice in ((True, "may have been done"), (False, "Nothing was changed")):
            with pytest.raises(TimedOut, match=advice):
                connection.run("log", {}, writes=writes, seconds=0.05)
        connection.close()


# --- errors ---------------------------------------------------------------------------------


def test_every_error_comes_back_as_its_class_with_its_message() -> None:
    for kind in every_error():
        error = make_error(409, kind.code, "Told so.", "abc")
        assert type(error) is kind
        assert str(error) == "Told so."
        assert "abc" in error.__notes__[0]


def test_codes_that_no_class_has_come_back_as_a_near_one() -> None:
    for status, code, kind in (
        (401, "unauthenticated", NotAllowed),
        (418, "new", mnemos.errors.Refused),
        (599, "new", Unavailable),
    ):
        error = make_error(status, code, "x")
        assert (type(error), error.code) == (kind, code)


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 502 Bad\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        (500, {"detail": "not ours"}),
        (500, {"error": "not ours"}),
    ],
)
def test_a_server_that_is_not_ours_is_said_to_be_so(answer: Any) -> None:
    with (
        Script(answer) as script,
        closing(connected(script)) as memory,
        pytest.raises(Unavailable, match="did not answer as Mnemos does"),
    ):
        memory.sessions.append_message("s", "user", "hi")


def test_no_error_has_the_token_in_it() -> None:
    with Script(None, None) as script, closing(connected(script)) as memory:
        with pytest.raises(MnemosError) as caught:
            memory.sessions.session_count()
        assert TOKEN not in "".join(map(str, (caught.value, caught.value.__cause__)))


# --- opening --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "http://:80",
        "http://u:secret@h",
        "http://h?x=1",
        "http://h#x",
        "http://h:99999",
        "http://[::1",
    ],
)
def test_a_url_that_is_not_a_servers_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        mnemos.open(url, token=TOKEN)
    assert "secret" not in str(caught.value)


def test_what_a_server_decides_cannot_be_set() -> None:
    for given in ({"space": "work"}, {"durability": "full"}, {"clock": lambda: 1.0}):
        with pytest.raises(InvalidInput, match=min(given)):
            mnemos.open("http://127.0.0.1:1", token=TOKEN, **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="token"):
        mnemos.open(":memory:", token=TOKEN)
    with pytest.raises(InvalidInput, match="characters"):
        mnemos.open("http://127.0.0.1:1", token="a\r\nX-Evil: 1")


def test_nobody_listening_is_said_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(Unavailable, match="Is the server running"):
        mnemos.open(f"http://127.0.0.1:{port}", token=TOKEN)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("wire") / "home"
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "test")
    with serving(home) as one:
        yield one


def url_of(server: Server) -> str:
    return f"http://localhost:{server.port}/"


def test_the_token_comes_from_the_argument_the_environment_or_the_home(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MNEMOS_HOME", str(server.home))
    with mnemos.open(url_of(server)) as memory:
        assert memory.sessions.session_count() == 1
    monkeypatch.setenv("MNEMOS_TOKEN", "mnm_wrong")
    with pytest.raises(NotAllowed) as caught:
        mnemos.open(url_of(server))
    assert caught.value.code == "unauthenticated"
    assert "does not accept the token" in str(caught.value)
    with mnemos.open(url_of(server), token=server.token) as memory:
        assert memory.sessions.session_count() == 1
    monkeypatch.delenv("MNEMOS_TOKEN")
    monkeypatch.setenv("MNEMOS_HOME", str(tmp_path / "other"))
    with pytest.raises(NotAllowed, match="MNEMOS_TOKEN"):
        mnemos.open(url_of(server))
    monkeypatch.setenv("MNEMOS_HOME", str(server.home))
    with pytest.raises(NotAllowed, match="No token"):
        # The owner's token is not sent to other machines.
        mnemos.open("http://192.0.2.1:8765")


def test_a_memory_opened_for_reading_sends_no_write(server: Server) -> None:
    with mnemos.open(url_of(server), token=server.token, read_only=True) as memory:
        assert memory.sessions.session_count() == 1
        for write in (
            lambda: memory.sessions.append_message("s", "user", "x"),
            lambda: memory.call("doctor", {"repair": True}),
        ):
            with pytest.raises(ReadOnly):
                write()
        assert memory.call("doctor")["healthy"] is True
        assert memory.sessions.message_count() == 0


def test_a_closed_memory_says_so_and_closes_twice(server: Server) -> None:
    memory = mnemos.open(url_of(server), token=server.token)
    memory.close()
    memory.close()
    with pytest.raises(StorageError, match="closed"):
        memory.sessions.session_count()


def test_a_disabled_server_answers_as_a_disabled_memory(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "test")
    (home / "config.toml").write_text("disabled = true\n")
    (home / "token").write_text(TOKEN)
    (home / "token").chmod(0o600)
    with serving(home) as server, mnemos.open(url_of(server), token=TOKEN) as memory:
        assert memory.sessions.append_message("s", "user", "x") == 0
        assert memory.call("remember", {"text": "x is y"})["disabled"] is True
        with pytest.raises(Disabled):
            memory.remember("x is y")


def test_values_that_json_does_not_have_are_refused_before_anything_is_sent(server: Server) -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep]
    with mnemos.open(url_of(server), token=server.token) as memory:
        for value in (float("nan"), b"x", {1}, deep, object()):
            with pytest.raises(InvalidInput):
                memory.sessions.append_message("s", "user", "x", metadata={"value": value})
        with pytest.raises(InvalidInput):
            memory.call("sessions_append", {"session_id": "s", "messages": [{"role": "user", "x": deep}]})
        assert memory.sessions.message_count() == 0


def test_text_comes_back_as_it_was_sent(server: Server) -> None:
    texts = [
        "a\0b",
        "\u202eright to left",
        "中文 🎉 e\u0301",
        "line\r\n\ttab",
        "\u2028",
        "<script>",
        "\\n",
        "x" * 2_000_000,
    ]
    with mnemos.open(url_of(server), token=server.token) as memory:
        memory.sessions.create_session("ü/ñ 中:文?#&%00", "test")
        memory.sessions.append_messages(
            "ü/ñ 中:文?#&%00", [{"role": "user", "content": text} for text in texts]
        )
        assert [one["content"] for one in memory.sessions.get_messages("ü/ñ 中:文?#&%00")] == texts
        with pytest.raises(TooLarge):
            memory.sessions.append_message("s", "user", "x" * 17_000_000)
        memory.forget("session:ü/ñ 中:文?#&%00")


def test_an_async_memory_of_a_server_has_parts_iterators_and_calls(server: Server) -> None:
    async def main() -> None:
        async with mnemos.aopen(url_of(server), token=server.token) as memory:
            await memory.sessions.ensure_session("async", "test")
            stored = await memory.sessions.append_message("async", "user", "The van is inspected in March")
            answer = await memory.recall("when is the van inspected?", session_ids=["async"])
            assert answer.hits[0].ref == stored
            assert "async" in [one["id"] async for one in memory.sessions.export_all("test")]
            assert (await memory.call("sessions_show", {"session": "async"}))["messages"][0]["id"] == stored
            assert "schema" in [check.name async for check in memory.doctor()]
            await memory.forget("session:async")

    asyncio.run(main())


# --- threads, processes, faults ----------------------------------------------------------------


def test_threads_share_a_memory_and_every_write_is_stored_once(server: Server) -> None:
    with mnemos.open(url_of(server), token=server.token) as memory:
        memory.sessions.create_session("threads", "test")

        def write(number: int) -> int:
            return memory.sessions.append_message("threads", "user", f"line {number} 🧵")

        with ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(write, range(40)))
        stored = {one["id"]: one["content"] for one in memory.sessions.get_messages("threads")}
        assert stored == {one: f"line {number} 🧵" for number, one in enumerate(ids)}


def test_a_forked_process_has_connections_of_its_own(server: Server) -> None:
    program = f"""
import os, mnemos
memory = mnemos.open({url_of(server)!r}, token={server.token!r})
memory.sessions.ensure_session("fork", "test")
children = []
for number in range(3):
    pid = os.fork()
    if pid == 0:
        for turn in range(5):
            memory.sessions.append_message("fork", "user", f"{{number}}:{{turn}}")
        os._exit(0)
    children.append(pid)
for turn in range(5):
    memory.sessions.append_message("fork", "user", f"parent:{{turn}}")
assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
said = [one["content"] for one in memory.sessions.get_messages("fork")]
assert len(said) == len(set(said)) == 20, said
memory.close()
"""
    subprocess.run([sys.executable, "-X", "dev", "-W", "error", "-c", program], check=True, timeout=60)


def test_after_a_killed_server_the_next_one_is_used(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "test")
    with serving(home) as first:
        port, token = first.port, first.token
        memory = mnemos.open(f"http://127.0.0.1:{port}", token=token)
        stored = memory.sessions.append_message("s", "user", "before")
        first.process.kill()
        first.process.wait()
    with pytest.raises(Unavailable, match="cannot be reached"):
        memory.sessions.append_message("s", "user", "lost")
    with serving(home, "--port", str(port)):
        assert [one["id"] for one in memory.sessions.get_messages("s")] == [stored]
        assert memory.sessions.append_message("s", "user", "after") > stored
    memory.close()


def test_opening_a_folder_loads_no_client_and_importing_mnemos_stays_light() -> None:
    program = """
import sys, mnemos
with mnemos.open(":memory:"):
    pass
loaded = {"http.client", "mnemos.client", "asyncio", "ssl"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env=os.environ)


def test_an_unknown_session_is_not_found_even_if_an_id_begins_like_it(server: Server) -> None:
    with mnemos.open(url_of(server), token=server.token) as memory:
        memory.sessions.create_session("whole-id", "test", title="whole")
        for name in ("whole", "whole-i", "session:whole"):
            with pytest.raises(NotFound):
                memory.sessions.end_session(name, "done")
        assert memory.sessions.get_session("whole-id")["ended_at"] is None  # type: ignore[index]

"""Clients over a pipe that send what no client should, leave in the middle, or come in numbers."""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemos.memory import Memory
from mnemos.operations.index import ENTRIES

from .wire import SECONDS, Wire, code_of, in_order

AT_ONCE = 50
MEGABYTES = 10


@pytest.fixture(scope="module")
def wire(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """One server for all that do not end it; nothing it says is lost in its log."""
    home = tmp_path_factory.mktemp("wire") / "home"
    shutil.copytree(filled / "home", home)
    with Wire(home, "--tools", "all") as served:
        yield served
        assert served.end() == (0, "")


def messages(home: Path) -> list[str]:
    with Memory.at(home) as memory:
        return [message["content"] for message in memory.sessions.get_messages("empty")]


def note(number: int) -> dict[str, str]:
    return {"session_id": "empty", "role": "user", "content": f"note {number}"}


# --- what no client should send ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code", "to"),
    [
        (b"{no json", -32700, None),
        (b"\xff\xfe\x00", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"null", -32600, None),
        (b"[]", -32600, None),
        (b'{"id": 9003}', -32600, 9003),
        (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": 9004, "method": "tools/call", "params": [1]}', -32600, 9004),
        (b'{"jsonrpc": "2.0", "id": 9005, "method": "no/such"}', -32601, 9005),
        (b'{"jsonrpc": "2.0", "id": 9006, "method": "tools/call"}', -32602, 9006),
        (b'{"jsonrpc": "2.0", "id": 9007, "method": "tools/call", "params": {"name": 1}}', -32602, 9007),
        (
            b'{"jsonrpc":"2.0", "id": 9008, "method": "tools/call", "params": {"name": "", "arguments": []}}',
            -32602,
            9008,
        ),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else str(value),
)
def test_a_line_that_is_not_a_request_is_answered(
    wire: Wire, line: bytes, code: int, to: int | str | None
) -> None:
    wire.write(line)
    (answer,) = wire.answers_before_a_ping()
    assert (answer["error"]["code"], answer["id"]) == (code, to)
    assert answer["error"]["message"]


@pytest.mark.parametrize("line", [b"", b"  \t", b'{"jsonrpc": "2.0", "id": 1, "result": {}}'])
def test_a_line_that_asks_nothing_gets_no_answer(wire: Wire, line: bytes) -> None:
    wire.write(line)
    assert wire.answers_before_a_ping() == []


@pytest.mark.parametrize("arguments", [None, {}, {"query": None}, {"query": {}}, {"query": 1}, {"": ""}])
def test_arguments_that_do_not_fit_are_a_failure_of_the_tool(wire: Wire, arguments: object) -> None:
    assert code_of(wire.call("recall", arguments)) == "invalid_input"


def test_null_stands_for_an_argument_left_out(wire: Wire) -> None:
    assert "isError" not in wire.call("recall", {"query": "train", "kinds": None, "since": None})


def test_half_a_character_is_taken(wire: Wire) -> None:
    result = wire.call("recall", {"query": "half \ud800 of it"})
    assert result["structuredContent"]["query"] == "half \ufffd of it"


def test_an_error_about_an_unknown_tool_lists_the_offered_ones(wire: Wire) -> None:
    near, far = wire.call("memory_wirte", {}), wire.call("zzz", {})
    assert code_of(near) == code_of(far) == "not_found"
    assert "memory_write" in near["content"][0]["text"]
    assert all(entry.name in far["content"][0]["text"] for entry in ENTRIES)


def test_ten_megabytes_come_through(wire: Wire) -> None:
    text = "0123456789" * (MEGABYTES * 100_000)
    assert "isError" not in wire.call("sessions_create", {"session_id": "large"})
    stored = wire.call("sessions_append", {"session_id": "large", "role": "user", "content": text})
    assert "isError" not in stored
    shown = wire.call("sessions_show", {"session": "large"})
    assert shown["structuredContent"]["messages"][0]["content"] == text


def test_fifty_calls_at_once_are_all_answered(wire: Wire) -> None:
    asked = [
        wire.begin("sessions_append", note(n)) if n % 2 else wire.begin("sessions_list", {"limit": 3})
        for n in range(AT_ONCE)
    ]
    answers = [wire.receive() for _ in asked]
    assert in_order(answers) == asked
    assert not any("isError" in answer["result"] for answer in answers)


def test_a_call_that_was_given_up_does_not_disturb_the_next(wire: Wire) -> None:
    number = wire.begin("optimize", {"seconds": 0.1})
    wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    assert "isError" not in wire.call("stats", {})


# --- how it ends ---------------------------------------------------------------------------------


def test_who_closes_only_the_input_gets_every_answer(shop: Path) -> None:
    with Wire(shop, "--tools", "all") as wire:
        asked = [wire.begin("sessions_append", note(n)) for n in range(AT_ONCE)]
        out, said = wire.process.communicate(timeout=SECONDS)
        assert (wire.process.returncode, said) == (0, b"")
    assert in_order([json.loads(line) for line in out.splitlines()]) == asked
    assert len(messages(shop)) == AT_ONCE


def test_what_was_asked_is_done_though_the_client_has_left(shop: Path) -> None:
    with Wire(shop, "--tools", "all") as wire:
        for n in range(AT_ONCE):
            wire.begin("sessions_append", note(n))
        assert wire.process.stdout is not None
        wire.process.stdout.close()
        assert wire.end() == (0, "")
    assert sorted(messages(shop)) == sorted(f"note {n}" for n in range(AT_ONCE))


def test_an_interrupt_ends_the_server_in_good_order(shop: Path) -> None:
    with Wire(shop, "--tools", "all") as wire:
        wire.call("sessions_append", note(1))
        wire.process.send_signal(signal.SIGINT)
        assert wire.process.wait(SECONDS) == 0
        assert wire.end() == (0, "")
    # A database that was closed has left no log behind.
    assert not (shop / "mnemos.db-wal").exists()
    assert messages(shop) == ["note 1"]


def test_a_client_that_does_not_read_cannot_keep_the_server_alive(shop: Path) -> None:
    with Wire(shop, "--tools", "all") as wire:
        wire.call("sessions_append", note(1) | {"content": "long " * 50_000})
        for _ in range(4):
            wire.begin("sessions_show", {"session": "empty"})
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(SECONDS) == 0


def test_what_was_acknowledged_survives_a_kill(shop: Path) -> None:
    with Wire(shop, "--tools", "all") as wire:
        for n in range(AT_ONCE):
            wire.begin("sessions_append", note(n))
        known = [wire.receive() for _ in range(AT_ONCE // 2)]
        wire.process.kill()
    stored = messages(shop)
    assert len(stored) >= len(known)
    assert set(stored) <= {f"note {n}" for n in range(AT_ONCE)}
    with Memory.at(shop) as memory:
        assert all(check.ok for check in memory.doctor())


def test_two_servers_share_a_home(shop: Path) -> None:
    def write(wire: Wire) -> list[bool]:
        return ["isError" in wire.call("sessions_append", note(n)) for n in range(AT_ONCE)]

    with Wire(shop, "--tools", "all") as one, Wire(shop, "--tools", "all") as two:
        with ThreadPoolExecutor() as pool:
            assert not any(failed for failures in pool.map(write, (one, two)) for failed in failures)
        assert (one.end(), two.end()) == ((0, ""), (0, ""))
    assert len(messages(shop)) == 2 * AT_ONCE

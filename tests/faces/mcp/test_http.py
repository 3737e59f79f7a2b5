"""The duties of a server on a port: who may reach it, and whose call it is."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import Refused
from mnemos.faces.http.address import Address, Exposure
from mnemos.settings import Settings

from ..conftest import Mnemos
from .connections import Served, connected, serving
from .wire import INITIALIZE

MODERN = "2026-07-28"
# Ways to say "every address", names, and what is neither.
ELSEWHERE = (
    *("", "*", "[]", "0", "0x0", "00", "0.0", "000.0.0.0", "0000:0000::", "[::]", "::ffff:0.0.0.0", "::%lo"),
    *("example.com", "localhost.example.com", "127.0.0.1.example.com", "ip6-localhost", "any", "all"),
    *("10.1", "169.254.1.1", "2130706434000", "-1", " ", "127.0.0.1/8", "０.0.0.0", "a\0b", "\ud800"),
)


@pytest.fixture(scope="module")
def served(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("port") / "home"
    shutil.copytree(filled / "home", home)
    # A client that stays connected must not keep the server from ending.
    with serving(home, "--tools", "all") as one, connected(one, "legacy"):
        yield one


def post(
    served: Served, message: Any, method: str = "POST", path: str = "/mcp", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    sent = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        **served.headers,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    connection.request(method, path, body, sent)
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, read


def question(method: str, params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


GREETING = question("initialize", INITIALIZE)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_this_machine_is_served_by_all_its_names(served: Served, host: str) -> None:
    status, headers, _ = post(
        served, GREETING, host=f"{host}:{served.port}", origin=f"http://{host}:{served.port}"
    )
    assert status == 200
    assert headers["mcp-session-id"]


@pytest.mark.parametrize("era", [{}, {"mcp_protocol_version": MODERN}], ids=["2025", "2026"])
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:{port}"},
        {"host": "127.0.0.1.evil.example:{port}"},
        {"host": "127.0.0.1:1"},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost.evil.example:{port}"},
        {"origin": "null"},
    ],
    ids=lambda headers: str(*headers.values()),
)
def test_another_site_cannot_reach_it_through_a_browser(
    served: Served, era: dict[str, str], headers: dict[str, str]
) -> None:
    sent = {name: value.format(port=served.port) for name, value in headers.items()}
    status, _, body = post(served, GREETING, **era, **sent)
    assert status in (403, 421)
    assert b"mnemos" not in body


def test_there_is_nothing_to_listen_to(served: Served) -> None:
    status, headers, _ = post(served, b"", method="GET")
    assert (status, headers["allow"]) == (405, "POST, DELETE")


def test_elsewhere_is_nothing(served: Served) -> None:
    assert post(served, GREETING, path="/")[0] == 404


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"null", b'{"jsonrpc": "2.0"}', b"[" * 100_000])
@pytest.mark.parametrize("era", [{}, {"mcp_protocol_version": MODERN}], ids=["2025", "2026"])
def test_a_body_that_is_not_a_request_is_refused(served: Served, body: bytes, era: dict[str, str]) -> None:
    assert 400 <= post(served, body, **era)[0] < 500
    assert post(served, GREETING)[0] == 200


def test_ten_megabytes_come_through(served: Served) -> None:
    _, headers, _ = post(served, GREETING)
    name = headers["mcp-session-id"]
    asked = question("tools/call", {"name": "recall", "arguments": {"query": "", "source": "y" * 10**7}})
    status, _, body = post(served, asked, mcp_session_id=name)
    assert status == 200
    assert json.loads(body)["result"]["structuredContent"]["query"] == ""


def test_a_session_that_the_server_does_not_know_is_not_found(served: Served) -> None:
    asked = question("tools/list", {})
    assert post(served, asked, mcp_session_id="0" * 32)[0] == 404


def test_each_connection_is_a_session_of_its_own(served: Served) -> None:
    def scope_of(connection: str, **arguments: str) -> str | None:
        asked = question("tools/call", {"name": "memory_write", "arguments": arguments})
        _, _, body = post(served, asked, mcp_session_id=connection)
        (fact,) = json.loads(body)["result"]["structuredContent"]["facts"]
        scope: str | None = fact["scope"]
        return scope

    one, other = (post(served, GREETING)[1]["mcp-session-id"] for _ in range(2))
    assert scope_of(one, content="D[auth]: tokens", scope="login") == "login"
    # A fact without a scope goes into the scope of the session.
    assert scope_of(one, content="V[auth.days]: 7") == "login"
    assert scope_of(other, content="V[shop.name]: Fjord") is None
    assert scope_of(other, content="V[auth.port]: 80", session_id=f"mcp-{one}") == "login"


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("LOCALHOST", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("[[::1]]", "::1"),
        ("127.0.0.9", "127.0.0.9"),
        ("[::1]", "::1"),
        ("::1", "::1"),
    ],
)
def test_an_address_of_this_machine_is_taken(written: str, host: str, tmp_path: Path) -> None:
    address = Address.make(written, 80)
    assert address == Address(host, 80)
    Exposure().check_address(address, Settings(home=tmp_path))


@pytest.mark.parametrize("host", [*ELSEWHERE, "0.0.0.0", "::", "192.168.1.7", "8.8.8.8"])
def test_an_address_that_others_reach_is_not(host: str, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        Exposure().check_address(Address.make(host, 80), Settings(home=tmp_path))


def test_a_port_in_use_is_reported(mnemos: Mnemos) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = mnemos("serve", "--mcp", "--port", str(port))
    assert answer.code == 5
    assert str(port) in answer.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("serve", "--host", "0.0.0.0"), 4),
        (("serve", "--mcp", "--host", "0.0.0.0"), 4),
        (("serve", "--mcp", "--host", ""), 4),
        (("serve", "--mcp", "--host", "*"), 4),
        (("serve", "--mcp", "--host", "0"), 4),
        (("serve", "--mcp", "--host", "[::]"), 4),
        (("serve", "--mcp", "--port", "0", "--tools", "backup,restore"), 4),
        (("serve", "--mcp", "--port", "0", "--tools", "no_such"), 2),
        (("mcp", "--http", "127.0.0.1:1"), 2),
        (("mcp", "--tools", ""), 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_line_that_cannot_be_served_ends_with_its_code(
    mnemos: Mnemos, arguments: tuple[str, ...], code: int
) -> None:
    assert mnemos(*arguments).code == code

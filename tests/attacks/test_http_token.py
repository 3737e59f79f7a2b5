"""MCP over HTTP without a token: another user of the machine, or a web page, reads nothing."""

from __future__ import annotations

import http.client
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from faces.mcp.connections import Served, connected, serving
from faces.mcp.wire import INITIALIZE
from mnemos.errors import MnemosError
from mnemos.faces.cli.app import run
from mnemos.memory import Memory
from mnemos.memory.access_tokens import NAME, load_owner_token
from mnemos.settings import Settings
from mnemos.text.secrets import redact

MODERN = "2026-07-28"
ERAS: dict[str, dict[str, str]] = {"2025": {}, "2026": {"mcp-protocol-version": MODERN}}
GREETING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": INITIALIZE}
METHODS = ("POST", "GET", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "mcp")
PATHS = ("/mcp", "/", "/mcp/", "//mcp", "/MCP", "/.well-known/oauth-protected-resource", "/../mcp", "/token")
SECRET = "The launch code is 0000"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("guarded") / "home"
    with Memory.at(home, space="default") as memory:
        memory.notebook.add(SECRET)
    return home


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    with serving(home, "--tools", "all") as one:
        yield one


def send(
    served: Served,
    headers: list[tuple[str, bytes]],
    method: str = "POST",
    path: str = "/mcp",
    message: Any = GREETING,
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Send exactly these headers, beside those that every request needs."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)) as connection:
        connection.putrequest(method, path)
        for name, value in (
            ("content-type", b"application/json"),
            ("accept", b"application/json, text/event-stream"),
            ("content-length", str(len(body)).encode()),
            *headers,
        ):
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


def wrong_headers(token: str) -> list[list[tuple[str, bytes]]]:
    right = token.encode()
    values = [
        *(b"", b"Bearer", b"Bearer ", b"Bearer  ", right, b"Basic " + right, b"Token " + right),
        *(b"Bearer" + right, b"Bearer:" + right, b"Bearer\t" + right, b"Bearer=" + right),
        *(b"Bearer " + right[:-1], b"Bearer " + right + b"x", b"Bearer " + right[1:], b"Bearer x" + right),
        *(b"Bearer " + right.upper(), b"Bearer " + right.lower(), b'Bearer "' + right + b'"'),
        *(b"Bearer " + right + b"," + right, b"Bearer " + right + b" " + right, b"Bearer Bearer " + right),
        *(b"Bearer null", b"Bearer undefined", b"Bearer *", b"Bearer mnm_", b"Bearer $(cat token)"),
        *(b"Bearer \xff\xfe", "Bearer тест".encode(), b"Bearer " + b"a" * 43, b"Bearer " + b"a" * 50_000),
        *(b"Bearer " + right + b"a" * 50_000, b"Digest token=" + right, b"Bearer token=" + right),
    ]
    names = (
        "x-authorization",
        "proxy-authorization",
        "x-api-key",
        "token",
        "mcp-session-id",
        "x-forwarded-for",
    )
    return [
        [],
        *([("authorization", value)] for value in values),
        *([(name, b"Bearer " + right)] for name in names),
        [("cookie", b"authorization=Bearer " + right + b"; token=" + right)],
        # Which of two counts must not depend on who reads them.
        [("authorization", b"Bearer wrong"), ("authorization", b"Bearer " + right)],
        [("authorization", b"Bearer " + right), ("authorization", b"Bearer wrong")],
        [("authorization", b"Bearer " + right), ("authorization", b"Bearer " + right)],
    ]


@pytest.mark.parametrize("era", ERAS)
def test_without_the_token_there_is_no_answer(
    served: Served, home: Path, era: str, attempts: Callable[[int], None]
) -> None:
    tried = wrong_headers(served.token)
    attempts(len(tried))
    extra = [(name, value.encode()) for name, value in ERAS[era].items()]
    bodies = set()
    for headers in tried:
        status, answered, body = send(served, [*extra, *headers])
        assert (status, answered["www-authenticate"]) == (401, "Bearer"), headers
        bodies.add(str(json.loads(body)["error"]))
    # The same for all: neither how wrong the token is nor anything about the server.
    (body,) = bodies
    assert "'unauthenticated'" in body
    for revealing in (served.token, str(home), "mnemos", SECRET, "0.1.0", "uvicorn"):
        assert revealing not in body


def test_no_method_and_no_path_goes_around_the_token(served: Served, attempts: Callable[[int], None]) -> None:
    tried = [(method, path) for method in METHODS for path in PATHS]
    attempts(len(tried))
    for method, path in tried:
        for query in ("", f"?token={served.token}", f"?access_token={served.token}&authorization=Bearer"):
            # The parser knows the methods.
            refused = {"OPTIONS": 405, "mcp": 400}.get(method, 401)
            assert send(served, [], method, path + query)[0] == refused, (method, path)


def test_a_session_that_began_with_the_token_needs_it_in_every_request(served: Served) -> None:
    right = ("authorization", f"Bearer {served.token}".encode())
    status, answered, _ = send(served, [right])
    assert status == 200
    session = ("mcp-session-id", answered["mcp-session-id"].encode())
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert send(served, [session], message=listing)[0] == 401
    assert send(served, [session], method="DELETE", message=b"")[0] == 401
    assert send(served, [session, right], message=listing)[0] == 200


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer  "])
def test_the_scheme_is_written_in_any_case(served: Served, scheme: str) -> None:
    assert send(served, [("authorization", f"{scheme} {served.token}".encode())])[0] == 200


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("wrong", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_another_site_is_refused_with_the_token_and_without(
    served: Served, era: str, wrong: dict[str, str]
) -> None:
    headers = {"content-type": "application/json", "accept": "application/json", **ERAS[era], **wrong}
    for token in ({}, served.headers):
        with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)) as connection:
            connection.request("POST", "/mcp", json.dumps(GREETING).encode(), headers | token)
            assert connection.getresponse().status == (421 if "host" in wrong else 403)


def test_a_large_body_without_a_token_is_not_waited_for(served: Served) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)) as connection:
        connection.putrequest("POST", "/mcp")
        connection.putheader("content-length", str(60 * 1024 * 1024))
        connection.endheaders()
        # Answered before any of it was sent.
        assert connection.getresponse().status == 401
    assert send(served, [("authorization", f"Bearer {served.token}".encode())])[0] == 200


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_official_client_is_served_with_the_token_only(served: Served, era: str) -> None:
    with connected(served, era) as client:
        assert SECRET in client.call_tool("notebook_show", {}).content[0].text
    with pytest.raises((MCPError, ExceptionGroup)), connected(Served(served.url, "mnm_" + "a" * 43), era):
        pass


# --- servers and their tokens ----------------------------------------------------------------------


def test_servers_of_one_home_share_a_token_and_other_homes_have_others(
    home: Path, tmp_path: Path, served: Served
) -> None:
    fresh = tmp_path / "fresh"
    with (
        ThreadPoolExecutor() as pool,
        serving(home, "--tools", "recall") as again,
        serving(fresh, "--tools", "recall") as other,
    ):
        assert again.token == served.token != other.token
        assert send(again, [("authorization", f"Bearer {served.token}".encode())])[0] == 200
        assert send(other, [("authorization", f"Bearer {served.token}".encode())])[0] == 401
        settings = Settings(home=tmp_path / "many" / "homes")
        tokens = set(pool.map(load_owner_token, [settings] * 20))
    assert len(tokens) == 1
    file = settings.home / NAME
    assert file.read_text() == f"{tokens.pop()}\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert settings.home.stat().st_mode & 0o777 == 0o700


def test_a_token_is_redacted_from_what_is_stored(served: Served) -> None:
    assert served.token not in redact(f"$ cat token\n{served.token}\n")


# --- the file --------------------------------------------------------------------------------------


def spoil(file: Path, kind: str) -> None:
    good = f"mnm_{'a' * 43}\n"
    file.parent.mkdir(mode=0o700)
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file, 0o600)
    elif kind == "link":
        file.with_name("elsewhere").write_text(good)
        file.with_name("elsewhere").chmod(0o600)
        file.symlink_to("elsewhere")
    elif kind == "broken link":
        file.symlink_to("nowhere")
    elif kind == "link to itself":
        file.symlink_to(file.name)
    else:
        texts = {
            "empty": b"",
            "blank": b" \n\n",
            "short": b"mnm_abc\n",
            "two lines": good.encode() * 2,
            "not ASCII": ("é" * 50).encode(),
            "NUL": b"\0" * 48,
            "with a space": b"mnm_" + b"a b" * 20,
            "huge": b"a" * 10_000_000,
        }
        file.write_bytes(texts.get(kind, good.encode()))
        modes = {"for the group": 0o640, "for all": 0o644, "for others to write": 0o602}
        file.chmod(modes.get(kind, 0o600))


KINDS = (
    *("folder", "pipe", "link", "broken link", "link to itself", "empty", "blank", "short", "two lines"),
    *("not ASCII", "NUL", "with a space", "huge", "for the group", "for all", "for others to write"),
)


def describe(file: Path) -> tuple[int, ...]:
    """Everything but the time of the last look at it."""
    found = os.lstat(file)
    return found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


@pytest.mark.parametrize("kind", KINDS)
def test_a_token_file_that_is_not_right_is_not_used_and_not_replaced(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "spoiled" / NAME
    spoil(file, kind)
    before = describe(file), sorted(file.parent.iterdir())
    with pytest.raises(MnemosError) as raised:
        load_owner_token(Settings(home=file.parent))
    assert raised.value.code == "permission_denied"
    assert (describe(file), sorted(file.parent.iterdir())) == before
    assert run(["serve", "--mcp", "--port", "0", "--home", str(file.parent)]) == 4


def test_a_token_file_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path / "theirs")
    load_owner_token(settings)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(MnemosError):
        load_owner_token(settings)


def test_a_token_that_was_deleted_is_replaced_by_another(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "fresh")
    first = load_owner_token(settings)
    assert load_owner_token(settings) == first
    (settings.home / NAME).unlink()
    assert load_owner_token(settings) != first


def test_a_disabled_memory_stores_no_token(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "off", disabled=True)
    with pytest.raises(MnemosError) as raised:
        load_owner_token(settings)
    assert raised.value.code == "disabled"
    assert not settings.home.exists()
    token = load_owner_token(Settings(home=settings.home))
    assert load_owner_token(settings) == token

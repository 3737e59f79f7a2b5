"""A Honcho server on loopback: the routes of its v3 API that honcho-ai 2.7 calls for us, and no others.

Which request goes where, with which body, is taken from the SDK's own request code; what is answered and
what is refused follows the server's own rules: names of letters, digits, ``_`` and ``-``, metadata of 100
names and 5 levels without NULs, sessions that are made or replaced by their id, and that after a deletion are
unknown for a while even to who would make them again.

``faults`` holds what goes wrong with the next requests, one each: a status, ``html``, ``garbage``, ``list``,
``nothing``, ``hang`` (until the test is over), ``drip`` (a byte now and then) or ``cut`` (no answer at all);
``fault_at`` what goes wrong with every request whose path ends so.
Run as a program it serves until it is stopped, for trying ``mnemos evaluate`` by hand.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

import pytest

needs_sdk = pytest.mark.skipif(
    find_spec("honcho") is None,
    reason="honcho-ai is not installed: the Honcho backend goes UNTESTED; pip install 'mnemos[dev]'",
)

KEY = "hch-test-key"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,512}")
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Session:
    id: str
    metadata: dict[str, Any]
    peers: set[str]
    created_at: datetime
    is_active: bool = True


@dataclass(slots=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


class Wrong(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(slots=True)
class Workspace:
    sessions: dict[str, Session] = field(default_factory=dict)
    conclusions: list[dict[str, Any]] = field(default_factory=list)
    peers: set[str] = field(default_factory=set)


class HonchoServer:
    """``asked`` keeps what came in. ``answers``: what the dialectic says, None for a server without one."""

    def __init__(self, port: int = 0) -> None:
        self.faults: list[int | str] = []
        self.fault_at: dict[str, int | str] = {}
        self.retry_after: str | None = None
        self.answers: str | None = "She likes it dark."
        self.asked: list[Asked] = []
        self.workspaces: dict[str, Workspace] = {}
        self.page_size = 100
        self.closing = Event()
        self._lock = Lock()
        self._made = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self._thread = Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, name="honcho-server"
        )

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def purge(self) -> None:
        """Do the work of the server's worker after a deletion."""
        with self._lock:
            for space in self.workspaces.values():
                for gone in [one.id for one in space.sessions.values() if not one.is_active]:
                    del space.sessions[gone]
                    space.conclusions = [one for one in space.conclusions if one["session_id"] != gone]

    def held(self, workspace: str = "hermes-agent") -> str:
        """Everything the server has, as text."""
        space = self.workspaces.get(workspace, Workspace())
        return json.dumps([[one.metadata for one in space.sessions.values()], space.conclusions])

    def fault_of(self, asked: Asked) -> int | str | None:
        """Fail every request whose path ends like this."""
        return next((fault for end, fault in self.fault_at.items() if asked.path.endswith(end)), None)

    def answer_as_owner(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """A request of somebody else who has the key."""
        return self.answer(Asked(method, path, {"Authorization": f"Bearer {KEY}"}, body))

    def answer(self, asked: Asked) -> tuple[int, Any]:
        if asked.headers.get("Authorization") != f"Bearer {KEY}":
            raise Wrong(401, "Invalid API key")
        url = urlsplit(asked.path)
        parts = url.path.strip("/").split("/")
        asks = {name: values[0] for name, values in parse_qs(url.query).items()}
        with self._lock:
            return self._routed(asked.method, parts, asks, asked.body)

    def _routed(self, method: str, parts: list[str], asks: dict[str, str], body: Any) -> tuple[int, Any]:
        match [method, *parts]:
            case ["POST", "v3", "workspaces"]:
                self.workspaces.setdefault(_name(body["id"]), Workspace())
                return 200, {"id": body["id"], "metadata": {}, "configuration": {}, "created_at": self._now()}
            case [_, "v3", "workspaces", workspace, *rest] if workspace in self.workspaces:
                return self._in(workspace, self.workspaces[workspace], method, rest, asks, body)
        raise Wrong(404, "Not Found")

    def _in(
        self, name: str, space: Workspace, method: str, rest: list[str], asks: dict[str, str], body: Any
    ) -> tuple[int, Any]:
        match [method, *rest]:
            case ["POST", "sessions"]:
                return self._session(name, space, body)
            case ["POST", "sessions", "list"]:
                return 200, self._page(name, space, body, asks)
            case ["DELETE", "sessions", session]:
                found = space.sessions.get(session)
                if found is None or not found.is_active:
                    raise Wrong(404, f"Session {session} not found in workspace {name}")
                found.is_active = False
                return 202, {"message": "Session deleted successfully"}
            case ["POST", "conclusions"]:
                return 201, [self._conclusion(space, one) for one in body["conclusions"]]
            case ["POST", "peers", peer, "chat"]:
                return self._chat(space, peer, body)
        raise Wrong(404, "Not Found")

    def _session(self, name: str, space: Workspace, body: Any) -> tuple[int, Any]:
        found = space.sessions.get(_name(body["id"]))
        if found is not None and not found.is_active:
            raise Wrong(404, f"Session {found.id} not found in workspace {name}")
        metadata = None if body.get("metadata") is None else _without_nul(_limited(body["metadata"]))
        status = 200
        if found is None:
            found = Session(body["id"], metadata or {}, set(), self._moment())
            space.sessions[found.id] = found
            status = 201
        elif metadata is not None:
            found.metadata = metadata
        found.peers |= {_name(peer) for peer in body.get("peers") or {}}
        space.peers |= found.peers
        return status, _shown(name, found)

    def _page(self, name: str, space: Workspace, body: Any, asks: dict[str, str]) -> dict[str, Any]:
        wanted = ((body or {}).get("filters") or {}).get("metadata", {})
        found = [
            one
            for one in space.sessions.values()
            if one.is_active and all(one.metadata.get(key) == value for key, value in wanted.items())
        ]
        found.sort(key=lambda one: one.created_at, reverse=asks.get("reverse") == "true")
        page, size = int(asks.get("page", 1)), int(asks.get("size", 50))
        if not 1 <= size <= 100 or page < 1:
            raise Wrong(422, "Input should be less than or equal to 100")
        size = min(size, self.page_size)
        items = [_shown(name, one) for one in found[(page - 1) * size : page * size]]
        pages = -(-len(found) // size)
        return {"items": items, "total": len(found), "page": page, "size": size, "pages": pages}

    def _conclusion(self, space: Workspace, body: Any) -> dict[str, Any]:
        session = space.sessions.get(body.get("session_id"))
        if not {body["observer_id"], body["observed_id"]} <= space.peers:
            raise Wrong(404, "Peer not found")
        if session is None or not session.is_active:
            raise Wrong(404, "Session not found")
        if not 1 <= len(body["content"]) <= 65535:
            raise Wrong(422, "String should have at most 65535 characters")
        made = {**body, "id": f"c{self._count()}", "level": "explicit", "created_at": self._now()}
        space.conclusions.append(made)
        return made

    def _chat(self, space: Workspace, peer: str, body: Any) -> tuple[int, Any]:
        if self.answers is None:
            raise Wrong(405, "Method Not Allowed")
        if peer not in space.peers:
            raise Wrong(404, f"Peer {peer} not found")
        if not 1 <= len(body["query"]) <= 10000:
            raise Wrong(422, "String should have at most 10000 characters")
        return 200, {"content": self.answers}

    def _count(self) -> int:
        self._made += 1
        return self._made

    def _moment(self) -> datetime:
        return BEGINNING + timedelta(seconds=self._count())

    def _now(self) -> str:
        return self._moment().isoformat()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # Headers and body in one piece: in two, the second waits for the reader.
            wbufsize = -1

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                read = self.rfile.read(length)
                body = json.loads(read) if read else None
                asked = Asked(self.command, self.path, dict(self.headers), body)
                server.asked.append(asked)
                fault = server.faults.pop(0) if server.faults else server.fault_of(asked)
                if fault is not None:
                    self._fail(fault)
                    return
                try:
                    status, answer = server.answer(asked)
                except Wrong as exc:
                    status, answer = exc.status, {"detail": str(exc)}
                self._send(status, json.dumps(answer).encode())

            do_DELETE = do_POST
            do_PUT = do_POST
            do_GET = do_POST

            def _fail(self, fault: int | str) -> None:
                if isinstance(fault, int):
                    self._send(fault, json.dumps({"detail": f"a {fault} on purpose"}).encode())
                elif fault == "html":
                    self._send(200, b"<html><body>Welcome to the hotel's network</body></html>", "text/html")
                elif fault == "garbage":
                    self._send(200, json.dumps({"items": [{"what": 1}], "pages": "many"}).encode())
                elif fault == "list":
                    self._send(200, b"[1, 2, 3]")
                elif fault == "nothing":
                    self._send(200, b"")
                elif fault == "hang":
                    server.closing.wait()
                    self.close_connection = True
                elif fault == "drip":
                    self.send_response(200)
                    self.send_header("Content-Length", "1000000")
                    self.end_headers()
                    while not server.closing.wait(0.05):
                        self.wfile.write(b" ")
                        self.wfile.flush()
                    self.close_connection = True
                else:
                    self.close_connection = True
                    self.connection.close()

            def _send(self, status: int, body: bytes, kind: str = "application/json") -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                if server.retry_after is not None and status >= 400:
                    self.send_header("Retry-After", server.retry_after)
                self.end_headers()
                self.wfile.write(body)

            def handle(self) -> None:
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError, ValueError):
                    # The client did not wait.
                    self.close_connection = True

            def finish(self) -> None:
                try:
                    super().finish()
                except (BrokenPipeError, ConnectionResetError, ValueError, OSError):
                    self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                pass

        return Handler


def _name(value: Any) -> str:
    if not isinstance(value, str) or not NAME.fullmatch(value):
        raise Wrong(422, f"String should match pattern '{NAME.pattern}'")
    return value


def _limited(metadata: dict[str, Any], depth: int = 1) -> dict[str, Any]:
    if depth > 5 or (depth == 1 and len(metadata) > 100):
        raise Wrong(422, "Metadata exceeds its limits")
    for value in metadata.values():
        if isinstance(value, dict):
            _limited(value, depth + 1)
    return metadata


def _without_nul(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("\\u0000", "")) if "\0" in str(value) else value


def _shown(workspace: str, session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "is_active": session.is_active,
        "workspace_id": workspace,
        "metadata": session.metadata,
        "configuration": {},
        "created_at": session.created_at.isoformat(),
    }


if __name__ == "__main__":
    with HonchoServer(int(sys.argv[1]) if len(sys.argv) > 1 else 8700) as served:
        print(f"HONCHO_BASE_URL={served.base_url} HONCHO_API_KEY={KEY}", flush=True)
        served.closing.wait()

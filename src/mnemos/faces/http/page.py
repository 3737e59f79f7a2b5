"""The page in a browser: its files and its sessions.

The files are public, because they contain nothing of a memory. The page gets everything else from operations,
with a token like any client.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

import msgspec

from mnemos import __version__
from mnemos.errors import InvalidInput, NotAllowed
from mnemos.faces.http.http_request import Request
from mnemos.faces.http.replies import Reply, encode
from mnemos.faces.http.scopes import list_allowed
from mnemos.memory.access_tokens import Grant, Scope
from mnemos.memory.page_sessions import PageSessions
from mnemos.structs import analyse

SESSION_PATH: Final = "/page/session"
SESSION_BYTES: Final = 4096
_PREFIX: Final = "/page/"
_MEDIA: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_SECURITY: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    code: str | None = None
    space: str | None = None


class Page:
    """Answers browsers."""

    def __init__(self, sessions: PageSessions) -> None:
        self.sessions = sessions
        self._files = load_files()

    @property
    def paths(self) -> Iterable[str]:
        return self._files

    async def send_file(self, request: Request) -> Reply:
        content, media = self._files[request.path]
        if b"gzip" not in b",".join(request.values(b"accept-encoding")):
            return Reply(200, content, _SECURITY, media)
        # Compressed, because the files are public and their length gives nothing away.
        return Reply(200, _compress(content), {**_SECURITY, "content-encoding": "gzip"}, media)

    def trade(self, body: bytes) -> Reply:
        """Trade a link's code for a token."""
        session, token = self.sessions.trade(_read(body).code or "")
        return describe(session.grant, token)

    def branch(self, grant: Grant, body: bytes) -> Reply:
        """Return a token for another space. Only the owner may have one for each space."""
        if grant.scope is not Scope.LOCAL or grant.operations != "all":
            raise NotAllowed(f"This token is for the space {grant.space!r} only.")
        session, token = self.sessions.branch(_read(body).space or grant.space)
        return describe(session.grant, token)


def _read(body: bytes) -> _Asked:
    try:
        return msgspec.json.decode(body, type=analyse(_Asked))
    except (msgspec.MsgspecError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"The body must be JSON with a code or a space: {exc}.") from exc


def describe(grant: Grant, token: str | None = None) -> Reply:
    """Return a token's rights, so that the page doesn't offer what would be refused."""
    about: dict[str, Any] = {
        "space": grant.space,
        "scope": grant.scope.name.lower(),
        "operations": list_allowed(grant),
        "version": __version__,
    }
    return Reply(200, encode(about if token is None else about | {"token": token}))


@cache
def _compress(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


@cache
def load_files() -> dict[str, tuple[bytes, str]]:
    """Return the files of the page by address, with their types."""
    found: dict[str, tuple[bytes, str]] = {}
    _collect(files("mnemos.faces.http") / "web", _PREFIX, found)
    found["/"] = found.pop(_PREFIX + "index.html")
    return found


def _collect(folder: Traversable, prefix: str, found: dict[str, tuple[bytes, str]]) -> None:
    for one in folder.iterdir():
        ending = one.name[one.name.rfind(".") :]
        if one.is_dir():
            _collect(one, f"{prefix}{one.name}/", found)
        elif ending in _MEDIA:
            found[prefix + one.name] = one.read_bytes(), _MEDIA[ending]

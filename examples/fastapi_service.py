"""A chat service for several tenants and people, on FastAPI and ``mnemos.aopen()``.

    pip install "mnemos[server]" fastapi
    CHAT_SECRET=change-me uvicorn --app-dir examples fastapi_service:app

A tenant is a space, a person a user of it: nothing of one tenant or person is recalled for another. A caller
proves who they are with a signed key: ``python examples/fastapi_service.py acme ada`` prints one. The "model"
only repeats what was recalled, so that the example runs offline; put yours into ``answer``.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, NamedTuple

from fastapi import Depends, FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

import mnemos

SECRET = os.environ.get("CHAT_SECRET", "").encode()
HOME = os.environ.get("CHAT_HOME", "chat-memory")
STATUSES = {"not_found": 404, "invalid_input": 400, "refused": 409, "too_large": 413, "busy": 503}


class Caller(NamedTuple):
    tenant: str
    person: str


class Tenants:
    """The memories of tenants, opened when they are first used and closed with the service."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._opening = asyncio.Lock()
        self._opened: dict[str, mnemos.AsyncMemory] = {}

    async def get(self, tenant: str) -> mnemos.AsyncMemory:
        async with self._opening:
            if tenant not in self._opened:
                memory = mnemos.aopen(HOME, space=f"tenants/{tenant}")
                self._opened[tenant] = await self._stack.enter_async_context(memory)
        return self._opened[tenant]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    if not SECRET:
        raise SystemExit("Set CHAT_SECRET, which signs the keys of callers.")
    async with AsyncExitStack() as stack:
        app.state.tenants = Tenants(stack)
        yield


app = FastAPI(title="Chat", lifespan=lifespan)


def sign(tenant: str, person: str) -> str:
    """Return the key of a person."""
    signature = hmac.new(SECRET, f"{tenant}.{person}".encode(), "sha256").hexdigest()
    return f"{tenant}.{person}.{signature}"


def identify(authorization: Annotated[str, Header()] = "") -> Caller:
    """Return who calls. It comes from the key and never from an argument of the request."""
    key = authorization.removeprefix("Bearer ")
    tenant, person, _ = key.split(".") if key.count(".") == 2 else ("", "", "")
    if not tenant or not hmac.compare_digest(sign(tenant, person).encode(), key.encode()):
        raise HTTPException(401, "This key is not valid.")
    return Caller(tenant, person)


@app.exception_handler(mnemos.MnemosError)
async def report(_: Request, exc: mnemos.MnemosError) -> JSONResponse:
    return JSONResponse({"code": exc.code, "detail": str(exc)}, STATUSES.get(exc.code, 500))


class Said(BaseModel):
    text: str = Field(min_length=1, max_length=20_000)


class Reply(BaseModel):
    reply: str
    recalled: list[str]


Known = Annotated[Caller, Depends(identify)]


@app.post("/sessions/{session_id}/messages")
async def chat(session_id: str, said: Said, caller: Known, request: Request) -> Reply:
    """Answer a message with what this person said before, and keep both sides of the turn."""
    memory = await request.app.state.tenants.get(caller.tenant)
    await memory.sessions.ensure_session(session_id, "web", user_id=caller.person)
    session = await memory.sessions.get_session(session_id)
    if session is None or session["user_id"] != caller.person:
        # The session of somebody else is not there, for this caller.
        raise HTTPException(404, "There is no such session.")
    found = await memory.recall(said.text, user_id=caller.person, limit=3, budget=400)
    reply = await answer(said.text, [hit.text for hit in found])
    turn = [{"role": "user", "content": said.text}, {"role": "assistant", "content": reply}]
    await memory.sessions.append_messages(session_id, turn)
    return Reply(reply=reply, recalled=[hit.text for hit in found])


@app.get("/sessions")
async def list_sessions(caller: Known, request: Request) -> list[str]:
    memory = await request.app.state.tenants.get(caller.tenant)
    return [one["id"] for one in await memory.sessions.search_sessions(user_id=caller.person, limit=100)]


@app.delete("/sessions/{session_id}")
async def forget(session_id: str, caller: Known, request: Request) -> dict[str, bool]:
    """Erase a session permanently: rows, index, vectors and log."""
    memory = await request.app.state.tenants.get(caller.tenant)
    await memory.forget(f"session:{session_id}", user_id=caller.person)
    return {"forgotten": True}


async def answer(question: str, recalled: list[str]) -> str:
    """Answer instead of a model, which would get both in its prompt."""
    return f"You said: {recalled[0]}" if recalled else f"I don't know: {question}"


if __name__ == "__main__":
    print(sign(*sys.argv[1:3]))

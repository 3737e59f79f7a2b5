"""Delivery of answers to a client, whole or in pieces until the client leaves."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import BinaryIO, Final, TypeVar

from mnemos.faces.http import limits
from mnemos.faces.http.http_request import Request
from mnemos.faces.http.replies import Reply

_PIECE_BYTES: Final = 256 * 1024
_FOLLOW_SECONDS: Final = 0.1
_ALWAYS: Final = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
_Piece = TypeVar("_Piece")


async def deliver(request: Request, reply: Reply) -> None:
    raw = [
        *_ALWAYS,
        (b"content-type", reply.media.encode()),
        (b"x-request-id", request.entry.request_id.encode()),
        *((name.encode(), value.encode()) for name, value in reply.headers.items()),
    ]
    if isinstance(reply.body, bytes):
        raw.append((b"content-length", b"%d" % len(reply.body)))
    await request.send({"type": "http.response.start", "status": reply.status, "headers": raw})
    if isinstance(reply.body, bytes):
        await request.send({"type": "http.response.body", "body": reply.body})
        return
    async with aclosing(reply.body):
        await _deliver_pieces(request, reply.body)


async def _deliver_pieces(request: Request, pieces: AsyncGenerator[bytes, None]) -> None:
    """Send pieces until they end, or the client leaves or stops reading."""
    gone = asyncio.ensure_future(request.wait_until_gone())
    try:
        while True:
            step = asyncio.ensure_future(anext(pieces, None))
            await asyncio.wait({step, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not step.done():
                step.cancel()
                with suppress(asyncio.CancelledError):
                    await step
                return
            piece = step.result()
            if piece is None:
                break
            async with asyncio.timeout(limits.STALL_SECONDS):
                await request.send({"type": "http.response.body", "body": piece, "more_body": True})
        await request.send({"type": "http.response.body"})
    except TimeoutError:
        return
    finally:
        gone.cancel()


async def begin(pieces: AsyncGenerator[_Piece, None]) -> AsyncGenerator[_Piece, None]:
    """Make the first piece before answering, so that a failure gets its own status."""
    first = await anext(pieces, None)

    async def go_on() -> AsyncGenerator[_Piece, None]:
        async with aclosing(pieces):
            if first is not None:
                yield first
                async for piece in pieces:
                    yield piece

    return go_on()


async def follow(file: BinaryIO, writing: asyncio.Future[None]) -> AsyncGenerator[bytes, None]:
    """Yield what a task writes to a file until it ends; raise the task's error."""
    with file:
        at = 0
        while True:
            ended = writing.done()
            while piece := await asyncio.to_thread(os.pread, file.fileno(), _PIECE_BYTES, at):
                at += len(piece)
                yield piece
            if ended:
                writing.result()
                return
            await asyncio.wait([writing], timeout=_FOLLOW_SECONDS)

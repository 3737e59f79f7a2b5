"""Operations run for requests, in the threads of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import msgspec

from mnemos.cancellation import Cancellation
from mnemos.errors import Busy, InvalidInput, TimedOut
from mnemos.faces.http import limits
from mnemos.faces.http.replies import Preview, encode
from mnemos.faces.http.scopes import check_allowed
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory.access_tokens import Grant
from mnemos.operations import registry
from mnemos.operations.base import Operation, Result, builtins
from mnemos.progress import Progress

_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to run an operation."""

    name: str
    grant: Grant
    read: Callable[[], Operation]
    """Returns the filled operation, or raises InvalidInput."""
    text: bool = True
    preview: bool = False
    carries_file: bool = False
    """See ``check_allowed``."""
    kept: ExitStack = field(default_factory=ExitStack)
    """Closed when the operation has ended."""

    def read_allowed(self) -> Operation:
        operation = self.read()
        check_allowed(self.grant, self.name, operation, carries_file=self.carries_file)
        return operation


class OperationCalls:
    def __init__(self, spaces: Spaces, workers: Workers) -> None:
        self.spaces = spaces
        self._workers = workers
        self.in_flight = 0

    def start(
        self, name: str, work: Callable[[Cancellation], _Outcome]
    ) -> tuple[asyncio.Future[_Outcome], Cancellation]:
        """Run the work of an operation in its pool. It is brought to its end, whoever waits for it."""
        if self.in_flight >= limits.IN_FLIGHT:
            raise Busy("The server has too many requests under way. Try again.")
        self.in_flight += 1
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[_Outcome] = loop.create_future()
        future, cancellation = self._workers.start(name, work)

        def pass_on(_: Future[_Outcome]) -> None:
            # The loop is closed before the threads are, when the server stops.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._finish, future, outcome)

        # Not asyncio.wrap_future: if nobody waits any more, it would take the work out of the queue.
        future.add_done_callback(pass_on)
        return outcome, cancellation

    async def run(self, name: str, work: Callable[[Cancellation], _Outcome]) -> _Outcome:
        """Wait for the work of an operation, for a short one within its time."""
        outcome, cancellation = self.start(name, work)
        if registry.is_long(name):
            return await outcome
        timer = asyncio.get_running_loop().call_later(
            limits.CALL_SECONDS, _give_up, name, outcome, cancellation
        )
        try:
            return await outcome
        finally:
            timer.cancel()

    def perform(self, call: Call, cancellation: Cancellation, progress: Progress | None = None) -> bytes:
        """Return the answer to a call in JSON."""
        with call.kept, self.spaces.use(call.grant.space, by_person=call.grant.is_person) as memory:
            operation = call.read_allowed()
            if call.preview:
                return encode(Preview(operation.at_stake(memory), operation.questions(memory)))
            if operation.writes():
                memory.settings.check_enabled()
            result = registry.run_for_host(memory, call.name, operation, progress or cancellation.check)
            return _encode_result(result, text=call.text)

    def _finish(self, future: Future[_Outcome], outcome: asyncio.Future[_Outcome]) -> None:
        self.in_flight -= 1
        if outcome.done():
            return
        if (error := future.exception()) is None:
            outcome.set_result(future.result())
        else:
            outcome.set_exception(error)
            # Retrieved, because asyncio logs exceptions that nobody retrieves.
            outcome.exception()


def _give_up(name: str, outcome: asyncio.Future[Any], cancellation: Cancellation) -> None:
    cancellation.request()
    if not outcome.done():
        outcome.set_exception(
            TimedOut(
                f"{name} did not end within {limits.CALL_SECONDS:g} seconds. It is stopped if that is "
                "possible. A change may have been made."
            )
        )


def _encode_result(result: Result, *, text: bool) -> bytes:
    """Return what ``registry.perform`` returns, in JSON."""
    if not text:
        return encode(result)
    if "text" in result.__struct_fields__:
        return encode(builtins(result))
    # Added to the end: a dict in between would take longer than most operations.
    body = encode(result)
    return body[:-1] + (b"," if len(body) > 2 else b"") + b'"text":' + encode(result.as_text()) + b"}"


def read_json(name: str, body: bytes, *, by_person: bool) -> Operation:
    """Read the input of an operation, straight into it if that can be done."""
    if body.count(b"{") + body.count(b"[") <= limits.JSON_DEPTH:
        try:
            operation = _decoder(name).decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            # Taken below in another form, or explained.
            pass
        else:
            if by_person or registry.has_only_offered(operation):
                return operation
    return registry.read(name, read_arguments(body), by_person=by_person)


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Operation]:
    return msgspec.json.Decoder(registry.find(name), strict=False)


def read_arguments(body: bytes) -> dict[str, Any]:
    """Read the input of an operation; an empty body is an empty input."""
    try:
        value = msgspec.json.decode(body) if body.strip() else {}
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise InvalidInput(f"The body is not valid JSON: {exc}.") from exc
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(value, dict):
        raise InvalidInput("The body must be a JSON object with the arguments of the operation.")
    level: list[Any] = [value]
    for _ in range(limits.JSON_DEPTH + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return value
    raise _too_deep()


def _too_deep() -> InvalidInput:
    return InvalidInput(f"The JSON of the body is nested deeper than {limits.JSON_DEPTH} levels.")

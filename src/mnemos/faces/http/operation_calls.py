"""Operations run for requests, in the threads of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from mnemos.cancellation import Cancellation
from mnemos.errors import Corrupt, InvalidInput, MnemosError, TimedOut, Unavailable
from mnemos.faces.http import limits
from mnemos.faces.http.replies import Preview, encode
from mnemos.faces.http.scopes import check_allowed
from mnemos.faces.http.workers import Spaces, Workers
from mnemos.memory import Memory
from mnemos.memory.access_tokens import Grant
from mnemos.operations import registry
from mnemos.operations.base import Operation, Result, builtins
from mnemos.progress import Progress
from mnemos.settings import act_as
from mnemos.storage.stores.audit import collect_entries
from mnemos.structs import analyse

_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    grant: Grant
    read: Callable[[], Operation]
    """Returns the filled operation, or raises InvalidInput."""
    text: bool = True
    preview: bool = False
    carries_file: bool = False
    """See ``check_allowed``."""
    file: str = ""
    """The uploaded file, whose path is removed from answers."""
    log: bool = False
    """Adds ``log_entries`` to the answer: this call's log entries that can be undone."""
    kept: ExitStack = field(default_factory=ExitStack)
    """Closed when the operation has ended."""

    @property
    def owner(self) -> str:
        return self.grant.token_id

    def read_allowed(self) -> Operation:
        operation = self.read()
        check_allowed(self.grant, self.name, operation, carries_file=self.carries_file)
        return operation


class OperationCalls:
    def __init__(self, spaces: Spaces, workers: Workers) -> None:
        self.spaces = spaces
        self._workers = workers
        self._pending: dict[asyncio.Future[Any], Cancellation] = {}
        self._is_stopping = False

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    def interrupt(self) -> None:
        """Stop what can be stopped, and answer all waiting callers: the server is ending."""
        self._is_stopping = True
        for outcome, cancellation in list(self._pending.items()):
            cancellation.request()
            _fail(outcome, stopping())

    def start(
        self, name: str, owner: str, work: Callable[[Cancellation], _Outcome]
    ) -> tuple[asyncio.Future[_Outcome], Cancellation]:
        """Run an operation in its pool, to the end even if nobody waits for it.

        ``owner``: the caller's token, or "" for work that several callers share. Raises Busy if full.
        """
        if self._is_stopping:
            raise stopping()
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[_Outcome] = loop.create_future()

        def pass_on(result: _Outcome | None, error: Exception | None) -> None:
            # When the server stops, the loop is closed before the threads.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._finish, outcome, result, error)

        cancellation = self._workers.start(name, owner, work, pass_on)
        self._pending[outcome] = cancellation
        return outcome, cancellation

    async def run(self, name: str, owner: str, work: Callable[[Cancellation], _Outcome]) -> _Outcome:
        """Wait for an operation; one without progress has a time limit."""
        outcome, cancellation = self.start(name, owner, work)
        if registry.is_long(name):
            return await outcome
        timer = asyncio.get_running_loop().call_later(
            limits.CALL_SECONDS, _give_up, name, outcome, cancellation
        )
        try:
            return await outcome
        finally:
            timer.cancel()

    @contextmanager
    def use(self, grant: Grant) -> Iterator[Memory]:
        """Return the memory of a token. Changes are logged under the token's name."""
        with act_as(grant.actor), self.spaces.use(grant.space, by_person=grant.is_person) as memory:
            yield memory

    def perform(self, call: Call, cancellation: Cancellation, progress: Progress | None = None) -> bytes:
        """Return a call's answer in JSON."""
        if not call.file:
            return self._perform(call, cancellation, progress)
        name = Path(call.file).name
        try:
            answer = self._perform(call, cancellation, progress)
        except MnemosError as exc:
            said = str(exc).replace(call.file, name)
            if isinstance(exc, Corrupt) and call.file in str(exc):
                # Name the client's file, not the server's copy.
                raise InvalidInput(said) from exc
            exc.args = (said,)
            raise
        return answer.replace(encode(call.file)[1:-1], name.encode())

    def _perform(self, call: Call, cancellation: Cancellation, progress: Progress | None) -> bytes:
        with call.kept, self.use(call.grant) as memory:
            operation = call.read_allowed()
            if call.preview:
                return encode(Preview(operation.at_stake(memory), operation.questions(memory)))
            if operation.writes():
                memory.settings.check_enabled()
            with collect_entries() as recorded:
                result = registry.run_for_host(memory, call.name, operation, progress or cancellation.check)
            body = _encode_result(result, text=call.text)
            undoable = memory.changes.select_undoable(recorded) if call.log else None
            return body if undoable is None else _add_field(body, "log_entries", undoable)

    def _finish(
        self, outcome: asyncio.Future[_Outcome], result: _Outcome | None, error: Exception | None
    ) -> None:
        del self._pending[outcome]
        if error is not None:
            _fail(outcome, error)
        elif not outcome.done():
            outcome.set_result(cast(_Outcome, result))


def _fail(outcome: asyncio.Future[Any], error: Exception) -> None:
    if not outcome.done():
        outcome.set_exception(error)
        # Retrieved, because asyncio logs exceptions that nobody retrieves.
        outcome.exception()


def _give_up(name: str, outcome: asyncio.Future[Any], cancellation: Cancellation) -> None:
    cancellation.request()
    said = f"{name} did not end within {limits.CALL_SECONDS:g} seconds. It is stopped if that is possible."
    _fail(outcome, TimedOut(f"{said} A change may have been made."))


def stopping() -> Unavailable:
    return Unavailable("The server is being stopped. A change may have been made.")


def _encode_result(result: Result, *, text: bool) -> bytes:
    """Encode a result like ``registry.perform`` does, as JSON."""
    if not text:
        return encode(result)
    if "text" in result.__struct_fields__:
        return encode(builtins(result))
    # Appended to the bytes, because decoding to a dict takes longer than most operations.
    return _add_field(encode(result), "text", result.as_text())


def _add_field(body: bytes, name: str, value: Any) -> bytes:
    """Add a field to a JSON object."""
    return body[:-1] + (b"," if len(body) > 2 else b"") + f'"{name}":'.encode() + encode(value) + b"}"


def read_json(name: str, body: bytes, *, by_person: bool) -> Operation:
    """Read an operation's input, decoding straight into it where possible."""
    if body.count(b"{") + body.count(b"[") <= limits.JSON_DEPTH:
        try:
            operation = _decoder(name).decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            # The slower way below accepts other forms, or explains the error.
            pass
        else:
            if by_person or registry.has_only_offered(operation):
                return operation
    return registry.read(name, read_arguments(body), by_person=by_person)


@cache
def _decoder(name: str) -> msgspec.json.Decoder[Operation]:
    return msgspec.json.Decoder(analyse(registry.find(name)), strict=False)


def read_arguments(body: bytes) -> dict[str, Any]:
    """Read an operation's arguments; an empty body has none."""
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

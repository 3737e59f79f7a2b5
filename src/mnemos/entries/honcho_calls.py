"""Calls to a Honcho server that end: in an answer or a clear error, within a time that the caller knows.

The SDK would wait as long as a server tells it to (``Retry-After``), and its time-outs hold for each piece of
an answer, not for the whole. So it is told not to repeat anything, and a call that is overdue is left behind.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from mnemos.deadlines import Overdue, Patience, StillOut
from mnemos.errors import (
    InvalidInput,
    MnemosError,
    NotFound,
    PermissionDenied,
    TooLarge,
    Unavailable,
)

T = TypeVar("T")

_TRIES = 3
_FIRST_PAUSE = 0.2
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_SHOWN = 200


class Calls:
    """One server, one workspace. Threads may share it; after a fork the child makes its own connections."""

    def __init__(
        self, base_url: str, api_key: str, workspace: str, timeout: float, *, is_local: bool
    ) -> None:
        self._base_url = base_url
        self._api_key = api_key
        self._workspace = workspace
        self._timeout = timeout
        self._is_local = is_local
        self._lock = threading.Lock()
        self._made: tuple[int, Any] | None = None
        self._patience = Patience(f"the Honcho server at {base_url}")

    def ask(self, call: Callable[[Any], T], *, tries: int = _TRIES) -> T:
        """What the call, which gets the SDK's client, returns; what may pass is tried again a few times.

        Errors: PermissionDenied for a key that is refused, InvalidInput and TooLarge for what the server does
        not take, NotFound, and Unavailable for everything else, at the latest after the time-out.
        """
        until = time.monotonic() + self._timeout
        try:
            answer: T = self._patience.ask(lambda: self._tried(call, tries, until), self._timeout + 0.5)
        except (Overdue, StillOut) as exc:
            # Without its connection the call that was left behind ends soon; the next one makes another.
            self.close()
            raise Unavailable(f"{exc}; nothing is known of what became of the call") from exc
        return answer

    def close(self) -> None:
        made, self._made = self._made, None
        if made is not None and made[0] == os.getpid():
            made[1]._http._client.close()

    def _tried(self, call: Callable[[Any], T], tries: int, until: float) -> T:
        for number in range(tries):
            try:
                return call(self._client())
            except MnemosError:
                raise
            # The SDK raises its own errors, those of pydantic, and what Python says of an answer that is no
            # object: other people's code, and other people's answers.
            except Exception as exc:
                pause = _FIRST_PAUSE * 2**number * random.uniform(0.8, 1.2)  # noqa: S311
                pause = max(pause, getattr(exc, "retry_after", None) or 0.0)
                is_last = number == tries - 1 or time.monotonic() + pause >= until
                if is_last or not _may_pass(exc):
                    raise self._translated(exc) from exc
            time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _client(self) -> Any:
        with self._lock:
            if self._made is None or self._made[0] != os.getpid():
                self._made = (os.getpid(), self._connected())
            return self._made[1]

    def _connected(self) -> Any:
        # Optional, and 0.4 s to import: only for those who use it.
        sdk, httpx = import_module("honcho"), import_module("httpx")
        # A proxy of the environment has nothing to do with a server on this machine.
        http = httpx.Client(timeout=self._timeout, trust_env=not self._is_local)
        return sdk.Honcho(
            api_key=self._api_key or None,
            base_url=self._base_url,
            workspace_id=self._workspace,
            timeout=self._timeout,
            max_retries=0,
            http_client=http,
        )

    def _translated(self, exc: Exception) -> MnemosError:
        status, where = _status(exc), f"the Honcho server at {self._base_url}"
        said = (str(exc).splitlines() or [""])[0][:_SHOWN]
        if status in (401, 403):
            return PermissionDenied(f"{where} refused the key ({status}: {said}); check HONCHO_API_KEY")
        if status == 404:
            return NotFound(f"{where} does not know what was asked for: {said}")
        if status == 413:
            return TooLarge(f"{where} does not take that much: {said}")
        if status in (400, 422):
            return InvalidInput(f"{where} does not take this ({status}): {said}")
        if _is_garbage(exc):
            return Unavailable(
                f"{where} did not answer as Honcho does ({said}); is HONCHO_BASE_URL the address of its API?"
            )
        if status == 429:
            return Unavailable(f"{where} has had too many requests (429); try again later")
        if status:
            return Unavailable(f"{where} failed ({status}: {said}); try again later")
        return Unavailable(f"{where} cannot be reached: {said}")


def _status(exc: Exception) -> int:
    status = getattr(exc, "status", 0)
    return status if isinstance(status, int) else 0


def _is_garbage(exc: Exception) -> bool:
    """Whether the server answered, but not what the SDK can read."""
    # What the SDK itself raises has a code; an answer that is no JSON hides behind one of its errors.
    return not hasattr(exc, "code") or isinstance(exc.__cause__, ValueError)


def _may_pass(exc: Exception) -> bool:
    status = _status(exc)
    return status in _AGAIN or (not status and not _is_garbage(exc))

"""A provider as the manager calls it: it can neither break a turn nor hold it up for long."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from mnemos.deadlines import Overdue, Patience, StillOut
from mnemos.integrations.providers import tools
from mnemos.integrations.providers.calling import call
from mnemos.integrations.providers.contract import MemoryProvider
from mnemos.integrations.providers.status import ProviderStatus
from mnemos.integrations.providers.worker import Worker

T = TypeVar("T")
log = logging.getLogger("mnemos.integrations.providers")

_LONGEST_REASON = 300


class State(StrEnum):
    NEW = "new"
    ACTIVE = "active"
    OFF = "off"


class Member:
    """One provider with what is known of it. What it raises is counted, and logged once for each method."""

    def __init__(
        self, provider: MemoryProvider, name: str, worker: Worker, *, is_builtin: bool = False
    ) -> None:
        self.provider = provider
        self.name = name
        self.is_builtin = is_builtin
        self.state = State.NEW
        self.why_not = "not initialized yet"
        self.tools: dict[str, dict[str, Any]] = {}
        self._beginning: object | None = None
        self._worker = worker
        self._patience = Patience(name)
        self._lock = threading.Lock()
        self._failures: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._last_failure = ""

    # --- beginning and end ------------------------------------------------------------------

    def begin(self, session_id: str, given: Mapping[str, Any], seconds: float) -> None:
        """Initialize it if it is available. One that takes longer is active when it is done."""
        self.state, self.why_not = State.OFF, "it did not begin in time"
        beginning = self._beginning = object()

        def work() -> None:
            if not call(self.provider.is_available, (), {}):
                self.why_not = "it says that it is not available; `mnemos providers status` may tell why"
                return
            call(self.provider.initialize, (session_id,), given)
            self.read_tools()
            # One that comes back after it was shut down, or begun anew, is not active by that.
            if self._beginning is beginning:
                self.state, self.why_not = State.ACTIVE, ""

        try:
            self._answer(work, seconds)
        except StillOut as exc:
            self.why_not = str(exc)
        except Exception as exc:  # noqa: BLE001 - other people's code
            self.note("initialize", exc)
            self.why_not = self.why_not if isinstance(exc, Overdue) else _reason(exc)

    def end(self, seconds: float) -> None:
        """Shut it down, whether it ever began or not."""
        self.state, self.why_not, self._beginning = State.OFF, "shut down", None
        self._ask("shutdown", object, (), {}, seconds)

    def read_tools(self) -> None:
        """Ask which tools it has; what is wrong with them counts as failures."""
        self.tools, wrong = tools.understood(call(self.provider.get_tool_schemas, (), {}))
        for problem in wrong:
            self.note("get_tool_schemas", ValueError(problem))

    # --- calls ------------------------------------------------------------------------------

    def ask(self, hook: str, kind: type[T], *args: Any, seconds: float, **extras: Any) -> T | None:
        """The answer, or None when there is none: it failed, took too long, or is not asked now."""
        return self._ask(hook, kind, args, extras, seconds) if self.state is State.ACTIVE else None

    def tell(self, hook: str, *args: Any, **extras: Any) -> None:
        """Let it know, in the background and in order; the built-in one queues for itself what takes time."""
        method = self._method(hook) if self.state is State.ACTIVE else None
        if method is None:
            return
        if self.is_builtin:
            self._try(hook, partial(call, method, args, extras))
        else:
            work = partial(self._try, hook, partial(call, method, args, extras), BaseException)
            self._worker.submit(self.name, work)

    def run_tool(
        self, tool_name: str, args: Mapping[str, Any], extras: Mapping[str, Any], seconds: float
    ) -> str:
        """The tool's answer as JSON; a failure is an answer, too."""
        hook = "handle_tool_call"
        try:
            method = self.provider.handle_tool_call
            return tools.answered(
                self._answer(partial(call, method, (tool_name, dict(args)), extras), seconds)
            )
        except StillOut as exc:
            self._skip(hook)
            return tools.failure(f"{exc}; go on without {tool_name}", "unavailable")
        except Exception as exc:  # noqa: BLE001 - other people's code
            self.note(hook, exc)
            return tools.failure(f"{tool_name} failed: {_reason(exc)}", "unavailable")

    # --- what became of them ------------------------------------------------------------------

    def note(self, hook: str, exc: BaseException) -> None:
        """Count a failure; the first of each method is logged."""
        with self._lock:
            self._failures[hook] += 1
            self._last_failure = f"{hook}: {_reason(exc)}"
            is_first = self._failures[hook] == 1
        log.log(
            logging.WARNING if is_first else logging.DEBUG, "%s: %s failed: %s", self.name, hook, _reason(exc)
        )

    def status(self) -> ProviderStatus:
        with self._lock:
            failures, skipped, last = dict(self._failures), dict(self._skipped), self._last_failure
        overdue = self._worker.overdue[self.name]
        return ProviderStatus(
            name=self.name,
            is_builtin=self.is_builtin,
            is_active=self.state is State.ACTIVE,
            is_answering=not (self._patience.is_out or self._worker.is_out(self.name)),
            why_not=self.why_not,
            failures=failures | ({"in the background": overdue} if overdue else {}),
            skipped=skipped,
            last_failure=last,
            waiting=self._worker.waiting(self.name),
            dropped=self._worker.dropped[self.name],
            tools=tuple(self.tools),
        )

    # --- inside -----------------------------------------------------------------------------

    def _ask(
        self, hook: str, kind: type[T], args: tuple[Any, ...], extras: Mapping[str, Any], seconds: float
    ) -> T | None:
        method = self._method(hook)
        if method is None:
            return None
        try:
            answer = self._answer(partial(call, method, args, extras), seconds)
        except StillOut:
            self._skip(hook)
            return None
        except Exception as exc:  # noqa: BLE001 - other people's code
            self.note(hook, exc)
            return None
        if answer is None or isinstance(answer, kind):
            return answer
        self.note(hook, TypeError(f"it answered with a {type(answer).__name__}, not a {kind.__name__}"))
        return None

    def _method(self, hook: str) -> Callable[..., Any] | None:
        """What it does at a moment; None where it does nothing."""
        try:
            method = getattr(self.provider, hook, None)
        except Exception as exc:  # noqa: BLE001 - other people's code
            self.note(hook, exc)
            return None
        return method if callable(method) else None

    def _answer(self, work: Callable[[], Any], seconds: float) -> Any:
        # The built-in one keeps its own time, and spares the caller a thread.
        return work() if self.is_builtin else self._patience.ask(work, seconds)

    def _try(self, hook: str, work: Callable[[], Any], caught: type[BaseException] = Exception) -> None:
        """``caught``: on a thread of ours, also what is meant to end the program."""
        try:
            work()
        except caught as exc:
            self.note(hook, exc)

    def _skip(self, hook: str) -> None:
        with self._lock:
            self._skipped[hook] += 1


def _reason(exc: BaseException) -> str:
    """An error on one line, for people."""
    said = " ".join(str(exc).split()) or type(exc).__name__
    # Our own messages, and what a call that was too late says, stand for themselves.
    named = said if isinstance(exc, Overdue) or hasattr(exc, "code") else f"{type(exc).__name__}: {said}"
    return named if len(named) <= _LONGEST_REASON else named[: _LONGEST_REASON - 1] + "…"

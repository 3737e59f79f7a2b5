"""A provider as the manager calls it: it can't break a turn or delay it for long."""

from __future__ import annotations

import inspect
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from mnemos.deadlines import Overdue, Patience, StillOut
from mnemos.integrations.providers import provider_tools
from mnemos.integrations.providers.background_worker import Worker
from mnemos.integrations.providers.contract import MemoryProvider

T = TypeVar("T")
log = logging.getLogger("mnemos.integrations.providers")

_LONGEST_REASON = 300
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    name: str
    is_builtin: bool
    is_active: bool
    """False if it is not available or failed to initialize."""
    is_answering: bool
    """False while a late call is still running; no other call is made until it returns."""
    why_not: str
    """The reason why it is not active, for people."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """For each method, the number of calls that raised, returned the wrong type or were late."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """For each method, the number of calls skipped because an earlier one had not returned."""
    last_failure: str = ""
    waiting: int = 0
    """Number of queued writes."""
    dropped: int = 0
    """Number of writes given up because the queue was full or the host ended."""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManagerStatus:
    """The state of a manager and its providers."""

    session_id: str
    providers: tuple[ProviderStatus, ...]
    pending: int
    """Number of writes that are queued or running."""
    problems: tuple[str, ...] = ()
    """Refusals, such as a missing provider, a second one, or a tool whose name is taken."""

    @property
    def is_healthy(self) -> bool:
        """True if nothing has failed so far."""
        return not self.problems and not any(
            one.failures or one.skipped or one.dropped or one.why_not for one in self.providers
        )


class State(StrEnum):
    NEW = "new"
    ACTIVE = "active"
    OFF = "off"


def call_compatibly(method: Callable[..., Any], args: Sequence[Any], extras: Mapping[str, Any]) -> Any:
    """Call a method that may be older than the contract, with the extras it takes.

    ``sync_turn`` once had no ``messages``, ``on_memory_write`` no ``metadata``, ``prefetch`` no
    ``session_id``. The signature decides, instead of guessing what a TypeError meant. An extra that the
    method requires under another name is passed by position.
    """
    try:
        parameters = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        # Methods written in C may have no signature.
        return method(*args, **extras)
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return method(*args, **extras)
    names = {each.name for each in parameters if each.kind is not inspect.Parameter.POSITIONAL_ONLY}
    required = [
        each for each in parameters[len(args) :] if each.kind in _POSITIONAL and each.default is each.empty
    ]
    known = {name: value for name, value in extras.items() if name in names}
    unknown = [value for name, value in extras.items() if name not in names]
    missing = [each for each in required if each.name not in known]
    return method(*args, *unknown[: len(missing)], **known)


class Member:
    """A provider and its state. Its exceptions are counted, and logged once per method."""

    def __init__(
        self, provider: MemoryProvider, name: str, worker: Worker, *, is_builtin: bool = False
    ) -> None:
        self.provider = provider
        self.name = name
        self.is_builtin = is_builtin
        self.state = State.NEW
        self.why_not = "not initialized yet"
        self.tools: dict[str, dict[str, Any]] = {}
        self._start: object | None = None
        self._worker = worker
        self._patience = Patience(name)
        self._lock = threading.Lock()
        self._failures: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._last_failure = ""

    # --- start and shutdown -----------------------------------------------------------------

    def begin(self, session_id: str, given: Mapping[str, Any], seconds: float) -> None:
        """Initialize it if it is available. A slow one becomes active when it is done."""
        self.state, self.why_not = State.OFF, "it is starting"
        start = self._start = object()

        def work() -> None:
            if not call_compatibly(self.provider.is_available, (), {}):
                self.why_not = "it is not available. Run `mnemos providers status` for details"
                return
            call_compatibly(self.provider.initialize, (session_id,), given)
            self.read_tools()
            with self._lock:
                # It may have been shut down or initialized again in the meantime.
                if self._start is start:
                    self.state, self.why_not = State.ACTIVE, ""

        _, problem = self._call("initialize", work, seconds)
        with self._lock:
            if problem and self.state is not State.ACTIVE:
                self.why_not = problem

    def end(self, seconds: float) -> None:
        """Shut it down, whether it was ever initialized or not."""
        self.state, self.why_not, self._start = State.OFF, "shut down", None
        self._call("shutdown", partial(self._run, "shutdown"), seconds)

    def read_tools(self) -> None:
        """Read its tool schemas; invalid ones count as failures."""
        self.tools, problems = provider_tools.parse_schemas(
            call_compatibly(self.provider.get_tool_schemas, (), {})
        )
        for problem in problems:
            self.note("get_tool_schemas", ValueError(problem))

    # --- calls ------------------------------------------------------------------------------

    def ask(self, hook: str, kind: type[T], *args: Any, seconds: float, **extras: Any) -> T | None:
        """Return the answer; None if it failed, took too long or is not active."""
        if self.state is not State.ACTIVE:
            return None
        answer, _ = self._call(hook, partial(self._run, hook, *args, **extras), seconds)
        if answer is None or isinstance(answer, kind):
            return answer
        self.note(hook, TypeError(f"it must return {kind.__name__}, not {type(answer).__name__}"))
        return None

    def tell(self, hook: str, *args: Any, **extras: Any) -> None:
        """Notify it in the background, in order. The built-in one queues slow work itself."""
        work = partial(self._run, hook, *args, **extras)
        if self.state is not State.ACTIVE:
            return
        if self.is_builtin:
            self._call(hook, work, 0)
        else:
            self._worker.submit(self.name, partial(self._notify, hook, work))

    def run_tool(
        self, tool_name: str, args: Mapping[str, Any], extras: Mapping[str, Any], seconds: float
    ) -> str:
        """Return the tool's answer as JSON, even if it failed."""

        def work() -> str:
            answer = call_compatibly(self.provider.handle_tool_call, (tool_name, dict(args)), extras)
            return provider_tools.render_answer(answer)

        answer, problem = self._call("handle_tool_call", work, seconds)
        if problem:
            return provider_tools.failure(f"{tool_name} failed: {problem}", "unavailable")
        return str(answer)

    # --- failures ---------------------------------------------------------------------------

    def note(self, hook: str, exc: BaseException) -> None:
        """Count a failure. The first one of each method is logged as a warning."""
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
        lane = self._worker.look(self.name)
        return ProviderStatus(
            name=self.name,
            is_builtin=self.is_builtin,
            is_active=self.state is State.ACTIVE,
            is_answering=not (self._patience.is_out or lane.is_late),
            why_not=self.why_not,
            failures=failures | ({"in the background": lane.overdue} if lane.overdue else {}),
            skipped=skipped,
            last_failure=last,
            waiting=len(lane.queue),
            dropped=lane.dropped,
            tools=tuple(self.tools),
        )

    # --- inside -----------------------------------------------------------------------------

    def _call(self, hook: str, work: Callable[[], Any], seconds: float) -> tuple[Any, str]:
        """Return the answer and no problem, or None and the problem, which is counted."""
        try:
            # The built-in provider limits its own time and needs no thread.
            return work() if self.is_builtin else self._patience.ask(work, seconds), ""
        except StillOut as exc:
            with self._lock:
                self._skipped[hook] += 1
            return None, str(exc)
        except Exception as exc:  # noqa: BLE001 - other people's code
            self.note(hook, exc)
            return None, _reason(exc)

    def _notify(self, hook: str, work: Callable[[], Any]) -> None:
        try:
            work()
        except BaseException as exc:  # noqa: BLE001 - on our thread, an exit of the program too is a failure
            self.note(hook, exc)

    def _run(self, hook: str, *args: Any, **extras: Any) -> Any:
        """Call a method; None if the provider does not have it."""
        method = getattr(self.provider, hook, None)
        return call_compatibly(method, args, extras) if callable(method) else None


def _reason(exc: BaseException) -> str:
    """Render an error on one line, for people."""
    text = " ".join(str(exc).split()) or type(exc).__name__
    # Messages of our own errors need no type.
    if not isinstance(exc, Overdue) and not hasattr(exc, "code"):
        text = f"{type(exc).__name__}: {text}"
    return text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"

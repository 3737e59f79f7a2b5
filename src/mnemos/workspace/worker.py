"""The worker process, from the host's side: kept warm, killed when overdue, replaced when gone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mnemos import cancellation, errors
from mnemos.errors import Busy, InvalidInput, MnemosError, TimedOut, TooLarge, Unavailable
from mnemos.structs import convert
from mnemos.workspace.answers import FailureReply
from mnemos.workspace.frames import Gone, Line, Overdue, TooLong
from mnemos.workspace.limits import FRAME, HISTORY_PARTS, MOST_ROWS, NUMBER_TOO_LARGE, Quota

T = TypeVar("T")
Pages = Callable[[str, int, int, str | None], list[tuple[Any, ...]]]
"""Returns rows of a part of the history: after a key, up to a number, of a user. The key comes last."""

# The worker ends an overdue call by itself. One that does not is killed this many seconds later.
_GRACE = 0.3
_START_SECONDS = 30.0
_CLOSE_SECONDS = 1.0
# A worker that dies during a commit has done all of it or nothing. Only the database knows which.
_UNCERTAIN = "Either all of it was done or, most likely, nothing. Check before you repeat it"
_MODULE = "mnemos.workspace.sandbox"
# The worker gets nothing else of the host's environment, least of all its keys.
_PASSED = "PATH LANG LC_ALL TZ TMPDIR SYSTEMROOT COVERAGE_PROCESS_START COVERAGE_PROCESS_CONFIG".split()
_BY_CODE = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, MnemosError)
}


@dataclass(frozen=True, slots=True)
class Begin:
    """Settings that a worker gets when it starts."""

    folder: Path
    quota: Quota
    read_only: bool = False
    history: tuple[Path, str] | Pages | None = None
    """The memory's database and the space whose history the agent may read, or a function for pages of it."""

    def message(self) -> dict[str, Any]:
        history: dict[str, str] | None = None
        if isinstance(self.history, tuple):
            history = {"database": str(self.history[0]), "space": self.history[1]}
        elif self.history is not None:
            history = {}
        return {
            "folder": str(self.folder),
            "quota": asdict(self.quota),
            "read_only": self.read_only,
            "history": history,
        }


class SandboxFailure(Exception):
    """The worker replied with a failure."""

    def __init__(self, reply: FailureReply) -> None:
        super().__init__(reply.message)
        self.reply = reply

    def to_error(self, further: str = "") -> MnemosError:
        kind = _BY_CODE.get(self.reply.code, MnemosError)
        return kind(f"{self.reply.message}{further}")


class Worker:
    """One worker process, started by the first call. Calls from several threads take turns."""

    def __init__(self, begin: Begin, clock: Callable[[], float] = time.time) -> None:
        self._begin = begin
        self._clock = clock
        self._turn = threading.Lock()
        self._of = os.getpid()
        self._process: _Process | None = None
        self._numbers = count(1)

    def ask(
        self,
        do: str,
        shape: type[T],
        *,
        seconds: float,
        file: int | None = None,
        progress: Callable[[float], None] | None = None,
        **arguments: Any,
    ) -> T:
        """Return the worker's reply, checked against ``shape``.

        An overdue call raises TimedOut, a cancelled one Cancelled; both are rolled back. ``file`` is an open
        file that the worker reads or writes. Waiting for other calls takes at most as long as the call itself
        may take.
        """
        self._notice_fork()
        if not self._turn.acquire(timeout=seconds):
            raise Busy(f"Other calls kept the workspace busy for {seconds:g} s. Nothing was done. Try again.")
        try:
            message = {"do": do, "seconds": seconds, "now": self._clock(), **arguments}
            return self._convert(self._call_until_cancelled(message, seconds, file, progress), shape)
        finally:
            self._turn.release()

    def process_id(self) -> int | None:
        """Return the id of the worker's process, if it runs."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """End the worker. A running call gets a moment to finish, and a later call starts another worker."""
        self._notice_fork()
        if not self._turn.acquire(timeout=_CLOSE_SECONDS):
            self._kill()
            self._turn.acquire()
        try:
            self._drop(kill=False)
        finally:
            self._turn.release()

    def _notice_fork(self) -> None:
        """Make a new lock after a fork: another thread of the parent may have held the old one."""
        if self._of != os.getpid():
            self._turn, self._of = threading.Lock(), os.getpid()

    def _call_until_cancelled(
        self,
        message: dict[str, Any],
        seconds: float,
        file: int | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, Any]:
        wanted = cancellation.current()
        wanted.check()
        try:
            with wanted.interrupts(self._kill):
                return self._call(message, seconds, file, progress)
        except MnemosError:
            wanted.check()
            raise
        finally:
            if wanted.is_requested:
                # It may have been killed after its reply: the next call must not send to it.
                self._drop(kill=True)

    def _call(
        self,
        message: dict[str, Any],
        seconds: float,
        file: int | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, Any]:
        message["id"] = next(self._numbers)
        try:
            process = self._send(message, seconds, file)
            until = time.monotonic() + seconds + _GRACE
            answer = process.line.receive(until)
            while "progress" in answer or "history" in answer:
                if "history" in answer:
                    process.line.send(self._read_history(answer, message.get("user")))
                elif progress is not None:
                    progress(float(answer["progress"]))
                answer = process.line.receive(until)
        except TooLong as exc:
            raise TooLarge(
                f"The call has {exc.size} bytes, over the limit of {FRAME.value}. "
                "Import a file, or pass fewer rows."
            ) from exc
        except Overdue:
            self._drop(kill=True)
            raise TimedOut(
                f"The call took longer than {seconds:g} s. It was stopped and rolled back. Ask for less: "
                "add a WHERE or a LIMIT, join on a key, or pass a longer timeout."
            ) from None
        except Gone:
            raise self._explain_end() from None
        except InvalidInput:
            # Nothing was sent.
            raise
        except BaseException:
            # The caller was interrupted: a reply may still come, and nobody waits for it.
            self._drop(kill=True)
            raise
        if answer.get("id") != message["id"] or answer.pop("worn", False):
            self._drop(kill=True)
        if answer.get("id") != message["id"]:
            raise Unavailable(
                "The sandbox answered another call. The outcome of this one is unknown. Try again."
            )
        return answer

    def _read_history(self, asked: dict[str, Any], user: str | None) -> dict[str, Any]:
        """Return a page of the history. Whose it is, the call says and not the worker."""
        pages = self._begin.history
        part, after, limit = asked["history"], asked.get("after"), asked.get("limit")
        if (
            not callable(pages)
            or part not in HISTORY_PARTS
            or not isinstance(after, int)
            or not isinstance(limit, int)
        ):
            raise Gone
        try:
            return {"rows": pages(part, after, max(1, min(limit, MOST_ROWS)), user)}
        except MnemosError as exc:
            return {"failed": str(exc)}

    def _convert(self, answer: dict[str, Any], shape: type[T]) -> T:
        try:
            if "error" in answer:
                raise SandboxFailure(convert(answer["error"], FailureReply))
            return convert(answer.get("value"), shape)
        except msgspec.ValidationError as exc:
            self._drop(kill=True)
            raise Unavailable(
                f"The sandbox sent a malformed reply ({exc}) and was stopped. Try again."
            ) from exc

    def _send(self, message: dict[str, Any], seconds: float, file: int | None) -> _Process:
        """Send the message and return the process that got it; retry once if the old one had died."""
        for last in (False, True):
            process = self._ensure_process()
            # A process that was starting could not be killed.
            cancellation.current().check()
            process.line.limit(time.monotonic() + seconds + _GRACE)
            try:
                process.line.send(message, file)
            except OverflowError as exc:
                raise InvalidInput(NUMBER_TOO_LARGE) from exc
            except (UnicodeEncodeError, TypeError, RecursionError) as exc:
                raise InvalidInput(f"Can't store a value: {exc}. Use text, numbers, bytes or null.") from exc
            except Gone:
                if last:
                    raise
                self._drop(kill=True)
            else:
                break
        return process

    def _ensure_process(self) -> _Process:
        process = self._process
        # After a fork the worker belongs to the parent.
        if process is None or process.owner != os.getpid() or not process.is_alive():
            self._drop(kill=True)
            process = self._process = _Process.start(self._begin)
        return process

    def _explain_end(self) -> MnemosError:
        """Return the error for a worker that ended in the middle of a call."""
        process, self._process = self._process, None
        if process is None:
            return Unavailable("The sandbox is closed.")
        code, output = process.end(kill=True)
        if code == -9 or output.endswith("MemoryError"):
            return TooLarge(
                f"The sandbox was stopped in the middle of the call, perhaps out of memory. {_UNCERTAIN}."
            )
        if code == -signal.SIGXCPU:
            return TimedOut(f"The call used up its CPU time and was stopped. {_UNCERTAIN}.")
        last = f": {output}" if output else ""
        return Unavailable(f"The sandbox ended in the middle of the call ({code}){last}. {_UNCERTAIN}.")

    def _kill(self) -> None:
        """Kill the worker from a thread without the turn. The thread with the turn sees it end."""
        process = self._process
        if process is not None:
            process.kill()

    def _drop(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(kill=kill)


class _Process:
    """A running worker and the line to it."""

    def __init__(self, process: subprocess.Popen[bytes], line: Line) -> None:
        self.pid = process.pid
        self.line = line
        self.owner = os.getpid()
        self._process = process
        # Ends the worker of a host that never closes its memory.
        self._last = weakref.finalize(self, _end, process, line, self.owner, kill=False)

    @classmethod
    def start(cls, begin: Begin) -> _Process:
        ours, theirs = socket.socketpair()
        try:
            process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-m", _MODULE],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=_environment(),
                cwd=begin.folder,
                # An interrupt typed at the terminal is for the host alone.
                start_new_session=True,
            )
        except OSError as exc:
            ours.close()
            raise Unavailable(f"The sandbox cannot be started: {exc}") from exc
        finally:
            theirs.close()
        self = cls(process, Line(ours))
        try:
            self.line.send(begin.message())
            self.line.receive(time.monotonic() + _START_SECONDS)
        except (Gone, Overdue):
            _, output = self.end(kill=True)
            raise Unavailable(f"The sandbox does not start: {output or 'it does not answer'}.") from None
        except BaseException:
            self.end(kill=True)
            raise
        return self

    def kill(self) -> None:
        self._process.kill()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def end(self, *, kill: bool) -> tuple[int, str]:
        """End the process and return its exit code and last line of output."""
        self._last.detach()
        return _end(self._process, self.line, self.owner, kill=kill)


def _end(process: subprocess.Popen[bytes], line: Line, owner: int, *, kill: bool) -> tuple[int, str]:
    if owner != os.getpid():
        # After a fork the worker still serves the parent. Only close our copies of its files.
        line.close()
        if process.stderr is not None:
            process.stderr.close()
        process.returncode = 0
        return 0, ""
    if process.returncode is None and kill:
        process.kill()
    line.close()
    try:
        _, output = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        _, output = process.communicate()
    lines = output.decode("utf-8", "replace").strip().splitlines()
    return process.returncode, lines[-1][:500] if lines else ""


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
    # The worker finds this package where the host found it.
    path = os.pathsep.join(str(Path(one).absolute()) for one in sys.path)
    return kept | {"PYTHONPATH": path, "PYTHONNOUSERSITE": "1"}

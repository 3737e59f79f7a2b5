"""The host's end: a worker process kept warm, killed when it is overdue, replaced when it is gone."""

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
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mnemos import errors
from mnemos.errors import Busy, InvalidInput, MnemosError, TimedOut, TooLarge, Unavailable
from mnemos.workspace.frames import Gone, Line, Overdue, TooLong
from mnemos.workspace.limits import FRAME, NUMBER_TOO_LARGE
from mnemos.workspace.told import FailureTold

T = TypeVar("T", bound=msgspec.Struct)

# The worker ends a call by itself when its time is over. One that does not is killed after so much longer.
_GRACE = 0.3
_START_SECONDS = 30.0
_CLOSE_SECONDS = 1.0
# A worker that dies while it commits has done all of it or nothing; only the database knows which.
_OPEN = "all of it was done or nothing, mostly nothing: look before you repeat it"
_MODULE = "mnemos.workspace.sandbox"
# Nothing of the host's environment is the worker's business, least of all its keys.
_PASSED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "SYSTEMROOT",
    "COVERAGE_PROCESS_START",
    "COVERAGE_PROCESS_CONFIG",
)
_BY_CODE = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, MnemosError)
}


@dataclass(frozen=True, slots=True)
class Begin:
    """What a worker is told once."""

    folder: Path
    most_bytes: int
    read_only: bool = False
    history: tuple[Path, str] | None = None
    """The database of the memory and the space whose history the agent can read."""

    def told(self) -> dict[str, Any]:
        history = self.history and {"database": str(self.history[0]), "space": self.history[1]}
        return {
            "folder": str(self.folder),
            "most_bytes": self.most_bytes,
            "read_only": self.read_only,
            "history": history,
        }


class SandboxFailure(Exception):
    """What the worker answered instead of a result."""

    def __init__(self, told: FailureTold) -> None:
        super().__init__(told.message)
        self.told = told

    def error(self, further: str = "") -> MnemosError:
        kind = _BY_CODE.get(self.told.code, MnemosError)
        return kind(f"{self.told.message}{further}")


class Worker:
    """One worker process. Calls of several threads take turns; nothing starts before the first call."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._turn = threading.Lock()
        self._of = os.getpid()
        self._process: _Process | None = None
        self._numbers = count(1)

    def ask(
        self,
        do: str,
        told: type[T],
        *,
        seconds: float,
        file: int | None = None,
        progress: Callable[[float], None] | None = None,
        **asked: Any,
    ) -> T:
        """The worker's answer, of the shape ``told``. Overdue raises TimedOut; what was begun is taken back.

        ``file``: an open file that the worker reads or writes. Waiting for the calls of others takes at most
        as long as the call itself may.
        """
        self._notice_fork()
        if not self._turn.acquire(timeout=seconds):
            raise Busy(f"other calls kept the workspace busy for {seconds:g} s; nothing was done. Try again")
        try:
            return self._read(
                self._asked({"do": do, "seconds": seconds, **asked}, seconds, file, progress), told
            )
        finally:
            self._turn.release()

    def process_id(self) -> int | None:
        """The worker's process, when there is one."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """End the worker; a later call starts another. A call at work has a moment to end."""
        self._notice_fork()
        if not self._turn.acquire(timeout=_CLOSE_SECONDS):
            at_work = self._process
            if at_work is not None:
                at_work.kill()
            self._turn.acquire()
        try:
            self._drop(kill=False)
        finally:
            self._turn.release()

    # --- inside -----------------------------------------------------------------------------

    def _notice_fork(self) -> None:
        """A fork copies the lock as another thread of the parent's may have held it."""
        if self._of != os.getpid():
            self._turn, self._of = threading.Lock(), os.getpid()

    def _asked(
        self,
        message: dict[str, Any],
        seconds: float,
        file: int | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, Any]:
        message["id"] = next(self._numbers)
        try:
            process = self._sent(message, seconds, file)
            until = time.monotonic() + seconds + _GRACE
            answer = process.line.receive(until)
            while "progress" in answer:
                if progress is not None:
                    progress(float(answer["progress"]))
                answer = process.line.receive(until)
        except TooLong as exc:
            raise TooLarge(
                f"the call has {exc.size} bytes; at most {FRAME.value} go in one. Import a file, or pass "
                "fewer rows"
            ) from exc
        except Overdue:
            self._drop(kill=True)
            raise TimedOut(
                f"the call took longer than its {seconds:g} s and was stopped; what it had begun is taken "
                "back. Ask "
                "for less: add a WHERE or a LIMIT, join on a key, or pass a longer timeout"
            ) from None
        except Gone:
            raise self._ended() from None
        except InvalidInput:
            # Nothing was sent.
            raise
        except BaseException:
            # The caller leaves in the middle, on an interrupt: an answer may still come, for nobody.
            self._drop(kill=True)
            raise
        if answer.get("id") != message["id"] or answer.pop("worn", False):
            self._drop(kill=True)
        if answer.get("id") != message["id"]:
            raise Unavailable(
                "the sandbox answered another question; nothing is known of this one. Try again"
            )
        return answer

    def _read(self, answer: dict[str, Any], told: type[T]) -> T:
        try:
            if "error" in answer:
                raise SandboxFailure(msgspec.convert(answer["error"], FailureTold))
            return msgspec.convert(answer, told)
        except msgspec.ValidationError as exc:
            self._drop(kill=True)
            raise Unavailable(f"the sandbox answered nonsense ({exc}) and was ended; try again") from exc

    def _sent(self, message: dict[str, Any], seconds: float, file: int | None) -> _Process:
        """The process that got the message. One that died since the last call got nothing: the next does."""
        for last in (False, True):
            process = self._running()
            process.line.limit(time.monotonic() + seconds + _GRACE)
            try:
                process.line.send(message, file)
            except OverflowError as exc:
                raise InvalidInput(NUMBER_TOO_LARGE) from exc
            except (UnicodeEncodeError, TypeError, RecursionError) as exc:
                raise InvalidInput(f"a value cannot be passed on: {exc}") from exc
            except Gone:
                if last:
                    raise
                self._drop(kill=True)
            else:
                break
        return process

    def _running(self) -> _Process:
        process = self._process
        # After a fork the worker belongs to the parent.
        if process is None or process.owner != os.getpid() or not process.is_alive():
            self._drop(kill=True)
            process = self._process = _Process.start(self._begin)
        return process

    def _ended(self) -> MnemosError:
        """What to raise for a worker that ended in the middle of a call."""
        process, self._process = self._process, None
        if process is None:
            return Unavailable("the sandbox is closed")
        code, said = process.end(kill=True)
        if code == -9 or said.endswith("MemoryError"):
            return TooLarge(
                f"the sandbox was stopped in the middle of the call, perhaps for want of memory; {_OPEN}"
            )
        if code == -signal.SIGXCPU:
            return TimedOut(f"the call used up its CPU time and was stopped; {_OPEN}")
        last = f": {said}" if said else ""
        return Unavailable(f"the sandbox ended in the middle of the call ({code}){last}; {_OPEN}")

    def _drop(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.end(kill=kill)


class _Process:
    """A worker that was started, with the line to it."""

    def __init__(self, process: subprocess.Popen[bytes], line: Line) -> None:
        self.pid = process.pid
        self.line = line
        self.owner = os.getpid()
        self._process = process
        # A host that never closes its memory leaves no worker behind.
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
            raise Unavailable(f"the sandbox cannot be started: {exc}") from exc
        finally:
            theirs.close()
        self = cls(process, Line(ours))
        try:
            self.line.send(begin.told())
            self.line.receive(time.monotonic() + _START_SECONDS)
        except (Gone, Overdue):
            _, said = self.end(kill=True)
            raise Unavailable(f"the sandbox does not start: {said or 'it does not answer'}") from None
        except BaseException:
            self.end(kill=True)
            raise
        return self

    def kill(self) -> None:
        """For a thread that does not have the turn: whose has it sees the worker end."""
        self._process.kill()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def end(self, *, kill: bool) -> tuple[int, str]:
        """Its exit code and the last line it said."""
        self._last.detach()
        return _end(self._process, self.line, self.owner, kill=kill)


def _end(process: subprocess.Popen[bytes], line: Line, owner: int, *, kill: bool) -> tuple[int, str]:
    if owner != os.getpid():
        # After a fork: the worker goes on for the parent, and only our copies of its files are closed.
        line.close()
        if process.stderr is not None:
            process.stderr.close()
        process.returncode = 0
        return 0, ""
    if process.returncode is None and kill:
        process.kill()
    line.close()
    try:
        _, said = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        _, said = process.communicate()
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return process.returncode, lines[-1][:500] if lines else ""


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
    # The worker finds this package where the host found it.
    path = os.pathsep.join(str(Path(one).absolute()) for one in sys.path)
    return kept | {"PYTHONPATH": path, "PYTHONNOUSERSITE": "1"}

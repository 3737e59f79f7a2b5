"""The worker's loop: one request at a time, each within its limits."""

from __future__ import annotations

import os
import resource
import select
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from mnemos.workspace import limits
from mnemos.workspace.answers import FailureReply
from mnemos.workspace.frames import Line, TooLong
from mnemos.workspace.identifiers import file_of
from mnemos.workspace.limits import Quota
from mnemos.workspace.sandbox import database_files, failures
from mnemos.workspace.sandbox.agent_call import Call, Run
from mnemos.workspace.sandbox.database import Clockwork, Database, Place
from mnemos.workspace.sandbox.failures import Failure
from mnemos.workspace.sandbox.history import History
from mnemos.workspace.sandbox.result_rows import export

if TYPE_CHECKING:
    from mnemos.workspace.answers import TableNames

_JOURNALS = 4
_HANGS_UP = getattr(select, "POLLRDHUP", select.POLLHUP)
# Between the end of the host and that of a worker at work.
_LAST_WORDS = 0.3


class Server:
    """Answers requests of the host: ``do`` names what, ``id`` comes back with the answer."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._clock = Clockwork()
        self._cpu = _Cpu()
        self._open: OrderedDict[str, Database] = OrderedDict()
        self._folder = Path()
        self._quota = Quota()
        self._read_only = False
        self._history: History | None = None
        self._is_busy = False
        self._does: dict[str, Callable[[dict[str, Any]], Any]] = {
            "query": self._query,
            "hint": self._hint,
            "compact": lambda asked: database_files.compact(self._release(asked)),
            "restore": lambda asked: database_files.restore(
                self._release(asked), asked["snapshot"], self._clock
            ),
            # Held open by us: with a reader alone, its journal would stay behind.
            "copy": lambda asked: database_files.copy_database(
                self._database(asked).place, file_of(self._folder, asked["to"])
            ),
            "save": lambda asked: database_files.save(
                self._database(asked).place, Path(asked["to"]), asked["snapshot"]
            ),
            "examine": lambda asked: database_files.examine(Path(asked["path"]), self._quota, self._clock),
            "check": lambda asked: database_files.check(self._database(asked)),
            "describe": self._describe,
            "card": self._card,
            "import": self._import,
            "export": self._export,
        }

    def serve(self) -> None:
        """Until the host closes its end, which raises Gone."""
        begin = self._line.receive()
        self._folder = Path(begin["folder"])
        self._quota = Quota(**begin["quota"])
        self._read_only = begin["read_only"]
        if begin["history"] is not None:
            found = begin["history"]
            file = Path(found["database"]) if found else None
            self._history = History(file, found.get("space", ""), self._line)
        _confine(self._quota.database_bytes)
        threading.Thread(target=self._watch_host, daemon=True).start()
        self._line.send({"ready": True})
        try:
            while True:
                request = self._line.receive()
                self._is_busy = True
                answer = self._answer(request)
                self._is_busy = False
                try:
                    self._line.send(answer)
                except TooLong as exc:
                    self._line.send({"id": request["id"], "error": _answer_too_long(exc.size)})
        finally:
            for database in self._open.values():
                database.close()

    def _watch_host(self) -> None:
        """End in the middle of a call whose host is gone: SQLite may not look up from what it does."""
        waiting = select.poll()
        waiting.register(self._line.fileno(), _HANGS_UP)
        waiting.poll()
        time.sleep(_LAST_WORDS)
        if self._is_busy:
            os._exit(0)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        seconds = request["seconds"]
        self._clock.wind(seconds, request["now"])
        self._cpu.allow(seconds)
        reply: dict[str, Any] = {"id": request["id"]}
        if self._history is not None:
            self._history.user = request.get("user")
        try:
            return reply | {"value": self._does[request["do"]](request)}
        except Failure as exc:
            failure = exc
        except msgspec.ValidationError as exc:
            failure = Failure("invalid_input", f"an argument has another type than it should: {exc}")
        except apsw.Error as exc:
            failure = failures.explain_file_error(exc, self._place(request["database"]), self._clock)
        except (UnicodeDecodeError, SystemError):
            # How apsw speaks of names in a file that another program made.
            failure = failures.undecodable_failure()
        except (MemoryError, RecursionError):
            # Python may hold less than it should from here on: the next call gets a fresh worker.
            failure = failures.memory_failure()
            reply["worn"] = True
        return reply | {"error": _to_wire(failure)}

    # --- what can be asked ------------------------------------------------------------------

    def _query(self, request: dict[str, Any]) -> dict[str, Any]:
        database = self._database(request)
        try:
            return Run(database, msgspec.convert(request, Call), self._clock).answer()
        finally:
            if database.guard.makes_temporary:
                # Temporary objects belong to the call: other sessions use the same worker.
                self._close(request["database"])

    def _hint(self, request: dict[str, Any]) -> str:
        from mnemos.workspace.sandbox.card.tables import know_names
        from mnemos.workspace.sandbox.hints.failure import hint

        known = know_names(self._database(request), request["sql"])
        return hint(request["sql"], request["said"], request["offset"], known) or ""

    def _describe(self, request: dict[str, Any]) -> list[TableNames]:
        from mnemos.workspace.sandbox.card.tables import describe_tables

        return describe_tables(self._database(request))

    # Their imports happen on first use: a worker should start quickly.

    def _card(self, request: dict[str, Any]) -> dict[str, Any]:
        from mnemos.workspace.sandbox.card import schema_card

        database = self._database(request)
        return schema_card.build(database, self._clock, table=request["table"], tokens=request["tokens"])

    def _import(self, request: dict[str, Any]) -> dict[str, Any]:
        from mnemos.workspace.sandbox.table_import import Import, Wanted

        def progress(share: float) -> None:
            self._line.send({"id": request["id"], "progress": share})

        with os.fdopen(self._line.take_file(), "rb") as stream:
            wanted = msgspec.convert(request, Wanted)
            return Import(self._database(request), wanted, self._clock).run(stream, progress)

    def _export(self, request: dict[str, Any]) -> tuple[int, int]:
        stream = os.fdopen(self._line.take_file(), "wb")
        try:
            database = self._database(request)
            return export(
                database,
                request["sql"],
                request["params"],
                request["format"],
                stream,
                self._clock,
                request["most_bytes"],
            )
        finally:
            # After a failure there is no room for the rest either, and the failure is already reported.
            with suppress(OSError):
                stream.close()

    # --- open databases ----------------------------------------------------------------------

    def _database(self, request: dict[str, Any]) -> Database:
        name = request["database"]
        found = self._open.get(name)
        if found is not None and found.is_current() and not found.connection.in_transaction:
            self._open.move_to_end(name)
            return found
        self._close(name)
        while len(self._open) >= limits.OPEN_DATABASES.value:
            self._open.popitem(last=False)[1].close()
        database = Database(self._place(name), self._clock)
        self._open[name] = database
        return database

    def _place(self, name: str) -> Place:
        path = file_of(self._folder, name)
        return Place(path, self._quota, read_only=self._read_only, history=self._history)

    def _close(self, name: str) -> None:
        database = self._open.pop(name, None)
        if database is not None:
            database.close()

    def _release(self, request: dict[str, Any]) -> Place:
        """The place of a database that this worker does not hold open."""
        self._close(request["database"])
        return self._place(request["database"])


def _to_wire(failure: Failure) -> dict[str, Any]:
    return {name: getattr(failure, name) for name in FailureReply.__struct_fields__}


def _answer_too_long(size: int) -> dict[str, Any]:
    return _to_wire(
        Failure(
            "too_large", f"The answer has {size} bytes. Ask for fewer rows or columns, page, or export it."
        )
    )


def _confine(most_bytes: int) -> None:
    """Limits of the operating system, for as long as this process lives."""
    apsw.hard_heap_limit(limits.HEAP.value)
    _limit(resource.RLIMIT_AS, limits.ADDRESS_SPACE.value)
    _limit(resource.RLIMIT_NOFILE, limits.OPEN_FILES.value)
    # The journal of one large call may be longer than the database.
    _limit(resource.RLIMIT_FSIZE, _JOURNALS * most_bytes + 16 * limits.MB)
    _limit(resource.RLIMIT_CORE, 0)
    sys.setrecursionlimit(2_000)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    most = value if hard == resource.RLIM_INFINITY else min(value, hard)
    try:
        resource.setrlimit(kind, (most, most))
    except (ValueError, OSError):
        # Some systems do not know the limit; the others hold.
        return


class _Cpu:
    """The limit of CPU time, which is counted since the start of the process: calls move it."""

    def __init__(self) -> None:
        self._most = 0

    def allow(self, seconds: float) -> None:
        needed = int(time.process_time() + seconds) + limits.CPU_GRACE.value
        # A second more or less is not worth asking the system in every call.
        if needed <= self._most <= needed + 1:
            return
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        most = needed + 1
        if hard == resource.RLIM_INFINITY or most < hard:
            resource.setrlimit(resource.RLIMIT_CPU, (most, hard))
            self._most = most

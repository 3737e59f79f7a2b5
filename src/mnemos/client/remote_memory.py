"""A memory on a server, used like one of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from types import TracebackType
from typing import Any, Self

from mnemos.client.remote_part import Answer, RemotePart, Via, as_list, make_part
from mnemos.client.wire import SECONDS, Address, Wire
from mnemos.errors import Disabled, InvalidInput, MnemosError, NotAllowed, ReadOnly, Refused
from mnemos.facts.fact_inputs import make_own_session
from mnemos.memory.access_tokens import read_owner_token
from mnemos.memory.memory import SHOWN, Memory, ToolFormat
from mnemos.memory.optimize import Relieved, Step
from mnemos.notebook.notes import Book
from mnemos.operations import registry
from mnemos.operations.arguments import replace_surrogates
from mnemos.operations.base import Operation
from mnemos.recall.answer import Recall, RecallHit
from mnemos.setting_values import check_depth
from mnemos.settings import find_token, home_folder
from mnemos.storage.audit import AuditRow
from mnemos.storage.base import Check
from mnemos.structs import convert

_PARTS = {
    "sessions": ("remote_sessions", "PART"),
    **{
        name: ("remote_parts", name.upper())
        for name in ("facts", "notebook", "backend", "entries", "templates", "workspace")
    },
}
_ELSEWHERE = (
    "settings", "database", "storage", "home", "folder", "clock", "templates_folder", "shelf", "recaller",
    "feeds", "changes", "imports", "embedding", "is_in_memory",
)  # fmt: skip


@cache
def _fields(name: str) -> frozenset[str]:
    return frozenset(registry.find(name).__struct_fields__)


def _read_recall(answer: Answer) -> Recall:
    return Recall(
        answer["query"],
        convert(answer["hits"], tuple[RecallHit, ...]),
        answer["packed"],
        answer["mode"],
        answer["coverage"],
        answer["left_out"],
        tuple(answer["notes"]),
        answer["certainty"],
    )


def _read_relieved(found: Answer) -> Relieved:
    steps = [
        Step(Book(one["target"]), one["action"], one["entry"], tuple(one["facts"]), one["shorter"])
        for one in found["steps"]
    ]
    return Relieved(found["before"], found["after"], steps, found["unread"])


_FORGOTTEN = (
    "ref", "forgotten", "permanent", "withdrawn", "candidates", "entry", "erased", "kept", "pending",
    "copies", "tables", "unsearched", "dates",
)  # fmt: skip
_VIA = {
    "doctor": Via("doctor", answer=lambda found: iter(convert(found["checks"], list[Check]))),
    "log": Via(
        "log",
        fixed={"full": True},
        answer=lambda found: convert(found["entries"], list[AuditRow]),
    ),
    "recall": Via(
        "recall",
        {"session_ids": "=session", "exclude_session_ids": "=exclude", "depth": "deep"},
        answer=_read_recall,
        convert={"kinds": as_list, "depth": lambda depth: check_depth("depth", depth) == "deep"},
    ),
    "optimize_notebook": Via("memory_optimize", {"threshold": "threshold_pct"}, answer=_read_relieved),
    "undo": Via("undo", {"entry_id": "entry"}, answer=lambda found: found["done"]),
    "undo_notes": Via("notebook_undo", answer=lambda found: found["done"]),
}
_ADVICE = {
    "tables_block": 'Use memory.call("sqlite_schema").',
    "evaluate": 'Use memory.call("evaluate").',
    "backup": 'Use memory.call("backup", {"path": …}) with the owner\'s token: the file is the server\'s.',
    "restore": 'Use memory.call("restore", {"path": …}) with the owner\'s token: the file is the server\'s.',
    "export": 'Use memory.call("export", {"path": …}) with the owner\'s token: the file is the server\'s.',
}


class RemoteMemory(RemotePart):
    """A memory on a server."""

    session_id: str

    def __init__(self, wire: Wire, *, read_only: bool) -> None:
        super().__init__(self)
        self.wire = wire
        self._read_only = read_only
        # A local memory also uses its own session if the host names none.
        self.session_id = make_own_session()

    # --- operations -----------------------------------------------------------------------------

    def ask(self, name: str, arguments: Mapping[str, Any]) -> Answer:
        """Run an operation with a program's arguments."""
        clean = _clean(name, arguments)
        operation = registry.read(name, clean, by_person=True)
        return self._run(name, clean, operation)

    def call(
        self, name: str, args: dict[str, Any] | None = None, *, user_id: str | None = None
    ) -> dict[str, Any]:
        """Run an operation by name; see ``Memory.call``."""
        given = _clean(name, args or {})
        operation = registry.read_for(user_id, name, given)
        if user_id is not None and "user_id" in _fields(name):
            given["user_id"] = user_id
        try:
            return self._run(name, given, operation)
        except Disabled as exc:
            # If it is the backend that is switched off, a local memory reports that, too.
            if "MNEMOS_DISABLED" not in str(exc):
                raise
            return registry.answer_disabled()

    def read_lines(self, name: str, arguments: Mapping[str, Any]) -> Iterator[Answer]:
        """Yield the lines that an operation writes, parsed."""
        return self.wire.read_lines(name, _clean(name, arguments))

    def check(self) -> None:
        """Close and raise unless the server answers and accepts the token."""
        try:
            self.wire.check()
        except MnemosError:
            self.close()
            raise

    def knows(self, name: str, field: str) -> bool:
        return field in _fields(name)

    def _run(self, name: str, arguments: dict[str, Any], operation: Operation) -> Answer:
        writes = operation.writes()
        if writes and self._read_only:
            raise ReadOnly("This memory was opened with read_only=True. Nothing was changed.")
        seconds = None if registry.is_long(name) else SECONDS
        return self.wire.run(name, arguments, writes=writes, person=True, seconds=seconds)

    @staticmethod
    def tools(format: ToolFormat = "openai", tools: str = "default") -> list[dict[str, Any]]:
        """Describe a set of operations as tools for a model; see ``Memory.tools``."""
        return registry.tools(format, tools)

    # --- verbs that have their own result ----------------------------------------------------

    def forget(self, ref: str, *, user_id: str | None = None) -> dict[str, Any]:
        """Withdraw or erase; see ``Memory.forget``."""
        # The operation also accepts the beginning of a session's id.
        exact = f"session:{ref}" if isinstance(ref, str) and ref.startswith("session:") else ref
        given = {"ref": exact} if user_id is None else {"ref": exact, "user_id": user_id}
        found = self.ask("forget", given)
        return {key: found[key] for key in _FORGOTTEN} | {"ref": ref}

    def remember(self, text: str, **given: Any) -> Any:
        """Remember plain sentences as facts; see ``facts.remember``."""
        return self.facts.remember(text, **given)

    def search(self, query: str, **given: Any) -> Any:
        """Find messages by their words; see ``sessions.search_messages``."""
        for name in ("source", "role"):
            if name in given:
                given[f"{name}_filter"] = given.pop(name)
        return self.sessions.search_messages(query, **given)

    # --- parts and the end ------------------------------------------------------------------------

    def close(self) -> None:
        self.wire.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __dir__(self) -> list[str]:
        return sorted(SHOWN)

    def __getattr__(self, name: str) -> Any:
        if name in _PARTS:
            # Imported on first use, because each loads the local part it mirrors.
            module, part = _PARTS[name]
            made = getattr(import_module(f"mnemos.client.{module}"), part)(self)
            setattr(self, name, made)
            return made
        if name in _ELSEWHERE:
            raise Refused(f"memory.{name} is not available over HTTP. Open the home on the server to use it.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _clean(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Convert arguments to what JSON can hold."""
    try:
        clean: dict[str, Any] = replace_surrogates(arguments)
    except RecursionError:
        raise InvalidInput(f"{name}: the arguments are nested too deeply.") from None
    return clean


_Remote = make_part("", Memory, RemoteMemory, _VIA, _ADVICE)


def connect(url: str, token: str | None, *, read_only: bool = False) -> Any:
    """Return the memory of a server, without sending a request yet."""
    return _Remote(Wire(*find_server(url, token)), read_only=read_only)


def find_server(url: str, token: str | None) -> tuple[Address, str]:
    """Return the address and the token: given, from $MNEMOS_TOKEN, or from the home."""
    address = Address.parse(url)
    found = token or find_token() or (read_owner_token(home_folder()) if address.is_loopback else None)
    if not found:
        raise NotAllowed(
            f"No token for {address}. Pass token=, or set MNEMOS_TOKEN. `mnemos tokens create` creates one."
        )
    return address, found

"""What the operations that connect a client of MCP have in common."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta, Struct

from mnemos.errors import InvalidInput
from mnemos.integrations.clients import client_connection, machine
from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.integrations.clients.client_connection import Plan, Request
from mnemos.operations.base import Operation, Question, Result, check_answer, whether_to_go_on

if TYPE_CHECKING:
    from mnemos.memory import Memory


class OneClient(Struct, frozen=True, kw_only=True):
    """What the operations on the clients of MCP have in common."""

    client: ClassVar[str]
    """Its key in the catalogue."""

    undo: Annotated[bool, Meta(description="Take the connection away; the memory stays")] = False
    print: Annotated[bool, Meta(description="Only show what would be changed")] = False

    def writes(self) -> bool:
        return not self.print

    def run(self, memory: Memory) -> ClientConnected:
        request, here = self.request(memory), surroundings()
        done = (
            client_connection.plan(request, here)
            if self.print
            else client_connection.carry_out(request, here)
        )
        return ClientConnected(
            client=self.client,
            name=request.client.name,
            home=str(request.home),
            space=request.space,
            connected=client_connection.is_connected(request, here),
            done=not self.print,
            undo=self.undo,
            changes=[
                {
                    "file": str(change.path),
                    "says": change.describe(),
                    "diff": change.render_diff(),
                    "restored": change.is_restored,
                }
                for change in done.changes
            ],
            command=done.command_line(request),
            backups=[] if self.print or self.undo else client_connection.find_backups(request, done.changes),
            remarks=list(done.remarks),
            afterwards=self.afterwards(),
            take_away=shlex.join(
                ("mnemos", "connect", self.client, *self.where(), "--undo", *request.launch.options)
            ),
        )

    def questions(self, memory: Memory) -> Sequence[Question]:
        if self.print or memory.settings.disabled:
            return ()
        request = self.request(memory)
        planned = client_connection.plan(request, surroundings())
        if not planned.changes:
            return ()
        what = "Disconnecting" if self.undo else "Connecting"
        text = f"{what} {request.client.name} would\n{described(planned, request)}\nGo on?"
        return [whether_to_go_on(text)]

    def answered(self, answers: Mapping[str, str]) -> Operation:
        check_answer(answers)
        return self  # type: ignore[return-value]

    def request(self, memory: Memory) -> Request:
        return build_request(memory, self.client, undo=self.undo, config=self.named_config())

    def named_config(self) -> Path | None:
        named: str | None = getattr(self, "config", None)
        return None if named is None else path_of(named, "config")

    def where(self) -> tuple[str, ...]:
        """The options that say which settings are meant, when it is not the usual ones."""
        config = self.named_config()
        return () if config is None else ("--config", str(config))

    def afterwards(self) -> str:
        return CLIENTS[self.client].afterwards


class ClientConnected(Result, frozen=True, kw_only=True):
    client: str
    name: str
    home: str
    space: str
    connected: bool
    done: bool
    undo: bool
    changes: list[dict[str, Any]]
    """The files, what happens to each, and the lines that go and come."""
    command: str
    """The client's own command that was run for the first of them; empty for none."""
    backups: list[str]
    remarks: list[str]
    afterwards: str
    take_away: str
    """What is typed to undo it."""

    def as_text(self) -> str:
        return "\n".join([*self._head(), *self.remarks, *self._next()])

    def _head(self) -> Iterator[str]:
        memory = f"the memory in {self.home}, space {self.space}"
        if not self.changes:
            state = (
                f"{self.name} uses {memory}, already" if not self.undo else f"{self.name} is not connected"
            )
            yield f"{state}; nothing {'was' if self.done else 'would be'} changed."
            return
        if not self.done:
            yield f"mnemos connect {self.client}{' --undo' if self.undo else ''} would"
            yield _lines(self.changes, self.command)
            return
        yield (
            f"Disconnected: {self.name} does not use this memory any more; what is in it stays."
            if self.undo
            else f"Connected: {self.name} uses {memory}."
        )
        if self.command and not self.remarks:
            yield f"  ran {self.command}"
        for change in self.changes:
            yield f"  {_told(change, undo=self.undo)}"
        for backup in self.backups:
            yield f"  as it was before: {backup}"

    def _next(self) -> list[str]:
        if not self.done or self.undo or not self.changes:
            return []
        return [self.afterwards, f"To take it away: {self.take_away}"]


_DONE = {"write": "wrote", "change": "changed", "remove": "removed"}


def _told(change: Mapping[str, Any], *, undo: bool) -> str:
    verb, file = change["says"].split()[0], change["file"]
    if not undo or verb == "remove":
        return f"{_DONE[verb]} {file}"
    return f"{file} is as it was before" if change["restored"] else f"took what is ours out of {file}"


def surroundings() -> machine.Machine:
    return machine.Machine.of(os.environ, sys.platform)


def build_request(memory: Memory, client: str, *, undo: bool = False, config: Path | None = None) -> Request:
    settings = memory.settings
    program = machine.find_own_program(sys.argv, sys.executable, sys.platform)
    launch = machine.build_launch(surroundings(), program, settings.home, settings.space)
    return Request(CLIENTS[client], launch, settings.home, settings.space, undo=undo, config=config)


def path_of(named: str, field: str) -> Path:
    try:
        path = Path(named).expanduser().absolute() if named.strip() and "\0" not in named else None
    except RuntimeError:
        path = None
    if path is None:
        raise InvalidInput(f"{field} is {named!r}; use the name of a file or folder")
    return path


def described(planned: Plan, request: Request) -> str:
    changes = [{"says": change.describe(), "diff": change.render_diff()} for change in planned.changes]
    return _lines(changes, planned.command_line(request))


def _lines(changes: Sequence[Mapping[str, Any]], command: str) -> str:
    """Changes as a person reads them: what happens to a file, and its lines."""
    lines = [f"run {command}, which would"] if command else []
    for change in changes:
        lines += [change["says"], *(f"  {line}" for line in change["diff"].splitlines())]
    return "\n".join(f"  {line}" for line in lines)

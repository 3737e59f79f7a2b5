"""The operation that finds programs to connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace as altered
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from msgspec import Meta
from msgspec.structs import replace

from mnemos.errors import MnemosError
from mnemos.hermes_folder import hermes_home
from mnemos.integrations.clients.catalogue import CLIENTS
from mnemos.operations.base import Info, Operation, Question, Result, Traits
from mnemos.operations.connect import HERMES, OPERATIONS, Undo, check_sdk, name_client, this_machine

if TYPE_CHECKING:
    from mnemos.memory import Memory


# Two lists, because one would not fit in a line of help.
_Editor = Literal["claude-desktop", "cursor", "vscode"]
_Terminal = Literal["claude-code", "codex", "gemini", "qwen", "opencode", "hermes"]


class ConnectFound(Operation, frozen=True, kw_only=True):
    """Find programs on this machine that could use this memory, and connect or disconnect the chosen
    ones."""

    traits: ClassVar[Traits] = Traits(
        title="Find programs to connect",
        help="Find programs on this machine that could use this memory. At a terminal, offers to connect "
        "each of them; --yes connects them all. With --undo, disconnects those that are connected.",
        idempotent=True,
        local=True,
        begins=True,
        asks=True,
        needs_yes=True,
    )

    client: Annotated[
        list[_Editor | _Terminal] | None,
        Meta(description="Only this program, such as codex; can be repeated"),
    ] = None
    undo: Undo = False

    def writes(self) -> bool:
        return self.undo or bool(self.client)

    def run(self, memory: Memory) -> ClientsFound:
        said = [
            OPERATIONS[client](undo=self.undo).run(memory).as_text()
            for client in dict.fromkeys(self.client or ())
        ]
        return ClientsFound(clients=[_state(memory, client) for client in (*CLIENTS, HERMES)], said=said)

    def questions(self, memory: Memory) -> Sequence[Question]:
        if memory.settings.disabled:
            return ()
        return [
            altered(question, key=client)
            for client in self.client or self._find_wanted(memory)
            for question in OPERATIONS[client](undo=self.undo).questions(memory)
        ]

    def _find_wanted(self, memory: Memory) -> list[str]:
        states = [_state(memory, client) for client in (*CLIENTS, HERMES)]
        return [one.client for one in states if (one.connected if self.undo else one.is_offered)]

    def offer(self, memory: Memory) -> tuple[str, tuple[str, ...]] | None:
        offers = (OPERATIONS[client](undo=self.undo).offer(memory) for client in self.client or ())
        return next((offer for offer in offers if offer is not None), None)

    def with_answers(self, answers: Mapping[str, str]) -> Operation:
        return replace(self, client=[client for client, answer in answers.items() if answer == "yes"] or None)


class ClientInfo(Info, frozen=True, kw_only=True):
    """A program that could use the memory. ``problem`` describes invalid settings."""

    client: str
    name: str
    found: bool
    connected: bool
    problem: str = ""

    @property
    def is_offered(self) -> bool:
        return self.found and not self.connected and not self.problem

    def render(self) -> str:
        if self.problem:
            return f"  {self.name}: {self.problem}"
        if self.connected:
            return f"  {self.name}: connected (disconnect with: mnemos connect {self.client} --undo)"
        return f"  {self.name}: not connected (connect with: mnemos connect {self.client})"


class ClientsFound(Result, frozen=True, kw_only=True):
    clients: list[ClientInfo]
    said: list[str]
    """Results of connecting the chosen ones."""

    def as_text(self) -> str:
        if self.said:
            return "\n".join(self.said)
        there = [one for one in self.clients if one.found]
        absent = [one.client for one in self.clients if not one.found]
        lines = ["On this machine:", *(one.render() for one in there)] if there else ["No programs found."]
        lines += [f"Not found: {', '.join(absent)}."] if absent else []
        return "\n".join([*lines, *(check_sdk() if there else [])])


def _state(memory: Memory, client: str) -> ClientInfo:
    """Look up a client. Unreadable settings are reported as its problem."""
    is_hermes = client == HERMES
    found = hermes_home(None).is_dir() if is_hermes else CLIENTS[client].is_installed(this_machine())
    info = ClientInfo(client=client, name=name_client(client), found=found, connected=False)
    try:
        planned = OPERATIONS[client]().plan(memory, carry_out=False) if found else None
    except MnemosError as exc:
        return replace(info, problem=str(exc))
    return info if planned is None else replace(info, connected=planned.details["connected"])

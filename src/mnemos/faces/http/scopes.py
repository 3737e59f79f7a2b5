"""Scopes: which operations a token allows."""

from __future__ import annotations

from functools import cache
from typing import Final

from mnemos.errors import NotAllowed
from mnemos.memory.access_tokens import Grant, Scope
from mnemos.operations import registry
from mnemos.operations.base import Operation

GRANT: Final = "mnemos.grant"
"""The key of an ASGI scope under which MCP finds what a client may do."""


def check_allowed(grant: Grant, name: str, operation: Operation, *, carries_file: bool = False) -> None:
    """Raise NotAllowed unless a token allows an operation with this input.

    ``carries_file``: its file is the body of the request or the answer, and not one of this machine.
    """
    needed = find_needed_scope(operation, carries_file=carries_file)
    if needed is Scope.LOCAL and grant.scope < needed:
        raise NotAllowed(
            f"{name} uses files of the server's machine. "
            "It needs the owner's token, from that machine and not through a proxy."
        )
    if grant.scope < needed:
        may_read = grant.scope is Scope.READ and "read_only" in operation.__struct_fields__
        advice = " To only read, pass read_only: true." if may_read else ""
        raise NotAllowed(
            f"{name} needs a token with the scope {needed.name.lower()}. "
            f"This one has {grant.scope.name.lower()}.{advice}"
        )
    if name not in _names(grant.operations):
        raise NotAllowed(f"This token is for {grant.operations} only, not for {name}.")


def find_needed_scope(operation: Operation, *, carries_file: bool = False) -> Scope:
    """Return the scope that an operation with this input needs."""
    if operation.traits.local and not carries_file:
        return Scope.LOCAL
    if not operation.writes():
        return Scope.READ
    return Scope.ADMIN if operation.destroys() else Scope.WRITE


def find_usual_scope(kind: type[Operation]) -> Scope:
    """Return the scope that an operation usually needs to change something."""
    traits = kind.traits
    if traits.local:
        return Scope.LOCAL
    if traits.read_only:
        return Scope.READ
    return Scope.ADMIN if traits.destructive or traits.reverts else Scope.WRITE


@cache
def _names(operations: str) -> frozenset[str]:
    return frozenset(entry.name for entry in registry.choose_entries(operations))


@cache
def _find_least_scope(name: str) -> Scope:
    """Return the least scope that allows an operation with some input."""
    kind = registry.find(name)
    usual = find_usual_scope(kind)
    may_read = usual is not Scope.LOCAL and kind.writes is not Operation.writes
    return Scope.READ if may_read else usual


def list_allowed(grant: Grant) -> list[str]:
    """Return the operations that a token allows with at least some inputs."""
    return sorted(name for name in _names(grant.operations) if _find_least_scope(name) <= grant.scope)

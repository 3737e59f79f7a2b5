"""Make the types of ``mnemos.client.async_client`` from the operations.

    python scripts/make_client_stub.py

Run it after an operation was added or changed; a test compares.
"""

from __future__ import annotations

import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from make_async_stub import format_stub

from mnemos.client import async_client
from mnemos.operations import registry
from mnemos.operations.index import ENTRIES

STUB = Path(async_client.__file__).with_suffix(".pyi")
HEAD = '''"""Made by scripts/make_client_stub.py from the operations. Don't edit."""

from collections.abc import AsyncGenerator
from typing import Any, Literal, Self

from mnemos.operations.changes import ChangeInfo
'''
CLASS = """
WIDTHS: dict[str, int]

class AsyncClient:
    sync: Any
    def __init__(self, url: str, token: str | None = ..., *, read_only: bool = ...) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def call(
        self, name: str, args: dict[str, Any] | None = ..., *, user_id: str | None = ...
    ) -> dict[str, Any]: ...
    def changes(self, since: str | None = ...) -> AsyncGenerator[ChangeInfo]: ...
    async def close(self) -> None: ...
"""
WRITTEN = frozenset({"call", "changes", "close"})


def make() -> str:
    """Return the stub."""
    imports: set[str] = set()
    methods = [_render(entry.name, imports) for entry in ENTRIES if entry.name not in WRITTEN]
    return format_stub("\n".join([HEAD, *sorted(imports), CLASS, *methods]), STUB)


def _render(name: str, imports: set[str]) -> str:
    operation = registry.find(name)
    result = registry.result_of(operation)
    module = result.__module__.rpartition(".")[2]
    # Not by its own name, which a method may have.
    imports.add(f"from mnemos.operations import {module} as of_{module}")
    fields = [
        f"{field.name}: {_spell(field.type)}" + ("" if field.required else " = ...")
        for field in msgspec.structs.fields(operation)
    ]
    given = f", *, {', '.join(fields)}" if fields else ""
    return f"    async def {name}(self{given}) -> of_{module}.{result.__name__}: ..."


def _spell(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _spell(inner[0])
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(_spell, inner)))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(_spell, inner))}]"
    return "Any" if kind is Any else "None" if kind is type(None) else str(kind.__name__)


if __name__ == "__main__":
    STUB.write_text(make(), encoding="utf-8")
    print(f"written: {STUB.name}")

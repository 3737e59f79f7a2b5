"""Mnemos's facts through its public API alone: ``python -m benchmarks.facts.product``."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

import apsw

import mnemos
from benchmarks.facts.made import MadeScope
from benchmarks.facts.worker import Found, serve


class Product:
    def __init__(self) -> None:
        self._memory: Any = None

    def versions(self) -> dict[str, str]:
        if not hasattr(mnemos.Memory, "facts"):
            raise RuntimeError("mnemos has no facts yet")
        return {
            "mnemos": mnemos.__version__,
            "apsw": apsw.apsw_version(),
            "sqlite": apsw.sqlite_lib_version(),
            "mcp": version("mcp"),
        }

    def open(self, folder: str) -> None:
        self._memory = mnemos.open(folder)

    def fill(self, scopes: Iterable[MadeScope]) -> None:
        """A turn and a write per scope; turns without writes at the end close what is open."""
        turn = 0
        for turn, scope in enumerate(scopes, start=1):
            self._memory.facts.tick(turn)
            self._memory.facts.write("\n".join(fact.line for fact in scope.facts), scope=scope.label)
        self._memory.facts.tick(turn + 10)
        # Work of a server without requests.
        self._memory.embedding.catch_up()

    def write(self, line: str, scope: str) -> object:
        return self._memory.facts.write(line, scope=scope or None)

    def search(self, query: str, limit: int) -> list[Any]:
        return list(self._memory.facts.search(query, limit=limit))

    def tick(self, turn: int, message: str) -> object:
        return self._memory.facts.tick(turn, message)

    def status(self) -> object:
        return self._memory.facts.status()

    def found(self, row: Any) -> Found:
        return row.type, row.target, row.scope or "", row.content

    def findable(self) -> int:
        live: int = self._memory.facts.count()
        return live

    def bring_back(self) -> None:
        """Nothing: what is live can be found."""

    def close(self) -> None:
        self._memory.close()


if __name__ == "__main__":
    serve(Product())

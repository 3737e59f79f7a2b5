"""Make the types of ``mnemos.memory.async_memory`` from the signatures of Memory and its parts.

    python scripts/make_async_stub.py

Run it after a public method was added or changed; a test compares.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import mnemos
from mnemos.memory import async_memory
from mnemos.memory.async_memory import ITERATORS, METHODS

STUB = Path(async_memory.__file__).with_suffix(".pyi")
HEAD = '''"""Made by scripts/make_async_stub.py from the signatures of Memory and its parts. Don't edit."""
'''


class Imports:
    """The imports of the stub: names of one spelling that mean different things get another one."""

    def __init__(self) -> None:
        self.lines = {"from typing import Self", "from contextlib import AbstractAsyncContextManager"}
        self._known: dict[str, str] = {}

    def add(self, name: str, module: ModuleType) -> str:
        """Import what a name means in a module; return how it is spelled in the stub."""
        if hasattr(builtins, name) and name not in vars(module):
            return name
        origin = _origins(module).get(name, f"from {module.__name__} import {name}")
        spelled = name
        if self._known.setdefault(name, origin) != origin:
            spelled = f"{module.__name__.split('.')[1].title()}{name}"
            origin = f"{origin} as {spelled}"
        self.lines.add(origin)
        return spelled


@cache
def _origins(module: ModuleType) -> dict[str, str]:
    """Return the import of each name that a module imports, also of those that only types need."""
    found: dict[str, str] = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = "" if isinstance(node, ast.Import) else f"from {node.module} "
            found |= {one.asname or one.name: f"{start}import {ast.unparse(one)}" for one in node.names}
    return found


class Spelling(ast.NodeTransformer):
    """Spell the names of an annotation as the stub imports them."""

    def __init__(self, imports: Imports, module: ModuleType, hidden: set[str]) -> None:
        self._imports, self._module, self._hidden = imports, module, hidden

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self._hidden:
            # A method of that name hides it from the annotations of its class.
            self._imports.lines.add("import builtins")
            return ast.parse(f"builtins.{node.id}", mode="eval").body
        return ast.Name(self._imports.add(node.id, self._module))

    def spell(self, annotation: str) -> str:
        return ast.unparse(self.visit(ast.parse(annotation, mode="eval").body))


def _render(name: str, function: Any, imports: Imports, hidden: set[str]) -> str:
    """Return the async signature of a method, by its synchronous one."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    module = sys.modules[function.__module__]
    spelling = Spelling(imports, module, hidden)
    signature = inspect.signature(function)
    parameters, is_keyword = ["self"], False
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            continue
        if one.kind is one.KEYWORD_ONLY and not is_keyword:
            is_keyword = True
            parameters.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else " = ..."
        parameters.append(f"{stars}{one.name}: {spelling.spell(one.annotation)}{default}")
    answer = signature.return_annotation
    if name in ITERATORS:
        imports.lines.add("from collections.abc import AsyncGenerator")
        inner = spelling.spell(answer.removeprefix("Iterator[").removesuffix("]"))
        return f"    def {name}({', '.join(parameters)}) -> AsyncGenerator[{inner}]: ..."
    return f"    async def {name}({', '.join(parameters)}) -> {spelling.spell(answer)}: ..."


def _classes(memory: Any) -> dict[str, type]:
    """Return the class of each part, as Memory declares it."""
    from mnemos.entries.backend import MemoryBackend

    found = {part: type(getattr(memory, part)) for part in METHODS if part}
    # The backend is chosen by the settings.
    return found | {"": type(memory), "backend": MemoryBackend}


def make() -> str:
    """Return the stub."""
    imports = Imports()
    with mnemos.open(":memory:") as memory:
        classes = _classes(memory)
    bodies = []
    for part in [*filter(None, METHODS), ""]:
        names = sorted({name for names in METHODS[part].values() for name in names.split()})
        title = f"Async{part.title() or 'Memory'}"
        lines = [f"class {title}:"]
        if not part:
            names = sorted([*names, "call", "close"])
            lines += [f"    {name}: {kind}" for name, kind in _attributes(imports)]
            lines += [
                "    def __init__(self, memory: Memory, lanes: Lanes | None = ...) -> None: ...",
                "    async def __aenter__(self) -> Self: ...",
                "    async def __aexit__(self, *_: object) -> None: ...",
            ]
        hidden = set(names) & set(dir(builtins))
        lines += [_render(name, getattr(classes[part], name), imports, hidden) for name in names]
        bodies.append("\n".join(lines))
    opening = _render("aopen", mnemos.open, imports, set())
    opening = opening.strip().replace("async def", "def").replace("(self, ", "(")
    opening = opening.replace("-> Memory:", "-> AbstractAsyncContextManager[AsyncMemory]:")
    tables = "METHODS: dict[str, dict[str, str]]\nITERATORS: set[str]"
    text = "\n\n".join([HEAD, "\n".join(sorted(imports.lines)), tables, *bodies, opening])
    return format_stub(text, STUB)


def _attributes(imports: Imports) -> list[tuple[str, str]]:
    imports.lines |= {
        "from mnemos.memory.memory import Memory",
        "from mnemos.memory.call_lanes import Lanes",
        "from mnemos.settings import Settings",
        "from pathlib import Path",
    }
    parts = [(part, f"Async{part.title()}") for part in METHODS if part]
    return [("sync", "Memory"), ("settings", "Settings"), ("database", "Path"), *parts]


def format_stub(text: str, path: Path) -> str:
    """Return the text of a stub with its imports sorted, as the formatter writes it."""
    ruff = [sys.executable, "-m", "ruff"]
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format", "--quiet"]):
        ran = subprocess.run(  # noqa: S603 - our own formatter
            [*ruff, *command, "--stdin-filename", str(path), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = ran.stdout
    return text


if __name__ == "__main__":
    STUB.write_text(make(), encoding="utf-8")
    print(f"written: {STUB.name}")

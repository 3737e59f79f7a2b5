"""Print which packages of Mnemos import which, and every cycle among them.

Imports inside functions count like those at the top of a module; those that only type checkers see do not.

    python scripts/package_graph.py
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "mnemos"
SOURCE = Path(__file__).parents[1] / "src" / PACKAGE
ALLOWED = (("memory", "operations"), ("memory", "client"))
"""The imports that point up, when they are needed: an operation is called, a URL is opened."""

Graph = dict[str, dict[str, int]]


def package_graph(source: Path = SOURCE) -> Graph:
    """Count the imports between the top-level packages and modules of Mnemos."""
    graph: Graph = defaultdict(lambda: defaultdict(int))
    for path in sorted(source.rglob("*.py")):
        importer = path.relative_to(source).with_suffix("").parts[0]
        for imported in _imports(ast.parse(path.read_text(encoding="utf-8"))):
            if imported != importer and importer not in ("__init__", "__main__"):
                graph[importer][imported] += 1
    return graph


def find_cycles(graph: Graph) -> list[list[str]]:
    """Find the groups of packages that reach each other, leaving out the allowed imports."""
    edges = {
        name: {other for other in others if (name, other) not in ALLOWED} for name, others in graph.items()
    }
    reachable = {name: _reach(edges, name) for name in edges}
    groups = {
        tuple(sorted({name, *(other for other in reach if name in reachable.get(other, ()))}))
        for name, reach in reachable.items()
        if name in reach
    }
    return [list(group) for group in sorted(groups)]


def _reach(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    todo = list(edges.get(start, ()))
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(edges.get(name, ()))
    return found


def _imports(tree: ast.AST) -> Iterator[str]:
    """The first name after ``mnemos.`` of every import that runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            first, _, rest = node.module.partition(".")
            if first == PACKAGE and rest:
                yield rest.partition(".")[0]
            elif first == PACKAGE:
                yield from (alias.name for alias in node.names if (SOURCE / alias.name).is_dir())
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(f"{PACKAGE}."):
                    yield alias.name.split(".")[1]
        yield from _imports(node)


def main() -> int:
    graph = package_graph()
    for name in sorted(graph):
        print(f"{name}: {', '.join(f'{other} {count}' for other, count in sorted(graph[name].items()))}")
    cycles = find_cycles(graph)
    for cycle in cycles:
        print(f"cycle: {' <-> '.join(cycle)}")
    allowed = ", ".join(map(" -> ".join, ALLOWED))
    print(f"{len(graph)} packages and modules, {len(cycles)} cycles ({allowed} left out)")
    return bool(cycles)


if __name__ == "__main__":
    sys.exit(main())

"""``python -m benchmarks closing|extraction``: measure rules over language on labelled texts."""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path

from mnemos.faces.cli.bench.command import show_grid


def main(name: str, words: list[str]) -> None:
    rules = import_module(f"benchmarks.{name}")
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=rules.__doc__)
    parser.add_argument("--data", type=Path, default=rules.LABELLED, help="labelled texts")
    parser.add_argument("--misses", action="store_true", help="list the texts that were read wrongly")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(words)
    measured = rules.measure(options.data.stem, rules.read(options.data))
    if options.json:
        print(json.dumps(rules.document(measured)))
        return
    for grid in rules.grids(measured):
        show_grid(grid)
    if options.misses:
        for line in rules.lines(measured.misses):
            print(line)

"""``python -m benchmarks append search startup facts providers workspace imports async http watch page ...``.

``http_soak`` runs sixteen clients of a server for ten minutes, ``soak`` four processes on a home for five.

``python -m benchmarks recall --help`` tells how to measure what is found again, and
``python -m benchmarks closing|extraction|threats|updates --help`` how to measure rules on labelled texts.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks import report
from benchmarks.report import Options

MODULES = {
    "append": "benchmarks.append",
    "search": "benchmarks.search",
    "startup": "benchmarks.startup",
    "facts": "benchmarks.facts.command",
    "providers": "benchmarks.providers",
    "workspace": "benchmarks.workspace",
    "imports": "benchmarks.imports",
    "hooks": "benchmarks.hooks",
    "size": "benchmarks.size",
    "compare": "benchmarks.compare",
    "soak": "benchmarks.soak",
    "watch": "benchmarks.watch",
    "sql_hints": "benchmarks.sql_hints",
    "async": "benchmarks.async_calls",
    "client": "benchmarks.client",
    "postgres": "benchmarks.postgres",
    "http": "benchmarks.http_server",
    "http_soak": "benchmarks.http_soak",
    "page": "benchmarks.page",
    "sync": "benchmarks.sync",
}
DEFAULT_SIZES = {
    "search": (10_000, 100_000),
    "facts": (1_000, 50_000),
    "providers": (10_000, 100_000),
    "hooks": (10_000, 100_000),
}
QUICK_SIZES = {"search": (2_000,), "facts": (500, 2_000), "providers": (2_000,), "hooks": (2_000,)}


def main() -> None:
    if sys.argv[1:2] == ["recall"]:
        # It is given data, and fits and ablates besides: a command line of its own.
        importlib.import_module("benchmarks.recall.command").main(sys.argv[2:])
        return
    if sys.argv[1:2] in (["closing"], ["extraction"]):
        importlib.import_module("benchmarks.rules").main(sys.argv[1], sys.argv[2:])
        return
    if sys.argv[1:2] == ["threats"]:
        importlib.import_module("benchmarks.threats").main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["updates"]:
        importlib.import_module("benchmarks.updates").main(sys.argv[2:])
        return
    arguments = _parser().parse_args()
    sizes = QUICK_SIZES if arguments.quick else DEFAULT_SIZES
    documents = []
    for name in arguments.benchmark:
        options = Options(
            sizes=tuple(sorted(arguments.size or sizes.get(name, ()))),
            repeat=arguments.repeat or (2 if arguments.quick else 5),
            quick=arguments.quick,
            peers=not arguments.no_peers,
        )
        result = importlib.import_module(MODULES[name]).run(options)
        report.show(result)
        documents.append(report.document(result, options))
    if arguments.quick and arguments.json is None:
        print("A quick run is not kept; give --json FILE to write it down.")
        return
    for written in report.keep(documents, arguments.json):
        print(f"written: {written}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("benchmark", nargs="+", choices=tuple(MODULES))
    parser.add_argument(
        "--size",
        type=_positive,
        nargs="+",
        metavar="N",
        help="messages in the search corpus, facts in the store",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats")
    parser.add_argument("--repeat", type=_positive, metavar="K", help="rounds, interleaved")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures here")
    parser.add_argument("--no-peers", action="store_true", help="only Mnemos and the raw limit")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


if __name__ == "__main__":
    main()

"""``python -m benchmarks append search startup``: measure, print tables, keep the figures.

``python -m benchmarks recall --help`` tells how to measure what is found again.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from benchmarks import report
from benchmarks.report import Options

NAMES = ("append", "search", "startup")
DEFAULT_SIZES = (10_000, 100_000)
QUICK_SIZES = (2_000,)


def main() -> None:
    if sys.argv[1:2] == ["recall"]:
        # It is given data, and fits and ablates besides: a command line of its own.
        importlib.import_module("benchmarks.recall.command").main(sys.argv[2:])
        return
    arguments = _parser().parse_args()
    options = Options(
        sizes=tuple(sorted(arguments.size or (QUICK_SIZES if arguments.quick else DEFAULT_SIZES))),
        repeat=arguments.repeat or (2 if arguments.quick else 5),
        quick=arguments.quick,
        peers=not arguments.no_peers,
    )
    documents = []
    for name in arguments.benchmark:
        result = importlib.import_module(f"benchmarks.{name}").run(options)
        report.show(result)
        documents.append(report.document(result, options))
    if options.quick and arguments.json is None:
        print("A quick run is not kept; give --json FILE to write it down.")
        return
    for written in report.keep(documents, arguments.json):
        print(f"written: {written}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("benchmark", nargs="+", choices=NAMES)
    parser.add_argument(
        "--size", type=_positive, nargs="+", metavar="N", help="messages in the search corpus"
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

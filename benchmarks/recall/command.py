"""``python -m benchmarks recall``: compare and cross-validate; or only fit, or ablate."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import report
from benchmarks.recall import certainty, compare, engine, languages, mixed, own, switches, walk
from benchmarks.report import Options
from mnemos.errors import InvalidInput, MnemosError
from mnemos.faces.cli.bench.corpus import Data
from mnemos.faces.cli.bench.dataset import read

VARIABLE = "MNEMOS_BENCH_DATA"
_MIXED = ("FTS5", "FTS5 porter", "dense", mixed.MNEMOS, "mnemos deep")
WHERE = (
    f"no data: give --data FILE_OR_FOLDER, or set {VARIABLE}. "
    "docs/how-to/measure-recall.md says where LoCoMo and LongMemEval are."
)


def main(arguments: Sequence[str]) -> None:
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.walk:
        _walk(options)
        return
    try:
        if options.languages:
            asked = [languages.read(path).limit(options.limit_questions) for path in options.languages]
            _keep(languages.run(asked, {"words": engine.lexical(), "hybrid": engine.hybrid()}), options)
            return
        paths = _files(options.data)
        files = [read(path).limit(options.limit_questions) for path in paths]
    except MnemosError as exc:
        parser.error(str(exc))
    if options.mixed:
        able, missing = compare.ways()
        ways = {name: able[name] for name in options.ways or _MIXED if name in able}
        if files:
            _keep(mixed.run(files, ways, missing), options)
        else:
            ways["mnemos, in its project"] = own.in_projects
            _keep(replace(mixed.run([own.read(for_reports=True)], ways, missing), name="recall-own"), options)
        return
    if not files:
        parser.error(WHERE)
    if options.postgres:
        # Not drawn: four lines on top of each other.
        result, _ = compare.run(files, options.pool, compare.engines())
        _keep(replace(result, name="recall-postgres"), options)
        return
    if options.rules:
        _keep(switches.run(files), options)
        return
    if options.certainty:
        _keep(certainty.run(files, paths), options)
        return
    only_learn = options.fit or options.ablation
    if not only_learn:
        _compare(files, options)
    try:
        # Every comparison includes conversations that the weights have not seen.
        _learn(files, options)
    except InvalidInput as exc:
        if only_learn:
            parser.error(str(exc))
        print(f"not cross-validated: {exc}")


def _walk(options: argparse.Namespace) -> None:
    with TemporaryDirectory(prefix="mnemos-bench-") as folder:
        _keep(walk.run(options.home or Path(folder) / "home", show=options.show), options)


def _keep(result: report.Result, options: argparse.Namespace) -> None:
    report.show(result)
    if options.limit_questions and options.json is None:
        print("A run with fewer questions is not kept; give --json FILE to write it down.")
        return
    kept = report.document(result, Options(sizes=(), repeat=1, quick=False, peers=True))
    for written in report.keep([kept], options.json):
        print(f"written: {written}")


def _compare(files: Sequence[Data], options: argparse.Namespace) -> None:
    able, missing = compare.ways()
    chosen = {name: able[name] for name in options.ways or able if name in able}
    result, compared = compare.run(files, options.pool, chosen, missing)
    _keep(result, options)
    if options.limit_questions and options.json is None:
        return
    if options.json is None:
        drawn = compare.draw(compared)
    else:
        drawn = compare.draw(compared, options.json.parent, options.json.stem)
    for path in drawn:
        print(f"drawn: {path.name}")


def _learn(files: Sequence[Data], options: argparse.Namespace) -> None:
    # Only these two need the features of the ranker.
    from benchmarks.recall import learn

    tables = learn.run(
        [*files, *(own.read_files(for_reports=False) if options.own else ())],
        pools=options.pool,
        lexical=options.lexical,
        folds=options.folds,
        balance=options.balance,
        free_signs=options.free_signs,
        penalty=options.penalty,
        ablation=options.ablation,
    )
    for table in tables:
        print("\n".join(table.lines()))


def _files(given: Sequence[Path]) -> list[Path]:
    """The files named, and those in the folders named; without any, what the environment names."""
    named = given or [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]
    files: list[Path] = []
    for path in named:
        inside = sorted([*path.glob("*.json"), *path.glob("*.jsonl")]) if path.is_dir() else [path]
        files += inside
    return files


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks recall", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[], metavar="PATH", help="files or folders")
    parser.add_argument("--pool", nargs="+", default=[], metavar="N", help="LongMemEval: sessions, or all")
    parser.add_argument("--limit-questions", type=int, metavar="N", help="ask only so many of each file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument(
        "--mixed",
        action="store_true",
        help="compare alone with everything in one home; no data: our own held-out conversations",
    )
    parser.add_argument(
        "--ways", nargs="+", metavar="WAY", help="only these, such as mnemos; with --mixed, too"
    )
    parser.add_argument("--postgres", action="store_true", help="compare SQLite with a PostgreSQL server")
    parser.add_argument("--rules", action="store_true", help="switch off each rule in turn, in one home")
    parser.add_argument(
        "--certainty", action="store_true", help="how sure it is of questions with and without an answer"
    )
    parser.add_argument("--walk", action="store_true", help="ask fourteen questions of two years of history")
    parser.add_argument("--show", action="store_true", help="with --walk: print what a model would get")
    parser.add_argument("--home", type=Path, metavar="FOLDER", help="with --walk: keep the home here")
    parser.add_argument("--languages", type=Path, nargs="+", metavar="FILE", help="files in SQuAD's format")
    parser.add_argument("--ablation", action="store_true", help="switch off each feature in turn")
    parser.add_argument("--fit", action="store_true", help="fit the weights, cross-validated")
    parser.add_argument("--own", action="store_true", help="fit on our own conversations, too")
    parser.add_argument("--lexical", action="store_true", help="of the ranker without vectors")
    parser.add_argument("--folds", type=int, default=5, metavar="K", help="for cross-validation")
    parser.add_argument(
        "--balance",
        type=float,
        default=0.5,
        metavar="B",
        help="0: each question counts alike, 1: each data set",
    )
    parser.add_argument(
        "--penalty", type=float, metavar="P", help="on large weights; default: the best of several"
    )
    parser.add_argument(
        "--free-signs", action="store_true", help="let weights change from helping to hurting"
    )
    return parser

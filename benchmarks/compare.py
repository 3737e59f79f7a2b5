"""The same work on two versions of Mnemos, in turn, in one run: what a change costs or gains.

The earlier version is ``MNEMOS_COMPARE_WITH``, by default the commit before the redesign. Both run in
processes of their own on this interpreter; ratios are of CPU time, since the machine may be busy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from benchmarks.measure import median
from benchmarks.peers import ROOT, clean_environment
from benchmarks.report import Options, Result, Table
from benchmarks.size import BEFORE

SIZE = 100_000
QUICK_SIZE = 5_000


def run(options: Options) -> Result:
    revision = os.environ.get("MNEMOS_COMPARE_WITH", BEFORE)
    size = max(options.sizes, default=QUICK_SIZE if options.quick else SIZE)
    with tempfile.TemporaryDirectory(dir=_memory_disk()) as name:
        folder = Path(name)
        sources = {"before": _check_out(revision, folder / "source") / "src", "now": ROOT / "src"}
        for version, source in sources.items():
            _child(source, "build", str(folder / version), str(size))
        times: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for number in range(options.repeat):
            for version in sorted(sources, reverse=bool(number % 2)):
                measured = _child(sources[version], "measure", str(folder / version), str(size))
                for case, microseconds in measured.items():
                    times[case][version].append(microseconds)
    figures = {
        case: {version: median(runs) for version, runs in by_version.items()}
        for case, by_version in times.items()
    }
    rows = [
        (case, f"{found['before']:,.0f}", f"{found['now']:,.0f}", f"{found['before'] / found['now']:.2f}")
        for case, found in figures.items()
    ]
    table = Table(
        f"CPU per call, {revision} and now, {size:,} messages, median of {options.repeat}",
        ("", "before, µs", "now, µs", "times as fast"),
        rows,
    )
    return Result("compare", [table], {"size": size, "revision": revision, "cases": figures})


def _check_out(revision: str, folder: Path) -> Path:
    folder.mkdir()
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
    return folder


def _child(source: Path, *words: str) -> dict[str, float]:
    environment = clean_environment(Path(words[1]) / "home") | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.compare_worker", *words],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _memory_disk() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None

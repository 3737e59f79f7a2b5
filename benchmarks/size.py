"""The size of what is shipped: lines and files per package, the wheel, and what a base install brings.

Compared with the revision before the redesign, or with ``MNEMOS_SIZE_BEFORE``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.peers import ROOT
from benchmarks.report import Options, Result, Table

BEFORE = "9b95f10"
SOURCE = "src/mnemos"
Sizes = dict[str, tuple[int, int]]
"""Lines and files by package."""


def run(options: Options) -> Result:
    revision = os.environ.get("MNEMOS_SIZE_BEFORE", BEFORE)
    before, after = sizes_at(revision), sizes_now()
    names = sorted({*before, *after}, key=lambda name: -after.get(name, (0, 0))[0])
    rows = [(name, *_cells(before.get(name)), *_cells(after.get(name))) for name in names]
    totals = (_total(before), _total(after))
    rows.append(("all", *_cells(totals[0]), *_cells(totals[1])))
    tables = [
        Table(
            f"Python shipped, {revision} and now",
            ("package", "lines", "files", "lines now", "files now"),
            rows,
        )
    ]
    figures = {"before": before, "after": after, "totals": {"before": totals[0], "after": totals[1]}}
    if not options.quick:
        packed = {"before": wheel_bytes(revision), "after": wheel_bytes(None)}
        packages = {"before": base_packages(revision), "after": base_packages(None)}
        figures |= {"wheel_bytes": packed, "base_packages": packages}
        tables.append(
            Table(
                "The wheel and the base install",
                ("", "before", "now"),
                (
                    ("wheel, MB", *(f"{packed[when] / 1e6:.2f}" for when in ("before", "after"))),
                    ("packages", *(str(len(packages[when])) for when in ("before", "after"))),
                ),
                (f"now: {', '.join(packages['after'])}",),
            )
        )
    return Result("size", tables, figures)


def sizes_now() -> Sizes:
    """Measure the working tree."""
    source = ROOT / SOURCE
    return _sizes((path.relative_to(source).as_posix(), path.read_bytes()) for path in source.rglob("*.py"))


def sizes_at(revision: str) -> Sizes:
    """Measure a revision; empty where this clone does not have it."""
    listed = _git("ls-tree", "-r", "--name-only", revision, "--", SOURCE)
    if listed is None:
        return {}
    names = [name for name in listed.decode().split("\n") if name.endswith(".py")]
    found = ((name.removeprefix(f"{SOURCE}/"), _git("show", f"{revision}:{name}") or b"") for name in names)
    return _sizes(found)


def wheel_bytes(revision: str | None) -> int:
    """Build the wheel of a revision, or of the working tree, and weigh it."""
    with _checkout(revision) as folder, tempfile.TemporaryDirectory() as out:
        _pip("wheel", "--no-deps", "--wheel-dir", out, str(folder))
        (wheel,) = Path(out).glob("*.whl")
        return wheel.stat().st_size


def base_packages(revision: str | None) -> list[str]:
    """Name the packages that an install without extras brings into an empty environment."""
    with _checkout(revision) as folder, tempfile.TemporaryDirectory() as out:
        _pip("install", "--target", out, "-c", str(folder / "constraints.txt"), str(folder))
        return sorted(path.name.rpartition("-")[0] for path in Path(out).glob("*.dist-info"))


class _checkout:  # noqa: N801 - it reads as a function
    """A revision in a folder of its own; the working tree itself for None."""

    def __init__(self, revision: str | None) -> None:
        self._revision = revision
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Path:
        if self._revision is None:
            return ROOT
        self._folder = tempfile.TemporaryDirectory()
        packed = subprocess.run(
            ["git", "archive", self._revision], cwd=ROOT, capture_output=True, check=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", self._folder.name], input=packed, check=True)
        return Path(self._folder.name)

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _sizes(files: Iterable[tuple[str, bytes]]) -> Sizes:
    lines: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for name, data in files:
        package = name.partition("/")[0].removesuffix(".py")
        lines[package] += data.count(b"\n")
        count[package] += 1
    return {name: (lines[name], count[name]) for name in lines}


def _total(sizes: Sizes) -> tuple[int, int]:
    return sum(lines for lines, _ in sizes.values()), sum(files for _, files in sizes.values())


def _cells(size: tuple[int, int] | None) -> tuple[str, str]:
    return ("-", "-") if size is None else (f"{size[0]:,}", str(size[1]))


def _git(*words: str) -> bytes | None:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def _pip(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", *words], check=True)

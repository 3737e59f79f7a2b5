"""The checks of ``mnemos doctor``, and the rescue of data from a damaged file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mnemos.entries.backend_choice import check_choice
from mnemos.errors import Corrupt, InvalidInput, MnemosError, Unavailable
from mnemos.recall.embedding import describe_coverage
from mnemos.storage.base import Check, report_ok, report_problem
from mnemos.workspace.bridge import check_databases

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory


def examine(memory: Memory, reset: Callable[[], None], *, repair: bool) -> Iterator[Check]:
    """Check the data; with ``repair``, fix what can be fixed and keep what can't.

    ``reset`` closes the memory, so that every part is made again.
    """
    try:
        checks = list(memory.storage.examine(repair=repair))
    except Corrupt as exc:
        yield report_problem("integrity", str(exc))
        if repair:
            yield from _salvage(memory, reset)
        return
    yield from checks
    yield check_choice(memory.settings)
    yield from _check_notebook(memory)
    yield from _check_templates(memory)
    yield _check_vectors(memory)
    yield from check_databases(memory.workspace)
    if not memory.is_in_memory:
        yield from _check_folder("templates", memory.templates_folder)
        yield from _check_folder("workspace", memory.folder / "databases")
    if repair and any(check.name == "integrity" and not check.ok for check in checks):
        yield from _salvage(memory, reset)


def _check_notebook(memory: Memory) -> Iterator[Check]:
    """Yield one check for all sound files, then one for each unreadable or oversized file."""
    sound, problems = [], []
    for name in memory.settings.notebook_files:
        try:
            use = memory.notebook.use(name)
        except MnemosError as exc:
            problems.append(str(exc))
            continue
        if use.used > use.limit:
            problems.append(
                f"{use}: too long for every prompt. Run `mnemos notebook optimize` or `mnemos notebook edit "
                f"{use.book}`"
            )
        else:
            sound.append(str(use))
    if sound or not problems:
        yield report_ok("notebook", "; ".join(sound) or "not used")
    yield from (report_problem("notebook", problem) for problem in problems)


def _check_templates(memory: Memory) -> Iterator[Check]:
    """Yield one check for all sound files, then one for each file that isn't a template."""
    count = len(memory.templates.list_templates())
    yield report_ok("templates", f"{count:,} can be used")
    yield from (report_problem("templates", problem.reason) for problem in memory.templates.problems())


def _check_folder(name: str, folder: Path) -> Iterator[Check]:
    """Yield a check if the path isn't a readable folder."""
    if folder.exists() and not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
        yield report_problem(name, f"{folder} is not a readable folder. Move it away or change its mode")


def _check_vectors(memory: Memory) -> Check:
    if not memory.embedding.is_wanted:
        return report_ok("vectors", "not used (embedder is none)")
    try:
        coverage = memory.embedding.coverage()
    except (Unavailable, InvalidInput) as exc:
        return report_problem("vectors", f"recall works by words alone: {exc}")
    counts = f"{coverage.done:,} of {coverage.total:,} passages"
    return report_ok("vectors", f"{counts}, {describe_coverage(coverage.share)}")


def _salvage(memory: Memory, reset: Callable[[], None]) -> Iterator[Check]:
    """Continue with the readable part of a damaged file."""
    reset()
    yield from memory.home.salvage()
    yield report_ok("facts", f"{memory.facts.repair_index()} are found again")
    yield from memory.storage.examine(repair=True)

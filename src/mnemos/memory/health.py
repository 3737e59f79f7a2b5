"""The checks behind ``mnemos doctor``, and saving what a damaged file still holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mnemos.entries.backend_choice import check_choice
from mnemos.errors import Corrupt, InvalidInput, Unavailable
from mnemos.recall.embedding import describe_coverage
from mnemos.storage.base import Check, failed, passed
from mnemos.workspace.bridge import check_databases

if TYPE_CHECKING:
    from mnemos.memory.memory import Memory


def examine(memory: Memory, reset: Callable[[], None], *, repair: bool) -> Iterator[Check]:
    """Check the data; with ``repair``, fix what can be fixed and keep what can't.

    ``reset`` closes the memory and lets every part be made again.
    """
    try:
        checks = list(memory.storage.examine(repair=repair))
    except Corrupt as exc:
        yield failed("integrity", str(exc))
        if repair:
            yield from _salvage(memory, reset)
        return
    yield from checks
    yield check_choice(memory.settings)
    for problem in memory.templates.problems():
        yield failed("templates", problem.reason)
    yield _check_vectors(memory)
    yield from check_databases(memory.workspace)
    if repair and any(check.name == "integrity" and not check.ok for check in checks):
        yield from _salvage(memory, reset)


def _check_vectors(memory: Memory) -> Check:
    if not memory.embedding.is_wanted:
        return passed("vectors", "not used (embedder is none)")
    try:
        coverage = memory.embedding.coverage()
    except (Unavailable, InvalidInput) as exc:
        return failed("vectors", f"recall works by words alone: {exc}")
    counts = f"{coverage.done:,} of {coverage.total:,} passages"
    return passed("vectors", f"{counts}, {describe_coverage(coverage.share)}")


def _salvage(memory: Memory, reset: Callable[[], None]) -> Iterator[Check]:
    """Go on with what can still be read of a damaged file."""
    reset()
    yield from memory.home.salvage()
    yield passed("facts", f"{memory.facts.repair_index()} are found again")
    yield from memory.storage.examine(repair=True)

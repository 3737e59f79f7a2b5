"""The backlog of vectors after an import: some of it at once, the rest in the background.

A long-lived process works it off in its background thread. A command ends too soon for that, so it starts a
separate process, with low priority and one per space. A killed process loses one step, and two at once
discard each other's work: the next command that writes or recalls starts another one if something is left.
"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemos import detached
from mnemos.errors import InvalidInput, MnemosError, Unavailable
from mnemos.files import lock
from mnemos.memory.memory import Memory
from mnemos.progress import Progress, no_progress, part_of
from mnemos.recall.embedding import describe_coverage
from mnemos.settings import Settings

if TYPE_CHECKING:
    import subprocess

log = logging.getLogger("mnemos.memory")

# Seconds an import spends on vectors before it ends: with the static model, tens of thousands of messages.
_SECONDS: Final = 10.0
# The share of an import's work that storing is; the rest is embedding.
STORED: Final = 0.7
# The least number of passages without vectors that is worth a process. The next question embeds fewer.
_MANY: Final = 1_000
_NICE: Final = 10


def work_off(memory: Memory, progress: Progress = no_progress) -> float | None:
    """Embed missing vectors for a while; return the share that has them, None without an embedder.

    The background thread does the rest. ``progress`` is that of the import, which has stored everything.
    """
    indexing = part_of(progress, STORED, 1, "Indexing for search by meaning")
    share = finish(memory, indexing, seconds=_SECONDS)
    if share is not None and share < 1:
        memory.storage.wake()
    return share


def finish(memory: Memory, progress: Progress = no_progress, *, seconds: float | None = None) -> float | None:
    """Embed everything that is missing, in up to ``seconds``; a model that is not available means None."""
    coverage = memory.embedding.peek()
    if coverage is None or coverage.share >= 1:
        return None if coverage is None else 1.0
    try:
        memory.embedding.catch_up(seconds, progress)
        return memory.embedding.coverage().share
    except (Unavailable, InvalidInput) as exc:
        log.warning("nothing is indexed for meaning: %s", exc)
        return None


def describe_backlog(share: float | None) -> list[str]:
    """Describe what an import left to the background; empty if nothing."""
    if share is None or share >= 1:
        return []
    return [f"{describe_coverage(share)} now, otherwise it continues in the background."]


def hand_over(memory: Memory) -> subprocess.Popen[bytes] | None:
    """Start a process for the backlog without waiting for it, if it is large enough. Raises nothing."""
    try:
        if not _is_worth_it(memory):
            return None
        with _lock(memory.settings):
            # No process is working on it.
            pass
        return detached.start(__name__, memory.settings.home, memory.settings.space)
    except (MnemosError, OSError) as exc:
        log.info("no process indexes for meaning: %s", exc)
        return None


def _is_worth_it(memory: Memory) -> bool:
    if not memory.home.is_open or memory.is_in_memory or memory.storage.read_only or memory.settings.disabled:
        return False
    if memory.home.is_server:
        # Another process may not know the URL, which must not be in its arguments.
        return False
    coverage = memory.embedding.peek()
    return coverage is not None and coverage.total - coverage.done >= _MANY


def _lock(settings: Settings) -> AbstractContextManager[None]:
    """Hold the lock of the space, or raise Busy."""
    return lock(settings.home, f".embedding-{settings.space.replace('/', '+')}.lock", 0.0)


def main() -> None:
    home, space = Path(sys.argv[1]), sys.argv[2]
    os.nice(_NICE)
    settings = Settings.load(home, space=space)
    memory = Memory(settings, background=False)
    if not memory.home.exists:
        # Deleted in the meantime.
        return
    try:
        with memory, _lock(settings):
            finish(memory)
    except MnemosError:
        # Another process is working on it, or the disk is full: the next command tries again.
        return


if __name__ == "__main__":
    main()

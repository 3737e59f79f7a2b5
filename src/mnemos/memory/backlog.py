"""The backlog of vectors after an import: some are made at once, the rest in the background.

A long-lived process makes them in its background thread. A command ends too soon for that, so it starts a
separate process with low priority, one per space. A killed process loses one step. The next command that
writes or recalls starts another process if vectors are still missing.
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

# Seconds that an import spends on vectors before it ends. The static model embeds tens of thousands of
# messages.
_SECONDS: Final = 10.0
# Storing is this share of an import's work, and embedding the rest.
STORED: Final = 0.7
# A process is started for at least this many passages. The next question embeds fewer itself.
_MANY: Final = 1_000
_NICE: Final = 10


def work_off(memory: Memory, progress: Progress = no_progress) -> float | None:
    """Embed for a while; return the share of passages with vectors, None without an embedder.

    The background thread does the rest. ``progress`` is the import's, which has stored everything.
    """
    indexing = part_of(progress, STORED, 1, "Indexing for search by meaning")
    share = finish(memory, indexing, seconds=_SECONDS)
    if share is not None and share < 1:
        memory.storage.wake()
    return share


def finish(memory: Memory, progress: Progress = no_progress, *, seconds: float | None = None) -> float | None:
    """Embed all missing vectors within ``seconds``. Returns None if the model is not available."""
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
    """Describe the work that an import left to the background; "" if there is none."""
    if share is None or share >= 1:
        return []
    return [f"{describe_coverage(share)} now, otherwise it continues in the background."]


def hand_over(memory: Memory) -> subprocess.Popen[bytes] | None:
    """Start a process for the backlog, if it is large enough, without waiting. Raises nothing."""
    try:
        if not _is_worth_it(memory):
            return None
        with _lock(memory.settings):
            # Nobody holds the lock, so no other process is working on it.
            pass
        return detached.start(__name__, memory.settings.home, memory.settings.space)
    except (MnemosError, OSError) as exc:
        log.info("no process indexes for meaning: %s", exc)
        return None


def _is_worth_it(memory: Memory) -> bool:
    if not memory.home.is_open or memory.is_in_memory or memory.storage.read_only or memory.settings.disabled:
        return False
    if memory.home.is_server:
        # The process may not know the URL, and its arguments must not contain it.
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
        # The home was deleted in the meantime.
        return
    try:
        with memory, _lock(settings):
            finish(memory)
    except MnemosError:
        # Another process is working on it, or the disk is full. The next command tries again.
        return


if __name__ == "__main__":
    main()

"""Recall for a coming message: a fenced block for its prompt, or nothing.

A memory that fails or is late must not stop an agent: there is no block then, and a warning is logged once.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from concurrent.futures import wait
from functools import lru_cache, partial
from typing import Any
from weakref import WeakSet

from mnemos.deadlines import start
from mnemos.errors import MnemosError
from mnemos.integrations.shared.memory_source import settings_of
from mnemos.integrations.small_talk import cut_question, is_trivial
from mnemos.language.threats import scan
from mnemos.memory import Memory
from mnemos.memory.async_memory import AsyncMemory
from mnemos.memory.call_lanes import READS, Lanes
from mnemos.recall.answer import KINDS, Kind, RecallHit
from mnemos.recall.certainty import GOOD

log = logging.getLogger("mnemos.integrations")

BUDGET = 800
"""Token budget of a block."""
FIRST_SECONDS = 10.0
"""Seconds for a memory's first answer, which loads the embedding model."""
_lanes = Lanes({READS: 4})
_answered: WeakSet[Any] = WeakSet()


async def recall_block(memory: AsyncMemory, message: str, **about: Any) -> str:
    """Return what the memory knows about a message, fenced; empty without a sure match.

    Nothing is searched for "ok" and "thanks". ``about``: see ``recall_block_now``.
    """
    return await _lanes.run(READS, partial(recall_block_now, memory.sync, message, **about))


def recall_block_now(
    memory: Memory, message: str, *, budget: int = BUDGET, seconds: float | None = None, **about: Any
) -> str:
    """Do the same for a host that is not async.

    ``about``: arguments of ``Memory.recall``, which should exclude sessions that the model sees anyway.
    ``seconds``: the time limit, by default ``recall_seconds`` of the settings.
    """
    if is_trivial(message):
        return ""
    known = start(partial(recall_unasked, memory, cut_question(message), budget=budget, **about))
    limit = choose_limit(memory) if seconds is None else seconds
    if not wait([known], limit).done:
        warn_once(f"Recall took longer than {limit:g} s (recall_seconds): a prompt has no memories.")
        return ""
    try:
        block: str = known.result()
    except MnemosError as exc:
        warn_once(f"Recall failed, so prompts have no memories: {exc}")
        return ""
    _answered.add(memory)
    return block


async def find_passages(memory: AsyncMemory, question: str, **about: Any) -> Sequence[RecallHit]:
    """Return passages that match a question, best first; none for "ok" and "thanks"."""
    if is_trivial(question):
        return ()
    return (await memory.recall(cut_question(question), matches_only=True, **about)).hits


def choose_limit(memory: Memory) -> float:
    """Return the time limit in seconds, which is longer for a memory's first answer."""
    return settings_of(memory).recall_seconds if memory in _answered else FIRST_SECONDS


@lru_cache(100)
def warn_once(text: str) -> None:
    """Log a warning unless it was logged before."""
    log.warning("%s", text)


def recall_unasked(memory: Memory, question: str, kinds: Sequence[Kind] = KINDS, **about: Any) -> str:
    """Return a block that is safe to show unasked; empty without a sure match."""
    found = memory.recall(question, kinds=kinds, **about)
    # Entries are scanned here, because programs store them unchecked.
    if any(hit.kind == "entry" and scan(hit.text) for hit in found.hits):
        found = memory.recall(question, kinds=[kind for kind in kinds if kind != "entry"], **about)
    return found.text if found.certainty == GOOD else ""

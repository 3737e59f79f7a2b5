"""Recall for a coming message: a fenced block for its prompt, or nothing."""

from __future__ import annotations

from collections.abc import Sequence

from mnemos.integrations.small_talk import cut_question, is_trivial
from mnemos.memory.async_memory import AsyncMemory
from mnemos.recall.certainty import GOOD

BUDGET = 800
"""Tokens of a block."""


async def recall_block(
    memory: AsyncMemory,
    message: str,
    *,
    user_id: str | None = None,
    exclude_session_ids: Sequence[str] = (),
    budget: int = BUDGET,
) -> str:
    """Return what the memory knows about a message, fenced as data; empty if it knows nothing certain.

    Nothing is looked up for "ok" and "thanks". The sessions that the model sees anyway should be excluded.
    """
    if is_trivial(message):
        return ""
    found = await memory.recall(
        cut_question(message),
        budget=budget,
        user_id=user_id,
        exclude_session_ids=list(exclude_session_ids),
    )
    return found.text if found.certainty == GOOD else ""

"""Recall for a coming message: a fenced block for its prompt, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemos.integrations.small_talk import cut_question, is_trivial
from mnemos.memory import Memory
from mnemos.memory.async_memory import AsyncMemory
from mnemos.recall.answer import Recall
from mnemos.recall.certainty import GOOD

BUDGET = 800
"""Tokens of a block."""


async def recall_block(memory: AsyncMemory, message: str, **about: Any) -> str:
    """Return what the memory knows about a message, fenced as data; empty if it knows nothing certain.

    Nothing is looked up for "ok" and "thanks". ``about`` is what ``_ask`` takes.
    """
    return "" if is_trivial(message) else _read(await memory.recall(cut_question(message), **_ask(**about)))


def recall_block_now(memory: Memory, message: str, **about: Any) -> str:
    """Do the same for a host that does not wait."""
    return "" if is_trivial(message) else _read(memory.recall(cut_question(message), **_ask(**about)))


def _ask(
    *, user_id: str | None = None, exclude_session_ids: Sequence[str] = (), budget: int = BUDGET
) -> dict[str, Any]:
    """Return the options of a question. Sessions that the model sees anyway should be excluded."""
    return {"budget": budget, "user_id": user_id, "exclude_session_ids": list(exclude_session_ids)}


def _read(found: Recall) -> str:
    return found.text if found.certainty == GOOD else ""

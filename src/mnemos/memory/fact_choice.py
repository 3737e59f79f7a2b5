"""The choice between facts that a model consolidates and plain ones."""

from __future__ import annotations

from mnemos.facts.facts import Facts
from mnemos.settings import Settings


def choose_facts(settings: Settings) -> type[Facts]:
    """Choose the class of facts. Without a model, the code for requests to one is not imported."""
    if not settings.llm.is_configured:
        return Facts
    from mnemos.memory.consolidation import ConsolidatingFacts

    return ConsolidatingFacts

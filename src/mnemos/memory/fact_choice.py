"""The choice between facts that a model consolidates and plain ones."""

from __future__ import annotations

from mnemos.facts.facts import Facts
from mnemos.settings import Settings


def choose_facts(settings: Settings) -> type[Facts]:
    """Return the class of facts for these settings; without a model, requests to one are not imported."""
    if not settings.llm.is_configured:
        return Facts
    from mnemos.memory.consolidation import ConsolidatingFacts

    return ConsolidatingFacts

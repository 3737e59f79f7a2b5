"""What is read from the databases of other programs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HermesFact:
    """A row of hermes-memory 0.3. Its ``archived`` facts are live ones that it no longer finds."""

    id: str
    type: str
    target: str
    content: str
    scope: str | None
    status: str
    superseded_by: str | None
    created_at: float
    updated_at: float
    scope_status: str | None

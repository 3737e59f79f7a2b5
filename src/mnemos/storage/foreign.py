"""What is read from the databases of other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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


@dataclass(frozen=True, slots=True)
class HermesSession:
    """A session in the ``state.db`` of Hermes Agent, and its messages in the order they were written.

    Columns by name, as they are stored: which there are depends on the version.
    """

    columns: Mapping[str, Any]
    messages: Sequence[Mapping[str, Any]]

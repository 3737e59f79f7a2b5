"""How providers are doing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    name: str
    is_builtin: bool
    is_active: bool
    """Whether it is initialized and asked; a provider that is not available or failed to begin is not."""
    is_answering: bool
    """False while a call that took too long is still out: until it comes back, others are not made."""
    why_not: str
    """Why it is not active, for people; empty when it is."""
    failures: Mapping[str, int] = field(default_factory=dict)
    """How often each method raised, answered with something else than it promised, or came too late."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """How often a method was not called because an earlier call had not come back."""
    last_failure: str = ""
    waiting: int = 0
    """Writes that are queued."""
    dropped: int = 0
    """Writes that were given up: the queue was full, or the host ended before they were done."""
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ManagerStatus:
    session_id: str
    providers: tuple[ProviderStatus, ...]
    pending: int
    """Writes that are queued or being done."""
    problems: tuple[str, ...] = ()
    """What was refused: a provider that is not there, a second one, a tool whose name is taken."""

    @property
    def is_healthy(self) -> bool:
        """Whether nothing has failed so far."""
        return not self.problems and not any(
            one.failures or one.skipped or one.dropped or one.why_not for one in self.providers
        )

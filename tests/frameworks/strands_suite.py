"""Run the session tests of Strands with our repository in place of its mock."""

from __future__ import annotations

import tests.fixtures.mock_session_repository as upstream

from frameworks.counted import watch
from mnemos.integrations.strands_sessions import MnemosSessionRepository
from mnemos.memory import Memory


class _Stand(MnemosSessionRepository):
    def __init__(self) -> None:
        super().__init__(Memory.at(":memory:"))


upstream.MockedSessionRepository = watch(
    _Stand, "create_session", "read_session", "create_agent", "create_message", "list_messages"
)

"""Run the tests of the OpenAI Agents SDK with our session in place of its SQLiteSession."""

from __future__ import annotations

from typing import Any

import agents
import agents.memory
import agents.memory.sqlite_session

from frameworks.counted import watch
from mnemos.integrations.openai_agents import MnemosSession
from mnemos.memory import Memory


class _Stand(MnemosSession):
    """Takes the arguments of SQLiteSession: its database file becomes a home beside it."""

    def __init__(self, session_id: str, db_path: Any = ":memory:", *_: Any, **options: Any) -> None:
        place = ":memory:" if str(db_path) == ":memory:" else f"{db_path}.home"
        options = {key: value for key, value in options.items() if key == "session_settings"}
        super().__init__(session_id, Memory.at(place), **options)

    def close(self) -> None:  # type: ignore[override]
        self._memory.sync.close()


Counted = watch(_Stand, "get_items", "add_items", "pop_item", "clear_session")
for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = Counted

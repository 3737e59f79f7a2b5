"""The backend that keeps nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemos.entries.contract import (
    MemoryBackend,
    MemoryEntry,
    known_key,
    known_query,
    known_user,
    known_value,
    metadata_json,
)

_MOST_BYTES = 16 * 1024 * 1024


class NullBackend(MemoryBackend):
    """Accepts everything and keeps nothing: no file, no thread, no driver.

    What no backend would take is refused here too, so that nothing changes but the memory when one is chosen.
    """

    def __init__(self, reason: str = "no backend is configured") -> None:
        self.reason = reason
        """Why nothing is kept."""

    @property
    def backend_name(self) -> str:
        return "null (disabled)"

    @property
    def is_cloud(self) -> bool:
        return False

    @property
    def location(self) -> str:
        return "nowhere"

    def is_available(self) -> bool:
        return True

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        """True by contract: accepted, not kept."""
        known_user(user_id)
        known_key(key)
        known_value(value, _MOST_BYTES)
        metadata_json(metadata)
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        known_user(user_id)
        known_key(key)
        return None

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:  # noqa: ARG002
        known_user(user_id)
        known_query(query_text)
        return []

    def list_keys(self, user_id: str) -> list[str]:
        known_user(user_id)
        return []

    def delete(self, user_id: str, key: str) -> bool:
        known_user(user_id)
        known_key(key)
        return False

"""Where messages are: ids differ from home to home, places within sessions do not."""

from __future__ import annotations

from dataclasses import dataclass, field

Place = tuple[str, int]
"""A session, and the number of a message in it, from 1."""


@dataclass(slots=True)
class Places:
    """The messages that facts point at, and nothing of the others: there may be millions."""

    ids: set[int] = field(default_factory=set)
    """Wanted, of an export."""
    of_ids: dict[int, Place] = field(default_factory=dict)
    numbers: dict[str, set[int]] = field(default_factory=dict)
    """Wanted, of an import: by session."""
    to_ids: dict[Place, int] = field(default_factory=dict)

    def leaves(self, message_id: int, session_id: str, number: int) -> None:
        """A message is written at this place."""
        if message_id in self.ids:
            self.of_ids[message_id] = session_id, number

    def wants(self, session_id: str, number: int) -> None:
        self.numbers.setdefault(session_id, set()).add(number)

    def arrives(self, session_id: str, number: int, message_id: int) -> None:
        """The message at this place has that id here."""
        if number in self.numbers.get(session_id, ()):
            self.to_ids[session_id, number] = message_id

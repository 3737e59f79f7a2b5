"""The parts of the history that an agent may read as tables, and how much of one travels at a time."""

PARTS = ("sessions", "messages", "facts")
FIRST_ROWS = 16
MOST_ROWS = 1_000
PAGE_CHARACTERS = 2_000_000

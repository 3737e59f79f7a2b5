"""The notebook: MEMORY.md and USER.md, the notes that are part of every prompt."""

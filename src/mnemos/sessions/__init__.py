"""Sessions: every conversation, stored and searchable."""

"""Facts against hermes-memory: what is found again, what it costs, and what a client waits for."""

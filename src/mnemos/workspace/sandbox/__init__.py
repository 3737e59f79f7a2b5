"""The worker process: runs the agent's SQL and everything else that touches its tables."""

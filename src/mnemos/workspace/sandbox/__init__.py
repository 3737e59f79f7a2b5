"""What runs in the worker process: the agent's SQL, and everything else that touches its tables."""

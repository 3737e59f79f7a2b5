"""Facts: decisions, constraints and values in one line each, hot or cold, with their history."""

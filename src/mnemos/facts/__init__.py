"""What was decided, kept as one-line facts."""

"""``python -m benchmarks recall``: how much is found again, against the obvious ways to look for it."""

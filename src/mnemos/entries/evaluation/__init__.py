"""Comparing backends: a trial that scores one, a workload as people make it, and a report worth reading."""

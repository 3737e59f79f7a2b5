"""Measurements of Mnemos against the raw limit and against peers: ``python -m benchmarks``."""

"""Readers of the files that other programs keep, one module per program."""

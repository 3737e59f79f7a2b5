"""Readers of the files that other programs keep, one module for each program."""

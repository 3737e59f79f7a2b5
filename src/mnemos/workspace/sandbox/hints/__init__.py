"""Hints for SQL that failed, and warnings about SQL that SQLite takes for something else."""

from mnemos.workspace.sandbox.hints.caveats import warnings

__all__ = ["warnings"]

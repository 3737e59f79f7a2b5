"""Sync of two memories: each sends what the other lacks, until both are equal."""

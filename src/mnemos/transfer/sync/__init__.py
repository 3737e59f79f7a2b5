"""Sync of two memories: each sends what the other lacks, and both end with the same."""

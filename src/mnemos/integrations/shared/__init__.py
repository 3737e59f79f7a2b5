"""Shared parts of the adapters for agent frameworks: opening a memory, histories, recall, files."""

"""Hooks of agent programs.

A hook is a separate process that starts many times an hour, while somebody waits. So modules here import
little, and some imports are inside functions.
"""

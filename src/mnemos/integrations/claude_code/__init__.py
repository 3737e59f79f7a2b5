"""Hooks of Claude Code: what they run, and what they add to a conversation.

A hook is a process of its own, started many times an hour while somebody waits. So modules here import
little, and some imports are inside functions.
"""

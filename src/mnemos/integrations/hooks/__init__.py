"""Hooks of agent programs: what they run, and what they add to a conversation.

A hook is a separate process, started many times an hour while somebody waits. So modules here import
little, and some imports are inside functions.
"""

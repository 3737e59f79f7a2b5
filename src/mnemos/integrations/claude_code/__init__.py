"""Mnemos inside Claude Code: what its hooks run, and what they put into a conversation.

A hook is a process of its own, started many times an hour while somebody waits. So modules here import
little, and later than others would.
"""

"""Mnemos inside other programs, each in its own folder."""

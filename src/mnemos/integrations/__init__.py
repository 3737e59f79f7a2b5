"""Mnemos inside other programs, each in a folder of its own."""

"""Mnemos inside other programs: one folder or module for each."""

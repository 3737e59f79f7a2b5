"""Interfaces to the outside. Each translates to operations and decides nothing."""

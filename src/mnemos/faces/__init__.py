"""The ways in from outside: each translates to operations and decides nothing."""

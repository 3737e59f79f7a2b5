"""The interfaces to the outside: each translates to operations and decides nothing."""

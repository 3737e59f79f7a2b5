"""Attacks on the workspace: each bounces, and leaves the host, the database and the next query unharmed."""

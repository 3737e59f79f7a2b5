"""The schema card of a database."""

"""The stores of a transaction, shared by both engines: the same steps, with each engine's own SQL."""

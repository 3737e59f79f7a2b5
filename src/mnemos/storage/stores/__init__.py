"""The stores of a transaction, as both engines run them: the same steps, each engine's own SQL."""

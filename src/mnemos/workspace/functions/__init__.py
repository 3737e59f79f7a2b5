"""The functions that SQL of the workspace can call, one module a family; ``catalog`` has them all."""

"""Archives of a whole memory: one file for one space, written, verified, imported, compared."""

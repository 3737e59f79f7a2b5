"""Archives of a space in one file: written, verified, imported, compared."""

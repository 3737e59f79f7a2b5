"""A whole memory leaving and entering: one archive of one space, written, verified, imported, compared."""

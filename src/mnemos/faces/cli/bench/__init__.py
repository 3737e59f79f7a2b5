"""``mnemos bench``: measure recall on questions with known answers."""

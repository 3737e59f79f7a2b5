"""``mnemos bench``: measure recall on conversations whose questions have known answers."""

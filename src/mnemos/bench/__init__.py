"""Measuring how well Mnemos finds things again, on conversations whose questions have known answers."""

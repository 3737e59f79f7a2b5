"""The schema card, built on real databases as the worker opens them."""

"""The notebook: the few notes that belong in every prompt, in two small files."""

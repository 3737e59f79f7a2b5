"""Every face on the same operations: the registry walk, Python and the command line side by side."""

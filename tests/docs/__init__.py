"""The documentation is true: it runs, it resolves, it leaves nothing out."""

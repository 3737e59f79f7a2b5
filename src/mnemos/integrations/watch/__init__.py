"""The watch: a small process that notices when agent programs write, and imports what is new."""

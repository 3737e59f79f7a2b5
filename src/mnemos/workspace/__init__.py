"""The workspace: SQL databases of the agent's own, run in a sandbox."""

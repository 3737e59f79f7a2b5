"""Programs that use a memory through MCP, and changes to their settings."""

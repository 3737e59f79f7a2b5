"""Programs that use a memory through MCP: where their settings are, how an entry comes in and goes out."""

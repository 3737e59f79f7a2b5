"""The MCP server: the official client over a real pipe and a real port, and clients that misbehave."""

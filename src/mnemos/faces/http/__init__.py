"""The memory over HTTP: every operation of the registry at ``POST /v1/{operation}``, and MCP at ``/mcp``.

Only ``mnemos serve`` and ``mnemos ui`` import this package. The MCP SDK is imported where MCP is
served.
"""

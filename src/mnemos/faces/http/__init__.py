"""The memory over HTTP: operations at ``POST /v1/{operation}``, MCP at ``/mcp``.

Only ``mnemos serve`` and ``mnemos ui`` import this package. The MCP SDK is only imported to serve MCP.
"""

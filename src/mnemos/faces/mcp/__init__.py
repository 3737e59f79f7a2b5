"""The memory as a server of the Model Context Protocol, over a pipe or over HTTP.

Only ``mnemos mcp`` and ``mnemos serve --mcp`` import this package: the SDK takes more than half a second.
"""

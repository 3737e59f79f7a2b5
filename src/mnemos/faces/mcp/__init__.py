"""The memory as a server of the Model Context Protocol, over a pipe or over HTTP on this machine.

Only ``mnemos mcp`` and ``mnemos serve`` import what is in here: the SDK takes more than half a second.
"""

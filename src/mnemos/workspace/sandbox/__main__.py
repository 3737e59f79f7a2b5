"""The worker: reads requests from its standard input until that ends, and answers each.

``python -m mnemos.workspace.sandbox``, started by the host; never by hand.
"""

from __future__ import annotations

import os
import signal
import socket

from mnemos.workspace.frames import Gone, Line
from mnemos.workspace.sandbox.request_server import Server


def main() -> None:
    # The host decides when a call ends; an interrupt at the terminal is for the host.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    line = Line(socket.socket(fileno=os.dup(0)), takes_files=True)
    try:
        Server(line).serve()
    except Gone:
        # There is nothing left to clean up: the server closed the databases.
        os._exit(0)


main()

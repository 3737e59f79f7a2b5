"""Forks the children of the fault tests. Run as a script: ``forking.py ROLES SOCKET``.

Hundreds of processes that each import the package would do little else. This one imports it once, opens
nothing, starts no thread, and forks for each request: a child is still a process of its own, killed and
waited for like any other.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

# Of the number in front of a request that says how long it is.
LENGTH_BYTES = 4


@dataclass(frozen=True)
class Request:
    role: str
    asked: dict[str, Any]
    environment: dict[str, str]
    folder: str


def serve(line: socket.socket) -> Request | None:
    """Fork for each request and tell of each end. Returns in every child what it was forked for.

    None in the parent, once the test's end of the line is closed.
    """
    heard, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno())
    with heard, woken, line, selectors.DefaultSelector() as selector:
        for end in (line, heard):
            selector.register(end, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is heard:
                    heard.recv(4096)
                    tell_of_the_dead(line)
                    continue
                request, streams = receive(line)
                if request is None:
                    signal.set_wakeup_fd(-1)
                    return None
                child = os.fork()
                if child == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    become(request, streams)
                    return request
                for stream in streams:
                    os.close(stream)
                tell(line, {"born": child})


def receive(line: socket.socket) -> tuple[Request | None, list[int]]:
    """A request and what is to be the child's streams 0, 1 and 2."""
    start, streams, _, _ = socket.recv_fds(line, LENGTH_BYTES, 3)
    if not start:
        return None, []
    rest = int.from_bytes(start)
    request = b""
    while len(request) < rest:
        request += line.recv(rest - len(request))
    return Request(**json.loads(request)), streams


def tell(line: socket.socket, what: dict[str, int]) -> None:
    line.sendall(json.dumps(what).encode() + b"\n")


def tell_of_the_dead(line: socket.socket) -> None:
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        tell(line, {"dead": child, "code": os.waitstatus_to_exitcode(status)})


def become(request: Request, streams: list[int]) -> None:
    """Have what a process of its own has: streams, environment, folder, and chance."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    random.seed()
    apsw.randomness(0)


def main(roles: Path, line: socket.socket) -> None:
    module = importlib.import_module(roles.stem)
    # Modules that the first call of a role would import.
    for name in ("mnemos.memory.memory", "mnemos.workspace.workspace"):
        importlib.import_module(name)
    request = serve(line)
    if request is not None:
        role: Callable[..., None] = getattr(module, request.role)
        role(**request.asked)


if __name__ == "__main__":
    main(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))

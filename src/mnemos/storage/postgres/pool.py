"""The connections of one process to one database, shared by its storages.

No connection belongs to a space, because everything is set per transaction. After a fork, the child makes its
own connections and never touches the inherited ones, because closing one would end the parent's.
"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from mnemos.errors import Busy
from mnemos.storage.postgres.connection import Connection, Target, connect, is_lost

# Connections inherited through a fork, kept from the garbage collector forever.
_inherited: list[Any] = []
_pools: dict[tuple[int, Target], Pool] = {}
_making = threading.Lock()


class Pool:
    def __init__(self, target: Target) -> None:
        self.target = target
        self._free = threading.Condition()
        self._idle: list[Connection] = []
        self._open = 0
        self._users = 0

    def take(self, seconds: float) -> Connection:
        """Take an idle connection within this many seconds. Raises Busy, Unavailable."""
        deadline = time.monotonic() + seconds
        with self._free:
            while True:
                while self._idle:
                    connection = self._idle.pop()
                    if not is_lost(connection):
                        return connection
                    self._open -= 1
                if self._open < self.target.connections:
                    self._open += 1
                    break
                if not self._free.wait(deadline - time.monotonic()):
                    raise Busy(
                        f"All {self.target.connections} connections to {self.target.location} are in use by "
                        "this process. Try again, or add ?connections=16 to the URL."
                    )
        try:
            return connect(self.target)
        except BaseException:
            self._lose_one()
            raise

    def give_back(self, connection: Connection) -> None:
        if is_lost(connection) or self._users <= 0:
            self.drop(connection)
            return
        with self._free:
            self._idle.append(connection)
            self._free.notify()

    def drop(self, connection: Connection) -> None:
        """Close a connection that can't be used any more."""
        connection.close()
        self._lose_one()

    def drop_idle(self) -> None:
        """Close idle connections, because a server that lost one has probably lost all."""
        with self._free:
            idle, self._idle = self._idle, []
            self._open -= len(idle)
        for connection in idle:
            connection.close()

    def enter(self) -> None:
        with self._free:
            self._users += 1

    def leave(self) -> None:
        """Close the connections when the last storage has left."""
        with self._free:
            self._users -= 1
        if self._users <= 0:
            self.drop_idle()

    def _lose_one(self) -> None:
        with self._free:
            self._open -= 1
            self._free.notify()


def pool_of(target: Target) -> Pool:
    """Return this process's pool for a database."""
    with _making:
        pool = _pools.get((os.getpid(), target))
        if pool is None:
            pool = _pools[os.getpid(), target] = Pool(target)
        return pool


def _begin_child() -> None:
    global _making
    _making = threading.Lock()
    _inherited.append(dict(_pools))
    _pools.clear()


os.register_at_fork(after_in_child=_begin_child)

"""Checks of the workspace and its files, for the fault tests."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from mnemos.errors import MnemosError
from mnemos.workspace import functions

ROLES = Path(__file__).with_name("workspace_roles.py")


def code_of(call: Callable[[], Any]) -> str | None:
    """The code of our error that a call raises; None when it raises none. Any other error passes."""
    try:
        call()
    except MnemosError as exc:
        return exc.code
    return None


def alive(process: int) -> bool:
    """True if a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def await_death(process: int) -> None:
    """Until a child of ours that was killed is dead, without taking the word of it from its owner."""
    try:
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        # The owner has heard of it.
        pass


def gone_within(process: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while alive(process):
        if time.monotonic() > until:
            return False
        threading.Event().wait(0.02)
    return True


def raw(folder: Path, sql: str, database: str = "default") -> list[tuple[Any, ...]]:
    """Return the rows that another program sees, after SQLite found nothing wrong with the file."""
    with closing(apsw.Connection(str(folder / f"{database}.db"))) as connection:
        connection.set_busy_timeout(10_000)
        functions.register(connection)
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        return connection.execute(sql).fetchall()

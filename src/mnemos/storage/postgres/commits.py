"""Commits without a response: each write leaves a token, by which its outcome is found."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mnemos.errors import Busy, Unavailable
from mnemos.storage.postgres.connection import Connection, PostgresTransaction, Target
from mnemos.storage.postgres.statements import load

RETRY_SECONDS = 0.02
# The longest search for the outcome of a commit. Upkeep keeps tokens for longer.
_PROOF_SECONDS = 300.0
_LEAST_SECONDS = 1.0


class LostCommit(Exception):
    """The connection was lost while a transaction was being committed."""

    def __init__(self, space: int, token: int, answer: Any) -> None:
        super().__init__(token)
        self.space = space
        self.token = token
        self.answer = answer


def was_committed(
    lost: LostCommit,
    deadline: float,
    run: Callable[[Callable[[Connection, Target], bool]], bool],
    target: Target,
    settings: Sequence[str],
) -> bool:
    """Look for the token of a commit; False if it was undone and can be run again.

    ``run`` gives a connection, and ``settings`` begin the transaction. It looks at least once, even after the
    deadline, because the process may have been stopped for long. Raises Unavailable if the outcome stays
    unknown.
    """
    deadline = min(deadline, time.monotonic() + _PROOF_SECONDS)
    while True:
        seconds = max(deadline - time.monotonic(), _LEAST_SECONDS)
        try:
            return run(partial(_find_token, lost, seconds, settings))
        except (Busy, Unavailable):
            if time.monotonic() > deadline:
                break
            time.sleep(RETRY_SECONDS)
    raise Unavailable(
        f"The connection to {target.location} was lost while storing. The change may have been stored: "
        "look before you repeat it."
    )


def _find_token(
    lost: LostCommit, seconds: float, settings: Sequence[str], connection: Connection, target: Target
) -> bool:
    """Wait until the transaction has ended, which releases its lock, and look for its token."""
    # Not pg_xact_status, because after a crash, numbers that were not flushed are assigned again.
    sql: Any = load("engine", target.schema)
    found = PostgresTransaction(connection).send(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        *settings,
        f"SET LOCAL lock_timeout = {max(1, int(seconds * 1000)):d}",
        f"SET LOCAL mnemos.space = '{lost.space:d}'",
        f"{sql.state} {lost.space:d} FOR UPDATE",
        f"{sql.token} {lost.token:d}",
    )
    connection.execute(b"ROLLBACK")
    return found is not None

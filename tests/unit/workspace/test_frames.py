"""Messages between the host and the worker: when waiting for one ends."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest

from mnemos.workspace.frames import Line, Overdue


@pytest.fixture
def ends() -> Iterator[tuple[Line, Line]]:
    ours, theirs = (Line(end) for end in socket.socketpair())
    yield ours, theirs
    ours.close()
    theirs.close()


def test_what_came_in_time_is_read_after_it(ends: tuple[Line, Line]) -> None:
    ours, theirs = ends
    theirs.send({"id": 1})
    theirs.send({"id": 2})
    assert ours.receive(time.monotonic() + 60) == {"id": 1}
    assert ours.receive(time.monotonic() - 1) == {"id": 2}


def test_a_peer_that_sends_without_end_is_overdue(ends: tuple[Line, Line]) -> None:
    """There is always something to read; without a look at the clock, nobody would ever wait."""
    ours, theirs = ends
    passed = time.monotonic() - 1
    theirs.send({"progress": 0.5})
    with pytest.raises(Overdue):
        ours.receive(passed)

"""A storage may be closed while another thread is still at it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import mnemos
from mnemos.storage.base import Reads, Writes


def test_closing_waits_for_a_write_of_another_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = mnemos.open(tmp_path, embedder="none")
    # The write begins when the last indexing is over and the connections are about to be closed.
    monkeypatch.setattr(memory.storage, "_settle", lambda: None)
    inside, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    def work(tx: Writes) -> None:
        inside.set()
        assert go_on.wait(10)
        tx.audit.record(at=1.0, actor="a", operation="o", ref="r")
        done.append("written")

    writer = threading.Thread(target=lambda: memory.storage.write(work))
    writer.start()
    assert inside.wait(10)
    closer = threading.Thread(target=lambda: (memory.close(), done.append("closed")))
    closer.start()
    go_on.set()
    writer.join(10)
    closer.join(10)
    assert done == ["written", "closed"]
    with mnemos.open(tmp_path, embedder="none") as again:
        assert [row.ref for row in again.log()] == ["r"]


def test_a_read_that_outlasts_the_closing_is_answered(tmp_path: Path) -> None:
    memory = mnemos.open(tmp_path, embedder="none")
    inside, go_on = threading.Event(), threading.Event()
    seen: list[int] = []

    def work(tx: Reads) -> int:
        inside.set()
        assert go_on.wait(10)
        return len(tx.audit.newest(5))

    reader = threading.Thread(target=lambda: seen.append(memory.storage.read(work)))
    reader.start()
    assert inside.wait(10)
    memory.close()
    go_on.set()
    reader.join(10)
    assert seen == [0]

"""When the index is kept up, and what the log says while it cannot be."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.storage.openers import append, create
from mnemos.errors import DiskFull, Unavailable
from mnemos.sessions.message_text import document_of
from mnemos.storage.base import Storage
from mnemos.storage.sqlite import engine, index
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.upkeep import ENOUGH, LULL_SECONDS, PLENTY, Upkeep


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    """Every append is indexed at once, by whoever appends."""
    monkeypatch.setattr(engine, "_TOO_MANY_PENDING", 0)
    opened = SqliteStorage(tmp_path / "x.db", space="default", documents=document_of)
    create(opened, "s")
    with opened.without_background():
        yield opened
    opened.close()


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, ...]]:
    """Return the work that failed and the reason, of each record."""
    return [tuple(map(str, record.args or ())) for record in caplog.records]


def fail(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def write(*_: object) -> None:
        raise failure

    monkeypatch.setattr(index, "write", write)


def test_a_reason_is_logged_once_however_often_it_is_tried(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as trouble:
        fail(trouble, DiskFull("no room"))
        for number in range(7):
            append(storage, "s", f"message {number}")
    assert logged(caplog) == [("indexing", "no room")]


def test_a_new_reason_is_logged_without_repeating_the_old_one(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as trouble:
        for failure in (DiskFull("no room"), Unavailable("no disk")) * 3:
            fail(trouble, failure)
            append(storage, "s", "message")
    assert logged(caplog) == [
        ("indexing", "no room"),
        ("indexing", "no disk"),
    ]


def test_the_same_reason_is_logged_again_after_it_worked(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        with monkeypatch.context() as trouble:
            fail(trouble, DiskFull("no room"))
            append(storage, "s", "one")
            append(storage, "s", "two")
        append(storage, "s", "three")
    assert logged(caplog) == [("indexing", "no room")] * 2


class Owner:
    def __init__(self, failures: list[Exception]) -> None:
        self.failures = failures
        self.cleaned = threading.Semaphore(0)

    def work(self) -> bool:
        return False

    def clean_up(self) -> bool:
        try:
            if self.failures:
                raise self.failures.pop(0)
        finally:
            self.cleaned.release()
        return False


def test_cleanup_that_fails_in_the_background_is_logged_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("mnemos.storage.upkeep.IDLE_SECONDS", 0.0)
    owner = Owner([DiskFull("no room") for _ in range(3)])
    upkeep = Upkeep(owner, owner.work, owner.clean_up)
    for _ in range(4):
        upkeep.notice(0)
        owner.cleaned.acquire()
    owner.failures.append(DiskFull("no room"))
    upkeep.notice(0)
    owner.cleaned.acquire()
    upkeep.stop()
    assert logged(caplog) == [("cleanup", "no room")] * 2


class Burst(threading.Event):
    """While the end is waited for, messages come."""

    def __init__(self, upkeep: Upkeep, counts: list[int]) -> None:
        super().__init__()
        self.upkeep = upkeep
        self.counts = counts

    def wait(self, timeout: float | None = None) -> bool:
        if timeout == LULL_SECONDS and self.counts:
            self.upkeep.waiting += self.counts.pop(0)
            return self.is_set()
        return super().wait(timeout)


class Indexer:
    def __init__(self) -> None:
        self.began = threading.Event()

    def work(self) -> bool:
        self.began.set()
        return False


@pytest.mark.parametrize(
    ("counts", "left"),
    [
        pytest.param([1, 400, 2, 0, 7], [7], id="until none comes"),
        pytest.param([1, PLENTY, 5], [5], id="until there are plenty"),
        pytest.param([1] * 60, [1] * 10, id="but not forever"),
    ],
)
def test_indexing_waits_for_the_end_of_a_burst_of_appends(counts: list[int], left: list[int]) -> None:
    owner = Indexer()
    upkeep = Upkeep(owner, owner.work, owner.work)
    upkeep._end = burst = Burst(upkeep, counts)
    upkeep.notice(ENOUGH)
    owner.began.wait()
    upkeep.stop()
    assert burst.counts == left

"""CPU of a sync: the first one, one with nothing new, one with a message more; by a connection and a folder.

Both sides run in this process, in homes on the disk, and exchange the frames that another machine would get.
The limit to compare with is an archive of the same memory, exported and imported into an empty home.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mnemos
from benchmarks.corpus import Corpus
from benchmarks.measure import median
from benchmarks.peers import working_folder
from benchmarks.report import Options, Result, Table
from mnemos.memory import Memory
from mnemos.progress import no_progress
from mnemos.transfer.sync.exchange import Answering, sync
from mnemos.transfer.sync.peers import SyncFolder, read_frame, write_frame

NAMES = {
    "archive": "export and import an archive (to compare with)",
    "first": "first sync with an empty memory",
    "again": "sync again, nothing new",
    "one_more": "one message more",
    "folder_first": "first sync by a folder, both machines",
    "folder_again": "by the folder again, nothing new",
}


class Peer:
    """Another memory of this process, which gets each request as bytes."""

    name = "the other home"

    def __init__(self, memory: Memory) -> None:
        self._answering = Answering(memory)
        self.bytes = 0

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        sent = write_frame(request)
        got = write_frame(self._answering.answer(read_frame(sent)))
        self.bytes += len(sent) + len(got)
        return read_frame(got)


def run(options: Options) -> Result:
    (size,) = options.sizes or ((4_000,) if options.quick else (100_000,))
    rounds: list[dict[str, float]] = []
    frames: dict[str, int] = {}
    for _ in range(min(options.repeat, 3)):
        with working_folder() as folder:
            rounds.append(_measure(folder, size, frames))
    seconds = {name: median([one[name] for one in rounds]) for name in NAMES}
    return Result(
        "sync", [_table(size, seconds, frames)], {"messages": size, "cpu": seconds, "bytes": frames}
    )


def _measure(folder: Path, size: int, frames: dict[str, int]) -> dict[str, float]:
    taken: dict[str, float] = {}

    def measure(name: str, work: Callable[[], Any]) -> Any:
        begun = time.process_time()
        result = work()
        taken[name] = time.process_time() - begun
        return result

    homes = [mnemos.open(folder / name, embedder="none") for name in ("a", "b", "c", "d")]
    here, there, third, fourth = homes
    for session in Corpus(size).sessions():
        here.sessions.ensure_session(session.id, session.source)
        here.sessions.append_messages(session.id, session.messages)
    here.storage.catch_up()
    archive = folder / "archive.tar.zst"
    measure("archive", lambda: (here.export(archive), fourth.import_archive(archive)))

    def meet(name: str) -> None:
        peer = Peer(there)
        report = measure(name, lambda: sync(here, peer, no_progress))
        assert report.is_same, name
        frames[name] = peer.bytes

    meet("first")
    meet("again")
    here.sessions.append_message(session.id, "user", "one more")
    meet("one_more")
    drive = folder / "drive"
    drive.mkdir()
    for name in ("folder_first", "folder_again"):
        report = measure(name, lambda: [SyncFolder(one, drive).sync(no_progress) for one in (here, third)][1])
        assert report.is_same, name
    for home in homes:
        home.close()
    return taken


def _table(size: int, seconds: dict[str, float], frames: dict[str, int]) -> Table:
    rows = [
        [
            title,
            f"{seconds[name]:.2f} s",
            f"{seconds[name] / seconds['archive']:.2f}",
            f"{frames[name] / 1e6:.2f} MB" if name in frames else "",
        ]
        for name, title in NAMES.items()
    ]
    return Table(f"sync of {size:,} messages", ["", "CPU, both sides", "÷ archive", "sent"], rows)

"""Roles of child processes that use facts. Run as those of ``roles.py`` are."""

from __future__ import annotations

from collections.abc import Callable

from disk import Disk
from roles import report, told_to_stop, wait

import mnemos

# Vectors are made in the background and have tests of their own.
WORDS_ONLY = {"embedder": "none"}


def write_one_key(home: str, name: str, count: int) -> None:
    """On the word, open the home and state a value so often, each time another one."""
    report("ready")
    wait()
    with mnemos.open(home, **WORDS_ONLY) as memory:
        for number in range(count):
            memory.facts.write(f"V[srv.prod]: {name}n{number}", scope="infra", session_id=name)
    report("done")


def write_facts(home: str, name: str, one_call: int) -> None:
    """State facts forever, several a call, a key now and then again; report each call when it is done."""
    with mnemos.open(home, **WORDS_ONLY) as memory:
        number = 0
        while not told_to_stop():
            number += 1
            lines = [f"V[{name}.t{(number + n) % 40}]: word{name}n{number}p{n}" for n in range(one_call)]
            written = memory.facts.write("\n".join(lines), scope=f"scope{number % 3}", session_id=name)
            if number % 5 == 0:
                memory.facts.tick(number, "scope1 is merged", session_id=name)
            report([number, [stored.id for stored in written.facts]])


def read_facts(home: str) -> None:
    """Read all the time; report every time that a key had not exactly one live fact, or a block was wrong."""
    reads, wrong = 0, list[list[str]]()
    with mnemos.open(home, **WORDS_ONLY) as memory:
        report("ready")
        while not told_to_stop():
            live = memory.storage.read(lambda tx: tx.facts.live_on("srv.prod", 10))
            history = memory.facts.history("srv.prod") if live else []
            status = memory.facts.status()
            if len(live) > 1 or (live and sum(fact.state == "live" for fact in history) != 1):
                wrong.append([fact.content for fact in live])
            if status.tokens > 180:
                wrong.append([status.text])
            reads += 1
    report({"reads": reads, "wrong": wrong})


def crash_with_facts(home: str, work: str, at: int) -> None:
    """Do a piece of work and die at the n-th change of a file; 0: count the changes instead."""
    disk = Disk()
    with mnemos.open(home, **WORDS_ONLY) as memory:
        disk.kill_at(at)
        _WORKS[work](memory)
    report(disk.operations)


def _write(memory: mnemos.Memory) -> None:
    memory.facts.write("\n".join(f"V[crash.t{n}]: crashed{n}" for n in range(20)), scope="crash")


def _replace(memory: mnemos.Memory) -> None:
    memory.facts.write("\n".join(f"V[old.t{n}]: replaced{n}" for n in range(20)), scope="old")


def _close(memory: mnemos.Memory) -> None:
    memory.facts.write("✓[old]: done")


def _forget(memory: mnemos.Memory) -> None:
    memory.call("memory_forget", {"target": "secret"})


def _purge(memory: mnemos.Memory) -> None:
    memory.facts.purge(older_than_days=0)


def _undo(memory: mnemos.Memory) -> None:
    memory.undo()


_WORKS: dict[str, Callable[[mnemos.Memory], None]] = {
    "write": _write,
    "replace": _replace,
    "close": _close,
    "forget": _forget,
    "purge": _purge,
    "undo": _undo,
}

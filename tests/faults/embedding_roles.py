"""Roles of child processes that use vectors. Run as those of ``roles.py`` are."""

from __future__ import annotations

import sys

from disk import Disk
from roles import report, told_to_stop, wait

import mnemos
from mnemos.recall import embedding

# So that the work has many steps, and can be interrupted between any two writes of many transactions.
embedding._STEP_CHARACTERS = 4_000


def embed_steps(home: str) -> None:
    """Embed step by step, on the word; report how far it came after each."""
    with mnemos.open(home) as memory:
        report("ready")
        wait()
        while memory.embedding.step():
            report(memory.embedding.coverage().done)
        report("done")


def embed_while_appending(home: str, name: str) -> None:
    """Append, forget and embed in turns until stopped; report the words that are to be found."""
    with mnemos.open(home) as memory:
        memory.sessions.ensure_session(name, "cli")
        number = 0
        while not told_to_stop():
            words = [f"{name}n{number}a", f"{name}n{number}b"]
            kept, gone = memory.sessions.append_messages(
                name, [{"role": "user", "content": f"word {word}"} for word in words]
            )
            memory.embedding.step()
            memory.sessions.forget_message(gone)
            report([kept, gone])
            number += 1


def crash_while_embedding(home: str, at: int) -> None:
    """Embed everything and die at the n-th change of a file; 0: count the changes instead."""
    disk = Disk()
    with mnemos.open(home) as memory:
        disk.kill_at(at)
        memory.embedding.catch_up()
        report(disk.operations)


def recall_on_the_word(home: str, question: str, read_only: bool) -> None:
    """Recall now and again each time the parent says a word; report the ids of the hits and the mode."""
    with mnemos.open(home, read_only=read_only) as memory:
        while True:
            answer = memory.recall(question, limit=20)
            report({"ids": [hit.ref for hit in answer.hits], "mode": answer.mode})
            if told_to_stop_after_a_word():
                return


def told_to_stop_after_a_word() -> bool:
    return sys.stdin.buffer.readline() == b""


def recall_without_room(home: str) -> None:
    """Recall what was just said while the disk is full."""
    disk = Disk()
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "the quetzal is a bird")
        disk.full_from(1)
        answer = memory.recall("the quetzal")
        disk.full_from(0)
        report({"mode": answer.mode, "found": bool(answer.hits), "notes": list(answer.notes)})

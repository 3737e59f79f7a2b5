"""Roles of child processes, one function per role; reports are lines of JSON. ``forking.py`` runs them."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
from disk import Disk
from roles_data import IMPORTED

import mnemos
from mnemos.storage.sqlite import engine, schema


def report(value: Any) -> None:
    # Straight to the pipe: what was reported stays reported, whatever happens next.
    os.write(1, json.dumps(value).encode() + b"\n")


def wait() -> None:
    """Until the parent says a word or closes the pipe."""
    os.read(0, 100)


def told_to_stop() -> bool:
    os.set_blocking(0, False)
    try:
        return os.read(0, 100) == b""
    except BlockingIOError:
        return False


def turn(word: str, size: int = 40) -> list[dict[str, Any]]:
    """A question, a call and its answer, all with one word that no other turn has."""
    call = {"id": word, "type": "function", "function": {"name": "look", "arguments": f'{{"at": "{word}"}}'}}
    return [
        {"role": "user", "content": f"ask {word} " + "x" * size},
        {"role": "assistant", "content": f"call {word}", "tool_calls": [call]},
        {"role": "tool", "content": f"found {word}", "tool_name": "look", "tool_call_id": word},
    ]


# --- writers and readers ----------------------------------------------------------------------


def append_turns(home: str, session: str, seed: int) -> None:
    """Append turns forever; report each when it is acknowledged."""
    chance = random.Random(seed)
    with mnemos.open(home) as memory:
        memory.sessions.ensure_session(session, "cli")
        number = 0
        while not told_to_stop():
            number += 1
            word = f"turn{seed}n{number}"
            size = chance.choice((10, 200, 3_000, 150_000 if number % 20 == 0 else 10))
            report([word, memory.sessions.append_messages(session, turn(word, size))])


def append_many(home: str, name: str, turns: int) -> None:
    """On the word, open the home and append turns of two, in turn to an own and to the shared session."""
    report("ready")
    wait()
    with mnemos.open(home) as memory:
        for session in (name, "shared"):
            memory.sessions.ensure_session(session, "cli")
        for number in range(turns):
            word, now = f"{name}n{number}", time.time()
            memory.sessions.append_messages(
                "shared" if number % 2 else name,
                [
                    {"role": "user", "content": f"common {word} asked", "timestamp": now},
                    {"role": "assistant", "content": f"common {word} answered", "timestamp": now},
                ],
            )
    report("done")


def search_until_told(home: str) -> None:
    """Search and read all the time; report every turn of which only half was seen."""
    searches, halves = 0, []
    with mnemos.open(home) as memory:
        report("ready")
        while not told_to_stop():
            hits = memory.sessions.search_messages("common", sort="newest", limit=200)
            seen = [hit["snippet"].split()[1] for hit in hits]
            # The limit may cut the last turn in two.
            halves += [word for word in set(seen[:-1]) - {seen[-1]} if seen.count(word) != 2] if seen else []
            if memory.sessions.message_count() % 2:
                halves.append("message_count")
            searches += 1
    report({"searches": searches, "halves": halves})


def create(home: str) -> None:
    """On the word, open a home that is not there yet and write one message."""
    report("ready")
    wait()
    with mnemos.open(home) as memory:
        session = f"s{os.getpid()}"
        memory.sessions.create_session(session, "cli")
        report([session, memory.sessions.append_message(session, "user", "first words")])


def append_until_refused(home: str, session: str) -> None:
    """Append messages, and report each word that is acknowledged; then the error, and what comes after it."""
    with mnemos.open(home) as memory:
        memory.sessions.ensure_session(session, "cli")
        number = 0
        while not told_to_stop():
            number += 1
            word = f"{session}{number}"
            try:
                memory.sessions.append_message(session, "user", word)
            except mnemos.MnemosError as exc:
                report({"code": exc.code, "message": str(exc)})
                break
            report(word)
        calls: list[Callable[[], object]] = [
            lambda: memory.sessions.append_message(session, "user", "too late"),
            lambda: memory.sessions.search_messages(session),
        ]
        for call in calls:
            report(_code_of(call))


def append_then_close(home: str) -> None:
    """Append one message; on the word, close the memory and report how that went."""
    memory = mnemos.open(home)
    memory.sessions.ensure_session("s", "cli")
    memory.sessions.append_message("s", "user", "s1")
    report("s1")
    wait()
    report(_code_of(memory.close))


def fork_and_append(home: str) -> None:
    """Fork; on the word, both append through the memory that was opened before, and report how that went."""
    memory = mnemos.open(home)
    memory.sessions.ensure_session("s", "cli")
    memory.sessions.append_message("s", "user", "s1")
    door = os.pipe()
    child = os.fork()
    if child:
        report("s1")
        wait()
        os.close(door[1])
    else:
        os.close(door[1])
        os.read(door[0], 1)
    report([bool(child), _code_of(lambda: memory.sessions.append_message("s", "user", "too late"))])
    if child:
        os.waitpid(child, 0)
    else:
        os._exit(0)


def _code_of(call: Callable[[], object]) -> str | None:
    try:
        call()
    except mnemos.MnemosError as exc:
        return exc.code
    return None


def hold_a_reader(database: str) -> None:
    """Keep a read transaction open, as a slow export would."""
    connection = apsw.Connection(database, flags=apsw.SQLITE_OPEN_READONLY)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM messages").fetchall()
    report("reading")
    wait()
    connection.close()


def hold_the_write_lock(database: str) -> None:
    connection = apsw.Connection(database)
    connection.execute("BEGIN IMMEDIATE")
    report("locked")
    wait()
    connection.close()


def fork_writers(home: str, children: int, turns: int) -> None:
    """A parent that forks after it opened the home: all of them go on writing through it."""
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_messages("s", turn("before"))
        pids = []
        for child in range(children):
            pid = os.fork()
            if pid == 0:
                for number in range(turns):
                    memory.sessions.append_messages("s", turn(f"child{child}n{number}"))
                memory.close()
                sys.exit(0)
            pids.append(pid)
        for number in range(turns):
            memory.sessions.append_messages("s", turn(f"parent{number}"))
        codes = [os.waitpid(pid, 0)[1] for pid in pids]
        report({"codes": codes, "messages": memory.sessions.message_count("s")})


# --- dying at an operation of the disk --------------------------------------------------------


def crash(home: str, work: str, at: int, moves_only: bool, **more: Any) -> None:
    """Do a piece of work and die at the n-th change of a file; 0: count the changes instead."""
    disk = Disk()
    disk.kill_at(at, moves_only=moves_only)
    _WORKS[work](Path(home), **more)
    report(disk.operations)


def _append(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.append_messages("long", turn("crashed", 100_000))


def _index(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.storage.catch_up()


def _delete(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.delete_session("long")


def _forget(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.forget("session:long")


def _import(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.import_sessions(IMPORTED)


def _back_up(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.backup(home / "copy.db")


def _restore(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.restore(home.parent / "backup.db")


def _repair(home: Path) -> None:
    with mnemos.Memory.at(home) as memory:
        list(memory.doctor(repair=True))


def _optimize(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.optimize()


def _create(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("long", "cli")


def _migrate(home: Path, migrations: list[str]) -> None:
    schema._FILES = [*schema._FILES, *map(Path, migrations)]
    schema.VERSION = len(schema._FILES)
    mnemos.open(home).close()


_WORKS: dict[str, Callable[..., None]] = {
    "append": _append,
    "index": _index,
    "delete": _delete,
    "forget": _forget,
    "import": _import,
    "back up": _back_up,
    "restore": _restore,
    "repair": _repair,
    "optimize": _optimize,
    "create": _create,
    "migrate": _migrate,
}


# --- a disk without room ----------------------------------------------------------------------


def run_out_of_room(home: str) -> None:
    """Append a turn while the disk is full from its n-th write on, for every n until it has room."""
    disk = Disk()
    # Every append helps to index: a turn that is stored must not be reported as failed.
    engine._TOO_MANY_PENDING = 0
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        stored = 0
        for room in range(1, 2_000):
            disk.full_from(room)
            word = f"room{room}"
            try:
                memory.sessions.append_messages("s", turn(word))
                outcome = "stored"
            except mnemos.MnemosError as exc:
                outcome = exc.code
            writes = disk.operations
            disk.full_from(0)
            count = memory.sessions.message_count("s")
            found = len(memory.sessions.search_messages(word)) if room % 7 == 0 else None
            report({"outcome": outcome, "added": count - stored, "found": found, "kept": len(kept(memory))})
            stored = count
            if outcome == "stored" and writes < room:
                return


def outgrow_a_file_size_limit(home: str) -> None:
    """Append under RLIMIT_FSIZE until it fails, then without a limit."""
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_messages("s", turn("early"))
        most = max(path.stat().st_size for path in Path(home).iterdir())
        resource.setrlimit(resource.RLIMIT_FSIZE, (most + 60_000, resource.RLIM_INFINITY))
        stored, code = 1, None
        while code is None:
            try:
                memory.sessions.append_messages("s", turn(f"late{stored}", 2_000))
                stored += 1
            except mnemos.MnemosError as exc:
                code = exc.code
        report({"code": code, "turns": stored, "messages": len(kept(memory))})
        try:
            memory.forget(f"message:{kept(memory)[0]['id']}")
            report("forgotten")
        except mnemos.MnemosError as exc:
            report(exc.code)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        memory.sessions.append_messages("s", turn("after"))
        report(len(memory.sessions.search_messages("after")))


def kept(memory: mnemos.Memory) -> list[dict[str, Any]]:
    return memory.sessions.get_messages("s")


# --- somebody without rights ------------------------------------------------------------------


def as_nobody(home: str, what: str) -> None:
    """Open the home as a user who owns nothing; report how it went."""
    # Modules that are imported late may be where only root can read.
    with tempfile.TemporaryDirectory() as folder, mnemos.open(folder) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "ask")
        memory.sessions.search_messages("ask")
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    try:
        with mnemos.open(home, read_only=what == "read") as memory:
            report({"read_only": memory.storage.read_only, "count": memory.sessions.message_count()})
            report(len(memory.sessions.search_messages("ask", limit=1000)))
            memory.sessions.create_session("new", "cli")
            report("written")
    except mnemos.MnemosError as exc:
        report(exc.code)

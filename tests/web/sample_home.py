"""Fill a home with a history that looks like a person's: every page of the browser has something to show.

Run with the Python that has Mnemos: ``python tests/web/sample_home.py FOLDER [--long N]``.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mnemos.faces.cli.demo import history
from mnemos.memory import Memory
from mnemos.testing import FixedClock

DAY = 86400.0
SUBJECTS = ("Invoice export", "Search page", "Order mails", "Holiday hours", "Stock counts", "Login by link")
SAID = (
    "The nightly job failed again: the disk of the worker is full.",
    "Which queue did we choose for the order mails?",
    "Redis streams, because the worker can acknowledge each mail and a crash loses none.",
    "Please write the slot generator so that Mondays stay closed.",
    "Done. The tests pass:\n```\n42 passed in 3.1s\n```\nand the page loads in 80 ms.",
    "予約は火曜日から土曜日まで。",
    "Let us keep the images below 200 kB each; my sister uploads photos straight from her phone.",
    "I moved the assets to the CDN and set the cache to a week.",
)


def make_sessions(now: float, count: int = 60) -> Iterator[dict[str, Any]]:
    chance = random.Random(7)
    for number in range(count):
        start = now - chance.uniform(0.2, 170) * DAY
        messages = [
            {
                "role": ("user", "assistant")[at % 2],
                "content": chance.choice(SAID),
                "timestamp": start + at * 40,
            }
            for at in range(chance.randint(2, 24))
        ]
        yield {
            "id": f"work-{number:03d}",
            "title": f"{chance.choice(SUBJECTS)} {number}",
            "source": chance.choice(("claude-code", "claude-code", "codex", "cli")),
            "started_at": start,
            "ended_at": start + 3000,
            "messages": messages,
        }


def make_long_session(now: float, count: int) -> dict[str, Any]:
    chance = random.Random(11)
    start = now - count * 20
    messages = []
    for at in range(count):
        role = ("user", "assistant", "assistant", "tool")[at % 4]
        text = f"message {at}: " + " ".join(chance.choice(SAID) for _ in range(chance.choice((1, 1, 2, 6))))
        message = {"role": role, "content": text, "timestamp": start + at * 20}
        messages.append(message | ({"tool_name": "run"} if role == "tool" else {}))
    return {
        "id": "long",
        "title": "A long conversation",
        "source": "codex",
        "started_at": start,
        "messages": messages,
    }


def write_facts(memory: Memory, clock: FixedClock, now: float) -> None:
    steps = (
        (90, "infra", "V[srv.prod]: api.example.com:3005\nC[db.id]: UUID mandatory, never autoincrement"),
        (70, "shop", "D[payment]: at the counter, no cards online\nC[cards]: never store card numbers"),
        (50, "infra", "V[srv.prod]: api.example.com:3006"),
        (40, "auth-refactor", "D[auth.token]: JWT, 7 days\n?[auth.refresh]: sliding or fixed?"),
        (21, "shop", "D[mail.queue]: Redis streams\nV[slots.step]: 15 minutes"),
        (9, "auth-refactor", "D[auth.refresh]: sliding\n✓[auth.refresh]: deployed to production"),
        (2, "infra", "V[backup.time]: 03:15 every night"),
        (1, "shop", "V[mail.queue]: 12 workers"),
        (1, "deploy", "V[srv.port]: 3005"),
        (0.5, "shop", "V[srv.port]: 3006"),
    )
    for days, scope, text in steps:
        clock.now = now - days * DAY
        memory.call("memory_write", {"content": text, "scope": scope})
    clock.now = now


def fill(folder: Path, long: int = 0) -> None:
    now = time.time()
    clock = FixedClock(now)
    folder.mkdir(parents=True, mode=0o700)
    (folder / "config.toml").write_text('backend = "local"\n')
    with Memory.at(folder, disabled=False, embedder="static", clock=clock) as memory:
        memory.sessions.import_sessions([*history(now), *make_sessions(now)])
        if long:
            memory.sessions.import_sessions([make_long_session(now, long)])
        memory.sessions.create_session(
            "work-next", source="claude-code", title="Order mails, continued", parent_session_id="work-001"
        )
        memory.sessions.append_message("work-next", "user", "Where were we with the mails?")
        write_facts(memory, clock, now)
        for target, note in (
            ("memory", "The shop runs on one server in Nuremberg; deploys go through make deploy."),
            ("memory", "Tests need the Lisbon time zone: TZ=Europe/Lisbon."),
            ("user", "Ana, builds a shop for her sister's bakery. Prefers short answers."),
        ):
            memory.call("notebook_add", {"target": target, "content": note})
        rows = ", ".join(f"({at}, 'item {at}', {at * 3 % 17 + 0.5})" for at in range(1, 131))
        memory.call(
            "sqlite_query", {"query": "CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT, price REAL)"}
        )
        memory.call("sqlite_query", {"query": f"INSERT INTO products VALUES {rows}"})
        for user, key, value in (
            ("ana", "editor", "vim"),
            ("ana", "city", "Lisbon"),
            ("rui", "language", "Portuguese"),
        ):
            memory.call("entries_set", {"user": user, "key": key, "value": value})
        memory.call("templates_create", {"session": "slot-bug", "name": "find-a-time-bug"})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--long", type=int, default=0, help="messages of one more conversation")
    given = parser.parse_args()
    fill(given.folder, given.long)

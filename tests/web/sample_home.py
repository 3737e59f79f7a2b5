"""Fill a home with a history that looks like a person's: every page of the browser has something to show.

Run with the Python that has Mnemos: ``python tests/web/sample_home.py FOLDER [--long N] [--crowd N]``.
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
TALKS: dict[str, tuple[str, ...]] = {
    "Order mails": (
        "Customers get the order mail twice. Which queue do we use for the mails?",
        "Still the database table. Two workers take the same row: nothing locks it.",
        "Then let us choose a real queue. What fits on our small server?",
        "Redis streams: the worker acknowledges each mail, a crash loses none, and Redis runs there already.",
        "Agreed, Redis streams for the order mails. Keep the table for a month.",
        "Done. 12 workers read the stream, and every mail has a key, so a second copy is dropped.",
    ),
    "Invoice export": (
        "The accountant wants the invoices as CSV, one file per month.",
        "I added `manage.py export_invoices --month 2026-08`. Amounts have two decimals and a comma.",
        "She says the totals differ by a cent from the PDF.",
        "The PDF rounds each line, the export the sum. Both round lines now:\n```\n42 passed in 3.1s\n```",
        "Perfect. The export should run on the first of every month.",
    ),
    "Pictures of products": (
        "My sister uploads photos straight from her phone, and the product page takes seconds.",
        "They have 4 MB each. I scale them to 1,200 px on upload and keep the original.",
        "Let us keep the images below 200 kB each, please.",
        "All 130 are below that now; the page loads in 80 ms.",
    ),
    "Opening hours": (
        "予約は火曜日から土曜日まで。 The sign for the tourists has to say the same as the page.",
        "The page says Tuesday to Saturday, and both languages come from one table now.",
        "And no pick-up slots on public holidays.",
        "slots_for() asks the holiday calendar of Lisbon first.",
    ),
    "Login by link": (
        "Customers forget their passwords. Can they log in without one?",
        "With a link by mail: it works once, for ten minutes. I wrote auth/links.py.",
        "Good. How long does a session last then?",
        "Seven days, in a signed token. Refreshing it is still open: sliding or fixed?",
        "Sliding. It is a bakery, not a bank.",
    ),
}


ROUTINE = (
    ("Rename field {n} of the order form.", "Renamed; the migration runs in {n} ms."),
    ("Build {n} is red.", "A flaky test of the slots. The second run was green."),
    ("Ticket {n}: the footer covers a button on phones.", "Fixed with a margin of {n} px."),
    ("How many orders were there in week {n}?", "{n} more than in the week before."),
)


def make_sessions(now: float, count: int = 60) -> Iterator[dict[str, Any]]:
    chance = random.Random(7)
    talks = list(TALKS.items())
    for number in range(count):
        start = now - chance.uniform(0.2, 170) * DAY
        routine = [
            line.format(n=chance.randint(20, 900)) for pair in chance.sample(ROUTINE, 3) for line in pair
        ]
        title, said = (routine[0], routine * chance.choice((1, 2, 4)))
        if number < len(talks):
            title, said = talks[number]
        yield {
            "id": f"work-{number:03d}",
            "title": title,
            "source": chance.choice(("claude-code", "claude-code", "codex", "cli")),
            "started_at": start,
            "ended_at": start + 3000,
            "messages": [
                {"role": ("user", "assistant")[at % 2], "content": line, "timestamp": start + at * 40}
                for at, line in enumerate(said)
            ],
        }


def make_crowd(now: float, count: int) -> Iterator[dict[str, Any]]:
    """Yield conversations of 39 messages."""
    chance = random.Random(5)
    lines = [line for talk in TALKS.values() for line in talk]
    for number in range(count):
        start = now - chance.uniform(1, 300) * DAY
        yield {
            "id": f"crowd-{number:04d}",
            "title": f"Talk {number}",
            "source": chance.choice(("codex", "cli", "claude-code")),
            "started_at": start,
            "messages": [
                {
                    "role": ("user", "assistant")[at % 2],
                    "content": f"{number}/{at} {chance.choice(lines)}",
                    "timestamp": start + at * 30,
                }
                for at in range(39)
            ],
        }


def write_crowd_of_facts(memory: Memory, clock: FixedClock, now: float, count: int) -> None:
    for turn in range(count // 50):
        clock.now = now - (count // 50 - turn) * DAY
        numbers = range(turn * 50, turn * 50 + 50)
        text = "\n".join(f"V[area{one % 97}.thing{one}]: value {one} of the system" for one in numbers)
        memory.facts.write(text, scope=f"scope{turn % 40}")
    clock.now = now


def make_long_session(now: float, count: int) -> dict[str, Any]:
    chance = random.Random(11)
    lines = [line for talk in TALKS.values() for line in talk]
    start = now - count * 20
    messages = []
    for at in range(count):
        role = ("user", "assistant", "assistant", "tool")[at % 4]
        text = f"message {at}: " + " ".join(chance.choice(lines) for _ in range(chance.choice((1, 1, 2, 6))))
        message = {"role": role, "content": text, "timestamp": start + at * 20}
        messages.append(message | ({"tool_name": "run"} if role == "tool" else {}))
    return {
        "id": "long" if count > 100 else "short",
        "title": "A long conversation" if count > 100 else "A short conversation",
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
        (21, "shop", "D[mail.queue]: Redis streams"),
        (21, "shop", "V[slots.step]: 15 minutes"),
        (9, "auth-refactor", "D[auth.refresh]: sliding\n✓[auth.refresh]: deployed to production"),
        (2, "infra", "V[backup.time]: 03:15 every night"),
        (1, "shop", "V[mail.queue]: 12 workers"),
        (1, "deploy", "V[srv.port]: 3005"),
        (0.5, "shop", "V[srv.port]: 3006"),
    )
    agreed = memory.call("sessions_messages", {"session": "work-000", "at": 4, "limit": 1})["messages"]
    for days, scope, text in steps:
        clock.now = now - days * DAY
        said = {"session_id": "work-000", "message_id": agreed[0]["id"]} if "Redis" in text else {}
        memory.facts.write(text, scope=scope, **said)
    clock.now = now


def fill(folder: Path, long: int = 0, crowd: int = 0) -> None:
    now = time.time()
    clock = FixedClock(now)
    folder.mkdir(parents=True, mode=0o700)
    (folder / "config.toml").write_text('backend = "local"\n')
    with Memory.at(folder, disabled=False, embedder="static", clock=clock) as memory:
        memory.sessions.import_sessions([*history(now), *make_sessions(now)])
        if long:
            memory.sessions.import_sessions([make_long_session(now, long), make_long_session(now, 100)])
        if crowd:
            memory.sessions.import_sessions(list(make_crowd(now, crowd)))
            write_crowd_of_facts(memory, clock, now, crowd * 5)
        memory.sessions.create_session(
            "work-next", source="claude-code", title="Order mails, continued", parent_session_id="work-000"
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
    parser.add_argument("--crowd", type=int, default=0, help="more conversations, and five facts for each")
    given = parser.parse_args()
    fill(given.folder, given.long, given.crowd)

"""Measure a memory in PostgreSQL: appends, searches beside plain SQL, neighbours in the table.

The server is the one in ``MNEMOS_TEST_POSTGRES``, or the one that ``make test-postgres`` installs. Times are
CPU milliseconds of this process and the server's processes together, where ``/proc`` has them.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg

import mnemos
from benchmarks import corpus, queries
from benchmarks.measure import growth_exponent, median, percentile
from benchmarks.report import Options, Result, Table
from mnemos.storage.base import Filters, Order, Results
from mnemos.storage.postgres.engine import PostgresStorage
from mnemos.text.query import parse

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

SIZES, QUICK_SIZES = (2_000, 50_000), (500, 2_000)
NEIGHBOURS, QUICK_NEIGHBOURS = 20, 3
BATCH = 50
SEARCHES = 20
# The usual query, without windows and blocks.
PLAIN = (
    "SELECT message FROM {schema}.words WHERE space = {space} AND words @@ %s::tsquery "
    "ORDER BY ts_rank(words, %s::tsquery) DESC LIMIT 20"
)


class Clock:
    """CPU time of this process and of the server's."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(_without_schema(url)) as connection:
            ((pid,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
        self._parent = _parent_of(pid) or _parent_by_socket(url)

    def __call__(self) -> float:
        return time.process_time() + self._server()

    def time(self, call: Callable[[], object], repeat: int = 10) -> float:
        """Return the CPU milliseconds of a call; ticks of the kernel are long, so it is repeated."""
        server, own = self._server(), time.process_time()
        for _ in range(repeat):
            call()
        own = time.process_time() - own
        return (own + self._server() - server) / repeat * 1000

    def _server(self) -> float:
        return sum(map(_seconds, _children_of(self._parent)))


def run(options: Options) -> Result:
    from postgres_server import drop_schema, new_schema, server_url, url_of

    server_url()
    sizes = QUICK_SIZES if options.quick else SIZES
    neighbours = QUICK_NEIGHBOURS if options.quick else NEIGHBOURS
    figures: dict[str, Any] = {}
    tables: list[Table] = []
    for size in sizes:
        schema = new_schema()
        try:
            figures[str(size)] = _measure(url_of(schema), schema, size, neighbours if size == sizes[0] else 0)
        finally:
            drop_schema(schema)
        tables += _tables(size, figures[str(size)])
    tables.append(_growth(sizes, figures))
    return Result("postgres", tables, {"sizes": list(sizes), "neighbours": neighbours, **figures})


def _measure(url: str, schema: str, size: int, neighbours: int) -> dict[str, Any]:
    text = corpus.Corpus(size)
    with mnemos.open(url, space="measured") as memory:
        appended = _append(memory, text, Clock(url))
        asked = queries.draw(queries.read(text), SEARCHES, seed=24)
        memory.storage.optimize(1.0)
        found = {kind: _search(memory, url, schema, some) for kind, some in asked.items() if some}
        figures = {"append": appended, "search": found, "bytes": memory.storage.usage().file_bytes / size}
    if neighbours:
        for number in range(neighbours):
            with mnemos.open(url, space=f"neighbour{number}") as other:
                _append(other, text, Clock(url))
        with mnemos.open(url, space="measured") as memory:
            memory.storage.optimize(1.0)
            figures["among"] = {
                kind: _search(memory, url, schema, some) for kind, some in asked.items() if some
            }
    return figures


def _append(memory: mnemos.Memory, text: corpus.Corpus, clock: Callable[[], float]) -> dict[str, float]:
    """Store the corpus in batches, then some messages one by one."""
    started = clock()
    count = 0
    for session in text.sessions():
        memory.sessions.create_session(session.id, "cli")
        messages = [dict(message) for message in session.messages]
        for first in range(0, len(messages), BATCH):
            memory.sessions.append_messages(session.id, messages[first : first + BATCH])
            count += len(messages[first : first + BATCH])
    batches = clock() - started
    singles = 200
    memory.sessions.create_session("single", "cli")
    started = clock()
    for number in range(singles):
        memory.sessions.append_message("single", "user", f"The {number}th message about the staging server.")
    return {"batch_per_second": count / batches, "single_ms": (clock() - started) / singles * 1000}


def _search(memory: mnemos.Memory, url: str, schema: str, asked: list[str]) -> dict[str, float]:
    clock = Clock(url)
    storage = memory.storage
    assert isinstance(storage, PostgresStorage)
    ours, plain = [], []
    for query in asked:
        _find(storage, query)
        ours.append(clock.time(lambda: _find(storage, query)))  # noqa: B023
    with psycopg.connect(_without_schema(url)) as connection:
        for query in asked:
            match, space = _plain_match(storage, query)
            if match is None:
                continue
            sql = PLAIN.format(schema=schema, space=space)
            connection.execute(sql, (match, match)).fetchall()
            plain.append(clock.time(lambda: connection.execute(sql, (match, match)).fetchall()))  # noqa: B023
    return {
        "p50": median(ours), "p99": percentile(ours, 0.99), "plain_p50": median(plain) if plain else 0.0,
    }  # fmt: skip


def _find(storage: PostgresStorage, query: str) -> Results:
    return storage.read(
        lambda tx: tx.sessions.search(parse(query), Filters(), order=Order.RELEVANCE, limit=20, offset=0)
    )


def _without_schema(url: str) -> str:
    return url.partition("schema=")[0].rstrip("?&")


def _plain_match(storage: PostgresStorage, query: str) -> tuple[str | None, int]:
    def work(tx: Any) -> tuple[str | None, int]:
        parsed = parse(query)
        plan = tx.sessions.index.searching().all_of(parsed) if parsed.clauses else None
        return (None if plan is None else plan.match), tx.space.id

    return storage.read(work)


def _tables(size: int, figures: dict[str, Any]) -> list[Table]:
    rows = [
        [kind, f"{one['p50']:.2f}", f"{one['p99']:.2f}", f"{one['plain_p50']:.2f}",
         f"{figures['among'][kind]['p50']:.2f}" if "among" in figures else ""]
        for kind, one in figures["search"].items()
    ]  # fmt: skip
    head = ("", "p50", "p99", "ts_rank over @@", "with neighbours")
    appended = figures["append"]
    more = [
        ["messages per CPU second, batches of 50", f"{appended['batch_per_second']:,.0f}"],
        ["one message, CPU ms", f"{appended['single_ms']:.2f}"],
        ["bytes per message, without vectors", f"{figures['bytes']:,.0f}"],
    ]
    return [Table(f"Search in {size:,} messages, CPU ms", head, rows), Table("Append", ("", ""), more)]


def _growth(sizes: tuple[int, ...], figures: dict[str, Any]) -> Table:
    small, large = sizes[0], sizes[-1]
    rows = []
    for kind, one in figures[str(large)]["search"].items():
        before = figures[str(small)]["search"].get(kind)
        if before and before["p50"] and one["p50"]:
            rows.append([kind, f"{growth_exponent((small, before['p50']), (large, one['p50'])):.2f}"])
    return Table(f"Growth from {small:,} to {large:,} messages", ("", "exponent"), rows)


def _seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _parent_by_socket(url: str) -> int:
    folder = url.partition("host=")[2].partition("&")[0]
    try:
        return int(Path(folder, "data", "postmaster.pid").read_text().splitlines()[0])
    except (OSError, ValueError, IndexError):
        return 0


def _children_of(parent: int) -> Iterator[int]:
    for entry in Path("/proc").iterdir() if parent else ():
        if entry.name.isdigit() and _parent_of(int(entry.name)) == parent:
            yield int(entry.name)

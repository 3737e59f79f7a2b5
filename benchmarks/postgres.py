"""Measure a memory in PostgreSQL alongside plain SQL: appends, writers, searches, vectors, size.

The server is the one in ``MNEMOS_TEST_POSTGRES``, or one that is started from what ``make test-postgres``
installs, with its usual durability. Times are CPU milliseconds of this process and the server's processes
together, where ``/proc`` has them; writers are measured by the clock on the wall. ``--no-peers`` leaves out
neighbours and writers.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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

SIZES, QUICK_SIZES = (10_000, 100_000), (500, 2_000)
NEIGHBOURS, QUICK_NEIGHBOURS = (300, 1_000), (3, 200)
# Beyond this many, making vectors takes longer than everything else.
MOST_VECTORS = 100_000
DIM = 256
BATCH = 50
SINGLES, TURNS = 1_000, 10
# Statements are prepared, and pages read, before anything is measured.
WARM_UP = 20
SEARCHES = 20
WRITER_SECONDS = 4.0
# The usual query, without windows and blocks.
PLAIN = (
    "SELECT message FROM {schema}.words WHERE space = {space} AND words @@ %s::tsquery "
    "ORDER BY ts_rank(words, %s::tsquery) DESC LIMIT 20"
)
WRITER = """
import sys, time
import mnemos
url, space, name, seconds = sys.argv[1:]
with mnemos.open(url, space=space) as memory:
    memory.sessions.ensure_session(name, "cli")
    print("ready", flush=True)
    sys.stdin.readline()
    end, count = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        memory.sessions.append_message(name, "user", f"The {count}th message about the staging server.")
        count += 1
    print(count, flush=True)
"""


class Clock:
    """CPU time of this process and of the server's."""

    def __init__(self, url: str) -> None:
        with psycopg.connect(_without_schema(url)) as connection:
            ((pid,),) = connection.execute("SELECT pg_backend_pid()").fetchall()
        self._parent = _parent_of(pid) or _parent_by_socket(url)

    def __call__(self) -> float:
        return time.process_time() + self._server()

    def time(self, call: Callable[[], object], repeat: int = 3) -> float:
        """Return the CPU milliseconds of a call."""
        server, own = self._server(), time.process_time()
        for _ in range(repeat):
            call()
        own = time.process_time() - own
        return (own + self._server() - server) / repeat * 1000

    def _server(self) -> float:
        return sum(map(_seconds, _children_of(self._parent)))


@contextmanager
def _server() -> Iterator[None]:
    """Start a server that is as durable as a real one, unless one is given."""
    import postgres_server

    if postgres_server.GIVEN:
        yield
        return
    server = postgres_server.Server("fsync=on", "full_page_writes=on", "max_wal_size=4GB")
    postgres_server.GIVEN = server.url
    try:
        yield
    finally:
        postgres_server.GIVEN = None
        server.remove()


@contextmanager
def _schema() -> Iterator[tuple[str, str]]:
    from postgres_server import drop_schema, new_schema, url_of

    schema = new_schema()
    try:
        yield url_of(schema), schema
    finally:
        drop_schema(schema)


@contextmanager
def new_schema_url() -> Iterator[str]:
    """Yield the URL of an empty schema on the server for tests."""
    import postgres_server

    postgres_server.server_url()
    with _schema() as (url, _):
        yield url


def run(options: Options) -> Result:
    sizes = options.sizes or (QUICK_SIZES if options.quick else SIZES)
    neighbours = QUICK_NEIGHBOURS if options.quick else NEIGHBOURS
    figures: dict[str, Any] = {}
    tables: list[Table] = []
    with _server():
        for size in sizes:
            with _schema() as (url, schema):
                figures[str(size)] = _measure(url, schema, size)
            tables += _tables(size, figures[str(size)])
        if options.peers:
            with _schema() as (url, schema):
                figures["among"] = _measure_among(url, schema, *neighbours)
            with _schema() as (url, _):
                figures["writers"] = _measure_writers(url)
            tables += [_among(figures["among"]), _writers(figures["writers"])]
    if len(sizes) > 1:
        tables.append(_growth(sizes, figures))
    return Result("postgres", tables, {"sizes": list(sizes), "neighbours": list(neighbours), **figures})


def _measure(url: str, schema: str, size: int) -> dict[str, Any]:
    text = corpus.Corpus(size)
    with mnemos.open(url, space="measured") as memory, memory.storage.without_background():
        clock = Clock(url)
        figures: dict[str, Any] = {"append": _append(memory, text, clock, url)}
        figures["append"] |= _append_singles(memory, clock, url, schema)
        asked = queries.draw(queries.read(text), SEARCHES, seed=24)
        memory.storage.optimize(1.0)
        figures["search"] = {kind: _search(memory, url, schema, some) for kind, some in asked.items() if some}
        figures["bytes"] = memory.storage.usage().file_bytes / size
        if size <= MOST_VECTORS:
            figures["vectors"] = _measure_vectors(memory, url)
            figures["bytes_with_vectors"] = memory.storage.usage().file_bytes / size
    return figures


def _measure_among(url: str, schema: str, neighbours: int, size: int) -> dict[str, Any]:
    """Search in one space, then again with others of its size in the same tables."""
    text = corpus.Corpus(size)
    asked = queries.draw(queries.read(text), SEARCHES, seed=24)
    found = []
    for count in (0, neighbours):
        for number in range(count):
            with mnemos.open(url, space=f"neighbour{number}") as other, other.storage.without_background():
                _fill(other, text)
        with mnemos.open(url, space="measured") as memory:
            if not count:
                _fill(memory, text)
            memory.storage.optimize(1.0)
            found.append({kind: _search(memory, url, schema, some) for kind, some in asked.items() if some})
    alone, among = found
    return {kind: {"alone": alone[kind]["p50"], "among": among[kind]["p50"]} for kind in alone}


def _measure_writers(url: str) -> dict[str, float]:
    """Return the messages per second of one writer, of four in one space, and of four in four."""
    return {
        "one": _write(url, ["one"]),
        "four_in_one_space": _write(url, ["shared"] * 4),
        "four_in_four_spaces": _write(url, [f"own{number}" for number in range(4)]),
    }


def _write(url: str, spaces: list[str]) -> float:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url, space, f"s{number}", str(WRITER_SECONDS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number, space in enumerate(spaces)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    counts = []
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        counts.append(int(writer.communicate()[0]))
    for space in set(spaces):
        with mnemos.open(url, space=space) as memory:
            expected = sum(count for count, other in zip(counts, spaces, strict=True) if other == space)
            assert memory.sessions.message_count() == expected, "a message was lost"
    return sum(counts) / WRITER_SECONDS


def _fill(memory: mnemos.Memory, text: corpus.Corpus) -> int:
    count = 0
    for session in text.sessions():
        memory.sessions.create_session(session.id, "cli")
        messages = [dict(message) for message in session.messages]
        for first in range(0, len(messages), BATCH):
            memory.sessions.append_messages(session.id, messages[first : first + BATCH])
            count += len(messages[first : first + BATCH])
    return count


def _append(memory: mnemos.Memory, text: corpus.Corpus, clock: Clock, url: str) -> dict[str, float]:
    """Store the corpus in batches, and empty the list of new words."""
    before, started = _log_position(url), clock()
    count = _fill(memory, text)
    batches = clock() - started
    memory.storage.optimize(1.0)
    written = _log_position(url) - before
    return {"batch_per_second": count / batches, "wal_bytes": written / count}


def _append_singles(memory: mnemos.Memory, clock: Clock, url: str, schema: str) -> dict[str, float]:
    """Append messages one by one, ours and by plain SQL with the same rows and words, in turns."""
    sessions = memory.sessions
    sessions.create_session("single", "cli")
    texts = [f"The {number}th message about the staging server." for number in range(SINGLES)]
    with mnemos.open(url, space="raw") as raw:
        raw.sessions.create_session("single", "cli")
    with psycopg.connect(_without_schema(url), autocommit=True) as connection:
        ((space,),) = connection.execute(f"SELECT id FROM {schema}.spaces WHERE name = 'raw'").fetchall()
        append = _raw_append(connection, schema, space)
        words = "'the':1A 'message':3A 'about':4A 'staging':6A 'server':7A 'stage':6 '#r:user' '#s:1'"
        for _ in range(WARM_UP):
            sessions.append_message("single", "user", texts[0])
            append(texts[0], words)
        ours, plain, wal = [], [], []
        for turn in range(TURNS):
            some = texts[turn::TURNS]
            before = _log_position(url)
            started = clock()
            for one in some:
                sessions.append_message("single", "user", one)
            ours.append((clock() - started) / len(some) * 1000)
            wal.append((_log_position(url) - before) / len(some))
            started = clock()
            for one in some:
                append(one, words)
            plain.append((clock() - started) / len(some) * 1000)
    single, by_sql = median(ours), median(plain)
    return {"single_ms": single, "raw_ms": by_sql, "ratio": by_sql / single, "single_wal_bytes": median(wal)}


def _raw_append(connection: Any, schema: str, space: int) -> Callable[[str, str], None]:
    ids = iter(range(space * 2**32 + 10, (space + 1) * 2**32))

    def append(text: str, words: str) -> None:
        number = next(ids)
        connection.execute("BEGIN")
        connection.execute(f"SET LOCAL mnemos.space = {space:d}")
        connection.execute(f"SELECT schema FROM {schema}.space_states WHERE space = %s FOR UPDATE", (space,))
        connection.execute(
            f"UPDATE {schema}.sessions SET message_count = message_count + 1 "
            "WHERE space = %s AND id = 'single'",
            (space,),
        )
        connection.execute(
            f"INSERT INTO {schema}.messages (space, id, session, role, timestamp, content) "
            "VALUES (%s, %s, 1, 'user', %s, %s)",
            (space, number, time.time(), text),
        )
        connection.execute(
            f"INSERT INTO {schema}.words (space, id, message, at, n, words) VALUES (%s, %s, %s, %s, 7, %s)",
            (space, number, number, time.time(), words),
        )
        connection.execute("COMMIT")

    return append


def _measure_vectors(memory: mnemos.Memory, url: str) -> dict[str, float]:
    """Store a vector for each message; measure a first and later looks, and the neighbours found."""
    import numpy as np

    from contract.storage.vectors import embed_all

    chance = np.random.default_rng(24)
    made: list[Any] = []

    def embed(_: str, dim: int) -> Any:
        vector = chance.standard_normal(dim).astype(np.float32)
        made.append(vector / np.linalg.norm(vector))
        return made[-1]

    count = embed_all(memory.storage, "measured", DIM, characters=1_000_000, embed=embed)
    assert count
    every = np.stack(made)
    asked = [
        one / np.linalg.norm(one)
        for one in every[random.Random(24).sample(range(len(every)), 10)]
        + 0.5 * chance.standard_normal((10, DIM)).astype(np.float32) / DIM**0.5
    ]

    def look(storage: Any, vector: Any) -> Any:
        return storage.read(
            lambda tx: tx.vectors.nearest("measured", vector, Filters(), kinds=None, limit=10)
        )

    with mnemos.open(url, space="measured") as other:
        clock = Clock(url)
        first = clock.time(lambda: look(other.storage, asked[0]), repeat=1)
        later = median([clock.time(lambda one=one: look(other.storage, one), repeat=3) for one in asked])
        scores = []
        for one in asked:
            exact = sorted(every @ one, reverse=True)[:10]
            scores.append(sum(near.cosine >= exact[-1] - 0.01 for near in look(other.storage, one)) / 10)
    return {"count": len(made), "first_ms": first, "later_ms": later, "recall_at_10": sum(scores) / 10}


def _log_position(url: str) -> float:
    with psycopg.connect(_without_schema(url)) as connection:
        ((position,),) = connection.execute("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn").fetchall()
    return float(position)


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
            plain.append(
                clock.time(lambda: connection.execute(sql, (match, match)).fetchall(), repeat=1)  # noqa: B023
            )
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
        plan = tx.sessions.index.searching().plans.all_of(parsed) if parsed.clauses else None
        return (None if plan is None else plan.match), tx.space.id

    return storage.read(work)


def _tables(size: int, figures: dict[str, Any]) -> list[Table]:
    rows = [
        [kind, f"{one['p50']:.2f}", f"{one['p99']:.2f}", f"{one['plain_p50']:.2f}"]
        for kind, one in figures["search"].items()
    ]
    appended = figures["append"]
    more = [
        ["messages per CPU second, batches of 50", f"{appended['batch_per_second']:,.0f}"],
        ["one message, CPU ms", f"{appended['single_ms']:.2f}"],
        ["the same rows by plain SQL, CPU ms", f"{appended['raw_ms']:.2f}"],
        ["plain SQL / Mnemos", f"{appended['ratio']:.2f}"],
        ["bytes of the log per message, batches", f"{appended['wal_bytes']:,.0f}"],
        ["bytes of the log per short message, one by one", f"{appended['single_wal_bytes']:,.0f}"],
        ["bytes per message, without vectors", f"{figures['bytes']:,.0f}"],
    ]
    if "vectors" in figures:
        vectors = figures["vectors"]
        more += [
            ["bytes per message, with vectors", f"{figures['bytes_with_vectors']:,.0f}"],
            [f"first look at {vectors['count']:,} vectors, CPU ms", f"{vectors['first_ms']:.1f}"],
            ["later looks, CPU ms", f"{vectors['later_ms']:.1f}"],
            ["of the 10 nearest found", f"{vectors['recall_at_10']:.2f}"],
        ]
    head = ("", "p50", "p99", "ts_rank over @@")
    return [Table(f"Search in {size:,} messages, CPU ms", head, rows), Table("Storing", ("", ""), more)]


def _among(figures: dict[str, Any]) -> Table:
    rows = [
        [kind, f"{one['alone']:.2f}", f"{one['among']:.2f}", f"{one['among'] / one['alone']:.2f}"]
        for kind, one in figures.items()
    ]
    return Table("Search in a space, CPU ms", ("", "alone", "with neighbours", "ratio"), rows)


def _writers(figures: dict[str, float]) -> Table:
    rows = [[name.replace("_", " "), f"{rate:,.0f}"] for name, rate in figures.items()]
    return Table("Writers", ("", "messages per second"), rows)


def _growth(sizes: tuple[int, ...], figures: dict[str, Any]) -> Table:
    small, large = sizes[0], sizes[-1]
    rows = []
    for kind, one in figures[str(large)]["search"].items():
        before = figures[str(small)]["search"].get(kind)
        if before and before["p50"] and one["p50"]:
            rows.append([kind, f"{growth_exponent((small, before['p50']), (large, one['p50'])):.2f}"])
    return Table(f"Growth from {small:,} to {large:,} messages", ("", "exponent"), rows)


def _seconds(pid: int) -> float:
    """Return the CPU time of a process, in nanoseconds of the scheduler: ticks of /proc/PID/stat are long."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        return 0.0


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

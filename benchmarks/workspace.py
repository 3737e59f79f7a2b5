"""The cost of the sandbox: small queries against raw apsw, imports against other tools, the schema card.

Raw is apsw in this process, on a database with the same settings, one transaction a call: no other process,
no limits, no guard. Imports are timed as commands, each into a new database, the CPU of all their processes
counted; sqlite-utils and pandas are installed into an environment of their own, and the ``sqlite3`` command
takes part where there is one.
"""

from __future__ import annotations

import csv
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from benchmarks.measure import median, percentile
from benchmarks.peers import Environment, PeerError, clean_environment, python_of, working_folder
from benchmarks.report import Options, Result, Table
from mnemos.workspace.limits import Quota
from mnemos.workspace.workspace import Workspace

SQLITE_UTILS = Environment("sqlite-utils", "sqlite-utils", "4.2.1", "sqlite_utils", bounds=("pandas",))
CALLS = 2_000
QUICK_CALLS = 200
ROWS = 100_000
QUICK_ROWS = 5_000
CSV_BYTES = 50_000_000
QUICK_CSV_BYTES = 2_000_000
TABLES = 25
SEED = 7
_ROOMY = Quota(database_bytes=2_000_000_000, databases_bytes=2_000_000_000)

Ask = Callable[[str, Sequence[Any]], Any]


def run(options: Options) -> Result:
    figures: dict[str, Any] = {}
    missing: dict[str, str] = {}
    with working_folder() as folder:
        figures["queries"] = _queries(folder, QUICK_CALLS if options.quick else CALLS)
        figures["rows"] = _many_rows(folder, QUICK_ROWS if options.quick else ROWS)
        size = QUICK_CSV_BYTES if options.quick else CSV_BYTES
        figures["import"] = _imports(folder, size, options, missing)
        figures["card"] = _card(folder, QUICK_ROWS if options.quick else ROWS)
    return Result("workspace", _tables(figures), figures, missing=missing)


# --- small queries -----------------------------------------------------------------------------

QUERIES: dict[str, tuple[str, Callable[[int], Sequence[Any]]]] = {
    "SELECT 1": ("SELECT 1", lambda _: ()),
    "row by key": ("SELECT * FROM t WHERE id = ?", lambda n: (n % 10_000,)),
    "insert": ("INSERT INTO t (name, eur) VALUES (?, ?)", lambda n: (f"item {n}", n / 4)),
    "group by": ("SELECT id % 10, count(*), sum(eur) FROM t WHERE id < 1000 GROUP BY 1", lambda _: ()),
    "1,000 rows": ("SELECT * FROM t LIMIT 1000", lambda _: ()),
}
_FILL = (
    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, eur REAL); "
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 10000) "
    "INSERT INTO t SELECT x, 'item ' || x, x / 4.0 FROM n"
)


def _queries(folder: Path, calls: int) -> dict[str, Any]:
    """Milliseconds of a call through the sandbox and of the same with raw apsw, taken in turns."""
    workspace = Workspace(folder / "queries")
    raw = _raw(folder / "raw.db")
    raw.execute(_FILL)
    workspace.query(_FILL)

    def ours(sql: str, values: Sequence[Any]) -> Any:
        return workspace.query(sql, list(values), max_rows=1_000)

    def theirs(sql: str, values: Sequence[Any]) -> Any:
        with raw:
            return raw.execute(sql, values).fetchall()

    found: dict[str, Any] = {}
    for name, (sql, values) in QUERIES.items():
        times: dict[str, list[float]] = {"ours": [], "raw": []}
        for number in range(calls):
            for side, ask in (("ours", ours), ("raw", theirs)):
                times[side].append(_ms(partial(ask, sql, values(number))))
        found[name] = {
            "ours_ms": {"p50": median(times["ours"]), "p99": percentile(times["ours"], 0.99)},
            "raw_ms": {"p50": median(times["raw"]), "p99": percentile(times["raw"], 0.99)},
            "over_raw_ms": median(times["ours"]) - median(times["raw"]),
        }
    workspace.close()
    raw.close()
    began = time.perf_counter()
    workspace.query("SELECT 1")
    found["cold start"] = {"ours_ms": {"p50": (time.perf_counter() - began) * 1000}}
    workspace.close()
    return found


def _many_rows(folder: Path, count: int) -> dict[str, float]:
    """Seconds for one INSERT with very many rows."""
    rows = [
        [number, f"item {number}", number / 4, f"https://example.com/{number}"] for number in range(count)
    ]
    make, insert = "CREATE TABLE t (a INTEGER, b TEXT, c REAL, d TEXT)", "INSERT INTO t VALUES (?, ?, ?, ?)"
    workspace = Workspace(folder / "rows")
    workspace.query(make)
    ours = _ms(lambda: workspace.query(insert, rows=rows)) / 1000
    workspace.close()
    raw = _raw(folder / "rows.db")
    raw.execute(make)

    def inserted() -> None:
        with raw:
            raw.executemany(insert, rows)

    theirs = _ms(inserted) / 1000
    raw.close()
    return {"rows": count, "ours_s": ours, "raw_s": theirs}


def _raw(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    return connection


# --- imports -------------------------------------------------------------------------------------


def _imports(folder: Path, size: int, options: Options, missing: dict[str, str]) -> dict[str, Any]:
    """Seconds of wall and of CPU for bringing one CSV into a new database, the best of several runs."""
    path = folder / "rows.csv"
    _write_csv(path, size)
    ways: dict[str, Callable[[Path], list[str]]] = {
        "mnemos": lambda into: [sys.executable, "-c", _OURS, str(path), str(into)]
    }
    if options.peers:
        try:
            python = str(python_of(SQLITE_UTILS))
            ways["sqlite-utils"] = lambda into: [
                *(python, "-m", "sqlite_utils", "insert", str(into / "x.db"), "t", str(path)),
                *("--csv", "--silent"),
            ]
            ways["pandas"] = lambda into: [python, "-c", _PANDAS, str(path), str(into / "x.db")]
        except PeerError as error:
            missing["sqlite-utils"] = str(error)
        shell = shutil.which("sqlite3")
        if shell is None:
            missing["sqlite3"] = "there is no sqlite3 command on this machine"
        else:
            ways["sqlite3 .import"] = lambda into: [
                *(str(shell), str(into / "x.db"), "-cmd", ".mode csv", f".import {path} t")
            ]
    found: dict[str, Any] = {"bytes": path.stat().st_size}
    for name in ways:
        found[name] = {"wall_s": [], "cpu_s": []}
    for number in range(2 if options.quick else 3):
        for name, command in ways.items():
            into = folder / f"{name.split()[0]}-{number}"
            into.mkdir()
            wall, cpu = _command(command(into), into)
            found[name]["wall_s"].append(wall)
            found[name]["cpu_s"].append(cpu)
            shutil.rmtree(into)
    return found


_OURS = """
import sys
from pathlib import Path
from mnemos.workspace.limits import Quota
from mnemos.workspace.workspace import Workspace
roomy = Quota(database_bytes=2_000_000_000, databases_bytes=2_000_000_000)
workspace = Workspace(Path(sys.argv[2]), files=Path(sys.argv[1]).parent, quota=roomy)
done = workspace.import_file(Path(sys.argv[1]).name, "t")
workspace.close()
assert done.rows and not done.bad_count
"""
_PANDAS = """
import sqlite3, sys
import pandas
connection = sqlite3.connect(sys.argv[2])
pandas.read_csv(sys.argv[1]).to_sql("t", connection, index=False)
connection.commit()
"""


def _write_csv(path: Path, size: int) -> None:
    """Rows of ten columns: numbers, prices, dates, words, a text, some cells empty."""
    chance = random.Random(SEED)
    words = [f"word{number}" for number in range(500)]
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow("id,item,eur,count,day,city,zip,url,note,score".split(","))
        number = 0
        while file.tell() < size:
            rows = []
            for _ in range(2_000):
                number += 1
                rows.append(
                    [
                        number,
                        f"item {chance.randrange(10_000)}",
                        f"{chance.random() * 1000:.2f}",
                        chance.randrange(100) if chance.random() > 0.1 else "",
                        f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
                        chance.choice(words),
                        f"{chance.randrange(100_000):05}",
                        f"https://example.com/{number}",
                        " ".join(chance.choices(words, k=4)),
                        f"{chance.random():.6f}",
                    ]
                )
            out.writerows(rows)


def _command(command: list[str], home: Path) -> tuple[float, float]:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    environment = clean_environment(home) | {"PYTHONPATH": os.pathsep.join(sys.path)}
    if command[0] != sys.executable:
        environment.pop("PYTHONPATH")
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# --- the card ------------------------------------------------------------------------------------


def _card(folder: Path, rows: int) -> dict[str, float]:
    """Milliseconds for the schema card of many large tables: by a worker that just opened it, and again."""
    workspace = Workspace(folder / "card", quota=_ROOMY)
    for number in range(TABLES):
        workspace.query(
            f"CREATE TABLE t{number} (id INTEGER PRIMARY KEY, name TEXT, eur REAL, day TEXT, url TEXT, "
            "note); "
            f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT {rows}) "
            f"INSERT INTO t{number} SELECT x, 'item ' || x, x / 4.0, date(x, 'unixepoch'), "
            "'https://example.com/' || x, '{\"k\": ' || x || '}' FROM n",
            timeout=120,
        )
    workspace.close()
    workspace.query("SELECT 1")
    cold = _ms(workspace.schema)
    cached = [_ms(workspace.schema) for _ in range(200)]
    length = len(workspace.schema().text)
    workspace.close()
    return {
        "tables": TABLES,
        "rows": rows,
        "cold_ms": cold,
        "cached_ms": median(cached),
        "characters": length,
    }


def _ms(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _tables(figures: dict[str, Any]) -> list[Table]:
    queries = [
        [
            name,
            f"{one['ours_ms']['p50']:.3f}",
            f"{one['raw_ms']['p50']:.3f}" if "raw_ms" in one else "",
            f"{one['over_raw_ms']:.3f}" if "over_raw_ms" in one else "",
            f"{one['ours_ms']['p99']:.3f}" if "p99" in one["ours_ms"] else "",
        ]
        for name, one in figures["queries"].items()
    ]
    imports = {name: one for name, one in figures["import"].items() if isinstance(one, dict)}
    ours = min(imports["mnemos"]["cpu_s"])
    rows, card = figures["rows"], figures["card"]
    return [
        Table("A call of the workspace, ms", ["query", "mnemos p50", "raw apsw", "over raw", "p99"], queries),
        Table(
            f"A CSV of {figures['import']['bytes'] / 1e6:.0f} MB into a new table",
            ["by", "wall s", "CPU s", "CPU, mnemos = 1"],
            [
                [
                    name,
                    f"{min(one['wall_s']):.2f}",
                    f"{min(one['cpu_s']):.2f}",
                    f"{min(one['cpu_s']) / ours:.2f}",
                ]
                for name, one in imports.items()
            ],
            [
                "The best of several runs. Mnemos and sqlite-utils find out types; sqlite3 keeps everything "
                "as text."
            ],
        ),
        Table(
            "Rows and the schema card",
            ["what", "mnemos", "raw apsw"],
            [
                [f"{rows['rows']:,} rows in one call, s", f"{rows['ours_s']:.2f}", f"{rows['raw_s']:.2f}"],
                [
                    f"card of {card['tables']} tables of {card['rows']:,} rows, ms",
                    f"{card['cold_ms']:.0f}",
                    "",
                ],
                ["the same again, ms", f"{card['cached_ms']:.2f}", ""],
            ],
        ),
    ]

"""One side of ``benchmarks.compare``: only what both versions have.

python -m benchmarks.compare_worker build|measure FOLDER SIZE
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import mnemos
from benchmarks import transcripts
from benchmarks.corpus import Corpus

QUESTIONS = 60
ROWS = 20_000
MEGABYTES = 4.0


def main() -> None:
    what, folder, size = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    found = build(folder, size) if what == "build" else measure(folder, size)
    print(json.dumps(found))


def build(folder: Path, size: int) -> dict[str, float]:
    """Fill a home, and let its indexes and vectors catch up."""
    with mnemos.open(folder / "home") as memory:
        for session in Corpus(size).sessions():
            memory.sessions.create_session(session.id, session.source)
            memory.sessions.append_messages(session.id, session.messages)
        memory.storage.catch_up()
        memory.embedding.catch_up()
    transcripts.write(folder / "transcripts", MEGABYTES)
    with (folder / "rows.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "name", "price", "day"))
        rows.writerows(
            (n, f"item {n}", f"{n * 7 % 1000}.25", f"2026-01-{n % 28 + 1:02}") for n in range(ROWS)
        )
    return {}


def measure(folder: Path, size: int) -> dict[str, float]:
    """Measure microseconds of CPU per call, of this process and its children."""
    found: dict[str, float] = {}
    scratch = folder / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    questions = _questions(size)
    with mnemos.open(folder / "home") as memory:
        memory.recall(questions[0])
        found["recall"] = _time(memory.recall, ((text,) for text in questions))
        found["recall by words"] = _time(
            lambda text: memory.recall(text, words_only=True), ((text,) for text in questions)
        )
        found["search"] = _time(
            lambda text: memory.sessions.search_messages(text, limit=20), ((text,) for text in questions)
        )
    messages = [message for session in Corpus(4_000, seed=2).sessions() for message in session.messages]
    with mnemos.open(scratch / "append", embedder="none") as memory:
        memory.sessions.create_session("one", "cli")
        found["append"] = _time(
            lambda message: memory.sessions.append_message("one", message["role"], message["content"]),
            ((message,) for message in messages),
        )
        pages = [messages[at : at + 50] for at in range(0, len(messages), 50)]
        found["append 50"] = _time(
            lambda page: memory.sessions.append_messages("one", page), ((page,) for page in pages)
        )
        # A thread indexes appended messages, and its CPU would count here.
        memory.storage.catch_up()
        memory.facts.write("V[first]: what is loaded once is not counted")
        memory.facts.search("what is loaded once?")
        facts = [f"V[service{n}.port]: {3000 + n} on host{n % 7}.example.com" for n in range(300)]
        found["fact write"] = _time(memory.facts.write, ((fact,) for fact in facts))
        found["fact search"] = _time(
            lambda n: memory.facts.search(f"which port does service{n} use?"), ((n,) for n in range(100))
        )
    with mnemos.open(scratch / "tables", embedder="none") as memory:
        memory.call("sqlite_query", {"query": "CREATE TABLE t (a INTEGER, b TEXT)"})
        memory.call("sqlite_query", {"query": "SELECT count(*) FROM t"})
        found["workspace query"] = _time(
            lambda n: memory.call("sqlite_query", {"query": f"SELECT {n}, count(*) FROM t"}),
            ((n,) for n in range(200)),
        )
        text = (folder / "rows.csv").read_text()
        found[f"workspace import of {ROWS:,} rows"] = _time(
            lambda n: memory.call("sqlite_import", {"text": text, "table": f"t{n}"}), ((n,) for n in range(2))
        )
    with mnemos.open(scratch / "import", embedder="none") as memory:
        arguments = {"path": str(folder / "transcripts")}
        found[f"import of {MEGABYTES:.0f} MB"] = _time(
            lambda: memory.call("import_claude_code", arguments), [()]
        )
    return found


def _questions(size: int) -> list[str]:
    corpus, chance = Corpus(size), random.Random(5)
    drawn: list[str] = []
    while len(drawn) < QUESTIONS:
        words = str(corpus.message(chance.randrange(size)).get("content") or "").split()
        if len(words) >= 6:
            at = chance.randrange(len(words) - 4)
            drawn.append(f"what did we say about {' '.join(words[at : at + 4])}?")
    return drawn


def _time(call: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> float:
    given = list(arguments)
    began = _cpu()
    for one in given:
        call(*one)
    return (_cpu() - began) / len(given) * 1e6


def _cpu() -> float:
    """CPU of this process, its threads, and of those children that ended or are still running."""
    own = time.process_time()
    return own + sum(_cpu_of(path) for path in Path("/proc/self/task").glob("*/children"))


def _cpu_of(children: Path) -> float:
    total = 0.0
    for child in children.read_text().split():
        fields = Path(f"/proc/{child}/schedstat").read_text().split()
        total += int(fields[0]) / 1e9
    return total


if __name__ == "__main__":
    main()

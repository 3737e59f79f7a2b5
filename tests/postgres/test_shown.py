"""The example and the guide to PostgreSQL show what really happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import mnemos
from postgres_server import Server

ROOT = Path(__file__).parent.parent.parent


def test_agents_of_the_example_learn_from_each_other_and_keep_their_own(url: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "postgres_team.py"],
        env=os.environ | {"MNEMOS_DATABASE": url, "MNEMOS_HOME": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stdout.replace(">>>", "").replace("<<<", "")
    assert "alice asks the team: when may we deploy?\n  D[deploys]: only on Tuesdays\n" in said
    assert "bob asks the team: which port does staging use?\n  V[staging.port]: 8042\n" in said
    for agent in ("alice", "bob"):
        own = f"{agent} finds in its own memory:\n  My password hint, said {agent}, is the river.\n"
        assert own in said
    assert said.count("password hint, said") == 2


def _report(url: str) -> list[str]:
    """Run the doctor, with the version as the guide has it."""
    with mnemos.open(url) as memory:
        lines = [
            f"{'ok  ' if check.ok else 'BAD '} {check.name}: {check.detail}" for check in memory.doctor()
        ]
    return [re.sub(r"^ok   postgresql: .*,", "ok   postgresql: 18.6,", line) for line in lines]


def test_the_guide_shows_what_the_doctor_says(own_server: Server) -> None:
    own_server.psql("CREATE ROLE agent LOGIN; GRANT CREATE ON DATABASE postgres TO agent")
    own_server.psql("CREATE ROLE postgres SUPERUSER LOGIN")
    healthy = _report(own_server.url.replace("tester@", "agent@"))
    own_server.psql("ALTER TABLE mnemos.facts DISABLE ROW LEVEL SECURITY")
    misconfigured = _report(own_server.url.replace("tester@", "postgres@"))
    guide = (ROOT / "docs" / "how-to" / "postgres.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| `((?:ok|BAD) .*?)` \| `((?:ok|BAD) .*?)` \|$", guide, re.MULTILINE)
    assert len(shown) >= 6
    for column, found in zip(zip(*shown, strict=True), (healthy, misconfigured), strict=True):
        for line in column:
            beginning = line.removesuffix(" …")
            assert any(one.startswith(beginning) for one in found), (line, found)

"""The example in TypeScript, compiled with ``tsc --strict``, talks to a server: ``make test-typescript``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "typescript"
WRONG = ('{ qury: "x" }', "{ query: 5 }", "{}", '{ query: "x", limit: "three" }')
PRINTED = """\
stored 2 messages
assistant: By the morning train, it is booked 🚆
user: How do we get to Lisbon?
create session
append message
append message
error not_found
"""


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    if not (EXAMPLE / "node_modules").is_dir():
        pytest.fail("The packages of the example are not installed: run make test-typescript.")
    subprocess.run(["npm", "run", "--silent", "build"], cwd=EXAMPLE, check=True)


def test_it_appends_recalls_and_follows_changes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mnemos", "serve", "--port", "0", "--home", str(tmp_path / "home")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = next(found[0] for line in server.stderr if (found := re.search(r"http://[\d.]+:\d+", line)))
        token = (tmp_path / "home" / "token").read_text().strip()
        environment = os.environ | {"MNEMOS_URL": url, "MNEMOS_TOKEN": token}
        done = subprocess.run(
            ["node", "build/memory.js"],
            cwd=EXAMPLE,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    assert (done.stdout, done.stderr) == (PRINTED, "")
    assert server.returncode == 0


def test_wrong_arguments_do_not_compile() -> None:
    source = (EXAMPLE / "memory.ts").read_text(encoding="utf-8").replace("./mnemos.js", "../mnemos.js")
    trials = []
    for number, wrong in enumerate(WRONG):
        trials.append(EXAMPLE / "build" / f"wrong{number}.ts")
        trials[-1].write_text(source.replace("{ query, limit: 3 }", wrong), encoding="utf-8")
    options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--types", "node"]
    done = subprocess.run(
        ["npx", "tsc", *options, *map(str, trials), "mnemos.d.ts"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
    )
    for trial in trials:
        trial.unlink()
        assert f"{trial.name}(" in done.stdout

"""The command line where the MCP SDK is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mnemos.operations import connect

from .conftest import Mnemos

INSTALL = "pip install 'mnemos[mcp]'"
# As if it were not installed: an entry of None makes every import of it fail.
BLOCKED = """
import sys
for name in ("mcp", "mcp_types", "pydantic", "anyio", "starlette", "uvicorn"):
    sys.modules[name] = None
from mnemos.faces.cli import main
main()
"""


def run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BLOCKED, *arguments, "--home", str(home)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


def test_the_servers_say_what_to_install_and_end_with_5(home: Path) -> None:
    # The server of HTTP is another extra, which MCP over HTTP needs as well.
    for arguments, install in ((("mcp",), INSTALL), (("serve", "--mcp"), "pip install 'mnemos[server]'")):
        done = run(*arguments, home=home)
        assert (done.returncode, done.stdout) == (5, "")
        assert install in done.stderr
        assert "Traceback" not in done.stderr
    assert not home.exists()


def test_everything_else_works(home: Path) -> None:
    assert run("remember", "The staging database listens on port 5433", home=home).returncode == 0
    done = run("recall", "which port does staging use?", home=home)
    assert (done.returncode, "5433" in done.stdout) == (0, True)


def test_connect_says_what_to_install(home: Path, tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    done = run("connect", "cursor", "--yes", "--config", str(config), home=home)
    assert done.returncode == 0
    assert config.exists()
    assert INSTALL in done.stdout


def test_connect_under_uvx_writes_a_command_that_brings_the_sdk(
    home: Path, tmp_path: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect.sys, "prefix", "/home/sam/.cache/uv/archive-v0/abc")
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    config = tmp_path / "mcp.json"
    done = mnemos("connect", "cursor", "--yes", "--config", str(config), "--home", str(home))
    assert done.code == 0
    assert '"mnemos[mcp]"' in config.read_text()
    assert INSTALL not in done.out

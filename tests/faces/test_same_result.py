"""The same call through Python and the command line gives the same structured result."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mnemos.errors import Disabled
from mnemos.memory import Memory
from mnemos.operations import registry

from .calls import BESIDE_THE_HOME, CALLS, arguments, command_line
from .conftest import Mnemos
from .http.schemas import check_result

IN_A_PROCESS_OF_ITS_OWN = ("session_search", "sessions_show", "sessions_append", "doctor")

READS = {name for name in CALLS if registry.find(name).traits.read_only}

# The former data's file is named after the moment of the restore.
_MOMENT = re.compile(r"\d{8}T?-?\d{6}[\d.-]*Z?")


@pytest.fixture
def homes(filled: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two copies of one home, each in a folder of its own with the backup beside."""
    for face in ("python", "command"):
        shutil.copytree(filled, tmp_path / face)
    return tmp_path / "python", tmp_path / "command"


@pytest.fixture
def root(filled: Path, tmp_path: Path) -> Path:
    """A copy of the home in a folder of its own with the backup beside."""
    shutil.copytree(filled, tmp_path / "root")
    return tmp_path / "root"


def comparable(result: dict[str, Any], root: Path) -> dict[str, Any]:
    plain = json.dumps({key: value for key, value in result.items() if key != "text"})
    there: dict[str, Any] = json.loads(plain.replace(str(root), "ROOT"))
    # How long it took is of no consequence.
    there.pop("elapsed_ms", None)
    if isinstance(there.get("done"), str):
        there["done"] = _MOMENT.sub("MOMENT", there["done"])
    if "former_data" in there:
        there["former_data"] = _MOMENT.sub("MOMENT", there["former_data"])
    if "created_at" in (there.get("template") or ()):
        there["template"]["created_at"] = "MOMENT"
    if "evaluations" in there:
        # Times differ, and the folder that was used and is gone.
        there |= {
            "timestamp": "MOMENT",
            "evaluations": sorted(one["backend_name"] for one in there["evaluations"]),
            # The points depend on how busy the machine is.
            "recommendation": there["recommendation"].partition(" (")[0],
        }
    for fact in there.get("stored", ()):
        # Each face stores it at a moment of its own, for the person or the agent that uses it.
        fact |= {"at": "MOMENT", "valid_from": "MOMENT", "used_at": "MOMENT", "stated_by": "WHO"}
    return there


def called(name: str, root: Path) -> dict[str, Any]:
    with Memory.at(root / "home") as memory:
        result = memory.call(name, arguments(name, str(root)))
    assert result["text"].strip()
    check_result(name, result)
    return comparable(result, root)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_command_answers_what_python_answers(name: str, homes: tuple[Path, Path], mnemos: Mnemos) -> None:
    python, command = homes
    expected = called(name, python)
    answer = mnemos("--home", str(command / "home"), *command_line(name, arguments(name, str(command))))
    assert (answer.code, answer.err) == (0, "")
    assert comparable(answer.json, command) == expected


@pytest.mark.parametrize("name", IN_A_PROCESS_OF_ITS_OWN)
def test_a_command_in_a_process_of_its_own_answers_the_same(name: str, homes: tuple[Path, Path]) -> None:
    python, command = homes
    done = subprocess.run(
        [
            *(sys.executable, "-c", "from mnemos.faces.cli import main; main()"),
            *("--home", str(command / "home")),
            *command_line(name, arguments(name, str(command))),
        ],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.stderr == b""
    assert comparable(json.loads(done.stdout), command) == called(name, python)


@pytest.mark.parametrize("name", sorted(READS))
def test_what_only_reads_answers_the_same_twice_and_its_text_is_the_commands_text(
    name: str, root: Path, mnemos: Mnemos
) -> None:
    with Memory.at(root / "home") as memory:
        before = list(memory.sessions.export_all())
        given = arguments(name, str(root))
        first = memory.call(name, given)
        written = "path" in given and name not in BESIDE_THE_HOME
        if written:
            Path(given["path"]).unlink()
        again = memory.call(name, given)
        assert first == again
        assert list(memory.sessions.export_all()) == before
        if written:
            Path(given["path"]).unlink()
        shown = registry.read(name, given).run(memory).for_person()
        if written:
            Path(given["path"]).unlink()
    words = [word for word in command_line(name, given) if word != "--json"]
    answer = mnemos("--home", str(root / "home"), *words)
    assert answer.out == shown + "\n"


def test_a_disabled_memory_says_so_through_every_face(
    root: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That no file changes is in tests/attacks/test_disabled.py."""
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    # Without the name of a program, connect found only lists them.
    for name in sorted(set(CALLS) - READS - {"connect_found"}):
        given = arguments(name, str(root))
        by_command = mnemos("--home", str(root / "home"), *command_line(name, given))
        with Memory.at(root / "home") as memory:
            if not registry.read(name, given).writes():
                with pytest.raises(Disabled):
                    memory.call(name, given)
                assert (by_command.code, by_command.error["code"]) == (4, "disabled")
                continue
            by_python = memory.call(name, given)
        assert by_python["disabled"] is True
        assert "MNEMOS_DISABLED" in by_python["text"]
        assert by_command.code == 0
        assert by_command.json == by_python


def test_reading_goes_on_in_a_disabled_memory(
    shop: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_DISABLED", "1")
    assert mnemos("sessions", "list", "--json").json["total"] == 6
    assert mnemos("sessions", "search", "deploy", "--json").json["hits"]
    assert mnemos("doctor", "--json").json["healthy"] is True

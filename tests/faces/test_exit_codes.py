"""The end of a command: the code from the error tree, the message on standard error."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import apsw
import pytest

from mnemos import errors
from mnemos.errors import MnemosError
from mnemos.faces.cli.app import exit_code
from mnemos.memory import Memory
from mnemos.operations.session_files import ImportSessions

from .calls import LINE
from .conftest import Mnemos
from .terminal import PROGRAM

FAILED, USAGE, NOT_FOUND, REFUSED, UNAVAILABLE = 1, 2, 3, 4, 5

BY_ERROR = {
    "MnemosError": FAILED,
    "InvalidInput": USAGE,
    "TooLarge": USAGE,
    "SqlError": USAGE,
    "NotFound": NOT_FOUND,
    "Refused": REFUSED,
    "AlreadyExists": REFUSED,
    "Ambiguous": REFUSED,
    "Conflict": REFUSED,
    "Disabled": REFUSED,
    "NotAllowed": REFUSED,
    "ReadOnly": REFUSED,
    "PermissionDenied": REFUSED,
    "Unavailable": UNAVAILABLE,
    "Busy": UNAVAILABLE,
    "DiskFull": UNAVAILABLE,
    "TimedOut": UNAVAILABLE,
    "Cancelled": UNAVAILABLE,
    "ModelUnavailable": UNAVAILABLE,
    "StorageError": FAILED,
    "NotADatabase": FAILED,
    "Corrupt": FAILED,
    "DatabaseGone": FAILED,
    "SchemaTooNew": FAILED,
    "SchemaChanged": FAILED,
    "EngineTooOld": FAILED,
}

WRONG = [
    (["sessions", "list", "--limit", "0"], USAGE, "invalid_input"),
    (["sessions", "list", "--limit", "many"], USAGE, "usage"),
    (["sessions", "list", "--nonsense"], USAGE, "usage"),
    (["sessions", "show"], USAGE, "usage"),
    (["sessions", "find", "cake", "--since", "someday"], USAGE, "invalid_input"),
    (["sessions", "find", "cake", "--sort", "best"], USAGE, "usage"),
    (["nonsense"], USAGE, "usage"),
    (["sessions", "list", "--space", "a b"], USAGE, "invalid_input"),
    (["forget", "everything", "--yes"], USAGE, "invalid_input"),
    (["sessions", "show", "nobody"], NOT_FOUND, "not_found"),
    (["sessions", "find", "--session-id", "nobody"], NOT_FOUND, "not_found"),
    (["sessions", "find", "--around-message-id", "999999"], NOT_FOUND, "not_found"),
    (["sessions", "append", "nobody", "user", "hello"], NOT_FOUND, "not_found"),
    (["sessions", "import", "no-such-file"], NOT_FOUND, "not_found"),
    (["restore", "no-such-file", "--yes"], NOT_FOUND, "not_found"),
    (["undo", "999"], NOT_FOUND, "not_found"),
    (["forget", "message:999999", "--yes"], NOT_FOUND, "not_found"),
    (["sessions", "create", "slot-bug"], REFUSED, "already_exists"),
    (["sessions", "show", "s"], REFUSED, "ambiguous"),
]


def test_every_error_of_the_tree_has_an_exit_code() -> None:
    kinds = {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, MnemosError)
    }
    assert {name: exit_code(kind("why")) for name, kind in kinds.items()} == BY_ERROR


@pytest.mark.parametrize(("arguments", "code", "name"), WRONG, ids=[" ".join(words) for words, *_ in WRONG])
def test_a_failure_is_reported_on_standard_error(
    shop: Path, mnemos: Mnemos, arguments: list[str], code: int, name: str
) -> None:
    plain = mnemos(*arguments)
    assert (plain.code, plain.out) == (code, "")
    assert plain.err.strip()
    assert not plain.err.lstrip().startswith("{")
    structured = mnemos(*arguments, "--json")
    assert (structured.code, structured.out) == (code, "")
    assert structured.error["code"] == name
    assert structured.error["message"] in plain.err
    assert mnemos("--json", *arguments).err == structured.err


def test_setting_an_entry_that_nothing_keeps_fails(
    shop: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_BACKEND", "null")
    failed = mnemos("entries", "set", "k", "v", "--json")
    assert (failed.code, failed.out, failed.error["code"]) == (REFUSED, "", "disabled")


@pytest.mark.parametrize("arguments", [words for words, *_ in WRONG], ids=" ".join)
def test_a_failure_is_never_a_traceback(shop: Path, mnemos: Mnemos, arguments: list[str]) -> None:
    assert "Traceback" not in mnemos(*arguments).err


def test_a_message_names_the_value_that_was_wrong(shop: Path, mnemos: Mnemos) -> None:
    for words, value in (
        (("sessions", "show", "nobody"), "nobody"),
        (("sessions", "find", "cake", "--since", "someday"), "someday"),
        (("sessions", "list", "--limit", "0"), "limit"),
        (("restore", "no-such-file", "--yes"), "no-such-file"),
        (("undo", "999"), "999"),
    ):
        assert value in mnemos(*words).err


def test_advice_on_the_command_line_is_not_about_python(shop: Path, mnemos: Mnemos) -> None:
    for words in (
        ("sessions", "create", "slot-bug"),
        ("sessions", "append", "nobody", "user", "hello"),
        ("sessions", "list", "--limit", "0"),
    ):
        said = mnemos(*words).err
        assert not [name for name in ("ensure_session", "create_session", "`$.", "`int`") if name in said]


def test_a_file_that_is_not_a_database_is_a_failure(home: Path, mnemos: Mnemos) -> None:
    home.mkdir()
    (home / "mnemos.db").write_bytes(b"not a database, but long enough to have a header " * 20)
    answer = mnemos("sessions", "list", "--json")
    assert (answer.code, answer.out) == (FAILED, "")
    assert answer.error["code"] in ("not_a_database", "corrupt")


def test_a_home_that_is_a_file_is_a_usage_mistake(tmp_path: Path, mnemos: Mnemos) -> None:
    (tmp_path / "file").touch()
    answer = mnemos("--home", str(tmp_path / "file"), "sessions", "list", "--json")
    assert (answer.code, answer.error["code"]) == (USAGE, "invalid_input")


def test_a_database_that_another_program_holds_too_long_is_unavailable(shop: Path, mnemos: Mnemos) -> None:
    (shop / "config.toml").write_text("busy_seconds = 0.05\n")
    other = apsw.Connection(str(shop / "mnemos.db"))
    try:
        other.execute("BEGIN IMMEDIATE")
        answer = mnemos("sessions", "create", "new", "--json")
        assert (answer.code, answer.error["code"]) == (UNAVAILABLE, "busy")
        assert mnemos("sessions", "list").code == 0
    finally:
        other.close()
    assert mnemos("sessions", "create", "new").code == 0


def test_looking_into_a_home_that_is_not_there_makes_none(home: Path, mnemos: Mnemos) -> None:
    for words in (
        ("sessions", "list"),
        ("sessions", "find", "cake"),
        ("stats",),
        ("log",),
        ("doctor",),
        ("sessions", "prune", "--dry-run"),
        ("sessions", "delete", "cake", "--yes"),
        ("undo",),
    ):
        answer = mnemos(*words, "--json")
        assert (answer.code, answer.error["code"]) == (NOT_FOUND, "not_found"), words
        assert not home.exists(), words


@pytest.mark.parametrize(
    "words", [("sessions", "search"), ("sessions", "create"), ("sessions", "show")], ids=" ".join
)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_word_that_is_not_utf8_gives_no_traceback(
    shop: Path, mnemos: Mnemos, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    # Python's reading of the byte ff on a command line.
    answer = mnemos(*words, "caf\udcff", *form)
    assert answer.code in (0, NOT_FOUND)
    (answer.out + answer.err).encode()


@pytest.mark.parametrize(
    "words",
    [
        ("log", "--before", str(2**70)),
        ("undo", str(2**70)),
        ("sessions", "find", "--around-message-id", str(2**70)),
        ("sessions", "list", "--offset", str(2**70)),
        ("sessions", "search", "cake", "--offset", str(2**70)),
        ("sessions", "show", "slot-bug", "--tail", str(2**70)),
        ("forget", f"message:{2**70}", "--yes"),
        ("sessions", "prune", "--older-than-days", "1e300", "--dry-run"),
        ("sessions", "search", "cake", "--since", "1e300"),
        ("sessions", "search", "cake", "--since", "nan"),
        ("optimize", "--seconds", "inf"),
    ],
    ids=" ".join,
)
def test_a_number_out_of_all_proportion_gives_no_traceback(
    shop: Path, mnemos: Mnemos, words: tuple[str, ...]
) -> None:
    assert mnemos(*words).code in (0, USAGE, NOT_FOUND)


def test_a_damaged_database_is_unhealthy_until_it_is_repaired(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("doctor").code == 0
    database = apsw.Connection(str(shop / "mnemos.db"))
    database.execute("UPDATE sessions SET message_count = message_count + 7")
    database.close()
    answer = mnemos("doctor", "--json")
    assert answer.code == FAILED
    assert answer.json["healthy"] is False
    assert [c["name"] for c in answer.json["checks"] if not c["ok"]] == ["counters"]
    assert "mnemos doctor --repair" in mnemos("doctor").out
    assert mnemos("doctor", "--repair").code == 0
    assert mnemos("doctor").code == 0
    assert mnemos("sessions", "list", "--json").json["sessions"][0]["message_count"] < 7


@pytest.mark.parametrize("repair", [(), ("--repair",)], ids=["looking", "mending"])
def test_a_damaged_database_of_the_workspace_is_unhealthy_beside_a_sound_one(
    shop: Path, mnemos: Mnemos, repair: tuple[str, ...]
) -> None:
    for name in ("sound", "broken"):
        assert mnemos("workspace", "query", "CREATE TABLE t (a)", "--database", name).code == 0
    (shop / "databases/default/broken.db").write_bytes(b"nonsense" * 1_000)
    answer = mnemos("doctor", *repair, "--json")
    assert answer.code == FAILED
    assert answer.json["healthy"] is False


def test_damaged_vectors_are_unhealthy_until_they_are_repaired(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("optimize").code == 0
    database = apsw.Connection(str(shop / "mnemos.db"))
    database.execute("UPDATE vectors SET bits = substr(bits, 2)")
    assert database.changes()
    database.close()
    assert mnemos("doctor").code == FAILED
    assert mnemos("doctor", "--repair").code == 0
    assert mnemos("doctor").code == 0


def test_a_file_full_of_rubbish_is_unhealthy_and_keeps_what_can_be_read(
    shop: Path, mnemos: Mnemos, tmp_path: Path
) -> None:
    database = shop / "mnemos.db"
    shutil.copy(database, tmp_path / "before.db")
    damaged = bytearray(database.read_bytes())
    damaged[4096 * 3 : 4096 * 6] = b"\xa5" * (4096 * 3)
    database.write_bytes(damaged)
    answer = mnemos("doctor", "--json")
    assert answer.code == FAILED
    assert answer.out == "" or answer.json["healthy"] is False


def test_an_interrupted_command_does_not_say_that_nothing_happened(
    shop: Path, mnemos: Mnemos, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(request: ImportSessions, memory: Memory, progress: object) -> None:
        memory.sessions.create_session("begun", "cli")
        raise KeyboardInterrupt

    monkeypatch.setattr(ImportSessions, "work", stopped)
    answer = mnemos("sessions", "import", "-", stdin=LINE)
    assert (answer.code, answer.out) == (130, "")
    assert "nothing" not in answer.err
    assert "Traceback" not in answer.err


def test_closed_streams_give_no_traceback(shop: Path) -> None:
    """The streams that some job runners leave a program with."""
    for words, code in ((["sessions", "list"], 0), (["sessions", "delete", "slot-bug"], REFUSED)):
        done = subprocess.run(
            ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *PROGRAM, *words], capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr
        assert b"Traceback" not in done.stderr
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *PROGRAM, "sessions", "list"],
        stderr=subprocess.PIPE,
        check=False,
    )
    assert b"Traceback" not in done.stderr


def test_an_error_names_commands_to_a_person_and_tools_to_a_program(shop: Path, mnemos: Mnemos) -> None:
    typed, asked = mnemos("facts", "history", "nope"), mnemos("facts", "history", "nope", "--json")
    assert "`mnemos search --kind fact` finds facts" in typed.err
    assert "The tool memory_search finds facts" in asked.err

"""Commands between other commands: standard input, output that nobody draws, a reader who leaves."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mnemos.memory import Memory
from mnemos.operations import registry

from .calls import BESIDE_THE_HOME, CALLS, LINE, arguments, command_line
from .conftest import Mnemos
from .terminal import PROGRAM, at_a_terminal

# Ends of lines to str.splitlines, and to nobody who writes JSON.
ODD_SEPARATORS = "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg"


def content_of_last(home: Path, session: str) -> object:
    with Memory.at(home) as memory:
        return memory.sessions.get_messages(session)[-1]["content"]


@pytest.mark.parametrize("dash", [("-",), ()], ids=["dash", "left out"])
def test_a_message_is_read_from_standard_input(shop: Path, mnemos: Mnemos, dash: tuple[str, ...]) -> None:
    said = "From a pipe:\nСъобщение 予約 \U0001f980"
    assert mnemos("sessions", "append", "empty", "user", *dash, stdin=said).code == 0
    assert content_of_last(shop, "empty") == said


def test_the_newline_that_echo_adds_is_not_part_of_the_message(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("sessions", "append", "empty", "user", "-", stdin="hello\n").code == 0
    assert content_of_last(shop, "empty") == "hello"


def test_a_given_message_leaves_standard_input_alone(shop: Path, mnemos: Mnemos) -> None:
    assert mnemos("sessions", "append", "empty", "user", "typed", stdin="piped").code == 0
    assert content_of_last(shop, "empty") == "typed"


@pytest.mark.parametrize("dash", [("-",), ()], ids=["dash", "left out"])
def test_sessions_are_imported_from_standard_input(shop: Path, mnemos: Mnemos, dash: tuple[str, ...]) -> None:
    answer = mnemos("sessions", "import", *dash, "--json", stdin=LINE + "\n")
    assert answer.json == {"imported": ["brought"], "skipped": [], "messages": 1, "coverage": 1}
    assert mnemos("sessions", "import", *dash, "--json", stdin=LINE).json["skipped"] == ["brought"]


def test_what_was_exported_can_be_piped_back_in(
    shop: Path, mnemos: Mnemos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory.at(shop) as memory:
        memory.sessions.append_message("empty", "user", ODD_SEPARATORS)
    file = tmp_path / "all.jsonl"
    assert mnemos("sessions", "export", str(file)).code == 0
    monkeypatch.setenv("MNEMOS_HOME", str(tmp_path / "second"))
    answer = mnemos("sessions", "import", "-", stdin=file.read_bytes())
    assert (answer.code, answer.err) == (0, "")
    with Memory.at(shop) as one, Memory.at(tmp_path / "second") as two:
        assert two.sessions.session_count(archived=None) == one.sessions.session_count(archived=None)
        assert two.sessions.get_messages("empty")[-1]["content"] == ODD_SEPARATORS


def test_an_export_to_a_dash_is_written_to_standard_output(
    shop: Path, mnemos: Mnemos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = mnemos("sessions", "export", "-")
    assert answer.code == 0
    assert {json.loads(line)["id"] for line in answer.out.splitlines()} >= {"slot-bug", "search-page"}
    assert not (tmp_path / "-").exists()


def test_lines_that_are_not_sessions_import_nothing(shop: Path, mnemos: Mnemos) -> None:
    for stdin in (LINE + "\nnot json\n", LINE + '\n{"id": 5}\n', LINE + "\n" + LINE + "\n", LINE + "\n[1]\n"):
        answer = mnemos("sessions", "import", "-", "--json", stdin=stdin)
        assert (answer.code, answer.error["code"]) == (2, "invalid_input"), stdin
        assert mnemos("sessions", "show", "brought").code == 3


def test_bytes_that_are_not_text_are_refused_and_not_altered(
    shop: Path, mnemos: Mnemos, tmp_path: Path
) -> None:
    damaged = LINE.encode().replace(b"hello", b"h\xe4llo")
    (tmp_path / "latin.jsonl").write_bytes(damaged)
    by_name = mnemos("sessions", "import", str(tmp_path / "latin.jsonl"), "--json")
    piped = mnemos("sessions", "import", "-", "--json", stdin=damaged)
    assert (by_name.code, by_name.error["code"]) == (2, "invalid_input")
    assert (piped.code, piped.error["code"]) == (2, "invalid_input")


@pytest.mark.parametrize("name", sorted(CALLS))
def test_output_that_nobody_draws_is_plain_text(shop: Path, filled: Path, mnemos: Mnemos, name: str) -> None:
    given = arguments(name, str(filled if name in BESIDE_THE_HOME else shop.parent))
    words = [word for word in command_line(name, given) if word != "--json"]
    answer = mnemos(*words, stdin=LINE)
    assert (answer.code, answer.err) == (0, "")
    assert "\x1b" not in answer.out
    assert answer.out.strip()
    assert answer.out.endswith("\n")


@pytest.mark.parametrize(
    "words", [("sessions", "show", "long"), ("sessions", "show", "long", "--json")], ids=" ".join
)
def test_a_reader_who_leaves_early_does_not_fail(shop: Path, words: tuple[str, ...]) -> None:
    with Memory.at(shop) as memory:
        memory.sessions.create_session("long", "cli")
        memory.sessions.append_messages("long", [{"role": "user", "content": "words " * 500}] * 100)
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [*PROGRAM, *words], stdout=theirs, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False
        )
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


def test_at_a_terminal_results_are_drawn(shop: Path) -> None:
    seen = at_a_terminal("sessions", "list", home=shop)
    assert seen.code == 0
    assert "\x1b[" in seen.screen
    assert "Moving the server" in seen.screen


def test_json_at_a_terminal_is_json(shop: Path) -> None:
    seen = at_a_terminal("sessions", "list", "--json", home=shop)
    assert json.loads(seen.screen)["total"] == 6


def test_a_terminal_without_colours_gets_none(shop: Path) -> None:
    seen = at_a_terminal("sessions", "search", "deploy", home=shop, kind="dumb")
    assert "deploy" in seen.screen
    assert "\x1b[" not in seen.screen


@pytest.mark.parametrize("name", sorted(n for n in CALLS if registry.find(n).traits.stdin))
def test_what_reads_standard_input_says_so_in_its_help(mnemos: Mnemos, name: str) -> None:
    words = command_line(name, {})[:2]
    assert "standard input" in " ".join(mnemos(*words, "--help").out.split())


def test_a_file_is_not_overwritten_and_a_folder_not_invented(
    shop: Path, mnemos: Mnemos, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.write_text("mine")
    for words in (("sessions", "export"), ("backup",)):
        assert mnemos(*words, str(kept), "--json").error["code"] == "already_exists"
        answer = mnemos(*words, str(tmp_path / "no-such-folder" / "file"))
        assert answer.code in (3, 4)
        assert "no-such-folder" in answer.err
    assert kept.read_text() == "mine"


def test_what_is_written_for_others_to_keep_is_private(shop: Path, mnemos: Mnemos, tmp_path: Path) -> None:
    for words in (("sessions", "export"), ("backup",)):
        file = tmp_path / words[-1]
        assert mnemos(*words, str(file)).code == 0
        assert file.stat().st_mode & 0o077 == 0


def test_an_export_that_fails_leaves_no_file_that_looks_like_one(
    shop: Path, mnemos: Mnemos, tmp_path: Path
) -> None:
    file = tmp_path / "some.jsonl"
    assert mnemos("sessions", "export", str(file), "--session", "nobody").code == 3
    assert not file.exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "asked",
    [("sessions", "list"), ("sessions", "list", "--json"), ("sessions", "export", "-"), ("--version",)],
)
def test_an_answer_for_which_no_room_is_left_fails_with_one_line(shop: Path, asked: tuple[str, ...]) -> None:
    home = {**os.environ, "MNEMOS_HOME": str(shop)}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, *asked], env=home, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 5
    assert done.stderr.count(b"\n") == 1


def test_an_export_to_a_standard_output_that_is_closed_is_refused_in_one_line(shop: Path) -> None:
    asked = [*PROGRAM, "sessions", "export", "-", "--home", str(shop)]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *asked], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("asked", "encoding", "shown"),
    [
        (("sessions", "show", "empty"), "latin-1", "Grüße ??"),
        (("sessions", "show", "empty", "--json"), "utf-8", "Grüße 予約"),
        (("sessions", "export", "-"), "utf-8", "Grüße 予約"),
    ],
    ids=["text", "json", "export"],
)
def test_a_character_that_the_locale_lacks_ends_no_command(
    shop: Path, asked: tuple[str, ...], encoding: str, shown: str
) -> None:
    with Memory.at(shop) as memory:
        memory.sessions.append_message("empty", "user", "Grüße 予約")
    done = subprocess.run(
        [*PROGRAM, *asked, "--home", str(shop)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert shown in done.stdout.decode(encoding)

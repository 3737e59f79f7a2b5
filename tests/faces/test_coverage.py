"""The share that is indexed for meaning, in the same words of every face."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemos import detached
from mnemos.memory import Memory, backlog

from .conftest import IMPORTS, Mnemos
from .test_starting import HEAVY, loaded_by

PARTLY = "45% of messages indexed for meaning; `mnemos optimize` finishes it"
SEARCH = f"keyword + semantic search ({PARTLY})"


@pytest.fixture
def behind(home: Path) -> Path:
    """A home of 400 messages, of which 180 have vectors."""
    with Memory.at(home, clock=lambda: 1_767_225_600.0) as memory, memory.storage.without_background():
        memory.sessions.create_session("s", "cli")
        texts = [f"the parrot of house {number} {'x ' * 1_500}"[:2_999] + "x" for number in range(400)]
        memory.sessions.append_messages("s", [{"role": "user", "content": text} for text in texts])
        for _ in range(9):
            memory.embedding.step()
        assert memory.embedding.coverage().share == 0.45
    return home


def test_every_command_says_how_much_is_indexed_for_meaning(mnemos: Mnemos, behind: Path) -> None:
    assert f"search  {SEARCH}\n" in mnemos().out
    assert mnemos("--json").json["search"] == SEARCH
    assert mnemos("stats", "--json").json["coverage"] == 0.45
    assert f"\n{PARTLY}\n" in mnemos("stats").out
    doctor = {check["name"]: check["detail"] for check in mnemos("doctor", "--json").json["checks"]}
    assert doctor["vectors"] == f"180 of 400 passages, {PARTLY}"


def test_an_answer_says_how_much_was_compared_by_meaning(mnemos: Mnemos, behind: Path) -> None:
    with Memory.at(behind, read_only=True) as memory:
        answer = memory.call("recall", {"query": "which bird lives in house 7?", "limit": 1})
    # A question embeds some of them by itself.
    assert answer["mode"] == "lexical+static"
    assert 0.45 < answer["coverage"] < 1
    percent = int(answer["coverage"] * 100)
    said = f"{percent}% of messages indexed for meaning; `mnemos optimize` finishes it"
    assert answer["text"].startswith(f"By keyword + semantic search ({said}).\n")
    assert (
        "% of messages indexed for meaning; `mnemos optimize` finishes it)"
        in (mnemos("recall", "which bird lives in house 7?", "--limit", "1").out.splitlines()[-1])
    )


def test_when_all_is_indexed_nothing_is_left_to_say(mnemos: Mnemos, behind: Path) -> None:
    assert "100% of messages indexed for meaning" in mnemos("optimize").out
    assert mnemos("--json").json["search"] == "keyword + semantic search"
    assert mnemos("stats", "--json").json["coverage"] == 1
    out = mnemos("recall", "which bird lives in house 7?", "--limit", "1").out
    assert out.splitlines()[-1].endswith(", keyword + semantic search")
    answer = mnemos("recall", "which bird lives in house 7?", "--json").json
    assert (answer["mode"], answer["coverage"]) == ("lexical+static", 1)


def test_without_an_embedder_nothing_is_said_to_be_missing(
    mnemos: Mnemos, behind: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMOS_EMBEDDER", "none")
    assert mnemos("--json").json["search"] == "keyword search"
    assert mnemos("stats", "--json").json["coverage"] is None
    assert mnemos("recall", "parrot", "--limit", "1").out.splitlines()[-1] == "1 passage, keyword search"
    assert "%" not in mnemos("optimize").out


def test_a_few_messages_that_a_question_embeds_itself_are_not_worth_a_word(
    mnemos: Mnemos, home: Path
) -> None:
    mnemos("remember", "The parrot lives in house 7")
    assert mnemos("--json").json["search"] == "keyword + semantic search"
    answer = mnemos("recall", "which bird is it?", "--json").json
    assert (answer["mode"], answer["coverage"]) == ("lexical+static", 1)


def test_the_greeting_loads_no_model(behind: Path) -> None:
    assert not loaded_by("--home", str(behind)) & {*HEAVY}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The processes that commands would leave behind."""
    calls: list[tuple[str, ...]] = []
    monkeypatch.setattr(detached, "start", lambda *call: calls.append(call))
    monkeypatch.setattr(backlog, "_MANY", 1)
    return calls


def test_a_small_import_is_indexed_when_it_ends(mnemos: Mnemos, started: list[tuple[str, ...]]) -> None:
    answer = mnemos("import", str(IMPORTS / "claude-code"), "--json").json
    assert answer["coverage"] == 1
    assert mnemos("stats", "--json").json["coverage"] == 1
    assert "indexed for meaning" not in mnemos("import", str(IMPORTS / "codex")).out
    assert started == []


@pytest.mark.parametrize("way", ["a program", "all that is found", "an archive", "sessions"])
def test_a_large_import_goes_on_in_the_background_and_says_so(
    mnemos: Mnemos,
    home: Path,
    tmp_path: Path,
    way: str,
    filled: Path,
    started: list[tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sessions = tmp_path / "sessions.jsonl"
    messages = [{"role": "user", "content": "a parrot"}]
    sessions.write_text(json.dumps({"id": "s", "source": "cli", "messages": messages}))
    monkeypatch.setattr(backlog, "_SECONDS", 0.0)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(IMPORTS / "nowhere"))
    monkeypatch.setenv("CODEX_HOME", str(IMPORTS / "codex"))
    arguments = {
        "a program": ("import", "codex"),
        "all that is found": ("import", "found", "--all"),
        "an archive": ("import", str(filled / "copy.tar.zst")),
        "sessions": ("sessions", "import", str(sessions)),
    }[way]
    said = "0% of messages indexed for meaning; `mnemos optimize` finishes it now"
    assert said in mnemos(*arguments).out
    assert started == [("mnemos.memory.backlog", home, "default")]


def test_a_question_or_a_change_starts_what_was_left(
    mnemos: Mnemos, behind: Path, started: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    mnemos("sessions", "list")
    mnemos("doctor")
    assert started == []
    mnemos("remember", "The parrot is grey")
    assert len(started) == 1
    mnemos("recall", "which bird lives in house 7?")
    assert len(started) == 2


def test_a_dry_run_indexes_nothing(mnemos: Mnemos, home: Path, started: list[tuple[str, ...]]) -> None:
    assert mnemos("import", str(IMPORTS / "codex"), "--dry-run", "--json").json["coverage"] is None
    assert started == []
    assert not home.exists()

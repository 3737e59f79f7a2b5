"""Everyday notes and attacks through notes, facts, entries and templates alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from benchmarks.threats import BLIND, Label, read

import mnemos
from mnemos import Memory
from mnemos.errors import Refused
from mnemos.language.threats import scan

from .test_threats_everywhere import TOOL_CALL

EXAMPLES = read(BLIND.with_name("everyday.tsv"))
MOST_STOPPED = 2
MOST_MISSED = 3


@pytest.fixture
def memory() -> Iterator[Memory]:
    with mnemos.open(":memory:", embedder="none", backend="local", memory_characters=100_000) as opened:
        opened.sessions.create_session("s1", "cli")
        opened.sessions.append_messages("s1", [*TOOL_CALL])
        yield opened


def ways(memory: Memory) -> dict[str, Callable[[str], object]]:
    return {
        "note": lambda text: memory.call("notebook_add", {"content": text}),
        "fact": lambda text: memory.call("remember", {"text": text}),
        "entry": lambda text: memory.call("entries_set", {"key": "about", "value": text}),
        "template": lambda text: memory.call("templates_create", {"session": "s1", "description": text}),
    }


def is_refused(store: Callable[[str], object], text: str) -> bool:
    try:
        store(text)
    except Refused:
        return True
    return False


def test_everyday_notes_pass_and_attacks_do_not_whichever_way_they_come(
    memory: Memory, attempts: Callable[[int], None]
) -> None:
    verdicts = {
        way: [is_refused(store, example.text) for example in EXAMPLES] for way, store in ways(memory).items()
    }
    attempts(len(verdicts) * len(EXAMPLES))
    assert len(EXAMPLES) == 190
    for way, refused in verdicts.items():
        assert refused == verdicts["note"], way
        judged = [*zip(EXAMPLES, refused, strict=True)]
        stopped = [one.text for one, stop in judged if stop and one.label is Label.BENIGN]
        missed = [one.text for one, stop in judged if not stop and one.label is Label.THREAT]
        assert len(stopped) <= MOST_STOPPED, stopped
        assert len(missed) <= MOST_MISSED, missed


def test_attacks_that_come_with_an_archive_are_kept_out_of_prompts(
    tmp_path: Path, attempts: Callable[[int], None]
) -> None:
    attacks = [one.text for one in EXAMPLES if one.label is Label.THREAT and scan(one.text)]
    limits = {"memory_characters": 100_000, "embedder": "none"}
    with mnemos.open(tmp_path / "theirs", **limits) as theirs:
        for number, text in enumerate(attacks):
            theirs.notebook.add(text, allow=True)
            theirs.facts.remember(text, about=f"rule.{number}", allow=True)
        theirs.export(tmp_path / "gift.tar")
    attempts(2 * len(attacks))
    with mnemos.open(tmp_path / "ours", **limits) as ours:
        report = ours.import_archive(tmp_path / "gift.tar")
        assert sum(part.marked for part in report.parts) == len(attacks)
        assert ours.notebook.entries() == []
        assert "rule." not in ours.facts.status().text
        # An editor or an older version may write them into the file.
        (tmp_path / "ours" / "memories").mkdir(exist_ok=True)
        notes = (tmp_path / "theirs" / "memories" / "MEMORY.md").read_text(encoding="utf-8")
        (tmp_path / "ours" / "memories" / "MEMORY.md").write_text(notes, encoding="utf-8")
        shown = ours.notebook.render(ours.notebook.entries())
        assert len(shown) == len(attacks)
        assert all(note.startswith("[blocked") for note in shown)

"""Long facts and slow expressions: imports report them, and nothing slow happens while a home is locked."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import mnemos
from mnemos.facts import fact_writer, facts, hermes_facts
from mnemos.language.threats import guard
from mnemos.storage.imports import HermesFact
from mnemos.transfer.archive import fact_part

PATIENCE = 600
LONG = "a" * 100_000
HERMES = HermesFact("f1", "V", "port", "5433", None, "active", None, 10.0, 10.0, None)

Attempts = Callable[[int], None]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive with a fact of 100,000 letters between others."""
    with mnemos.open(tmp_path / "from", max_fact_characters=len(LONG), embedder="none") as memory:
        memory.facts.write(f"V[before]: 1\nV[long]: {LONG}\nV[after]: {'b' * 400}")
        memory.facts.write(f"V[old]: {LONG}")
        memory.facts.write("V[old]: short")
        memory.export(tmp_path / "archive.tar.zst")
    return tmp_path / "archive.tar.zst"


def test_a_long_fact_in_an_archive_is_reported_and_the_others_are_stored(
    memory: mnemos.Memory, archive: Path
) -> None:
    for imported, there in ((3, 0), (0, 3)):
        report = memory.import_archive(archive)
        (facts,) = (part for part in report.parts if part.part == "facts")
        assert (facts.imported, facts.there, facts.not_taken) == (imported, there, 2)
        assert [reason.split()[1] for reason in facts.reasons] == ["f2", "f4"]
    assert memory.facts.count() == 3
    assert [fact.content for fact in memory.facts.history("old")] == ["short"]
    assert memory.compare_archive(archive).holds_all is False


def test_a_home_that_allows_long_facts_gets_them(home: Path, archive: Path) -> None:
    with mnemos.open(home, max_fact_characters=len(LONG), embedder="none") as memory:
        memory.import_archive(archive)
        assert memory.compare_archive(archive).holds_all


def test_a_long_fact_of_hermes_memory_is_reported(memory: mnemos.Memory) -> None:
    report = memory.facts.import_hermes(
        [HERMES, HermesFact("f2", "V", "long", LONG, None, "active", None, 10.0, 10.0, None)]
    )
    assert (report.live, [reason.partition(":")[0] for reason in report.refused]) == (1, ["f2"])
    assert memory.facts.count() == 1


def test_many_facts_on_one_target_of_hermes_memory_are_stored_once(memory: mnemos.Memory) -> None:
    facts = [
        HermesFact(f"f{number}", "V", "port", str(number), None, "active", None, number, number, None)
        for number in range(1, 301)
    ]
    assert (memory.facts.import_hermes(facts).live, memory.facts.import_hermes(facts).skipped) == (1, 300)
    assert len(memory.facts.history("port", limit=400)) == 300


@pytest.fixture
def locked(memory: mnemos.Memory, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The patterns searched in texts while the home is locked for writing."""
    seen: list[str] = []
    inside = False
    write = memory.storage.write

    @contextmanager
    def lock() -> Iterator[None]:
        nonlocal inside
        inside = True
        yield
        inside = False

    def write_watched(work: Callable[[Any], Any], **options: Any) -> Any:
        def watched(tx: Any) -> Any:
            with lock():
                return work(tx)

        return write(watched, **options)

    def watch(module: Any, name: str) -> None:
        function = getattr(module, name)

        def watched(*arguments: Any) -> Any:
            if inside:
                seen.append(name)
            return function(*arguments)

        monkeypatch.setattr(module, name, watched)

    monkeypatch.setattr(memory.storage, "write", write_watched)
    for name in ("find_counterparts", "name_kinds", "name_questions", "sign_attributes"):
        watch(fact_writer, name)
    for module in (fact_part, hermes_facts):
        watch(module, "scan")
        watch(module, "list_scanned")
    watch(guard, "scan")
    watch(facts, "find_closings")
    fact_writer.find_words.cache_clear()
    return seen


def test_no_text_is_examined_while_the_home_is_locked(
    memory: mnemos.Memory, archive: Path, locked: list[str], attempts: Attempts
) -> None:
    attempts(5)
    memory.import_archive(archive)
    memory.facts.import_hermes([HERMES])
    memory.facts.write("V[one]: http://example.com:80\nC[two]: never on Mondays")
    memory.facts.remember("I live in Hamburg.")
    memory.facts.tick(1, "The depot is done.", session_id="s")
    assert locked == []


# --- expressions ------------------------------------------------------------------------------------


def find_slow(*arguments: str) -> tuple[int, list[str]]:
    script = Path(__file__).with_name("pattern_times.py")
    done = subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    tried, slow = json.loads(done.stdout)
    return tried, slow


def test_every_expression_takes_linear_time(attempts: Attempts) -> None:
    tried, slow = find_slow("4000")
    attempts(tried)
    assert slow == []
    assert tried > 500


@pytest.mark.nightly
@pytest.mark.parametrize("size", [20_000, 40_000])
def test_every_expression_takes_linear_time_on_long_texts(size: int, attempts: Attempts) -> None:
    tried, slow = find_slow(str(size), "all")
    attempts(tried)
    assert slow == []

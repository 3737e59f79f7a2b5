from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import mnemos
from mnemos.transfer.archive.archive_import import Comparison

Opened = Callable[..., mnemos.Memory]


@pytest.fixture
def archive(filled: mnemos.Memory, tmp_path: Path) -> Path:
    filled.export(tmp_path / "archive.tar.zst")
    return tmp_path / "archive.tar.zst"


def found(comparison: Comparison) -> dict[str, tuple[int, int]]:
    """Return the missing and the different items, by part."""
    return {
        part.part: (part.missing, part.different)
        for part in comparison.parts
        if part.missing or part.different
    }


def test_an_empty_memory_lacks_everything(archive: Path, opened: Opened) -> None:
    comparison = opened("second").compare_archive(archive)
    assert not comparison.holds_all
    assert found(comparison) == {
        "sessions": (2, 0),
        "facts": (13, 0),
        "entries": (2, 0),
        "notebook": (3, 0),
        "templates": (1, 0),
        "databases": (2, 0),
    }


def test_comparing_changes_nothing(archive: Path, opened: Opened, tmp_path: Path) -> None:
    opened("second").compare_archive(archive)
    assert sorted(path.name for path in (tmp_path / "second").iterdir() if path.is_dir()) == []


def test_additional_content_here_does_not_matter(archive: Path, filled: mnemos.Memory) -> None:
    filled.sessions.create_session("more", "cli")
    filled.sessions.append_message("root", "user", "later")
    filled.facts.write("V[other]: x")
    filled.entries.store("sam", "more", "x")
    filled.notebook.add("Another note")
    filled.workspace.query("CREATE TABLE t (x)", database="more")
    assert filled.compare_archive(archive).holds_all


def test_how_often_a_fact_was_used_does_not_matter(archive: Path, filled: mnemos.Memory) -> None:
    assert filled.facts.search("srv prod port")
    filled.facts.flush()
    filled.facts.write("D[vat]: gross", scope="shop", session_id="other")
    assert filled.compare_archive(archive).holds_all


def test_every_change_is_reported_as_a_difference(archive: Path, filled: mnemos.Memory) -> None:
    filled.sessions.set_title("root", "Another")
    filled.sessions.delete_session("child")
    filled.facts.write("D[vat]: net", scope="shop", session_id="other")
    filled.facts.forget(target="cache")
    filled.entries.store("sam", "city", "Rome")
    filled.entries.delete("default", "editor")
    filled.notebook.remove("Likes tea", target="user")
    filled.templates.delete_template("looking")
    filled.workspace.query("INSERT INTO prices VALUES ('desk', 1)")
    filled.workspace.delete("research", confirm="research")
    assert found(filled.compare_archive(archive)) == {
        # The messages of the child are gone, and with them what two facts point at.
        "sessions": (1, 1),
        "facts": (2, 3),
        "entries": (1, 1),
        "notebook": (1, 0),
        "templates": (1, 0),
        "databases": (1, 1),
    }


def test_a_message_that_changed_makes_its_session_another(archive: Path, opened: Opened) -> None:
    other = opened("second")
    other.import_archive(archive)
    other.storage.write(lambda tx: tx.sessions.add_tokens("root", 1, 0))
    assert found(other.compare_archive(archive)) == {"sessions": (0, 1)}

"""Homes of before sessions had projects."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest
from former_files import write_former_file

import mnemos

SCHEMA = 6


@pytest.fixture
def old_home(home: Path, tmp_path: Path) -> Path:
    """A home of the sixth schema, with the metadata that importers kept."""
    repository = tmp_path / "web"
    (repository / ".git").mkdir(parents=True)
    (repository / "src").mkdir()
    home.mkdir()
    about = {"cwd": str(repository / "src"), "git_branch": "main", "version": "1"}
    write_former_file(home / "mnemos.db", SCHEMA, ["a green parrot", "another"])
    odd = ['{"cwd": "/gone/api"}', '{"cwd": 7}', "[1]", "{broken", '"cwd"', '{"cwd": null, "git_branch": {}}']
    connection = apsw.Connection(str(home / "mnemos.db"))
    for number, metadata in enumerate([json.dumps(about), *odd, None], start=1):
        connection.execute(
            "INSERT OR IGNORE INTO sessions (key, space, id, source, started_at, message_count) "
            "VALUES (:key, 0, 'odd' || :key, 'cli', 1, 1); "
            "INSERT INTO session_details (session, metadata) VALUES (:key, :metadata); "
            "INSERT INTO messages (session, role, timestamp, content) VALUES (:key, 'user', 1, 'a parrot'); ",
            {"key": number, "metadata": metadata},
        )
    connection.execute("UPDATE sessions SET message_count = 3 WHERE key = 1")
    connection.close()
    return home


def test_an_older_home_gets_its_projects_from_stored_metadata(old_home: Path, tmp_path: Path) -> None:
    with mnemos.open(old_home, embedder="none") as memory:
        session = memory.sessions.get_session("s")
        assert session is not None
        assert (session["project"], session["branch"]) == (str(tmp_path / "web"), "main")
        assert session["metadata"]["version"] == "1"
        known = {one["id"]: one["project"] for one in memory.sessions.search_sessions(limit=50)}
        assert known.pop("odd2") == "/gone/api"
        assert {name for name, project in known.items() if project} == {"s"}


def test_an_older_home_is_searched_by_project_and_user(old_home: Path) -> None:
    with mnemos.open(old_home, embedder="none") as memory:
        search = memory.sessions.search_messages
        assert {hit["session_id"] for hit in search("parrot", project="web")} == {"s"}
        assert len(search("parrot", user_id="ada")) == 9
        assert memory.recall("parrot", project="api").hits[0].session_id == "odd2"
        assert [check.name for check in memory.doctor() if not check.ok] == []


def test_the_old_file_is_kept_beside_the_new_one(old_home: Path) -> None:
    mnemos.open(old_home, embedder="none").close()
    (copy,) = old_home.glob("mnemos.before-schema-6.db")
    connection = apsw.Connection(str(copy))
    assert connection.execute("SELECT count(*) FROM sessions").get == 8
    connection.close()

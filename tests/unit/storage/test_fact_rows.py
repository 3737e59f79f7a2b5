"""Facts in SQLite: bytes, queries that scan nothing, salvage, and files of before there were any."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from contract.storage.facts import add_fact, all_listed, fact, history_of, open_scope, versions
from contract.storage.openers import NOW
from contract.storage.passages import best, find, outdate, put, remove
from mnemos.sessions.message_text import document_of
from mnemos.storage.sqlite import index, schema
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.sqlite.handle import QUERIES
from mnemos.storage.terms import passage_row
from mnemos.testing import FixedClock
from unit.storage.former_files import write_former_file

Opens = Callable[..., SqliteStorage]
PAGE = 4096


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    opened: list[SqliteStorage] = []

    def open_it(space: str = "default", **options: Any) -> SqliteStorage:
        opened.append(SqliteStorage(tmp_path / "x.db", space=space, documents=document_of, **options))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


def raw(path: Path, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(path))
    try:
        return connection.execute(sql, bindings).fetchall()
    finally:
        connection.close()


def complaints(storage: SqliteStorage, *, repair: bool = False) -> list[str]:
    return [check.name for check in storage.examine(repair=repair) if not check.ok]


# --- held by the file itself -------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["NULL", "1"])
def test_the_file_itself_holds_one_live_fact_for_each_key(opens: Opens, tmp_path: Path, scope: str) -> None:
    storage = opens()
    open_scope(storage, "one")
    add_fact(storage, scope_id=None if scope == "NULL" else 1)
    storage.close()
    copied = (
        "INSERT INTO facts (space, mark, target, key, content, scope, state, hot, recorded_at, valid_from, "
        "used_at, actor) SELECT space, mark, target, key, 'other', scope, ?, 0, 0, 0, 0, 'x' FROM facts "
        "LIMIT 1"
    )
    with pytest.raises(apsw.ConstraintError):
        raw(tmp_path / "x.db", copied, "live")
    raw(tmp_path / "x.db", copied, "superseded")
    with pytest.raises(apsw.ConstraintError):
        raw(tmp_path / "x.db", "UPDATE facts SET state = 'live'")
    with pytest.raises(apsw.ConstraintError):
        raw(tmp_path / "x.db", "UPDATE facts SET hot = 1 WHERE state <> 'live'")
    with pytest.raises(apsw.ConstraintError):
        raw(tmp_path / "x.db", "UPDATE facts SET mark = 'X'")


ASKED = {
    "space": 1, "key": "a", "scope": 1, "before": None, "as_of": None, "limit": 10, "ids": "[1]", "id": 1,
    "mark": "V", "keys": '["a"]', "session": "s", "turn": 1, "since": 0.0, "at": 0.0, "uses": 1,
    "state": "live", "valid_to": 0.0, "user": None,
}  # fmt: skip
OFTEN = [
    "of_ids", "live_on", "live_in", "history", "earlier", "hot_constraints", "count_hot_constraints",
    "hot_others", "conflicts", "scope", "scopes_of_ids", "open_scopes", "newest_scopes",
    "scopes_named", "scopes_of_targets", "attendance", "idle", "end", "link", "end_conflicts", "refer",
    "heat", "cool", "cool_scope", "warm_constraints", "warm_others", "close_scope", "leave_scope",
    "session_key", "forget_sessions", "touch_scope", "restart", "relink", "erase", "ended",
]  # fmt: skip


@pytest.mark.parametrize("name", OFTEN)
def test_no_query_of_a_turn_scans(opens: Opens, tmp_path: Path, name: str) -> None:
    """A write, a tick and a status cost the same whatever there is."""
    opens().close()
    sql = getattr(QUERIES["facts"], name)
    connection = apsw.Connection(str(tmp_path / "x.db"))
    try:
        count = sql.count("?") - sql.count("'?'")
        bound: Any = ASKED if ":" in sql.replace("::", "") else tuple(range(1, count + 1))
        if "?1" in sql:
            bound = tuple(range(1, max(n for n in range(1, 9) if f"?{n}" in sql) + 1))
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bound)]
    finally:
        connection.close()
    scans = [step for step in plan if step.startswith("SCAN") and "json_each" not in step]
    assert [
        step for step in scans if step.split()[1] not in ("chain", "k", "c", "CONSTANT", "(subquery-1)")
    ] == []


# --- bytes -------------------------------------------------------------------------------------


def test_repairing_the_index_restores_extra_words_and_groups(opens: Opens) -> None:
    storage = opens()
    own = put(storage, "fact", "a", "cfg", also="configuration", group="infra")
    put(storage, "fact", "b", "other", also="configuration", group="else")
    passage = find(storage, "fact", "a")
    assert passage is not None
    storage.write(lambda tx: tx.connection.execute(index.SQL.remove_other, passage_row(passage)))  # type: ignore[attr-defined]
    assert complaints(storage) == ["index"]
    list(storage.examine(repair=True))
    assert complaints(storage) == []
    assert best(storage, "configuration", group="infra") == [own]
    outdate(storage, "fact", "a")
    assert remove(storage, "fact", "a") is True
    assert best(storage, "cfg") == []
    assert complaints(storage) == []


def test_what_an_outdated_passage_was_found_by_leaves_no_trace(opens: Opens, tmp_path: Path) -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices("bcdfghjklmnpqrstvwxz", k=16)) for _ in range(90)]
    storage = opens()
    for n in range(30):
        text, also, group = words[3 * n : 3 * n + 3]
        put(storage, "fact", f"f{n}", text, also=also, group=group)
        outdate(storage, "fact", f"f{n}")
    storage.scrub()

    def traces() -> list[str]:
        data = b"".join(path.read_bytes().lower() for path in tmp_path.iterdir() if path.is_file())
        return [word for word in words if any(word[at : at + 8].encode() in data for at in range(0, 9, 4))]

    assert len(traces()) == len(words)
    for n in range(30):
        remove(storage, "fact", f"f{n}")
    assert storage.scrub() is True
    assert traces() == []


# --- files of before ---------------------------------------------------------------------------


def second_schema(path: Path) -> tuple[list[int], int]:
    """Write a file of the second schema with messages and a passage; return their ids."""
    ids = write_former_file(path, 2, [f"parrot number{n} " + "y" * 80 for n in range(300)])
    own = 1 << 31
    connection = apsw.Connection(str(path))
    connection.execute(
        "INSERT INTO passages (id, kind, ref, at, live, text) VALUES (?, 'note', 'n1', ?, 1, ?)",
        (own, NOW, "green parrot"),
    )
    connection.execute("UPDATE spaces SET next_passage = ?", (own + 1,))
    connection.close()
    return ids, own


def test_a_file_of_the_second_schema_gets_facts(opens: Opens, tmp_path: Path) -> None:
    ids, note = second_schema(tmp_path / "x.db")
    assert raw(tmp_path / "x.db", "PRAGMA user_version") == [(2,)]
    storage = opens()
    assert raw(tmp_path / "x.db", "PRAGMA user_version") == [(schema.VERSION,)]
    assert best(storage, "number7", kinds=["message"]) == [ids[7]]
    assert best(storage, "green") == [note]
    passage = find(storage, "note", "n1")
    assert passage is not None
    assert (passage.text, passage.also, passage.group, passage.live) == ("green parrot", "", None, True)
    own = versions(storage, 3, scope_id=open_scope(storage, "auth"))
    assert history_of(storage) == own[::-1]
    put(storage, "note", "n1", "blue parrot", also="azure", group="zoo")
    assert best(storage, "green") == []
    assert len(best(storage, "azure", group="zoo")) == 1
    assert complaints(storage) == []
    assert raw(tmp_path / "x.db", "PRAGMA foreign_key_check") == []


def test_a_home_of_the_second_schema_is_kept_and_takes_facts(home: Path, clock: FixedClock) -> None:
    home.mkdir()
    second_schema(home / "mnemos.db")
    with mnemos.open(home, clock=clock, embedder="none") as memory:
        memory.facts.write("V[srv.prod]: port 3005", scope="infra")
        assert memory.facts.search("which port is production")[0].target == "srv.prod"
        assert len(memory.sessions.search_messages("number7")) == 1
        assert [check.name for check in memory.doctor() if not check.ok] == []
    (copy,) = home.glob("mnemos.before-schema-2.db")
    assert raw(copy, "SELECT count(*) FROM messages") == [(300,)]


@pytest.mark.parametrize("table", ["messages", "passages"])
def test_a_damaged_file_of_the_second_schema_can_be_salvaged(home: Path, table: str) -> None:
    home.mkdir()
    second_schema(home / "mnemos.db")
    lost = damage(home / "mnemos.db", table)
    with mnemos.Memory.at(home, embedder="none") as memory:
        list(memory.doctor(repair=True))
        assert memory.sessions.message_count() == 300 - (lost if table == "messages" else 0)
        memory.facts.write("V[a]: b")
        assert [check.name for check in memory.doctor() if not check.ok] == []


# --- salvage -----------------------------------------------------------------------------------


def damage(path: Path, table: str, place: int = -1) -> int:
    """Overwrite a page of a table that has rows, the last one; how many."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    sql = "SELECT pageno, ncell FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
    page, cells = connection.execute(sql, (table,)).fetchall()[place]
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xa5" * PAGE)
    return int(cells)


SCOPES = ("one", "two", None)


def word_of(scope: str | None, number: int) -> str:
    """The word that only one fact has."""
    return f"parrot{1_000 * SCOPES.index(scope) + number}"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with facts in two scopes and in none, some of them replaced, and a neighbour."""
    home = tmp_path_factory.mktemp("told") / "home"
    with mnemos.open(home, clock=FixedClock(), embedder="none") as memory:
        for start in range(0, 200, 50):
            for scope in SCOPES:
                content = "\n".join(
                    f"V[{scope}.t{n}]: {word_of(scope, n)} " + "x" * 60 for n in range(start, start + 50)
                )
                memory.facts.write(content, scope=scope, session_id=f"session {scope}")
        for n in range(0, 200, 4):
            memory.facts.write(f"V[one.t{n}]: quetzal{n}", scope="one", session_id="session one")
        memory.facts.write("✓[two]: done")
        memory.facts.write("C[law]: must")
        memory.facts.write("D[law]: must not")
        memory.sessions.create_session("s", "cli")
        lines = [{"role": "user", "content": f"line{n} " + "y" * 80} for n in range(200)]
        memory.sessions.append_messages("s", lines)
        memory.storage.catch_up()
    with mnemos.open(home, space="theirs", clock=FixedClock(), embedder="none") as other:
        other.facts.write("V[theirs]: kept", scope="one")
    return home


def rows_of(home: Path, **options: Any) -> dict[str, Any]:
    with mnemos.open(home, embedder="none", **options) as memory:
        states = ("live", "superseded", "retired")
        return {fact.id: fact for fact in memory.facts.list(states=states)}


@pytest.mark.parametrize(
    "table", ["messages", "passages", "facts", "facts_live", "facts_by_target", "scopes"]
)
def test_salvage_keeps_facts(told: Path, home: Path, table: str) -> None:
    shutil.copytree(told, home)
    before = rows_of(home)
    lost = damage(home / "mnemos.db", table, 3 if table in ("messages", "passages", "facts") else 0)
    with mnemos.Memory.at(home, embedder="none") as memory:
        list(memory.doctor(repair=True))
        assert [check.name for check in memory.doctor() if not check.ok] == []
    after = rows_of(home)
    if table == "facts":
        assert len(after) == len(before) - lost
    else:
        assert len(after) == len(before)
    for own, kept in after.items():
        assert (kept.type, kept.target, kept.content, kept.state, kept.at, kept.ended_at) == (
            before[own].type, before[own].target, before[own].content, before[own].state, before[own].at,
            before[own].ended_at,
        )  # fmt: skip
        if table != "scopes":
            assert (kept.scope, kept.tier) == (before[own].scope, before[own].tier)
    live = [fact for fact in after.values() if fact.state == "live"]
    assert all(fact.superseded_by in {None, *before} for fact in after.values())
    with mnemos.open(home, embedder="none") as memory:
        for one in random.Random(3).sample(live, 40):
            word = one.content.split()[0]
            assert [hit.id for hit in memory.facts.search(word)] == [one.id], word
        # It goes on.
        stored = memory.facts.write("V[one.t1]: afterwards", scope="one").facts[0]
        assert int(stored.id[1:]) > max(int(own[1:]) for own in after)
        assert memory.facts.search("afterwards")[0].id == stored.id
        assert memory.facts.status().tokens <= 180
        memory.facts.tick(1, "back to two")
    if table not in ("facts", "scopes"):
        (theirs,) = rows_of(home, space="theirs").values()
        assert str(theirs) == "V[theirs]: kept"


def test_salvage_recreates_lost_scopes(told: Path, home: Path) -> None:
    shutil.copytree(told, home)
    damage(home / "mnemos.db", "scopes", 0)
    with mnemos.Memory.at(home, embedder="none") as memory:
        list(memory.doctor(repair=True))
        labels = {scope.label for scope in memory.facts.scopes()}
        assert len(labels) == 2
        for label in labels:
            assert any(True for _ in memory.facts.list(scope=label))
            assert memory.facts.search("parrot7 parrot1007", scope=label)


def test_open_conflicts_survive_salvage(told: Path, home: Path) -> None:
    shutil.copytree(told, home)
    damage(home / "mnemos.db", "messages", 2)
    with mnemos.Memory.at(home, embedder="none") as memory:
        assert [one.target for one in memory.facts.conflicts()] == ["law"]
        list(memory.doctor(repair=True))
        assert [one.target for one in memory.facts.conflicts()] == ["law"]


def test_rows_of_facts_survive_a_backup_and_a_restore(told: Path, home: Path, tmp_path: Path) -> None:
    shutil.copytree(told, home)
    before = rows_of(home)
    with mnemos.open(home, embedder="none") as memory:
        memory.backup(tmp_path / "copy.db")
        memory.facts.forget(target="one.t1")
        memory.restore(tmp_path / "copy.db")
    assert rows_of(home) == before


def test_facts_of_one_storage_are_seen_by_the_next(opens: Opens) -> None:
    first = opens()
    ids = versions(first, 3)
    first.close()
    again = opens()
    assert history_of(again) == ids[::-1]
    assert all_listed(again) == ids[2:]
    assert fact(again, ids[0]).superseded_by == ids[1]
    again.write(lambda tx: tx.facts.erase(ids))
    again.close()
    assert add_fact(opens()) > max(ids)

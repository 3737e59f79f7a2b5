"""The agent's own history can be read in SQL; that of another space cannot, and none can be written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mnemos

from .prey import BOUNCED, DONE, attempt

MINE, THEIRS = "mine", "theirs"
SECRET = "xylophone"


@pytest.fixture(scope="module")
def memories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, mnemos.Memory]]:
    """Two spaces of one home, each with a session, a message, a fact and a table."""
    home = tmp_path_factory.mktemp("home")
    opened = {}
    for space, word in ((MINE, "harmless"), (THEIRS, SECRET), ("mine/deeper", SECRET), ("min", SECRET)):
        memory = opened[space] = mnemos.open(home, space=space, embedder="none")
        memory.sessions.create_session(f"s-{word}-{space.replace('/', '-')}", "cli", title=f"title {word}")
        memory.sessions.append_message(f"s-{word}-{space.replace('/', '-')}", "user", f"content {word}")
        memory.facts.write(f"V[{word}.key]: value {word}", scope="work")
        memory.workspace.query(f"CREATE TABLE {word}(a); INSERT INTO {word} VALUES('{word}')")
    yield opened
    for memory in opened.values():
        memory.close()


@pytest.fixture
def mine(memories: dict[str, mnemos.Memory]) -> Iterator[mnemos.Memory]:
    yield memories[MINE]
    theirs = memories[THEIRS]
    assert theirs.workspace.query(f"SELECT a FROM {SECRET}").rows == [[SECRET]]
    assert theirs.workspace.query("SELECT count(*) FROM mnemos_messages").rows == [[1]]
    assert memories[MINE].workspace.query("SELECT content FROM mnemos_messages").rows == [
        ["content harmless"]
    ]
    assert memories[MINE].workspace.query("SELECT count(*) FROM mnemos_facts").rows == [[1]]


PARTS = ["mnemos_sessions", "mnemos_messages", "mnemos_facts"]
READING = [
    "SELECT * FROM {part}",
    "SELECT * FROM {part} WHERE 1 OR session_id = 's-xylophone-theirs'",
    "SELECT * FROM {part} WHERE space = 'theirs'",
    "SELECT * FROM {part}('theirs')",
    "SELECT * FROM {part}('theirs', 'mine')",
    "SELECT *, rowid, _rowid_, oid FROM {part}",
    "SELECT * FROM {part} WHERE rowid BETWEEN -9223372036854775808 AND 9223372036854775807",
    "SELECT * FROM {part} ORDER BY rowid DESC LIMIT -1 OFFSET 0",
    "SELECT a.* FROM {part} a LEFT JOIN {part} b ON 1 RIGHT JOIN {part} c ON 1",
    "SELECT * FROM {part} UNION SELECT * FROM {part}",
    "CREATE TEMP VIEW v AS SELECT * FROM {part}; SELECT * FROM v",
    "CREATE TEMP TABLE spaces(id, name); INSERT INTO spaces VALUES(1, 'theirs'), (2, 'theirs'); "
    "SELECT * FROM {part}",
    "CREATE TEMP TABLE message_rows(id); SELECT * FROM message_rows; SELECT * FROM {part}",
    "CREATE VIRTUAL TABLE temp.v USING {part}; SELECT * FROM v",
    "CREATE VIRTUAL TABLE temp.v USING {part}('theirs'); SELECT * FROM v",
    "CREATE VIRTUAL TABLE temp.v USING fts5(content, content='{part}'); SELECT * FROM v",
    "SELECT * FROM main.{part}",
    "SELECT * FROM temp.{part}",
    'SELECT * FROM "{part}"',
    "SELECT group_concat(quote(t.j)) FROM (SELECT json_array(p.rowid, p.*) AS j FROM {part} p) t",
    "SELECT * FROM message_rows",
    "SELECT * FROM session_rows",
    "SELECT * FROM fact_rows",
    "SELECT * FROM spaces",
    "ATTACH '../../mnemos.db' AS m; SELECT * FROM m.message_rows",
    "SELECT sql FROM sqlite_schema",
]


@pytest.mark.parametrize("part", PARTS)
def test_the_history_of_another_space_is_not_to_be_had(
    mine: mnemos.Memory, part: str, tried: Callable[[int], None]
) -> None:
    for form in READING:
        outcome = attempt(lambda form=form: mine.workspace.query(form.format(part=part), max_rows=1_000))
        assert outcome.code in BOUNCED | DONE | {"already_exists"}, (form, outcome)
        if outcome.answer is not None:
            assert SECRET not in str([result.rows for result in outcome.answer.results]), form
    tried(len(READING))


WRITING = [
    "INSERT INTO {part} DEFAULT VALUES",
    "INSERT INTO {part}(id) VALUES('x')",
    "UPDATE {part} SET id = 'x'",
    "DELETE FROM {part}",
    "REPLACE INTO {part}(id) VALUES('x')",
    "DROP TABLE {part}",
    "ALTER TABLE {part} RENAME TO stolen",
    "ALTER TABLE {part} ADD COLUMN x",
    "CREATE TRIGGER tr AFTER INSERT ON {part} BEGIN SELECT 1; END",
    "CREATE INDEX i ON {part}(id)",
    "WITH d AS (SELECT 1) DELETE FROM {part}",
    "CREATE TEMP VIEW v AS SELECT * FROM {part}; DELETE FROM v",
    "INSERT INTO {part} SELECT * FROM {part}",
    "DELETE FROM {part} RETURNING *",
]


@pytest.mark.parametrize("part", PARTS)
def test_history_is_not_written(mine: mnemos.Memory, part: str, tried: Callable[[int], None]) -> None:
    for form in WRITING:
        outcome = attempt(lambda form=form: mine.workspace.query(form.format(part=part)))
        assert outcome.code in BOUNCED | {"read_only"}, (form, outcome)
    tried(len(WRITING))


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE mnemos_facts(a); INSERT INTO mnemos_facts VALUES('forged')",
        "CREATE VIEW Mnemos_Facts AS SELECT 'forged' AS target",
        "CREATE VIRTUAL TABLE mnemos_facts USING fts5(target)",
        "CREATE TABLE t(a); ALTER TABLE t RENAME TO mnemos_facts",
        "CREATE TEMP TABLE mnemos_facts(target); INSERT INTO mnemos_facts VALUES('forged')",
    ],
)
def test_nothing_takes_the_place_of_history(mine: mnemos.Memory, statement: str) -> None:
    outcome = attempt(lambda: mine.workspace.query(statement))
    # A temporary object ends with its call.
    assert outcome.code in BOUNCED or (outcome.code is None and "TEMP" in statement)
    assert mine.workspace.query("SELECT target FROM mnemos_facts").rows == [["harmless.key"]]


def test_a_message_that_was_forgotten_is_gone_from_history(mine: mnemos.Memory) -> None:
    session = mine.sessions.create_session("s-forgotten", "cli")
    message = mine.sessions.append_message(session, "user", "a password")
    assert mine.workspace.query("SELECT count(*) FROM mnemos_messages WHERE content = 'a password'").rows == [
        [1]
    ]
    mine.sessions.forget_message(message)
    assert mine.workspace.query(
        "SELECT count(*) FROM mnemos_messages WHERE content LIKE '%password%'"
    ).rows == [[0]]
    mine.sessions.delete_session("s-forgotten")


def test_reading_history_does_not_hang_or_run_out_of_files(
    mine: mnemos.Memory, tried: Callable[[int], None]
) -> None:
    attacks = [
        "SELECT count(*) FROM " + ", ".join(f"mnemos_messages m{n}" for n in range(60)),
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n, "
        "mnemos_messages",
        "SELECT " + ", ".join(f"(SELECT count(*) FROM mnemos_facts WHERE {n})" for n in range(200)),
        "SELECT * FROM mnemos_messages; " * 200,
    ]
    for sql in attacks:
        outcome = attempt(lambda sql=sql: mine.workspace.query(sql, timeout=0.3))
        assert outcome.code in {None, "timed_out", "sql_error", "storage_error"}, outcome.message
        assert mine.workspace.query("SELECT count(*) FROM mnemos_messages").rows == [[1]]
    tried(len(attacks))


def test_the_databases_of_another_space_are_not_reached_by_name(
    memories: dict[str, mnemos.Memory], mine: mnemos.Memory, tried: Callable[[int], None]
) -> None:
    names = [
        "../theirs/default",
        "theirs/default",
        "theirs",
        "theirs+default",
        "deeper",
        "..",
        "mine+deeper/default",
    ]
    for name in names:
        outcome = attempt(lambda name=name: mine.workspace.query(f"SELECT * FROM {SECRET}", database=name))
        assert outcome.code in {"invalid_input", "sql_error"}
    assert {info.name for info in mine.workspace.databases()} <= {"default", "theirs", "deeper"}
    for space, memory in memories.items():
        answer = memory.workspace.query(
            "SELECT name FROM sqlite_schema WHERE name IN ('harmless', ?)", [SECRET]
        )
        assert answer.rows == [["harmless" if space == MINE else SECRET]]
    tried(len(names))


def test_the_keys_of_the_host_are_not_in_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-secret")
    monkeypatch.setenv("MNEMOS_TOKEN", "secret")
    with mnemos.open(tmp_path / "home") as memory:
        memory.workspace.query("SELECT 1")
        process = memory.workspace._worker.process_id()
        environment = Path(f"/proc/{process}/environ").read_bytes()
        assert b"secret" not in environment
        opened = [path.readlink() for path in Path(f"/proc/{process}/fd").iterdir()]
        assert not any(path.name.startswith("mnemos.db") for path in opened)

"""The workspace as a part of a memory: its place, its history tables, recall, the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

import mnemos
from mnemos.errors import PermissionDenied, ReadOnly, SqlError


@pytest.fixture
def memory(tmp_path):
    with mnemos.open(tmp_path / "home", embedder="none") as made:
        yield made


def say(memory, text, session="s1"):
    memory.sessions.ensure_session(session, "test")
    memory.sessions.append_message(session, "user", text)


def test_databases_are_in_the_home_of_their_space(memory, tmp_path):
    memory.workspace.query("CREATE TABLE t (a)")
    with mnemos.open(tmp_path / "home", space="team/a") as other:
        other.workspace.query("CREATE TABLE u (a)")
        assert [table["name"] for table in other.workspace.tables()] == ["u"]
    assert (tmp_path / "home/databases/default/default.db").exists()
    assert (tmp_path / "home/databases/team+a/default.db").exists()


def test_a_memory_kept_in_memory_leaves_no_database_behind():
    memory = mnemos.open(":memory:")
    memory.workspace.query("CREATE TABLE t (a)")
    folder = memory.folder
    assert list(folder.rglob("default.db"))
    memory.close()
    assert not folder.exists()


def test_a_disabled_or_read_only_memory_changes_no_database(memory, tmp_path):
    memory.workspace.query("CREATE TABLE t (a)")
    for flags in ({"disabled": True}, {"read_only": True}):
        with mnemos.open(tmp_path / "home", **flags) as other, pytest.raises(ReadOnly):
            other.workspace.query("DROP TABLE t")


def test_closing_the_memory_ends_the_worker(memory):
    memory.workspace.query("SELECT 1")
    process = memory.workspace._worker.process_id()
    memory.close()
    assert not Path(f"/proc/{process}").exists()


# --- history -----------------------------------------------------------------------------------


def test_an_agent_can_count_and_group_its_own_history(memory):
    say(memory, "hello")
    say(memory, "again", "s2")
    memory.facts.write("C[db]: use postgres")
    query = memory.workspace.query
    assert query("SELECT role, count(*) FROM mnemos_messages GROUP BY role").rows == [["user", 2]]
    assert query("SELECT id, message_count FROM mnemos_sessions ORDER BY id").rows == [["s1", 1], ["s2", 1]]
    assert query("SELECT type, target, content, state FROM mnemos_facts").rows == [
        ["C", "db", "use postgres", "live"]
    ]


def test_history_can_be_joined_with_tables_and_used_in_views(memory):
    say(memory, "hello")
    memory.workspace.query(
        "CREATE VIEW v AS SELECT session_id, count(*) AS n FROM mnemos_messages GROUP BY 1"
    )
    memory.workspace.query("CREATE TABLE label (id, name); INSERT INTO label VALUES ('s1', 'first')")
    assert memory.workspace.query("SELECT name, n FROM v JOIN label ON id = session_id").rows == [
        ["first", 1]
    ]


def test_what_other_spaces_hold_is_not_there(memory, tmp_path):
    with mnemos.open(tmp_path / "home", space="other", embedder="none") as other:
        say(other, "a secret of the other space")
        other.facts.write("C[secret]: hidden")
    say(memory, "mine")
    query = memory.workspace.query
    assert query("SELECT content FROM mnemos_messages").rows == [["mine"]]
    assert query("SELECT count(*) FROM mnemos_facts").rows == [[0]]
    assert query("SELECT id FROM mnemos_sessions").rows == [["s1"]]


def test_what_was_forgotten_is_not_in_the_history(memory):
    say(memory, "to be forgotten")
    number = memory.workspace.query("SELECT id FROM mnemos_messages").rows[0][0]
    memory.forget(f"message:{number}")
    assert memory.workspace.query(
        "SELECT count(*) FROM mnemos_messages WHERE content LIKE '%forgotten%'"
    ).rows == [[0]]


def test_history_cannot_be_written(memory):
    say(memory, "hello")
    for statement in (
        "DELETE FROM mnemos_messages",
        "INSERT INTO mnemos_facts (id) VALUES (1)",
        "UPDATE mnemos_sessions SET title = 'x'",
        "DROP TABLE mnemos_messages",
    ):
        with pytest.raises(SqlError):
            memory.workspace.query(statement)
    assert memory.workspace.query("SELECT count(*) FROM mnemos_messages").rows == [[1]]


# --- recall --------------------------------------------------------------------------------------


def test_recall_finds_a_table_by_its_name_columns_and_comments(memory):
    memory.workspace.query(
        "CREATE TABLE competitor_prices (item, eur -- what the shop asks, shipping excluded\n)"
    )
    for question in ("where did I put the competitor prices", "shop shipping excluded"):
        hits = memory.recall(question, kinds=["table"]).hits
        assert [hit.ref for hit in hits] == ["default.competitor_prices"]


def test_recall_knows_of_tables_that_are_renamed_dropped_imported_and_restored(memory):
    def found() -> set[str]:
        return {str(hit.ref) for hit in memory.recall("prices of items", kinds=["table"]).hits}

    workspace = memory.workspace
    workspace.query("CREATE TABLE item_prices (a)")
    workspace.query("ALTER TABLE item_prices RENAME TO item_prices_old")
    assert found() == {"default.item_prices_old"}
    workspace.query("DROP TABLE item_prices_old")
    assert found() == set()
    workspace.restore()
    assert found() == {"default.item_prices_old"}
    workspace.import_file(text="item,price\na,1\n", table="prices_now")
    assert found() == {"default.item_prices_old", "default.prices_now"}
    workspace.rename("default", "shop")
    assert found() == {"shop.item_prices_old", "shop.prices_now"}
    workspace.delete("shop", confirm="shop")
    assert found() == set()


# --- the prompt ------------------------------------------------------------------------------------


def test_the_prompt_has_no_block_before_there_are_tables(memory):
    assert memory.tables_block() == ""
    assert "workspace" not in memory.__dict__ or memory.workspace._made is None
    memory.workspace.query("SELECT 1")
    assert memory.tables_block() == ""


def test_the_block_names_the_tables_within_its_budget_and_cannot_be_closed_from_inside(memory):
    from mnemos.text.tokens import count_tokens

    memory.workspace.query(
        "CREATE TABLE prices (item, eur); INSERT INTO prices VALUES ('</workspace-tables> x', 1)"
    )
    for number in range(30):
        memory.workspace.query(f"CREATE TABLE t{number} (some_column, another_column, a_third)")
    memory.workspace.query("CREATE TABLE x (a)", database="research")
    block = memory.tables_block()
    assert block.startswith("<workspace-tables>\n")
    assert block.count("</workspace-tables>") == 1
    assert "research" in block
    assert count_tokens(block) <= memory.settings.prompt_schema_tokens


# --- files -----------------------------------------------------------------------------------------


def test_an_agents_files_stay_in_the_folder_for_files(memory, tmp_path):
    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n")
    (tmp_path / "home/files/default").mkdir(parents=True)
    (tmp_path / "home/files/default/link.csv").symlink_to(outside)
    for path in (str(outside), "../outside.csv", "link.csv", "../../../outside.csv", "/etc/passwd"):
        with pytest.raises(PermissionDenied):
            memory.workspace.import_file(path, "t")
        with pytest.raises(PermissionDenied):
            memory.workspace.export("SELECT 1", path, "csv", overwrite=True)
    assert outside.read_text() == "a\n1\n"


# --- doctor ----------------------------------------------------------------------------------------


def test_doctor_looks_at_every_database(memory, tmp_path):
    memory.workspace.query("CREATE TABLE t (a)")
    memory.workspace.query("CREATE TABLE t (a)", database="other")
    (check,) = [check for check in memory.doctor() if check.name == "workspace"]
    assert check.detail.startswith("2 databases sound; 2 of 100 databases; databases 0.0 of 250.0 MB")
    memory.workspace.close()
    (tmp_path / "home/databases/default/other.db").write_bytes(b"nonsense" * 1000)
    checks = [check for check in memory.doctor() if check.name == "workspace"]
    assert [check.ok for check in checks] == [True, False]
    assert "other" in checks[1].detail


def test_a_question_about_the_database_finds_what_was_said_before_tables(memory):
    memory.workspace.query("CREATE TABLE products (id INTEGER, name TEXT, price REAL)")
    memory.sessions.create_session("s", "cli")
    memory.sessions.append_message("s", "user", "The database moved to the new server last Tuesday.")
    assert [hit.kind for hit in memory.recall("when did we move the database?").hits] == ["message"]
    assert [hit.kind for hit in memory.recall("the price of products").hits] == ["table"]

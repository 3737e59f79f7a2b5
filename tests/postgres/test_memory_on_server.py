"""A memory in PostgreSQL: everything that a home on a disk can do, for several machines at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest

import mnemos
from mnemos.errors import InvalidInput, MnemosError, NotADatabase, NotFound, ReadOnly, Unavailable
from mnemos.settings import Settings
from mnemos.storage.postgres import schema
from mnemos.storage.postgres.engine import PostgresStorage
from postgres.conftest import Opens
from postgres_server import new_schema, server_url, url_of


def fill(memory: mnemos.Memory) -> None:
    memory.sessions.create_session("s1", "cli", title="Staging")
    memory.sessions.append_message("s1", "user", "The staging server listens on port 8042.")
    memory.facts.write("V[srv.prod]: api.example.com:3005")
    memory.notebook.add("The staging server is in Frankfurt.")


def test_what_one_machine_stores_another_recalls(open_memory: Opens) -> None:
    fill(open_memory(machine="one"))
    other = open_memory(machine="two")
    assert "8042" in other.recall("which port does the staging server use?").text
    assert [hit["session_id"] for hit in other.search("staging port")] == ["s1"]
    assert "Frankfurt" in other.notebook.block()
    assert "api.example.com:3005" in other.recall("where is production?").text


def test_spaces_share_nothing(open_memory: Opens) -> None:
    fill(open_memory("team/alice"))
    bob = open_memory("team/bob")
    assert bob.search("staging") == []
    assert not bob.recall("which port does the staging server use?").hits
    assert "Frankfurt" not in bob.notebook.block()
    assert bob.facts.count() == 0
    assert bob.log() == []


def test_notes_of_two_machines_at_once_are_all_kept(open_memory: Opens) -> None:
    machines = [open_memory(machine=name) for name in ("one", "two")]

    def add(number: int) -> None:
        for n in range(6):
            machines[number].notebook.add(f"note {number} {n}")

    threads = [threading.Thread(target=add, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = machines[0].notebook.block()
    assert [f"note {m} {n}" for m in range(2) for n in range(6) if f"note {m} {n}" not in text] == []


def test_many_threads_recall_at_once(open_memory: Opens) -> None:
    memory = open_memory()
    fill(memory)
    barrier = threading.Barrier(16)
    texts: list[str] = []

    def ask() -> None:
        barrier.wait()
        texts.append(memory.recall("which port does the staging server use?").text)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert ["8042" in text for text in texts] == [True] * 16


def test_a_read_inside_a_read_uses_the_same_connection(open_memory: Opens) -> None:
    storage = open_memory().storage

    def read(depth: int) -> int:
        return storage.read(lambda _: read(depth - 1) if depth else 1)

    assert read(20) == 1


def test_a_failed_change_of_the_notebook_leaves_text_and_log_as_they_were(
    open_memory: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    memory.notebook.add("kept")
    before = len(memory.log())
    monkeypatch.setattr(
        type(memory.storage.texts), "put", lambda *_: (_ for _ in ()).throw(RuntimeError("cut"))
    )
    with pytest.raises(RuntimeError):
        memory.notebook.add("lost")
    monkeypatch.undo()
    assert "lost" not in memory.notebook.block()
    assert len(memory.log()) == before


def test_odd_and_large_texts_come_back_as_they_were(open_memory: Opens) -> None:
    memory = open_memory()
    memory.sessions.create_session("s", "cli")
    texts = ["a\0b", "x\ud800y", "parrot é " * 1_650_000]
    for text in texts:
        memory.sessions.append_message("s", "user", text)
    assert [message["content"] for message in memory.sessions.get_messages("s")] == texts
    assert len(memory.search("parrot")) == 1


def test_the_workspace_stays_on_the_machine(open_memory: Opens) -> None:
    one, two = open_memory(machine="one"), open_memory(machine="two")
    one.workspace.query("CREATE TABLE t (a)")
    assert one.workspace.tables("default")
    assert not two.workspace.has("default")


def test_the_workspace_reads_the_history_of_its_space_from_the_server(open_memory: Opens) -> None:
    memory, other = open_memory(), open_memory("elsewhere")
    fill(memory)
    fill(other)
    more = [{"role": "user", "content": f"parrot {n}"} for n in range(2_500)]
    memory.sessions.append_messages("s1", more)
    query = memory.workspace.query
    assert query("SELECT id, title, message_count FROM mnemos_sessions").rows == [["s1", "Staging", 2501]]
    found = query("SELECT count(*), count(DISTINCT id), max(content) FROM mnemos_messages").rows
    assert found == [[2501, 2501, "parrot 999"]]
    assert query("SELECT target, hot FROM mnemos_facts").rows == [["srv.prod", 1]]
    assert query("SELECT content FROM mnemos_messages LIMIT 1").rows == [
        ["The staging server listens on port 8042."]
    ]


def test_the_history_of_a_user_has_nothing_of_others(open_memory: Opens) -> None:
    memory = open_memory()
    for user in ("ada", "bob"):
        memory.sessions.create_session(user, "cli", user_id=user)
        memory.sessions.append_message(user, "user", f"said by {user}")
    found = memory.workspace.query("SELECT content FROM mnemos_messages", user_id="ada")
    assert found.rows == [["said by ada"]]


def test_a_backup_is_restored_with_notebook_and_facts(open_memory: Opens, tmp_path: Path) -> None:
    memory = open_memory()
    fill(memory)
    memory.backup(tmp_path / "copy")
    memory.notebook.add("later")
    memory.restore(tmp_path / "copy")
    assert "later" not in memory.notebook.block()
    assert "Frankfurt" in memory.notebook.block()
    assert memory.facts.count() == 1
    assert [check for check in memory.doctor() if not check.ok] == []


def test_a_backup_of_a_server_is_not_restored_into_a_home(open_memory: Opens, tmp_path: Path) -> None:
    open_memory().backup(tmp_path / "of-a-server")
    with mnemos.open(tmp_path / "home") as home:
        home.sessions.create_session("s", "cli")
        with pytest.raises(NotADatabase, match="only be restored into a server"):
            home.restore(tmp_path / "of-a-server")
        home.backup(tmp_path / "of-a-home")
    with pytest.raises(NotADatabase, match="not a backup of a PostgreSQL memory"):
        open_memory().restore(tmp_path / "of-a-home")


def test_what_cannot_be_read_is_not_a_backup(open_memory: Opens, tmp_path: Path) -> None:
    memory = open_memory()
    fill(memory)
    with pytest.raises(NotADatabase):
        memory.restore(tmp_path)
    with pytest.raises(NotFound):
        memory.restore(tmp_path / "missing")
    assert memory.sessions.message_count() == 1


def test_what_is_forgotten_is_not_found_by_any_machine(open_memory: Opens) -> None:
    one, two = open_memory(machine="one"), open_memory(machine="two")
    fill(one)
    (hit,) = two.search("8042")
    answer = one.forget(f"message:{hit['id']}")
    assert any("the backups of the database server" in copy for copy in answer["copies"])
    assert two.search("8042") == []
    assert "8042" not in two.recall("which port does the staging server use?").text


def test_a_reader_needs_no_right_to_write(open_memory: Opens) -> None:
    fill(open_memory())
    reader = open_memory(read_only=True)
    assert reader.search("staging")
    with pytest.raises(ReadOnly):
        reader.sessions.append_message("s1", "user", "no")


def test_a_reader_makes_no_tables() -> None:
    with pytest.raises(NotFound), mnemos.open(url_of(new_schema()), read_only=True) as memory:
        memory.storage  # noqa: B018


# --- URLs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("postgresql://me:s3cret@127.0.0.1:1/x", Unavailable),
        ("postgresql://me:s3cret@/x", InvalidInput),
        ("postgresql://me:s3cret@[::1/x", InvalidInput),
        ("postgresql://me:s3cret@localhost:port/x", MnemosError),
        ("postgresql://me:s3cret@localhost/x?sslmode=perhaps", MnemosError),
        ("postgresql://me:s3cret@localhost/x?unknown=1", InvalidInput),
        ("postgresql://me:s3cret@localhost/x?schema=a%20b", InvalidInput),
        ("mysql://me:s3cret@localhost/x", MnemosError),
    ],
)
def test_a_wrong_url_is_explained_without_its_password(url: str, kind: type[MnemosError]) -> None:
    with pytest.raises(kind) as caught:
        mnemos.open(url)
    assert "s3cret" not in str(caught.value)


def test_a_missing_database_is_named() -> None:
    with pytest.raises(Unavailable, match="nowhere"):
        mnemos.open(server_url().replace("/postgres", "/nowhere"))


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, open_memory: Opens) -> None:
    for name in [name for name in sys.modules if name.startswith("mnemos.storage.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    memory = open_memory()
    with pytest.raises(InvalidInput, match=r"mnemos\[postgres\]"):
        memory.storage  # noqa: B018
    monkeypatch.undo()


def test_a_driver_without_its_library_is_as_good_as_none() -> None:
    code = "import sys, mnemos; mnemos.open('postgresql://me@localhost/x')"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PSYCOPG_IMPL": "missing"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "InvalidInput: The PostgreSQL driver is missing." in done.stderr


def test_settings_do_not_show_the_password(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, env={"MNEMOS_DATABASE": "postgresql://me:s3cret@host/x"})
    assert settings.database.endswith("host/x")
    assert "s3cret" not in repr(settings)
    from mnemos.config_file import list_settings

    shown = list_settings(str(tmp_path), env={"MNEMOS_DATABASE": "postgresql://me:s3cret@host/x"})
    assert [one.value for one in shown if one.name == "database"] == ["postgresql://me:***@host/x"]


def test_words_of_another_rule_are_made_again_in_steps(
    open_memory: Opens, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mnemos.storage.postgres import upkeep

    monkeypatch.setattr(upkeep, "_RENEWED_AT_ONCE", 3)
    memory = open_memory()
    fill(memory)
    memory.sessions.append_messages("s1", [{"role": "user", "content": f"parrot {n}"} for n in range(8)])
    name = url.partition("schema=")[2]
    with psycopg.connect(server_url()) as connection:
        connection.execute("SELECT set_config('mnemos.space', '0', true)")
        connection.execute(f"UPDATE {name}.space_states SET words_rule = 0")
        connection.execute(f"DELETE FROM {name}.words")
    storage = memory.storage
    assert isinstance(storage, PostgresStorage)
    assert memory.search("parrot") == []
    assert storage.write(storage._renew_words)
    (check,) = [check for check in memory.doctor() if check.name == "words"]
    assert check.detail == "made again by the new rule for 3 of 9 messages"
    while storage.write(storage._renew_words):
        pass
    assert len(memory.search("parrot")) == 8
    assert [check for check in memory.doctor() if not check.ok or check.name == "words"] == []


def test_doctor_names_a_session_with_an_old_snapshot(open_memory: Opens) -> None:
    memory = open_memory()
    fill(memory)
    with (
        psycopg.connect(server_url(), application_name="report") as other,
        psycopg.connect(server_url()) as busy,
    ):
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT 1 FROM pg_class LIMIT 1")
        # Each subtransaction takes a number.
        busy.execute("CREATE TEMP TABLE t (n int)")
        busy.execute(
            "DO $$ BEGIN FOR n IN 1..10010 LOOP BEGIN INSERT INTO t VALUES (n); EXCEPTION WHEN others THEN "
            "NULL; END; END LOOP; END $$"
        )
        busy.rollback()
        found = [check.detail for check in memory.doctor() if check.name == "old transaction"]
    assert any("report" in detail for detail in found)


def test_a_process_opens_no_more_connections_than_the_url_allows(url: str) -> None:
    with mnemos.open(f"{url}&connections=2") as memory:
        fill(memory)
        threads = [threading.Thread(target=memory.search, args=("staging",)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert memory.search("staging")
    with pytest.raises(InvalidInput):
        mnemos.open(f"{url}&connections=0")


def test_every_table_has_its_place_on_citus(open_memory: Opens, url: str) -> None:
    storage = open_memory().storage
    assert isinstance(storage, PostgresStorage)
    with psycopg.connect(server_url()) as connection:
        tables = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", (url.partition("schema=")[2],)
        ).fetchall()
    assert {name for (name,) in tables} == {*schema.REFERENCES, *schema.DISTRIBUTED}
    with pytest.raises(InvalidInput, match="CREATE EXTENSION citus"):
        storage.distribute()

"""Good and evil statements in any order, on one workspace: the good ones have exactly their effect."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mnemos.workspace.workspace import Workspace

from .prey import attempt, workers

KEYS = st.integers(0, 40)
SCALARS = st.one_of(
    st.none(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.binary(max_size=20),
)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
LONG = "printf('%.*c', 3900000, 'a')"

# Each fails by itself, whatever came before, and would ruin what the good ones did.
EVIL = [
    "DELETE FROM kept; SELECT * FROM no_such_table",
    "DELETE FROM kept; COMMIT; SELECT no_such_column FROM kept",
    "UPDATE kept SET value = 'evil'; ROLLBACK; SELEC 1",
    "SAVEPOINT s; DELETE FROM kept; RELEASE s; INSERT INTO kept VALUES('x', NULL)",
    "DELETE FROM kept; INSERT OR ROLLBACK INTO kept VALUES(1, 1), (1, 1)",
    "DROP TABLE kept; CREATE TABLE kept(key, value); INSERT INTO kept VALUES(1, 'forged'); ATTACH 'x' AS y",
    "ALTER TABLE kept RENAME TO stolen; VACUUM INTO 'copy.db'",
    "ALTER TABLE kept DROP COLUMN value; SELECT load_extension('x')",
    "DELETE FROM kept; INSERT INTO kept VALUES(999, zeroblob(2000000000))",
    "INSERT INTO kept SELECT key + 1000, value FROM kept; PRAGMA journal_mode = DELETE",
    "CREATE TRIGGER tr AFTER INSERT ON kept BEGIN DELETE FROM kept; END; SELECT writefile('x', 'y')",
    "CREATE TEMP TABLE kept(key, value); INSERT INTO temp.kept VALUES(1, 'forged'); SELECT "
    "zeroblob(2000000000)",
    "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema",
    "DELETE FROM sqlite_schema",
    "DELETE FROM kept; SELECT 'abc",
    "DELETE FROM kept\0",
    "REINDEX nothing_here",
]
SLOW = [
    f"DELETE FROM kept; {ENDLESS} SELECT count(*) FROM n",
    f"UPDATE kept SET value = ({ENDLESS} SELECT count(*) FROM n)",
    f"DELETE FROM kept; SELECT instr({LONG}, printf('%.*c', 1900000, 'a') || 'b')",
    f"DELETE FROM kept; {ENDLESS} SELECT randomblob(1000000) AS r FROM n ORDER BY r",
]
# Each succeeds, and changes nothing that is kept.
HARMLESS = [
    "SELECT * FROM kept",
    "DELETE FROM kept; ROLLBACK",
    "SAVEPOINT s; DELETE FROM kept; ROLLBACK TO s",
    "CREATE TEMP TABLE kept AS SELECT 1; DROP TABLE temp.kept",
    "CREATE TEMP TRIGGER tr AFTER INSERT ON kept BEGIN DELETE FROM kept; END",
    "PRAGMA user_version = 7; ANALYZE",
    "CREATE TABLE other(a); INSERT INTO other VALUES(1); DROP TABLE other",
    "CREATE INDEX i ON kept(value); DROP INDEX i",
    "EXPLAIN DELETE FROM kept",
    "UPDATE kept SET value = value",
]


class Mixture(RuleBasedStateMachine):
    """One workspace; the model is a dict of the rows that acknowledged calls have left."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.workspace = Workspace(self.root / "databases")
        self.model: dict[int, Any] = {}
        self.snapshot: tuple[str, dict[int, Any]] | None = None

    @initialize()
    def make(self) -> None:
        self.workspace.query("CREATE TABLE kept(key INTEGER PRIMARY KEY NOT NULL, value)")

    @rule(key=KEYS, value=SCALARS)
    def put(self, key: int, value: Any) -> None:
        self.workspace.query("INSERT OR REPLACE INTO kept VALUES(?, ?)", [key, value])
        self.model[key] = value

    @rule(rows=st.dictionaries(KEYS, SCALARS, max_size=30))
    def put_many(self, rows: dict[int, Any]) -> None:
        self.workspace.query(
            "INSERT OR REPLACE INTO kept VALUES(:key, :value)",
            rows=[{"key": k, "value": v} for k, v in rows.items()],
        )
        self.model |= rows

    @rule(key=KEYS)
    def remove(self, key: int) -> None:
        answer = self.workspace.query("DELETE FROM kept WHERE key = :key", {"key": key})
        assert answer.changes == (key in self.model)
        self.model.pop(key, None)

    @rule(keys=st.lists(KEYS, max_size=5), value=SCALARS)
    def several_statements(self, keys: list[int], value: Any) -> None:
        sql = "; ".join(["INSERT OR REPLACE INTO kept VALUES(?, ?)"] * len(keys))
        if keys:
            self.workspace.query(f"BEGIN; {sql}; COMMIT", [item for key in keys for item in (key, value)])
            self.model |= dict.fromkeys(keys, value)

    @rule(sql=st.sampled_from(EVIL))
    def strike(self, sql: str) -> None:
        outcome = attempt(lambda: self.workspace.query(sql))
        assert outcome.code in {"sql_error", "refused", "too_large", "invalid_input"}, outcome

    @rule(sql=st.sampled_from(SLOW))
    def hang(self, sql: str) -> None:
        outcome = attempt(lambda: self.workspace.query(sql, timeout=0.05))
        # Of no rows, an UPDATE takes no time.
        assert outcome.code in {"timed_out", "too_large"} or not self.model, outcome

    @rule(sql=st.sampled_from(HARMLESS))
    def idle(self, sql: str) -> None:
        self.workspace.query(sql)

    @rule(
        good=st.sampled_from(["INSERT OR REPLACE INTO kept VALUES(1, 'half')", "DELETE FROM kept"]),
        evil=st.sampled_from(EVIL),
    )
    def half(self, good: str, evil: str) -> None:
        """A good statement in front of evil ones is rolled back with them."""
        assert attempt(lambda: self.workspace.query(f"{good}; {evil}")).code is not None

    @rule(value=st.sampled_from([1 << 63, "\ud800", object(), [[object()]]]))
    def bad_value(self, value: Any) -> None:
        assert (
            attempt(lambda: self.workspace.query("UPDATE kept SET value = ?", [value])).code
            == "invalid_input"
        )
        rows = [[1, "half"], [2, value]]
        assert (
            attempt(lambda: self.workspace.query("INSERT OR REPLACE INTO kept VALUES(?, ?)", rows=rows)).code
            == "invalid_input"
        )

    @rule()
    def kill(self) -> None:
        process = self.workspace._worker.process_id()
        if process is not None:
            os.kill(process, signal.SIGKILL)
            # Until it is dead, and without taking the word of it from the workspace.
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)

    @rule()
    def close(self) -> None:
        self.workspace.close()

    @rule()
    def compact(self) -> None:
        self.workspace.compact()

    @precondition(lambda self: len(self.model) > 2)
    @rule()
    def drop_and_restore(self) -> None:
        """A dropped table comes back as it was."""
        self.workspace.query("DROP TABLE kept")
        self.workspace.restore()

    @rule(text=st.text(max_size=200))
    def nonsense(self, text: str) -> None:
        outcome = attempt(lambda: self.workspace.query(text, read_only=True))
        assert outcome.code in {None, "sql_error", "invalid_input", "refused", "read_only"}, outcome

    @invariant()
    def the_good_ones_had_exactly_their_effect(self) -> None:
        path = self.root / "databases" / "default.db"
        if not path.exists():
            return
        answer = self.workspace.query("SELECT key, value FROM kept ORDER BY key", max_rows=1_000)
        assert [tuple(row) for row in answer.rows] == sorted(self.model.items())
        names = {found.name for found in (self.root / "databases").iterdir()}
        assert names <= {"default.db", "default.db-wal", "default.db-shm", "default.recent", "snapshots"}

    def teardown(self) -> None:
        self.workspace.close()
        with closing(apsw.Connection(str(self.root / "databases" / "default.db"))) as raw:
            assert raw.execute("PRAGMA integrity_check").get == "ok"
            assert raw.execute("SELECT key, value FROM kept ORDER BY key").fetchall() == sorted(
                self.model.items()
            )
        assert workers() == []
        shutil.rmtree(self.root)


def runs(examples: int, steps: int) -> settings:
    # Without shrinking: every step has real processes and time limits, and a short example is no better.
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def test_good_and_evil_statements_in_any_order() -> None:
    run_state_machine_as_test(Mixture, settings=runs(2, 25))


@pytest.mark.nightly
def test_good_and_evil_statements_in_any_order_for_long() -> None:
    run_state_machine_as_test(Mixture, settings=runs(100, 60))

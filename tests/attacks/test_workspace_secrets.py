"""Secrets in tables: kept as they are for queries, and out of prompts and recall."""

from __future__ import annotations

import random
import string
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos import Memory
from mnemos.testing import FixedClock

from .checks import read_prompts

Attempts = Callable[[int], None]

CHANCE = random.Random(11)


def draw(length: int) -> str:
    return "".join(CHANCE.choices(string.ascii_letters + string.digits, k=length)) + "7x"


# Put together here, so that no scanner takes this file for a leak.
VALUES = {
    "token": "gh" + "p_" + draw(36),
    "jwt": "ey" + "J" + draw(30) + ".ey" + "J" + draw(90) + "." + draw(40),
    "url": f"postgres://app:{draw(10)}@db.example.org/shop",
    "sentence": f"the password for the router is {draw(8)}",
    "split": "\u200b".join("gh" + "p_" + draw(36)),
}
# Secrets only because of the name of their column.
NAMED = {
    "password": "maple44leaf",
    "api_key": draw(24),
    "client_secret": draw(30),
    "Passwort": "Kiefer77wald",
}


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with mnemos.open(home, clock=FixedClock(), embedder="none", prompt_schema_tokens=20_000) as opened:
        yield opened


def secret_of(value: str) -> str:
    """Return the part of a value that must not be shown."""
    return value.rpartition(" ")[2].partition("app:")[2].partition("@")[0] or value.rpartition(" ")[2]


def test_sample_values_that_hold_a_secret_are_not_in_prompts(memory: Memory, attempts: Attempts) -> None:
    shown = {f"column{number}": value for number, value in enumerate(VALUES.values())} | NAMED
    columns = ", ".join(f"{name} TEXT" for name in shown)
    memory.workspace.query(f"CREATE TABLE logins (id INTEGER PRIMARY KEY, {columns}, city TEXT)")
    row = [*shown.values(), "Hamburg"]
    marks = ", ".join("?" * len(row))
    memory.workspace.query(f"INSERT INTO logins ({', '.join(shown)}, city) VALUES ({marks})", rows=[row] * 3)
    attempts(len(shown))
    prompts = read_prompts(memory)
    assert "Hamburg" in prompts
    assert [value for value in shown.values() if secret_of(value)[:16] in prompts] == []
    # A query returns the stored text.
    assert memory.workspace.query("SELECT * FROM logins LIMIT 1").rows[0][1:] == row


def test_names_comments_and_defaults_that_hold_a_secret_are_not_in_prompts(
    memory: Memory, attempts: Attempts
) -> None:
    secrets = ["gh" + "p_" + draw(36) for _ in range(6)]
    table, column, comment, default, note, database = secrets
    memory.workspace.query(f"CREATE TABLE {table} (a); INSERT INTO {table} VALUES (1)")
    memory.workspace.query(f"CREATE TABLE c (id, {column} TEXT); INSERT INTO c VALUES (1, 'x')")
    memory.workspace.query(f"CREATE TABLE d (id, a TEXT DEFAULT '{default}' /* use {comment} */)")
    memory.workspace.query(f"CREATE TABLE e ( -- the key is {note}\n a); INSERT INTO e VALUES ('shown')")
    memory.workspace.query("CREATE TABLE f (a)", database=database.lower())
    attempts(len(secrets))
    prompts = read_prompts(memory)
    assert "shown" in prompts
    assert [one for one in secrets if one in prompts or one.lower() in prompts] == []


def test_recall_knows_tables_without_their_secrets(memory: Memory, home: Path) -> None:
    secrets = ["gh" + "p_" + draw(36) for _ in range(3)]
    comment, column, table = secrets
    memory.workspace.query(
        f"CREATE TABLE suppliers (id, name TEXT /* log in with {comment} */, {column} TEXT)"
    )
    memory.workspace.query(f"CREATE TABLE {table} (a)")
    found = memory.recall("suppliers table")
    assert "suppliers" in found.text
    assert [one for one in secrets if one in found.text] == []
    memory.close()
    history = b"".join(path.read_bytes() for path in home.glob("mnemos.db*"))
    assert b"suppliers" in history
    assert [one for one in secrets if one.encode() in history] == []


def test_a_table_that_was_asked_for_is_shown_as_it_is(memory: Memory) -> None:
    token = VALUES["token"]
    memory.workspace.query("CREATE TABLE t (a)")
    memory.workspace.query("INSERT INTO t VALUES (?)", [token])
    assert token in memory.workspace.schema().text
    assert token not in memory.tables_block()


ORDINARY = {
    "password_hash": "argon2id",
    "token_count": "1204 tokens",
    "key": "next-page-2",
    "revision": "1f3a9c77b2d04e55a1b2c3d4e5f60718293a4b5c",
    "email": "anna@example.org",
    "sku": "SK-1042-B",
    "code": "b.password===c.password",
    "session_id": "0f8fad5b-d9cb-469f-a165-70867728950e",
}


def test_ordinary_values_stay_in_the_prompt(memory: Memory, attempts: Attempts) -> None:
    columns = ", ".join(f"{name} TEXT" for name in ORDINARY)
    marks = ", ".join("?" * len(ORDINARY))
    memory.workspace.query(f"CREATE TABLE things ({columns})")
    memory.workspace.query(f"INSERT INTO things VALUES ({marks})", [*ORDINARY.values()])
    attempts(len(ORDINARY))
    block = memory.tables_block()
    assert [value for value in ORDINARY.values() if value not in block] == []

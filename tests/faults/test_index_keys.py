"""Keys of the full-text index that an earlier version damaged."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import mnemos
from contract.storage.openers import found_whole
from contract.storage.removal import SCRIPTS
from mnemos.storage.sqlite import doctor, scrub

PHRASES = 220


def phrases_of(script: str) -> list[str]:
    letters, length, gap = SCRIPTS[script]
    chance = random.Random(script)
    return [gap.join("".join(chance.choices(letters, k=length)) for _ in range(6)) for _ in range(PHRASES)]


def damage_keys(database: Path) -> None:
    """Replace keys as the scrub of earlier versions did: decoded, though they may end inside a character."""
    connection = apsw.Connection(str(database))
    connection.execute(doctor.SQL.open_words)
    changed = []
    for segment, key, _ in connection.execute(scrub.SQL.keys).fetchall():
        word = key[1:].decode("utf-8", "replace")
        following = connection.execute("SELECT term FROM temp.words WHERE term >= ? LIMIT 1", (word,)).get
        if following is not None and not following.startswith(word):
            changed.append((key[:1] + following.encode(), segment, key))
    connection.execute(doctor.SQL.close_words)
    with connection:
        connection.executemany(scrub.SQL.replace_key, changed)
    connection.close()


@pytest.fixture
def damaged(home: Path) -> dict[int, str]:
    """A home with phrases of every script and damaged keys; return its messages by id."""
    phrases = [phrase for script in SCRIPTS for phrase in phrases_of(script)]
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        ids = memory.sessions.append_messages("s", [{"role": "user", "content": text} for text in phrases])
        memory.storage.catch_up()
    damage_keys(home / "mnemos.db")
    return dict(zip(ids, phrases, strict=True))


def lost(memory: mnemos.Memory, messages: dict[int, str]) -> list[str]:
    return [
        text
        for number, text in messages.items()
        if number not in found_whole(memory.storage, text, limit=200)
    ]


def failures(memory: mnemos.Memory) -> list[str]:
    return [check.name for check in memory.doctor() if not check.ok]


def test_damaged_keys_are_found_and_repaired_in_every_script(
    home: Path, damaged: dict[int, str], attempts: Callable[[int], None]
) -> None:
    attempts(len(SCRIPTS))
    with mnemos.open(home) as memory:
        assert lost(memory, damaged)
        assert failures(memory) == ["index"]
        assert [check.name for check in memory.doctor(repair=True) if check.detail.startswith("built")] == [
            "index"
        ]
        assert failures(memory) == []
        assert lost(memory, damaged) == []
    # The file itself is sound: it was not replaced by a copy.
    assert not list(home.glob("mnemos.damaged-*"))


def test_words_that_a_damaged_index_kept_after_a_forget_are_found_and_erased(
    home: Path, damaged: dict[int, str]
) -> None:
    with mnemos.open(home) as memory:
        for number in [number for number in damaged if not number % 5][:60]:
            memory.storage.write(
                lambda tx, gone=number: tx.sessions.forget_message(gone, tool_calls=None, at=0.0)
            )
    connection = apsw.Connection(str(home / "mnemos.db"))
    # A merge gives the index sound keys again, and keeps the words.
    connection.execute("INSERT INTO messages_fts (messages_fts) VALUES ('optimize')")
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    with mnemos.open(home) as memory:
        assert failures(memory) == ["index"]
        list(memory.doctor(repair=True))
        assert failures(memory) == []

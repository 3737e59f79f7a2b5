"""Forgotten text is in no byte of any file of the home."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import apsw
import pytest
import re2

import mnemos
from mnemos.integrations.hooks.compaction import save_statements
from mnemos.notebook.notebook import digest
from mnemos.sessions import session_upkeep
from mnemos.storage.sqlite import scrub
from mnemos.storage.sqlite.handle import WriteHandle, merge_some

from .processes import Spawn
from .soundness import assert_sound, complaints, index_all

LETTERS = "bcdfghjklmnpqrstvwxz"


def traces(home: Path, words: Iterable[str]) -> list[tuple[str, str, int]]:
    """Words (or pieces of them) that a file of the home still has, whatever the case.

    The index leaves out what a word has in common with the one before it, so pieces are looked for too.
    """
    looked_for = [[piece.encode() for piece in pieces(word.lower())] for word in words]
    # One pass for all of them: mostly there is nothing to be found.
    any_of_them = re2.compile(b"|".join(re2.escape(piece) for word in looked_for for piece in word))
    found = []
    for path in sorted(home.iterdir()):
        data = path.read_bytes().lower()
        if any_of_them.search(data) is None:
            continue
        for word in looked_for:
            for piece in word:
                at = data.find(piece)
                if at >= 0:
                    found.append((path.name, piece.decode(), at // 4096 + 1))
                    break
    return found


def pieces(word: str) -> Iterator[str]:
    """Every stretch of eleven letters of the word has one of these."""
    if len(word) < 12:
        yield word
    else:
        yield from (word[start : start + 8] for start in range(0, len(word) - 7, 4))


def random_words(seed: int, count: int) -> list[str]:
    chance = random.Random(seed)
    return ["".join(chance.choices(LETTERS, k=16)) for _ in range(count)]


def talk(seed: int, count: int) -> list[dict[str, Any]]:
    """Messages of made-up words, some of them again and again."""
    chance = random.Random(seed)
    return [
        {"role": "user", "content": " ".join(chance.choices(VOCABULARY, k=chance.randint(5, 40)))}
        for _ in range(count)
    ]


VOCABULARY = [word[: 3 + number % 7] for number, word in enumerate(random_words(0, 3_000))]


def shuffled_in(seed: int, talk: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    mixed = [*talk, *more]
    random.Random(seed).shuffle(mixed)
    return mixed


def append(memory: mnemos.Memory, session: str, messages: list[dict[str, Any]]) -> list[int]:
    """In turns of a few, indexed now and then: the index gets the segments it has in real life."""
    ids: list[int] = []
    for start in range(0, len(messages), 150):
        ids += memory.sessions.append_messages(session, messages[start : start + 150])
        index_all(memory)
    return ids


@pytest.mark.parametrize("tidied", [False, True])
def test_forgotten_messages_leave_no_trace(home: Path, tidied: bool, request: pytest.FixtureRequest) -> None:
    secrets = random_words(1, 200 if request.config.getoption("--nightly") else 50)
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        messages = shuffled_in(
            2, talk(3, 2_500), [{"role": "user", "content": f"note {word} here"} for word in secrets]
        )
        ids = append(memory, "s", messages)
        if tidied:
            memory.sessions.optimize()
        assert len(traces(home, secrets)) >= len(secrets)
        for id, message in zip(ids, messages, strict=True):
            if message["content"].startswith("note "):
                assert memory.forget(f"message:{id}")["pending"] is False
        assert traces(home, secrets) == []
        memory.sessions.optimize()
        assert complaints(memory) == []
    assert traces(home, secrets) == []


@pytest.mark.parametrize("tidied", [False, True])
def test_forgotten_words_that_are_keys_of_the_index_leave_no_trace(home: Path, tidied: bool) -> None:
    """Words that differ in their last letters only: whole ones serve as keys to the pages of the index."""
    words = [f"customer{number:06d}" for number in range(3_000)]
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        messages = shuffled_in(5, talk(6, 500), [{"role": "user", "content": word} for word in words])
        ids = append(memory, "s", messages)
        if tidied:
            memory.sessions.optimize()
        chosen = {word for word in keys_of_the_index(home) if word in words}
        assert chosen
        chosen |= set(random.Random(4).sample(words, 100))
        for id, message in zip(ids, messages, strict=True):
            if message["content"] in chosen:
                memory.forget(f"message:{id}")
        left = [word for word in words if word not in chosen]
        for word in random.Random(5).sample(left, 50):
            assert len(memory.sessions.search_messages(word)) == 1
        assert complaints(memory) == []
    data = b"".join(path.read_bytes() for path in home.iterdir())
    assert [word for word in sorted(chosen) if word.encode() in data] == []


def keys_of_the_index(home: Path) -> set[str]:
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        keys = connection.execute("SELECT term FROM messages_fts_idx").fetchall()
        return {bytes(key)[1:].decode(errors="replace") for (key,) in keys}
    finally:
        connection.close()


def test_nothing_of_a_forgotten_message_stays_wherever_it_was_said(home: Path) -> None:
    text, argument, note, part, answer = random_words(7, 5)
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look", "arguments": f'{{"at": "{argument}"}}'},
    }
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        append(memory, "s", talk(8, 300))
        ids = memory.sessions.append_messages(
            "s",
            [
                {
                    "role": "user",
                    "content": f"{text.upper()} and Running{text.capitalize()}",
                    "metadata": {"a": note},
                },
                {"role": "assistant", "tool_calls": [call], "metadata": [note]},
                {"role": "tool", "content": answer, "tool_name": "look", "tool_call_id": "c1"},
                {
                    "role": "user",
                    "content": [{"type": "text", "text": part}, {"type": "image", "data": part}],
                },
            ],
        )
        append(memory, "s", talk(9, 300))
        for id in ids:
            memory.forget(f"message:{id}")
        assert [m["content"] for m in memory.sessions.get_messages("s")[300:304]] == ["[forgotten]"] * 4
        for word in (text, argument, note, part, answer):
            assert memory.sessions.search_messages(word) == []
    assert traces(home, (text, argument, note, part, answer)) == []


def test_a_message_too_long_for_a_page_leaves_no_trace(home: Path) -> None:
    secret, *others = random_words(10, 40)
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        append(memory, "s", talk(11, 200))
        long = " ".join(itertools.islice(itertools.cycle([secret, *others]), 20_000))
        kept = memory.sessions.append_message("s", "user", "keep this")
        id = memory.sessions.append_message("s", "user", long)
        append(memory, "s", talk(12, 200))
        memory.forget(f"message:{id}")
        assert memory.sessions.get_messages_around(kept, 0, 0)[0]["content"] == "keep this"
    assert traces(home, [secret, *others]) == []


@pytest.mark.parametrize("tidied", [False, True])
def test_a_forgotten_session_leaves_no_trace(home: Path, tidied: bool) -> None:
    title, prompt, config, note, text, second = random_words(13, 6)
    said = random_words(14, 150)
    with mnemos.open(home) as memory:
        for number in range(60):
            memory.sessions.create_session(
                f"other{number}", "cli", title=f"title {number}", system_prompt="p"
            )
        memory.sessions.create_session(
            "s",
            "cli",
            title=title,
            system_prompt=prompt * 200,
            model_config={"a": config},
            metadata={"b": note},
        )
        for number, word in enumerate(said):
            memory.sessions.append_messages(f"other{number % 60}", talk(15 + number, 12))
            memory.sessions.append_message("s", "user", f"{text} {word}")
        memory.sessions.set_title("s", second)
        memory.sessions.set_title("s", f"{second} again")
        memory.sessions.resolve_session("s")
        if tidied:
            memory.sessions.optimize()
        assert memory.forget("session:s")["pending"] is False
        assert memory.sessions.search_messages(text) == []
        assert traces(home, (title, prompt, config, note, text, second, *said)) == []
        assert complaints(memory) == []
    assert traces(home, (title, prompt, config, note, text, second, *said)) == []


def test_titles_leave_no_trace_in_what_the_engine_learned_about_them(home: Path) -> None:
    """Statistics for the query planner keep samples of what they are about."""
    titles = random_words(16, 400)
    with mnemos.open(home) as memory:
        for number, title in enumerate(titles):
            memory.sessions.create_session(f"s{number}", "cli", title=title)
        for title in titles[:50]:
            assert memory.sessions.resolve_session(title)
        memory.sessions.optimize()
        memory.sessions.optimize()
        for number in range(0, 400, 2):
            memory.forget(f"session:s{number}")
    assert traces(home, titles[0::2]) == []
    assert len(traces(home, titles[1::2])) == 200


def test_rows_that_were_moved_leave_no_copy_behind(home: Path) -> None:
    """Deleting makes the engine move rows between pages; what is forgotten later must go there too."""
    secrets = random_words(17, 150)
    forget_after_deleting_around(home, secrets)
    assert traces(home, secrets) == []


def test_short_texts_that_were_moved_leave_no_copy_behind(home: Path) -> None:
    """Too short to be distinguished from chance in a long file; a letter that nothing else has tells them
    apart.
    """
    secrets = [f"Ж{number:03d}" for number in range(150)]
    forget_after_deleting_around(home, secrets)
    data = b"".join(path.read_bytes() for path in home.iterdir())
    assert [word for word in secrets if word.encode() in data or word.lower().encode() in data] == []


def forget_after_deleting_around(home: Path, secrets: list[str]) -> None:
    with mnemos.open(home) as memory:
        for number in range(6):
            memory.sessions.create_session(f"s{number}", "cli")
        ids = []
        for number, secret in enumerate(secrets):
            for session in range(5):
                memory.sessions.append_messages(f"s{session}", talk(18 + number, 1 + session % 2))
            ids.append(memory.sessions.append_message("s5", "user", secret))
        index_all(memory)
        for session in range(5):
            memory.sessions.delete_session(f"s{session}")
        for id in ids:
            memory.forget(f"message:{id}")


def test_words_indexed_a_few_at_a_time_leave_no_trace(home: Path) -> None:
    """As in a slow conversation: many small pieces of index, merged and moved again and again."""
    secrets = random_words(23, 400)
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        ids = []
        for number, secret in enumerate(secrets):
            memory.sessions.append_messages("s", talk(24 + number, 1))
            ids.append(memory.sessions.append_message("s", "user", f"{secret[:2]} {secret}"))
            index_all(memory)
        chosen = list(range(0, 400, 3))
        for number in chosen:
            memory.forget(f"message:{ids[number]}")
        assert traces(home, [secrets[number] for number in chosen]) == []
        for number in (1, 100, 200):
            assert len(memory.sessions.search_messages(secrets[number])) == 1
    assert traces(home, [secrets[number] for number in chosen]) == []


def test_words_that_a_merge_has_left_behind_leave_no_trace(home: Path) -> None:
    """In the middle of a merge, keys of the index lead to leaves that are gone already."""
    words = [f"customer{number:06d}" for number in range(12_000)]
    random.Random(29).shuffle(words)
    with mnemos.open(home, embedder="none") as memory, memory.storage.without_background():
        memory.sessions.create_session("s", "cli")
        ids: list[int] = []
        for start in range(0, len(words), 4_000):
            some = [{"role": "user", "content": word} for word in words[start : start + 4_000]]
            ids += memory.sessions.append_messages("s", some)
            index_all(memory)
        pages = -16
        while not (left := [key for key in keys_without_leaf(home) if key in words]):
            memory.storage.write(lambda tx: merge_some(cast(WriteHandle, tx), pages))  # noqa: B023
            pages = 16
        for word in left:
            memory.forget(f"message:{ids[words.index(word)]}")
        data = b"".join(path.read_bytes() for path in home.iterdir())
        assert [word for word in left if word.encode() in data] == []
        kept = [word for word in words if word not in left]
        assert all(memory.sessions.search_messages(word) for word in random.Random(30).sample(kept, 200))
        assert complaints(memory) == []


def keys_without_leaf(home: Path) -> list[str]:
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return [bytes(key)[1:].decode() for _, key, leaf in connection.execute(scrub.SQL.keys) if not leaf]
    finally:
        connection.close()


def test_forgetting_locks_only_the_pages_that_have_a_trace(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the file is, the others are only read."""
    zeroed: list[int] = []
    zero = scrub._zero_gaps
    monkeypatch.setattr(scrub, "_zero_gaps", lambda *args: (zeroed.append(len(args[2])), zero(*args)))
    with mnemos.open(home, embedder="none") as memory:
        memory.sessions.create_session("s", "cli")
        ids = append(memory, "s", talk(31, 2_000))
        for place in (600, 900, 1_200):
            memory.forget(f"message:{ids[place]}")
        assert (home / "mnemos.db").stat().st_size > 200 * 4096
    assert 0 < sum(zeroed) < 40


def test_a_deleted_and_restored_session_is_forgotten_in_the_log_too(home: Path) -> None:
    """The audit log keeps a packed copy of a deleted session, which no search for bytes finds."""
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_messages("s", [{"role": "user", "content": "secret words"}])
        memory.sessions.delete_session("s")
        memory.undo()
        (message,) = memory.sessions.get_messages("s")
        memory.forget(f"message:{message['id']}")
        assert "secret" not in unpacked(memory)


def test_a_deleted_session_can_still_be_forgotten(home: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_messages("s", [{"role": "user", "content": "secret words"}])
        memory.sessions.delete_session("s")
        assert "secret" in unpacked(memory)
        assert memory.forget("session:s")["forgotten"] is True
        assert "secret" not in unpacked(memory)


def unpacked(memory: mnemos.Memory) -> str:
    """All that the audit log can still tell."""
    said = [text for entry in memory.log(1000) for text in (entry.before, entry.after) if text]
    plain = []
    for text in said:
        try:
            plain.append(str(session_upkeep.unpack(text)))
        except (ValueError, OSError, session_upkeep.zlib.error):
            plain.append(text)
    return " ".join(plain)


def test_what_is_forgotten_in_any_part_is_in_no_file_of_the_home(
    home: Path, attempts: Callable[[int], None]
) -> None:
    """A message, a fact taken from it, a removed note, an entry, a template, titles and their versions."""
    said, stated, noted, kept, called, title, former, renamed = random_words(33, 8)
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "terminal", "arguments": f'{{"a": "{called}"}}'},
    }
    with mnemos.open(home) as memory:
        sessions = memory.sessions
        sessions.create_session("s", "cli", title=f"title {title}")
        append(memory, "s", talk(34, 300))
        message = sessions.append_message("s", "user", f"I play the {stated}. The word is {said}.")
        assert save_statements(memory, "s") > 0
        sessions.create_session("gone", "cli")
        sessions.append_messages(
            "gone",
            [
                {"role": "user", "content": "look it up"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "content": "done", "tool_name": "terminal", "tool_call_id": "c1"},
                {"role": "assistant", "content": "That is all."},
            ],
        )
        assert memory.templates.create_template("gone", "lookup", description=former) is not None
        sessions.set_title("gone", renamed)
        sessions.delete_session("gone")
        memory.notebook.add(f"the note {noted}")
        memory.notebook.remove(noted)
        memory.entries.store("sam", "key", f"value {kept}")
        memory.entries.settle()
        index_all(memory)
        memory.embedding.catch_up()
        vectors = vectors_of(home)
        words = (said, stated, noted, kept, called, title, former, renamed)
        assert found_in(home, words) == set(words)
        refs = (
            f"message:{message}",
            f"note:memory:{digest(f'the note {noted}')}",
            "entry:1",
            "template:lookup",
        )
        for ref in (*refs, "session:gone", "session:s"):
            assert memory.forget(ref)["pending"] is False
        assert {path.name for path in home.iterdir()} >= {"mnemos.db", "mnemos.db-wal", "mnemos.db-shm"}
        assert found_in(home, words) == set()
        assert [codes for codes in vectors if codes in (home / "mnemos.db").read_bytes()] == []
        assert all(word not in unpacked(memory) for word in words)
        assert complaints(memory) == []
    assert found_in(home, words) == set()
    attempts(len(words) + len(vectors))


def found_in(home: Path, words: Iterable[str]) -> set[str]:
    """The words that a file of the home has a piece of, at any depth."""
    data = b"\n".join(path.read_bytes().lower() for path in home.rglob("*") if path.is_file())
    return {word for word in words if any(piece.encode() in data for piece in pieces(word.lower()))}


def vectors_of(home: Path) -> list[bytes]:
    """The vectors of the first messages and passages, as they are stored."""
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        chunks = connection.execute(
            "SELECT v.codes, e.dim FROM vectors AS v JOIN embeddings AS e ON e.id = v.embedding"
        ).fetchall()
        single = [bytes(codes) for (codes,) in connection.execute("SELECT codes FROM entry_vectors")]
    finally:
        connection.close()
    found = [codes[at : at + dim] for codes, dim in chunks for at in range(0, len(codes), dim)]
    return [codes for codes in [*found, *single] if any(codes)]


def test_forgetting_is_pending_while_another_process_reads(home: Path, spawn: Spawn) -> None:
    first, second = random_words(19, 2)
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        append(memory, "s", talk(20, 100))
        ids = [memory.sessions.append_message("s", "user", word) for word in (first, second)]
        index_all(memory)
        reader = spawn("hold_a_reader", database=str(home / "mnemos.db"))
        reader.line()
        assert memory.forget(f"message:{ids[0]}")["pending"] is True
        assert memory.sessions.search_messages(first) == []
        reader.finish()
        assert memory.forget(f"message:{ids[1]}")["pending"] is False
        assert traces(home, (first, second)) == []


def test_what_was_pending_is_gone_when_the_last_process_closes(home: Path, spawn: Spawn) -> None:
    (word,) = random_words(21, 1)
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        append(memory, "s", talk(22, 100))
        id = memory.sessions.append_message("s", "user", word)
        reader = spawn("hold_a_reader", database=str(home / "mnemos.db"))
        reader.line()
        assert memory.forget(f"message:{id}")["pending"] is True
        reader.finish()
    assert traces(home, [word]) == []


def test_forgetting_while_others_write_harms_nothing(home: Path, spawn: Spawn) -> None:
    """Erasing goes through pages that other processes remember and change."""
    secrets = random_words(26, 60)
    with mnemos.open(home) as memory:
        for session in ("s", "drop"):
            memory.sessions.create_session(session, "cli")
        ids = []
        for number, secret in enumerate(secrets):
            append(memory, "drop", talk(27 + number, 5))
            ids.append(memory.sessions.append_message("s", "user", f"note {secret}"))
        writers = [spawn("append_many", home=str(home), name=f"writer{n}", turns=400) for n in range(3)]
        assert [writer.line() for writer in writers] == ["ready"] * 3
        for writer in writers:
            writer.go()
        memory.sessions.delete_session("drop")
        for id in ids:
            memory.forget(f"message:{id}")
        assert [writer.finish() for writer in writers] == [["done"]] * 3
        assert memory.sessions.message_count() == 60 + 3 * 800
        assert len(memory.sessions.search_messages("writer2n399")) == 2
        memory.forget("session:s")
    assert_sound(home)
    assert traces(home, secrets) == []


def test_the_copies_that_still_have_the_text_are_named(home: Path, tmp_path: Path) -> None:
    with mnemos.open(home) as memory:
        memory.sessions.create_session("s", "cli")
        id = memory.sessions.append_message("s", "user", "words")
        memory.backup(tmp_path / "elsewhere.db")
        memory.backup(home / "beside.db")
        aside = memory.restore(tmp_path / "elsewhere.db")
        copies = memory.forget(f"message:{id}")["copies"]
    assert {str(tmp_path / "elsewhere.db"), str(home / "beside.db"), str(aside)} <= set(copies)
    assert len(copies) == len(set(copies))


def test_copies_of_a_database_with_a_name_of_its_own_are_named_too(tmp_path: Path) -> None:
    path = tmp_path / "agent.sqlite"
    with mnemos.SessionDB(path) as sessions:
        sessions.create_session("s", "cli")
        sessions.append_message("s", "user", "words")
        memory = sessions._memory
        memory.backup(tmp_path / "backup.db")
        aside = memory.restore(tmp_path / "backup.db")
        assert str(aside) in memory.forget("session:s")["copies"]

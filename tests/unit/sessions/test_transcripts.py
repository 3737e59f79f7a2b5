"""Export and import of whole sessions."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos import SessionDB
from mnemos.errors import InvalidInput, NotFound, TooLarge
from mnemos.sessions import transcript
from mnemos.testing import FixedClock

OpenDB = Callable[..., SessionDB]

CALL = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}


def without_ids(session: dict[str, Any]) -> dict[str, Any]:
    messages = [{key: value for key, value in m.items() if key != "id"} for m in session["messages"]]
    return session | {"messages": messages}


def fill(db: SessionDB, clock: FixedClock) -> None:
    """Two sessions with every field used."""
    db.create_session("root", "cli", started_at=1.5)
    db.append_message("root", "user", "hello", timestamp=2.5)
    db.end_session("root", "compression")
    db.create_session(
        "child",
        "telegram",
        "some-model",
        {"temperature": 0.5},
        "Be kind.",
        "user-1",
        "root",
        title="Títle 🎉",
        started_at=3.5,
        metadata={"nested": [1, {"a": None}]},
    )
    db.update_token_counts("child", 11, 13)
    db.append_messages(
        "child",
        [
            {"role": "user", "content": [{"type": "text", "text": "parts"}], "timestamp": 4.5},
            {"role": "assistant", "content": None, "tool_calls": [CALL, CALL], "token_count": 7},
            {"role": "tool", "content": "nul \0 lone \ud800", "tool_name": "run", "tool_call_id": "c1"},
            {"role": "assistant", "content": "", "metadata": {"finish": "stop"}, "timestamp": 0.125},
            {"role": "user", "content": "naïve 京都 \u2028 line"},
        ],
    )
    db.archive("child")
    clock.advance(100)


def test_an_exported_session_has_its_fields_and_messages(db: SessionDB) -> None:
    db.create_session("s", "cli")
    ids = db.append_messages("s", [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    exported = db.export_session("s")
    about = {key: exported[key] for key in exported if key != "messages"}
    assert about | {"revision": 2} == db.get_session("s")
    assert exported["messages"] == db.get_messages("s")
    assert [message["id"] for message in exported["messages"]] == ids


def test_exporting_an_unknown_session_is_not_found(db: SessionDB) -> None:
    with pytest.raises(NotFound):
        db.export_session("nobody")


def test_everything_is_exported(db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript, "PAGE", 7)
    for n in range(30):
        db.create_session(f"s{n}", "cli" if n % 3 else "web")
        db.append_messages(f"s{n}", [{"role": "user", "content": str(m)} for m in range(n)])
    exported = list(db.export_all())
    assert sorted(session["id"] for session in exported) == sorted(f"s{n}" for n in range(30))
    for session in exported:
        assert len(session["messages"]) == session["message_count"] == int(session["id"][1:])
    assert {session["source"] for session in db.export_all("web")} == {"web"}
    assert len(list(db.export_all("web"))) == 10


def test_archived_sessions_are_exported_too(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.archive("s")
    assert [session["id"] for session in db.export_all()] == ["s"]


def test_an_export_streams(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    export = db.export_all()
    assert next(export)["id"] == "a"
    db.append_message("b", "user", "written between the pages")
    assert next(export)["message_count"] in (0, 1)


def test_a_round_trip_keeps_every_field_but_the_message_ids(
    db: SessionDB, open_db: OpenDB, clock: FixedClock
) -> None:
    fill(db, clock)
    other = open_db("other.db", redact=False)
    other.create_session("occupied", "cli")
    other.append_message("occupied", "user", "takes the first id")
    done = other.import_sessions(db.export_all())
    assert sorted(done["imported"]) == ["child", "root"]
    assert (done["skipped"], done["messages"]) == ([], 6)
    for session_id in ("root", "child"):
        assert without_ids(other.export_session(session_id)) == without_ids(db.export_session(session_id))
    assert other.get_lineage("root") == db.get_lineage("root")


def test_a_round_trip_through_jsonl_keeps_every_field(
    db: SessionDB, open_db: OpenDB, clock: FixedClock
) -> None:
    fill(db, clock)
    stream = io.StringIO()
    assert db.export_jsonl(stream) == 2
    assert len(stream.getvalue().splitlines()) >= 2
    other = open_db("other.db", redact=False)
    stream.seek(0)
    assert len(other.import_jsonl(stream)["imported"]) == 2
    for session_id in ("root", "child"):
        assert without_ids(other.export_session(session_id)) == without_ids(db.export_session(session_id))


def test_every_line_of_jsonl_is_json(db: SessionDB, clock: FixedClock) -> None:
    fill(db, clock)
    stream = io.StringIO()
    db.export_jsonl(stream, "telegram")
    (line,) = stream.getvalue().split("\n")[:-1]
    assert without_ids(json.loads(line)) == without_ids(db.export_session("child"))


def test_a_forgotten_message_stays_forgotten_on_the_way(db: SessionDB, open_db: OpenDB) -> None:
    db.create_session("s", "cli")
    gone = db.append_message("s", "assistant", "secret", tool_calls=[CALL])
    db.forget_message(gone)
    other = open_db("other.db")
    other.import_sessions(db.export_all())
    assert without_ids(other.export_session("s")) == without_ids(db.export_session("s"))
    assert other.search_messages("forgotten") == []


def test_imported_messages_are_found(db: SessionDB, open_db: OpenDB, clock: FixedClock) -> None:
    fill(db, clock)
    other = open_db("other.db")
    other.import_sessions(db.export_all())
    assert [hit["session_id"] for hit in other.search_messages("京都")] == ["child"]
    assert other.stats()["pending"] == 0


def test_importing_twice_adds_nothing(db: SessionDB, open_db: OpenDB, clock: FixedClock) -> None:
    fill(db, clock)
    other = open_db("other.db")
    other.import_sessions(db.export_all())
    again = other.import_sessions(db.export_all())
    assert again["imported"] == []
    assert sorted(again["skipped"]) == ["child", "root"]
    assert again["messages"] == 0
    assert other.message_count() == db.message_count()


def test_a_child_may_come_before_its_parent(db: SessionDB) -> None:
    sessions = [
        {"id": "c", "source": "cli", "parent_session_id": "b"},
        {"id": "b", "source": "cli", "parent_session_id": "a"},
        {"id": "a", "source": "cli"},
    ]
    assert len(db.import_sessions(sessions)["imported"]) == 3
    assert db.get_lineage("a") == ["a", "b", "c"]


def test_a_session_without_its_parent_comes_alone(db: SessionDB) -> None:
    db.import_sessions([{"id": "s", "source": "cli", "parent_session_id": "elsewhere"}])
    session = db.get_session("s")
    assert session is not None
    assert session["parent_session_id"] is None


def test_a_parent_that_is_there_already_is_found(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.import_sessions([{"id": "b", "source": "cli", "parent_session_id": "a"}])
    assert db.get_lineage("a") == ["a", "b"]


def test_little_is_needed_of_a_session(db: SessionDB, clock: FixedClock) -> None:
    db.import_sessions(
        [{"id": "bare"}, {"id": "s", "messages": [{"role": "user", "content": "hi", "timestamp": 5.0}]}]
    )
    bare, other = db.get_session("bare"), db.get_session("s")
    assert bare is not None
    assert other is not None
    assert (bare["started_at"], other["started_at"]) == (clock(), 5.0)
    assert other["message_count"] == 1


def test_an_import_that_was_interrupted_is_completed(
    db: SessionDB, open_db: OpenDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "BATCH", 10)
    db.create_session("s", "cli")
    db.append_messages("s", [{"role": "user", "content": f"number{n}"} for n in range(45)])
    (whole,) = db.export_all()
    other = open_db("other.db")
    half = whole | {"messages": whole["messages"][:20]}
    other.import_sessions([half])
    done = other.import_sessions([whole])
    assert (done["imported"], done["messages"]) == (["s"], 25)
    assert without_ids(other.export_session("s")) == without_ids(whole)


def test_an_import_stopped_between_batches_is_completed_by_the_next(
    db: SessionDB, open_db: OpenDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript, "BATCH", 10)
    db.create_session("s", "cli")
    db.append_messages("s", [{"role": "user", "content": f"number{n}"} for n in range(45)])
    other = open_db("other.db")
    storage = other._storage
    caught_up, batches = storage.catch_up, []

    def stop(seconds: float | None = None) -> int:
        batches.append(seconds)
        if len(batches) == 3:
            raise KeyboardInterrupt
        return caught_up(seconds)

    monkeypatch.setattr(storage, "catch_up", stop)
    with pytest.raises(KeyboardInterrupt):
        other.import_sessions(db.export_all())
    monkeypatch.setattr(storage, "catch_up", caught_up)
    assert 0 < other.message_count() < 45
    assert other.import_sessions(db.export_all())["imported"] == ["s"]
    assert without_ids(other.export_session("s")) == without_ids(db.export_session("s"))


def test_a_session_that_went_another_way_is_left_alone(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "ours")
    theirs = {
        "id": "s",
        "messages": [{"role": "user", "content": "theirs"}, {"role": "user", "content": "and more"}],
    }
    assert db.import_sessions([theirs])["skipped"] == ["s"]
    assert [message["content"] for message in db.get_messages("s")] == ["ours"]


GOOD = {"id": "good", "source": "cli", "messages": [{"role": "user", "content": "fine"}]}


@pytest.mark.parametrize(
    "bad",
    [
        "text",
        None,
        [],
        {},
        {"id": ""},
        {"id": "a\nb"},
        {"id": 5},
        {"id": "x", "source": ""},
        {"id": "x", "messages": "text"},
        {"id": "x", "messages": {"role": "user"}},
        {"id": "x", "messages": ["text"]},
        {"id": "x", "messages": [{"content": "no role"}]},
        {"id": "x", "messages": [{"role": "user", "content": 5}]},
        {"id": "x", "messages": [{"role": "user", "timestamp": "then"}]},
        {"id": "x", "messages": [{"role": "user", "text": "unknown field"}]},
        {"id": "x", "started_at": "then"},
        {"id": "x", "ended_at": float("nan")},
        {"id": "x", "input_tokens": -1},
        {"id": "x", "title": 5},
        {"id": "x", "system_prompt": 5},
        {"id": "x", "metadata": {"f": ...}},
        {"id": "good"},
        {"id": "x", "parent_session_id": "x"},
    ],
    ids=ascii,
)
def test_nothing_is_written_when_the_last_session_is_bad(db: SessionDB, bad: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        db.import_sessions([GOOD, bad])
    assert caught.value.code == "invalid_input"
    assert db.session_count(archived=None) == 0
    assert db.message_count() == 0


def test_sessions_that_are_each_others_parents_are_invalid(db: SessionDB) -> None:
    with pytest.raises(InvalidInput):
        db.import_sessions(
            [{"id": "a", "parent_session_id": "b"}, {"id": "b", "parent_session_id": "a"}, GOOD]
        )
    assert db.session_count() == 0


def test_a_message_too_large_is_named_and_nothing_is_written(open_db: OpenDB) -> None:
    db = open_db(max_message_bytes=100)
    large = {"id": "large", "messages": [{"role": "user", "content": "x" * 200}]}
    with pytest.raises(TooLarge) as caught:
        db.import_sessions([GOOD, large])
    assert "session 2" in str(caught.value)
    assert "message 1" in str(caught.value)
    assert db.session_count() == 0


def test_a_bad_line_is_named_and_nothing_is_written(db: SessionDB) -> None:
    for bad in ("{not json", "5", '"text"', "[]"):
        lines = [json.dumps(GOOD), "", bad]
        with pytest.raises(InvalidInput) as caught:
            db.import_jsonl(lines)
        assert "3" in str(caught.value)
        assert db.session_count() == 0


def test_blank_lines_are_passed_over(db: SessionDB) -> None:
    assert db.import_jsonl(["\n", json.dumps(GOOD) + "\n", "  \n"])["imported"] == ["good"]


def test_an_empty_import_does_nothing(db: SessionDB) -> None:
    assert db.import_sessions([]) == {"imported": [], "skipped": [], "messages": 0}
    assert db.import_jsonl([])["imported"] == []


TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)


@given(
    contents=st.lists(
        TEXT | st.none() | st.lists(st.fixed_dictionaries({"text": TEXT}), max_size=2), max_size=5
    ),
    prompt=st.text(max_size=20) | st.none(),
    started=st.floats(0, 4e9),
)
def test_any_session_survives_the_round_trip(contents: list[Any], prompt: str | None, started: float) -> None:
    with SessionDB(":memory:", redact=False) as first, SessionDB(":memory:", redact=False) as second:
        clean = None if prompt is None else prompt.replace("\0", "")
        first.create_session("s", "cli", system_prompt=clean, started_at=started)
        first.append_messages("s", [{"role": "user", "content": one} for one in contents])
        stream = io.StringIO()
        first.export_jsonl(stream)
        second.import_jsonl(stream.getvalue().split("\n"))
        assert without_ids(second.export_session("s")) == without_ids(first.export_session("s"))

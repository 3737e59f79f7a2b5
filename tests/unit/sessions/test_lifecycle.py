"""Sessions are created, titled, ended and resolved by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemos import SessionDB
from mnemos.errors import (
    AlreadyExists,
    Ambiguous,
    InvalidInput,
    MnemosError,
    NotFound,
    ReadOnly,
    Refused,
    TooLarge,
)
from mnemos.testing import FixedClock

KEYS = [
    "id", "source", "user_id", "model", "model_config", "system_prompt", "parent_session_id", "started_at",
    "ended_at", "end_reason", "message_count", "tool_call_count", "input_tokens", "output_tokens", "title",
    "metadata", "archived", "project", "branch", "revision", "updated_at",
]  # fmt: skip


def get(db: SessionDB, session_id: str = "s") -> dict[str, Any]:
    session = db.get_session(session_id)
    assert session is not None
    return session


# --- creating ---------------------------------------------------------------------------------


def test_a_new_session_is_written_at_once(db: SessionDB, clock: FixedClock) -> None:
    assert db.create_session("s", "cli") == "s"
    session = get(db)
    assert list(session) == KEYS
    assert session == dict.fromkeys(KEYS) | {
        "id": "s",
        "source": "cli",
        "started_at": clock(),
        "message_count": 0,
        "revision": 1,
        "updated_at": clock(),
        "tool_call_count": 0,
        "input_tokens": 0,
        "output_tokens": 0,
        "archived": False,
    }


def test_the_fixed_arguments_can_be_given_by_position(db: SessionDB) -> None:
    db.create_session("parent", "cli")
    db.create_session("s", "telegram", "model", {"t": 1}, "Be kind.", "user", "parent")
    session = get(db)
    assert session["source"] == "telegram"
    assert session["model"] == "model"
    assert session["model_config"] == {"t": 1}
    assert session["system_prompt"] == "Be kind."
    assert session["user_id"] == "user"
    assert session["parent_session_id"] == "parent"


def test_the_further_arguments_are_kept(db: SessionDB) -> None:
    db.create_session("s", "cli", title="Title", started_at=12.5, metadata={"a": ["b", None]})
    session = get(db)
    assert (session["title"], session["started_at"]) == ("Title", 12.5)
    assert session["metadata"] == {"a": ["b", None]}


def test_an_id_in_use_already_exists(db: SessionDB) -> None:
    db.create_session("s", "cli", title="first")
    with pytest.raises(AlreadyExists) as caught:
        db.create_session("s", "web", title="second")
    assert caught.value.code == "already_exists"
    assert (get(db)["source"], get(db)["title"]) == ("cli", "first")


def test_an_unknown_parent_is_not_found(db: SessionDB) -> None:
    with pytest.raises(NotFound) as caught:
        db.create_session("s", "cli", parent_session_id="nobody")
    assert caught.value.code == "not_found"
    assert db.get_session("s") is None


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, "cli"),
        ({"HERMES_SESSION_SOURCE": "telegram"}, "telegram"),
        ({"MNEMOS_SOURCE": "discord", "HERMES_SESSION_SOURCE": "telegram"}, "discord"),
    ],
)
def test_the_default_source_comes_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with SessionDB(tmp_path / "x.db") as db:
        db.ensure_session("s")
        assert get(db)["source"] == expected


@pytest.mark.parametrize("bad", ["", " ", None, 5, "a\nb", "a\0b", "\ud800", "tab\tbed"])
def test_an_id_must_be_a_printable_text(db: SessionDB, bad: Any) -> None:
    with pytest.raises(InvalidInput):
        db.create_session(bad, "cli")
    assert db.session_count() == 0


def test_an_id_may_not_be_endless(db: SessionDB) -> None:
    with pytest.raises(TooLarge) as caught:
        db.create_session("x" * 1000, "cli")
    assert caught.value.code == "too_large"


@pytest.mark.parametrize(
    "wrong",
    [
        {"started_at": "today"},
        {"started_at": float("nan")},
        {"started_at": 1_767_225_600_000},
        {"started_at": True},
        {"metadata": ...},
        {"model_config": {1j: 2}},
        {"system_prompt": 5},
        {"title": "two\nlines"},
        {"user_id": 7},
    ],
    ids=str,
)
def test_a_wrong_value_is_invalid_input(db: SessionDB, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        db.create_session("s", "cli", **wrong)
    assert caught.value.code == "invalid_input"
    assert next(iter(wrong)) in str(caught.value)
    assert db.session_count() == 0


@pytest.mark.parametrize(
    "title", ["会議　メモ", "خانه‌ها", "👨‍👩‍👧 family", "non\u00a0breaking", "naïve café"], ids=ascii
)
def test_titles_of_every_script_are_welcome(db: SessionDB, title: str) -> None:
    db.create_session("s", "cli", title=title)
    assert get(db)["title"] == title


def test_an_empty_system_prompt_is_not_none(db: SessionDB) -> None:
    db.create_session("s", "cli", system_prompt="")
    assert get(db)["system_prompt"] == ""


# --- ensuring ---------------------------------------------------------------------------------


def test_ensuring_creates_what_is_missing(db: SessionDB) -> None:
    assert db.ensure_session("s", "cli", title="Title") == "s"
    assert get(db)["title"] == "Title"


def test_ensuring_overwrites_nothing(db: SessionDB) -> None:
    db.create_session("s", "cli", "model", {"a": 1}, "prompt", "user", title="Title", started_at=1.0)
    db.create_session("other", "cli")
    before = get(db)
    db.ensure_session("s", "web", "other", {"b": 2}, "other", "other", title="Other", started_at=2.0)
    assert get(db) == before


def test_ensuring_fills_what_is_empty(db: SessionDB) -> None:
    db.create_session("parent", "cli")
    db.create_session("s", "cli")
    db.ensure_session("s", "cli", "model", {"a": 1}, "prompt", "user", "parent", title="T", metadata=[1])
    session = get(db)
    assert (session["model"], session["model_config"], session["system_prompt"]) == (
        "model",
        {"a": 1},
        "prompt",
    )
    assert (session["user_id"], session["parent_session_id"]) == ("user", "parent")
    assert (session["title"], session["metadata"]) == ("T", [1])


def test_a_session_cannot_become_its_own_ancestor(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli", parent_session_id="a")
    for parent in ("a", "b"):
        with pytest.raises(Refused):
            db.ensure_session("a", "cli", parent_session_id=parent)
    assert db.get_lineage("a") == ["a", "b"]


# --- changing ---------------------------------------------------------------------------------


def test_the_first_end_reason_stays(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("s", "cli")
    db.end_session("s", "done")
    ended = clock()
    clock.advance(60)
    db.end_session("s", "timeout")
    assert (get(db)["end_reason"], get(db)["ended_at"]) == ("done", ended)


def test_a_reopened_session_has_no_end(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.end_session("s", "done")
    db.reopen_session("s")
    assert (get(db)["end_reason"], get(db)["ended_at"]) == (None, None)


def test_the_system_prompt_can_be_changed(db: SessionDB) -> None:
    db.create_session("s", "cli", system_prompt="old")
    db.update_system_prompt("s", "new")
    assert get(db)["system_prompt"] == "new"
    db.update_system_prompt("s", None)
    assert get(db)["system_prompt"] is None


def test_a_key_of_the_metadata_is_set_and_the_others_stay(db: SessionDB) -> None:
    db.create_session("s", "cli", metadata={"branch": "main", "tags": ["a"]})
    db.update_metadata("s", {"tags": ["b"], "color": "red"})
    assert get(db)["metadata"] == {"branch": "main", "tags": ["b"], "color": "red"}


def test_a_session_without_metadata_can_be_given_some(db: SessionDB) -> None:
    db.create_session("s", "cli", system_prompt="Be kind.")
    db.update_metadata("s", {"color": "red"})
    assert (get(db)["metadata"], get(db)["system_prompt"]) == ({"color": "red"}, "Be kind.")


def test_metadata_is_updated_by_keys_only(db: SessionDB) -> None:
    db.create_session("s", "cli", metadata={"a": 1})
    with pytest.raises(InvalidInput):
        db.update_metadata("s", "b")  # type: ignore[arg-type]
    assert get(db)["metadata"] == {"a": 1}


def test_metadata_that_has_no_keys_is_left_as_it_is(db: SessionDB) -> None:
    db.create_session("s", "cli", metadata=[])
    with pytest.raises(Refused):
        db.update_metadata("s", {"color": "red"})
    assert get(db)["metadata"] == []


def test_token_counts_add_up(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.update_token_counts("s", 10, 20)
    db.update_token_counts("s", input_tokens=1)
    db.update_token_counts("s", output_tokens=2)
    assert (get(db)["input_tokens"], get(db)["output_tokens"]) == (11, 22)


@pytest.mark.parametrize("wrong", [-1, 1.5, "1", None, True, 1 << 60])
def test_a_token_count_is_a_whole_number(db: SessionDB, wrong: Any) -> None:
    db.create_session("s", "cli")
    with pytest.raises(InvalidInput):
        db.update_token_counts("s", wrong)
    assert get(db)["input_tokens"] == 0


def test_a_title_can_be_set_and_removed(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.set_title("s", "Title")
    assert get(db)["title"] == "Title"
    db.set_title("s", None)
    assert get(db)["title"] is None


def test_changing_an_unknown_session_is_not_found(db: SessionDB) -> None:
    for change in (
        lambda: db.end_session("x", "done"),
        lambda: db.reopen_session("x"),
        lambda: db.update_system_prompt("x", "p"),
        lambda: db.update_metadata("x", {}),
        lambda: db.update_token_counts("x", 1),
        lambda: db.set_title("x", "t"),
        lambda: db.archive("x"),
        lambda: db.unarchive("x"),
    ):
        with pytest.raises(NotFound) as caught:
            change()
        assert caught.value.code == "not_found"


def test_an_unknown_session_is_none(db: SessionDB) -> None:
    assert db.get_session("nobody") is None


@pytest.mark.parametrize("odd", ["\ud800", "a\0b", "x" * 600, ""], ids=["surrogate", "nul", "long", "empty"])
def test_an_id_no_session_can_have_is_an_unknown_one(db: SessionDB, odd: str) -> None:
    assert db.get_session(odd) is None
    assert db.message_count(odd) == 0
    assert db.delete_session(odd) is False
    for ask in (db.get_messages, db.get_lineage, db.export_session, db.forget_session):
        with pytest.raises((NotFound, InvalidInput)):
            ask(odd)


@pytest.mark.parametrize("wrong", [None, 5, b"s"])
def test_an_id_that_is_not_a_string_is_invalid_input(db: SessionDB, wrong: Any) -> None:
    for ask in (db.get_session, db.get_messages, db.get_lineage, db.export_session, db.delete_session):
        with pytest.raises(InvalidInput):
            ask(wrong)


# --- names ------------------------------------------------------------------------------------


def test_a_session_is_resolved_by_id_beginning_or_title(db: SessionDB) -> None:
    db.create_session("20260101-abc", "cli", title="Release plan")
    db.create_session("20260102-def", "cli")
    assert db.resolve_session("20260101-abc") == "20260101-abc"
    assert db.resolve_session("20260102") == "20260102-def"
    assert db.resolve_session("release PLAN") == "20260101-abc"


def test_an_exact_id_wins_over_a_title_and_a_title_over_a_beginning(db: SessionDB) -> None:
    db.create_session("plan", "cli")
    db.create_session("plan-b", "cli")
    db.create_session("x", "cli", title="plan")
    db.create_session("y", "cli", title="plan-")
    assert db.resolve_session("plan") == "plan"
    assert db.resolve_session("plan-") == "y"


def test_an_exact_id_wins_however_many_begin_with_it(db: SessionDB) -> None:
    db.create_session("plan", "cli", started_at=1.0)
    for n in range(30):
        db.create_session(f"plan-{n}", "cli")
    assert db.resolve_session("plan") == "plan"


def test_a_title_wins_however_many_ids_begin_with_it(db: SessionDB) -> None:
    db.create_session("x", "cli", title="plan", started_at=1.0)
    for n in range(30):
        db.create_session(f"plan-{n}", "cli")
    assert db.resolve_session("plan") == "x"


def test_several_fitting_sessions_are_ambiguous(db: SessionDB) -> None:
    db.create_session("abc1", "cli", title="same")
    db.create_session("abc2", "cli", title="same")
    for text in ("abc", "same"):
        with pytest.raises(Ambiguous) as caught:
            db.resolve_session(text)
        assert caught.value.code == "ambiguous"


def test_no_fitting_session_is_not_found(db: SessionDB) -> None:
    db.create_session("abc", "cli")
    for text in ("x", "abcd", "%", "_"):
        with pytest.raises(NotFound):
            db.resolve_session(text)


# --- lists ------------------------------------------------------------------------------------


def test_sessions_are_listed_newest_first(db: SessionDB) -> None:
    for n in range(5):
        db.create_session(f"s{n}", "cli" if n % 2 else "web", started_at=float(n))
    assert [session["id"] for session in db.search_sessions()] == ["s4", "s3", "s2", "s1", "s0"]
    assert [session["id"] for session in db.search_sessions("cli")] == ["s3", "s1"]
    assert [session["id"] for session in db.search_sessions(limit=2, offset=1)] == ["s3", "s2"]
    assert list(db.search_sessions()[0]) == KEYS


def test_sessions_and_messages_are_counted(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "web")
    db.append_message("a", "user", "one")
    db.append_messages("b", [{"role": "user", "content": "two"}, {"role": "user", "content": "three"}])
    assert (db.session_count(), db.session_count("web"), db.session_count("x")) == (2, 1, 0)
    assert (db.message_count(), db.message_count("b"), db.message_count("x")) == (3, 2, 0)


def test_archived_sessions_are_left_out_of_lists_and_still_found(db: SessionDB) -> None:
    db.create_session("a", "cli", started_at=1.0)
    db.create_session("b", "cli", started_at=2.0)
    db.append_message("a", "user", "parrot")
    db.archive("a")
    assert [session["id"] for session in db.search_sessions()] == ["b"]
    assert [session["id"] for session in db.search_sessions(archived=True)] == ["a"]
    assert [session["id"] for session in db.search_sessions(archived=None)] == ["b", "a"]
    assert (db.session_count(), db.session_count(archived=None)) == (1, 2)
    assert [hit["session_id"] for hit in db.search_messages("parrot")] == ["a"]
    db.unarchive("a")
    assert db.session_count() == 2


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"limit": "5"}, {"offset": -1}, {"offset": 1.5}])
def test_wrong_pages_are_invalid_input(db: SessionDB, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        db.search_sessions(**wrong)


# --- opening and closing ------------------------------------------------------------------------


def test_a_session_database_is_a_context_manager(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "x.db") as db:
        db.create_session("s", "cli")
    db.close()
    with pytest.raises(MnemosError):
        db.get_session("s")


def test_what_was_written_is_there_when_opened_again(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "x.db") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "parrot")
    with SessionDB(str(tmp_path / "x.db")) as db:
        assert [hit["session_id"] for hit in db.search_messages("parrot")] == ["s"]


def test_without_a_path_the_default_home_is_used(home: Path) -> None:
    with SessionDB() as db:
        db.create_session("s", "cli")
    assert (home / "mnemos.db").is_file()


def test_a_read_only_database_refuses_writes(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "x.db") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "parrot")
    with SessionDB(tmp_path / "x.db", read_only=True) as db:
        assert len(db.get_messages("s")) == 1
        assert len(db.search_messages("parrot")) == 1
        with pytest.raises(ReadOnly) as caught:
            db.append_message("s", "user", "no")
        assert caught.value.code == "read_only"


def test_reading_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        SessionDB(tmp_path / "nothing.db", read_only=True)
    assert list(tmp_path.glob("nothing*")) == []


def test_spaces_of_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    with (
        SessionDB(tmp_path / "x.db", space="alice") as alice,
        SessionDB(tmp_path / "x.db", space="bob") as bob,
    ):
        alice.create_session("s", "cli")
        one = alice.append_message("s", "user", "parrot")
        assert bob.get_session("s") is None
        assert bob.search_messages("parrot") == []
        with pytest.raises(NotFound):
            bob.forget_message(one)
        assert list(bob.export_all()) == []


def test_a_database_in_memory_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SessionDB(":memory:") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "parrot")
        assert len(db.search_messages("parrot")) == 1
    assert list(tmp_path.iterdir()) == []

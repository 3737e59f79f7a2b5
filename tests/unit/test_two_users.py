"""Two users and two projects in one space."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mnemos
from mnemos.errors import InvalidInput, NotFound, Refused
from mnemos.memory import Memory

WEB, API = "/src/web", "/src/api"
VECTORS = pytest.mark.parametrize("words_only", [True, False], ids=["by words", "with vectors"])


def talk(memory: Memory, session_id: str, *lines: str, **fields: str) -> list[int]:
    memory.sessions.create_session(session_id, **fields)  # type: ignore[arg-type]
    roles = ("user", "assistant")
    return memory.sessions.append_messages(
        session_id, [{"role": roles[n % 2], "content": line} for n, line in enumerate(lines)]
    )


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with mnemos.open(home, project=WEB) as opened:
        yield opened


@pytest.fixture
def users(memory: Memory) -> dict[str, list[int]]:
    ids = {
        "ada": talk(memory, "of-ada", "My locker has the number 4711", "Noted.", user_id="ada"),
        "bob": talk(memory, "of-bob", "My locker has the number 9922", "Noted.", user_id="bob"),
        "all": talk(memory, "of-all", "The locker room closes at ten", "Noted."),
    }
    memory.embedding.catch_up()
    return ids


# --- users ----------------------------------------------------------------------------------------


@VECTORS
@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "embedded"])
def test_recall_has_nothing_of_another_user(memory: Memory, words_only: bool, fresh: bool) -> None:
    talk(memory, "of-ada", "My locker has the number 4711", user_id="ada")
    talk(memory, "of-bob", "My locker has the number 9922", user_id="bob")
    talk(memory, "of-all", "The locker room closes at ten")
    if not fresh:
        memory.embedding.catch_up()
    found = memory.recall("what is my locker number?", user_id="bob", words_only=words_only)
    assert {hit.session_id for hit in found} == {"of-bob", "of-all"}
    assert "4711" not in found.text
    everything = memory.recall("what is my locker number?", words_only=words_only)
    assert {hit.session_id for hit in everything} == {"of-ada", "of-bob", "of-all"}


def test_messages_of_others_do_not_make_an_answer_less_certain(memory: Memory) -> None:
    talk(memory, "of-ada", "The parrot lives in the garden", "Noted.", user_id="ada")
    alone = memory.recall("where is the bird?", user_id="ada")
    for number in range(40):
        lines = [f"Line {line} about the topic {number}" for line in range(100)]
        talk(memory, f"of-bob-{number}", *lines, user_id="bob")
    memory.embedding.catch_up()
    crowded = memory.recall("where is the bird?", user_id="ada")
    assert (alone.certainty, crowded.certainty) == ("good", "good")


def test_searches_and_lists_have_nothing_of_another_user(memory: Memory, users: dict[str, list[int]]) -> None:
    sessions = memory.sessions
    visible = {"of-bob", "of-all"}
    assert {hit["session_id"] for hit in sessions.search_messages("locker", user_id="bob")} == visible
    found = sessions.session_search("locker number", user_id="bob")["conversations"]
    assert {one["session_id"] for one in found} == visible
    assert {one["session_id"] for one in sessions.session_search(user_id="bob")["sessions"]} == visible
    assert {one["id"] for one in sessions.search_sessions(user_id="bob")} == visible
    assert (sessions.session_count(user_id="bob"), sessions.session_count()) == (2, 3)
    assert sessions.search_messages("locker", session_ids=["of-ada"], user_id="bob") == []


def test_a_session_of_another_user_is_not_there(memory: Memory, users: dict[str, list[int]]) -> None:
    sessions = memory.sessions
    with pytest.raises(NotFound):
        sessions.session_search(session_id="of-ada", user_id="bob")
    with pytest.raises(NotFound):
        sessions.session_search("locker", session_id="of-ada", user_id="bob")
    with pytest.raises(NotFound):
        sessions.session_search(around_message_id=users["ada"][0], user_id="bob")
    with pytest.raises(NotFound):
        sessions.resolve_session("of-a", user_id="eve@example.com") and sessions.resolve_session(
            "of-ada", user_id="bob"
        )
    assert sessions.session_search(around_message_id=users["ada"][0], user_id="ada")["messages"]
    assert sessions.resolve_session("of-a", user_id="bob") == "of-all"


def test_a_session_that_gets_its_user_later_is_hidden_then(memory: Memory) -> None:
    talk(memory, "s", "My locker has the number 4711")
    assert len(memory.recall("locker number", user_id="bob")) == 1
    memory.sessions.ensure_session("s", user_id="ada")
    assert len(memory.recall("locker number", user_id="bob")) == 0
    assert len(memory.recall("locker number", user_id="ada")) == 1


def test_an_operation_is_run_for_a_user_whatever_the_model_says(
    memory: Memory, users: dict[str, list[int]]
) -> None:
    found = memory.call("recall", {"query": "locker number"}, user_id="bob")
    assert {hit["session_id"] for hit in found["hits"]} == {"of-bob", "of-all"}
    listed = memory.call("session_search", {}, user_id="bob")
    assert {one["session_id"] for one in listed["sessions"]} == {"of-bob", "of-all"}
    with pytest.raises(InvalidInput):
        memory.call("recall", {"query": "locker number", "user_id": "ada"}, user_id="bob")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("sessions_show", {"session": "of-ada"}),
        ("log", {}),
        ("undo", {}),
        ("sessions_delete", {"session": "of-ada"}),
    ],
)
@pytest.mark.usefixtures("users")
def test_a_tool_that_cannot_tell_users_apart_is_refused(
    memory: Memory, name: str, args: dict[str, str]
) -> None:
    with pytest.raises(Refused):
        memory.call(name, args, user_id="bob")


def test_notes_and_tables_are_shared(memory: Memory) -> None:
    memory.call("memory", {"action": "add", "content": "The office closes at ten"}, user_id="ada")
    assert "ten" in memory.call("notebook_show", {}, user_id="bob")["text"]
    assert memory.call("sqlite_schema", {}, user_id="bob")


@pytest.mark.usefixtures("users")
def test_sql_over_the_history_has_nothing_of_another_user(memory: Memory) -> None:
    memory.facts.write("V[user.home]: Berlin", user_id="ada")
    asked = {"query": "SELECT (SELECT count(*) FROM mnemos_sessions), count(*) FROM mnemos_messages"}
    for user, counts in (("bob", [[2, 4]]), (None, [[3, 6]]), ("ada", [[2, 4]])):
        assert memory.call("sqlite_query", asked, user_id=user)["rows"] == counts
    found = memory.call("sqlite_query", {"query": "SELECT * FROM mnemos_facts"}, user_id="bob")
    assert found["rows"] == []


@pytest.mark.parametrize("user_id", ["", " ", "a\nb", 7])
def test_what_cannot_be_a_user_is_refused(memory: Memory, user_id: str) -> None:
    with pytest.raises(InvalidInput):
        memory.recall("locker", user_id=user_id)
    with pytest.raises(InvalidInput):
        memory.sessions.search_sessions(user_id=user_id)


# --- facts ----------------------------------------------------------------------------------------


@pytest.fixture
def facts(memory: Memory) -> None:
    memory.facts.write("V[user.home]: Berlin", user_id="ada")
    memory.facts.write("V[user.home]: Hamburg", user_id="bob")
    memory.facts.write("V[office.home]: Munich")


@pytest.mark.usefixtures("facts")
def test_each_user_has_an_own_fact_on_a_target(memory: Memory) -> None:
    for user, home, other in (("ada", "Berlin", "Hamburg"), ("bob", "Hamburg", "Berlin")):
        assert [fact.content for fact in memory.facts.history("user.home", user_id=user)] == [home]
        assert {fact.content for fact in memory.facts.list(user_id=user)} == {home, "Munich"}
        assert {fact.content for fact in memory.facts.search("home", user_id=user)} == {home, "Munich"}
        assert {fact.content for fact in memory.facts.reflect("home", user_id=user)} == {home, "Munich"}
        block = memory.facts.status(user_id=user).text
        assert (home in block, "Munich" in block, other in block) == (True, True, False)
    assert len(memory.facts.list()) == 3
    assert {fact.content for fact in memory.facts.search("home")} == {"Berlin", "Hamburg", "Munich"}


@VECTORS
@pytest.mark.usefixtures("facts")
def test_recall_has_no_fact_of_another_user(memory: Memory, words_only: bool) -> None:
    found = memory.recall("which home", user_id="bob", words_only=words_only)
    assert "Hamburg" in found.text
    assert "Berlin" not in found.text
    memory.embedding.catch_up()
    found = memory.recall("which home", user_id="bob", words_only=words_only)
    assert {hit.text.rpartition(": ")[2] for hit in found if hit.kind == "fact"} == {"Hamburg", "Munich"}


@pytest.mark.usefixtures("facts")
def test_an_update_touches_the_facts_of_its_user_only(memory: Memory) -> None:
    memory.facts.write("V[user.home]: Bremen", user_id="bob")
    assert [fact.content for fact in memory.facts.list(user_id="ada")] == ["Berlin", "Munich"]
    assert [fact.content for fact in memory.facts.history("user.home", user_id="bob")] == [
        "Hamburg",
        "Bremen",
    ]


def test_what_one_user_knows_is_not_known_to_all(memory: Memory) -> None:
    memory.facts.write("V[office.close]: the office closes at ten", user_id="ada")
    assert not memory.facts.says("the office closes at ten")
    memory.facts.write("V[office.close]: the office closes at ten")
    assert memory.facts.says("the office closes at ten")


def test_a_doubt_of_one_user_does_not_reach_another(memory: Memory) -> None:
    memory.facts.remember("The office is in Munich")
    memory.facts.remember("The office is now in Bremen, room 9922", user_id="bob")
    for words_only in (True, False):
        (hit,) = memory.recall("where is the office", user_id="ada", words_only=words_only)
        assert (hit.ref, hit.state) == ("f1", "current")
    assert memory.facts.conflicts(user_id="ada") == []


@pytest.mark.usefixtures("facts")
def test_a_fact_of_another_user_is_neither_shown_nor_forgotten(memory: Memory) -> None:
    (own,) = memory.facts.history("user.home", user_id="ada")
    with pytest.raises(NotFound):
        memory.facts.forget(own.id, user_id="bob")
    with pytest.raises(NotFound):
        memory.call("forget", {"ref": f"fact:{own.id}"}, user_id="bob")
    with pytest.raises(NotFound):
        memory.facts.history("user.home", user_id="eve")
    assert memory.facts.get(own.id).state == "live"


def test_a_session_of_another_user_is_not_forgotten(memory: Memory, users: dict[str, list[int]]) -> None:
    for ref in ("session:of-ada", f"message:{users['ada'][0]}"):
        with pytest.raises(NotFound):
            memory.forget(ref, user_id="bob")
    assert memory.forget("session:of-ada", user_id="ada")["forgotten"]


@pytest.mark.usefixtures("facts")
def test_tools_remember_and_show_for_their_user(memory: Memory) -> None:
    memory.call("remember", {"text": "I am allergic to peanuts"}, user_id="bob")
    assert "peanuts" in memory.call("memory_status", {}, user_id="bob")["text"]
    assert "peanuts" not in memory.call("memory_status", {}, user_id="ada")["text"]
    assert "peanuts" not in memory.call("memory_search", {"query": "peanuts"}, user_id="ada")["text"]


def test_the_facts_of_many_users_leave_room_for_each(memory: Memory) -> None:
    for number in range(40):
        memory.facts.write(f"V[user.home]: a town with the number {number}", user_id=f"user{number}")
    for number in (0, 39):
        assert f"number {number}" in memory.facts.status(user_id=f"user{number}").text


# --- projects -------------------------------------------------------------------------------------


@pytest.fixture
def projects(memory: Memory) -> None:
    talk(memory, "in-api", "How do we run the tests?", "With tox, which starts the database.", project=API)
    talk(memory, "in-web", "How do we run the tests?", "With pytest and four workers.")
    talk(memory, "nowhere", "What does the gardener cost?", "Forty a month.", project="/src/garden")


@VECTORS
@pytest.mark.usefixtures("projects")
def test_the_current_project_comes_first_and_another_is_named(memory: Memory, words_only: bool) -> None:
    found = memory.recall("how do we run the tests", words_only=words_only)
    projects = [hit.project for hit in found]
    assert projects[0] == WEB
    assert API in projects
    assert "project api" in found.text
    assert "project web" not in found.text


@VECTORS
@pytest.mark.usefixtures("projects")
def test_a_preference_is_not_a_wall(memory: Memory, words_only: bool) -> None:
    assert (
        memory.recall("what does the gardener cost", words_only=words_only).hits[0].project == "/src/garden"
    )


@pytest.mark.usefixtures("projects")
def test_the_preference_can_be_turned_off(memory: Memory, home: Path) -> None:
    question = "how do we run the tests with tox"
    with mnemos.open(home, project=API, prefer_project=False) as other:
        plain = other.recall(question)
        assert plain.hits == memory.recall(question, all_projects=True).hits
        assert plain.hits != memory.recall(question).hits


@pytest.mark.usefixtures("projects")
def test_a_project_is_chosen_by_its_path_or_name(memory: Memory) -> None:
    for name in (API, "api", "API"):
        assert {hit.project for hit in memory.recall("run the tests", project=name)} == {API}
    sessions = memory.sessions
    assert [one["id"] for one in sessions.search_sessions(project="api")] == ["in-api"]
    assert [one["id"] for one in sessions.export_all(project="api")] == ["in-api"]
    assert {hit["session_id"] for hit in sessions.search_messages("tests", project="api")} == {"in-api"}
    found = sessions.session_search("run the tests", project="api")["conversations"]
    assert [one["session_id"] for one in found] == ["in-api"]
    with pytest.raises(NotFound):
        memory.recall("run the tests", project="unknown")


@pytest.mark.usefixtures("projects")
def test_session_search_prefers_the_current_project(memory: Memory, home: Path) -> None:
    found = memory.sessions.session_search("how do we run the tests")["conversations"]
    assert [one["session_id"] for one in found][:2] == ["in-web", "in-api"]
    with mnemos.open(home, project=API) as other:
        found = other.sessions.session_search("how do we run the tests")["conversations"]
        assert [one["session_id"] for one in found][:2] == ["in-api", "in-web"]


def test_many_like_it_elsewhere_do_not_crowd_the_project_out(memory: Memory) -> None:
    talk(memory, "in-web", "How do we run the tests?", "With pytest and four workers.", started_at=1.0)  # type: ignore[arg-type]
    for number in range(120):
        talk(memory, f"s{number}", "How do we run the tests?", "With tox.", project=f"/other/p{number}")
    assert memory.recall("how do we run the tests").hits[0].project == WEB


def test_a_new_session_belongs_to_the_current_project_and_travels_with_it(
    memory: Memory, tmp_path: Path
) -> None:
    talk(memory, "s", "hello", branch="main")
    memory.export(tmp_path / "all.tar")
    with mnemos.open(tmp_path / "other") as other:
        other.import_archive(tmp_path / "all.tar")
        session = other.sessions.get_session("s")
        assert session is not None
        assert (session["project"], session["branch"]) == (WEB, "main")


def test_a_write_names_no_conflict_with_another_users_fact(memory: Memory) -> None:
    memory.facts.write("C[db.id]: UUID mandatory", user_id="ada")
    memory.facts.write("V[port]: 8080", scope="alpha", user_id="ada")
    assert memory.facts.write("D[db.id]: autoincrement", user_id="bob").conflicts == ()
    assert memory.facts.write("V[port]: 9090", scope="beta", user_id="bob").conflicts == ()
    assert len(memory.facts.write("D[db.id]: autoincrement", user_id="ada").conflicts) == 1

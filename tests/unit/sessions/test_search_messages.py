"""Results of a message search."""

from __future__ import annotations

from typing import Any

import pytest

from mnemos import SessionDB
from mnemos.errors import InvalidInput
from mnemos.testing import FixedClock

KEYS = {
    "id", "session_id", "role", "snippet", "timestamp", "tool_name", "source", "model", "session_started",
    "context",
}  # fmt: skip


def hits(db: SessionDB, query: str, **options: Any) -> list[int]:
    return [hit["id"] for hit in db.search_messages(query, **options)]


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("what's", "so what's the plan"),
        ("C++", "rewrite it in C++"),
        ("gateway/run.py", "look at gateway/run.py line 3"),
        ("user@host", "ssh user@host"),
        ("50%", "it is at 50% now"),
        ("#485", "closes #485"),
        ("$5", "just $5 a month"),
        ("foo-bar", "pip install foo-bar"),
        ('"unbalanced', 'he said "unbalanced'),
        ("TODO: fix", "# TODO: fix this"),
        ("a,b", "f(a,b)"),
        ("NOT", "do NOT delete"),
        ("🎉", "released 🎉"),
        ("nul\0byte", "a nul\0byte here"),
        ("deploy", "we deployed it"),
        ("cafe", "im Café"),
        ("京都", "来週京都へ"),
        ("ข้อมูล", "ฐานข้อมูล"),
        ("snake_case", "my_snake_case_name"),
        ("camelCase", "the camelCaseName"),
        ("a.b.c", "import a.b.c"),
    ],
)
def test_these_queries_find_the_text_that_contains_them(db: SessionDB, query: str, text: str) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "something else entirely, with words of its own")
    own = db.append_message("s", "user", text)
    assert hits(db, query) == [own]
    (hit,) = db.search_messages(query)
    assert ">>>" in hit["snippet"]
    assert not hit["partial"]


@pytest.mark.parametrize(
    "query", ["", "   ", "\n", '"', '""', "-", "*", "***", "%", "\0", "()[]{}", "' OR 1=1"]
)
def test_no_query_raises_and_an_empty_one_finds_nothing(db: SessionDB, query: str) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "hello")
    assert db.search_messages(query) == []


def test_a_hit_tells_where_it_is(db: SessionDB, clock: FixedClock) -> None:
    db.create_session("s", "telegram", "some-model", started_at=5.0)
    db.append_message("s", "user", "before")
    own = db.append_message("s", "tool", "the green parrot", tool_name="look", timestamp=7.0)
    db.append_message("s", "assistant", "after")
    (hit,) = db.search_messages("parrot")
    assert set(hit) >= KEYS
    assert hit["id"] == own
    assert (hit["session_id"], hit["role"], hit["timestamp"]) == ("s", "tool", 7.0)
    assert (hit["tool_name"], hit["source"], hit["model"]) == ("look", "telegram", "some-model")
    assert hit["session_started"] == 5.0
    assert hit["snippet"] == "the green >>>parrot<<<"
    assert hit["context"] == [
        {"role": "user", "content": "before"},
        {"role": "tool", "content": "the green parrot"},
        {"role": "assistant", "content": "after"},
    ]


def test_the_context_is_of_the_same_session_however_sessions_interleave(db: SessionDB) -> None:
    for name in "abc":
        db.create_session(name, "cli")
    for n in range(30):
        name = "abc"[n % 3]
        db.append_message(name, "user", f"{name} number{n // 3}" + (" parrot" if n == 16 else ""))
    (hit,) = db.search_messages("parrot")
    assert [one["content"] for one in hit["context"]] == ["b number4", "b number5 parrot", "b number6"]


def test_the_context_ends_where_the_session_does(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_messages("s", [{"role": "user", "content": "parrot"}, {"role": "user", "content": "pigeon"}])
    (first,) = db.search_messages("parrot")
    (last,) = db.search_messages("pigeon")
    assert len(first["context"]) == len(last["context"]) == 2


def test_the_context_is_cut_at_200_characters(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "long " * 500)
    db.append_message("s", "user", "filler " * 500 + "parrot")
    db.append_message("s", "user", [{"type": "text", "text": "parts " * 500}])
    (hit,) = db.search_messages("parrot")
    assert [len(one["content"]) for one in hit["context"]] == [200, 200, 200]
    assert hit["context"][0]["content"].startswith("long long")
    assert hit["context"][2]["content"].startswith("parts parts")


def test_a_message_of_200_characters_is_not_cut(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_messages("s", [{"role": "user", "content": "x" * 200}, {"role": "user", "content": "parrot"}])
    (hit,) = db.search_messages("parrot")
    assert hit["context"][0]["content"] == "x" * 200


def test_the_context_of_multimodal_and_empty_messages_is_text(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", [{"type": "image_url", "image_url": {"url": "data:x"}}])
    db.append_message("s", "user", [{"type": "text", "text": "a parrot"}, {"type": "image_url"}])
    db.append_message("s", "assistant", None, tool_calls=[{"id": "1"}])
    (hit,) = db.search_messages("parrot")
    assert [one["content"] for one in hit["context"]] == ["", "a parrot", ""]


def test_a_forgotten_neighbour_says_so(db: SessionDB) -> None:
    db.create_session("s", "cli")
    gone = db.append_message("s", "user", "secret")
    db.append_message("s", "user", "parrot")
    db.forget_message(gone)
    (hit,) = db.search_messages("parrot")
    assert hit["context"][0] == {"role": "user", "content": "[forgotten]"}


def test_words_of_a_tool_call_are_shown(db: SessionDB) -> None:
    db.create_session("s", "cli")
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "search_web", "arguments": '{"q": "parrots"}'},
    }
    db.append_message("s", "assistant", "I will look that up.", tool_calls=[call])
    (hit,) = db.search_messages("parrots")
    assert ">>>parrots<<<" in hit["snippet"]
    (hit,) = db.search_messages("search_web")
    assert ">>>" in hit["snippet"]


def test_a_partial_hit_says_so_and_still_marks_what_matched(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "a leak in some memory")
    for query in ("leak zebra", '"memory leak"', "memory/leak", "memoryLeak"):
        (hit,) = db.search_messages(query)
        assert hit["partial"], query
        assert ">>>" in hit["snippet"], query


def test_filters_can_be_one_name_or_several(db: SessionDB) -> None:
    ids = {}
    for source in ("cli", "web", "cron"):
        db.create_session(source, source)
        ids[source] = db.append_message(source, "user" if source != "web" else "assistant", "parrot")
    assert hits(db, "parrot", source_filter="cli") == [ids["cli"]]
    assert sorted(hits(db, "parrot", source_filter=["cli", "web"])) == [ids["cli"], ids["web"]]
    assert hits(db, "parrot", role_filter="assistant") == [ids["web"]]
    assert sorted(hits(db, "parrot", role_filter=("user",))) == [ids["cli"], ids["cron"]]
    assert hits(db, "parrot", session_ids=["cron"]) == [ids["cron"]]
    assert sorted(hits(db, "parrot", exclude_session_ids=["cron"])) == [ids["cli"], ids["web"]]
    assert hits(db, "parrot", source_filter=[]) == []
    assert len(hits(db, "parrot")) == 3


def test_the_fixed_arguments_can_be_given_by_position(db: SessionDB) -> None:
    db.create_session("s", "cli")
    ids = [db.append_message("s", "user", "parrot") for _ in range(4)]
    assert len(db.search_messages("parrot", ["cli"], ["user"], 2, 1)) == 2
    assert sorted(hits(db, "parrot", limit=4)) == ids


def test_filters_by_time_and_order(db: SessionDB) -> None:
    db.create_session("s", "cli")
    ids = [db.append_message("s", "user", "parrot", timestamp=float(time)) for time in (30, 10, 20)]
    assert hits(db, "parrot", sort="newest") == [ids[0], ids[2], ids[1]]
    assert hits(db, "parrot", sort="oldest") == [ids[1], ids[2], ids[0]]
    assert sorted(hits(db, "parrot", since=20)) == [ids[0], ids[2]]
    assert hits(db, "parrot", until=20) == [ids[1]]
    assert hits(db, "parrot", since=10.5, until=20.5) == [ids[2]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"query": None},
        {"query": 5},
        {"sort": "best"},
        {"sort": None},
        {"limit": 0},
        {"limit": 100_000},
        {"limit": "5"},
        {"limit": True},
        {"offset": -1},
        {"offset": 1.5},
        {"since": "someday"},
        {"since": 20.0, "until": 20.0},
        {"since": 1e11, "until": 5},
        {"until": float("nan")},
        {"source_filter": [1]},
        {"role_filter": 5},
        {"session_ids": [None]},
    ],
    ids=str,
)
def test_a_wrong_argument_is_invalid_input(db: SessionDB, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as caught:
        db.search_messages(**({"query": "parrot"} | wrong))
    assert caught.value.code == "invalid_input"


@pytest.mark.parametrize("odd", ["\ud800", "a\0b", "", "x" * 5000])
def test_a_filter_no_session_can_fit_finds_nothing(db: SessionDB, odd: str) -> None:
    db.create_session("s", "cli")
    own = db.append_message("s", "user", "parrot")
    assert hits(db, "parrot", session_ids=[odd]) == []
    assert hits(db, "parrot", source_filter=[odd]) == []
    assert hits(db, "parrot", role_filter=[odd]) == []
    assert hits(db, "parrot", exclude_session_ids=[odd]) == [own]


def test_a_query_may_hold_what_no_text_can(db: SessionDB) -> None:
    db.create_session("s", "cli")
    own = db.append_message("s", "user", "parrot \ud800 lone")
    assert hits(db, "parrot \ud800") == [own]


def test_a_hit_names_the_root_of_its_conversation(db: SessionDB) -> None:
    db.create_session("root", "cli")
    db.create_session("middle", "cli", parent_session_id="root")
    db.create_session("tip", "cli", parent_session_id="middle")
    db.append_message("tip", "user", "parrot")
    db.append_message("root", "user", "pigeon")
    (hit,) = db.search_messages("parrot")
    assert (hit["session_id"], hit["root_session_id"]) == ("tip", "root")
    (hit,) = db.search_messages("pigeon")
    assert hit["root_session_id"] == "root"


def test_the_root_of_a_delegated_task_is_the_task(db: SessionDB) -> None:
    db.create_session("root", "cli")
    db.create_session("task", "subagent", parent_session_id="root")
    db.create_session("task-2", "cli", parent_session_id="task")
    db.append_message("task", "user", "parrot")
    db.append_message("task-2", "user", "pigeon")
    (hit,) = db.search_messages("parrot")
    assert hit["root_session_id"] == "task"
    (hit,) = db.search_messages("pigeon")
    assert hit["root_session_id"] == "task"


def test_results_equal_plain_lists_and_render_as_tables(db: SessionDB) -> None:
    db.create_session("s", "cli", title="<b>garden</b>")
    db.append_message("s", "user", "roses & <i>tulips</i>")
    sessions, hits = db.search_sessions(), db.search_messages("tulips")
    assert sessions == [db.get_session("s")]
    assert hits == list(hits)
    assert "<td>&lt;b&gt;garden&lt;/b&gt;</td><td></td>" in sessions._repr_html_()
    assert "roses &amp; &lt;i&gt;&gt;&gt;&gt;tulips&lt;&lt;&lt;&lt;/i&gt;" in hits._repr_html_()

"""The text of results."""

from __future__ import annotations

from typing import Any

import pytest

from mnemos.operations.archive import BackedUp, Restored
from mnemos.operations.base import Done, Result, fill
from mnemos.operations.forget import Forgotten
from mnemos.operations.search import ConversationsFound, MessagesFound
from mnemos.operations.session_files import SessionsExported, SessionsImported
from mnemos.operations.session_records import Appended, Created
from mnemos.operations.sessions import Lineage, Pruned, SessionList, SessionShown
from mnemos.operations.texts import render_size
from mnemos.operations.upkeep import Examined, Log, Stats

SESSION: dict[str, Any] = {
    "id": "s", "session_id": "s", "title": "Lisbon", "source": "cli", "model": None, "started_at": 0.0,
    "ended_at": None, "end_reason": None, "message_count": 2, "messages": 2, "parent_session_id": None,
    "archived": False, "root_session_id": "s", "user_id": None, "model_config": None, "system_prompt": None,
    "tool_call_count": 0, "input_tokens": 0, "output_tokens": 0, "metadata": None,
    "project": None, "branch": None,
}  # fmt: skip
MESSAGE: dict[str, Any] = {
    "id": 7, "session_id": "s", "role": "user", "content": "hello", "tool_name": None, "tool_calls": None,
    "tool_call_id": None, "token_count": None, "timestamp": 0.0, "metadata": None,
}  # fmt: skip
HIT: dict[str, Any] = {
    "id": 1, "session_id": "s", "role": "user", "snippet": "a\n  b", "timestamp": 0.0, "tool_name": None,
    "source": "cli", "model": None, "session_started": 0.0, "context": [], "root_session_id": "s",
    "score": 1.0, "partial": False, "title": "Lisbon", "project": None, "short_id": "s",
}  # fmt: skip


def sessions(count: int = 1, **changes: Any) -> SessionList:
    return fill(SessionList, {"sessions": [SESSION | changes], "total": count})


def conversations(**values: Any) -> ConversationsFound:
    return fill(ConversationsFound, values)


def shown(session: dict[str, Any], *messages: dict[str, Any]) -> str:
    return fill(SessionShown, {"session": session, "messages": list(messages)}).as_text()


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1_500_000, "1.5 MB"),
        (2e9, "2.0 GB"),
        (5e12, "5000.0 GB"),
    ],
)
def test_a_size_is_said_in_the_unit_that_suits_it(count: float, said: str) -> None:
    assert render_size(count) == said


@pytest.mark.parametrize(
    "result",
    [
        sessions(message_count=1),
        MessagesFound(query="x", partial=False, hits=[]),
        conversations(mode="browse", sessions=[SESSION | {"messages": 1, "opening": ""}]),
        Pruned(sessions=1, dry_run=True),
        Pruned(sessions=1, dry_run=False),
        SessionsExported(path="x", sessions=1),
        SessionsImported(imported=["a"], skipped=["b"], messages=1),
        conversations(mode="read", session=SESSION, left_out=1),
    ],
    ids=lambda result: type(result).__name__,
)
def test_one_thing_is_not_said_as_several(result: Result) -> None:
    said = result.as_text()
    for words in ("1 sessions", "1 messages", "1 hits", "1 were", "1 more conversations"):
        assert words not in said


def test_several_things_are_said_as_several() -> None:
    assert "Would delete 2 sessions" in Pruned(sessions=2, dry_run=True).as_text()
    assert "Deleted 0 sessions" in Pruned(sessions=0, dry_run=False).as_text()
    assert "2 messages" in sessions().as_text()


def test_a_list_says_how_much_of_the_whole_it_is() -> None:
    assert "1 of 40" in sessions(40).as_text()
    assert SessionList(sessions=[], total=0).as_text() == "No sessions."


def test_a_session_is_said_with_title_end_and_messages() -> None:
    ended = SESSION | {"ended_at": 60.0, "end_reason": "finished"}
    said = shown(ended, MESSAGE)
    for words in ("s", "Lisbon", "finished", "[7] user: hello"):
        assert words in said
    silent = MESSAGE | {"content": None, "tool_calls": [{"function": {"name": "read_file"}}]}
    assert "read_file" in shown(SESSION, silent)
    parts = MESSAGE | {"content": [{"type": "text", "text": "in parts"}]}
    assert "in parts" in shown(SESSION, parts)


def test_small_results_say_what_happened() -> None:
    for result, words in (
        (Done(done="It is so."), "It is so."),
        (Created(session_id="s"), "s"),
        (Appended(message_id=7, message_ids=[6, 7]), "message:7"),
        (Lineage(sessions=["a", "b"], shown=[]), ""),
        (Restored(former_data="/x/old.db"), "/x/old.db"),
        (BackedUp(path="/x/copy.db", bytes=2000), "2.0 kB"),
        (SessionsImported(imported=["a", "b"], skipped=[], messages=3), "2 sessions"),
    ):
        assert words in result.as_text()


def test_an_import_says_what_was_there_already_only_when_something_was() -> None:
    assert "already" in SessionsImported(imported=[], skipped=["a", "b"], messages=0).as_text()
    assert "already" not in SessionsImported(imported=["a", "b"], skipped=[], messages=3).as_text()


def test_forgetting_says_what_is_left_of_it() -> None:
    clean = Forgotten(ref="message:3", forgotten=True, pending=False, copies=[])
    assert clean.as_text() == "Erased message:3."
    full = Forgotten(
        ref="message:3",
        forgotten=True,
        pending=True,
        copies=["/x/copy.db", "/x/old.db"],
        tables=["two.notes"],
        unsearched=["/x/large.csv"],
        dates={"/x/copy.db": 86_400.0 * 366},
        erased=["fact:f1"],
        kept=["the title of session:s", "fact:f2"],
    )
    for text in (full.as_text(), full.for_person()):
        named = (
            "/x/copy.db (1971-01-0",
            "/x/old.db",
            "two.notes",
            "/x/large.csv",
            "fact:f1",
            "forget fact:f2",
        )
        assert all(name in text for name in named)
        assert "{" not in text
    assert "`mnemos workspace compact two`" in full.for_person()
    assert "mnemos" not in full.as_text()


def test_the_log_says_what_was_undone() -> None:
    entry = {
        "id": 3,
        "at": 0.0,
        "actor": "me",
        "operation": "sessions.delete",
        "ref": "session:s",
        "before": None,
        "after": None,
        "undone_by": 4,
    }
    assert "undone by 4" in fill(Log, {"entries": [entry]}).as_text()
    assert "undone" not in fill(Log, {"entries": [entry | {"undone_by": None}]}).as_text()
    assert Log(entries=[]).as_text() == "No changes yet."


def test_an_examination_says_which_check_failed_and_what_to_do() -> None:
    checks = [{"name": "a", "ok": True, "detail": "fine"}, {"name": "b", "ok": False, "detail": "torn"}]
    said = fill(Examined, {"healthy": False, "checks": checks, "usage": []}).as_text()
    assert "BAD  b: torn" in said
    assert "repair" in said
    assert "Healthy" in fill(Examined, {"healthy": True, "checks": checks[:1], "usage": []}).as_text()


def test_statistics_name_the_largest_tables_first() -> None:
    stats = {
        "location": "/x", "sessions": 2, "messages": 3, "facts": 4,
        "by_source": [{"source": "cli", "sessions": 2, "messages": 3}],
        "file_bytes": 5000, "log_bytes": 0, "free_bytes": 1000, "tables": {"small": 1, "large": 4000},
        "pending": 1,
        "usage": [{"name": "exports", "used": 4_096, "limit": 5_000_000, "setting": "exports_bytes"}],
    }  # fmt: skip
    said = fill(Stats, stats).as_text()
    assert "exports 4.1 kB of 5.0 MB" in said
    assert said.index("large") < said.index("small")
    assert "cli: 2 sessions, 3 messages" in said


def test_an_answer_says_when_words_are_missing() -> None:
    found = {"query": "x", "partial": True, "hits": [HIT]}
    assert "No message has all the words" in fill(MessagesFound, found).as_text()
    said = fill(MessagesFound, found | {"partial": False}).as_text()
    assert "No message" not in said
    assert "a b" in said


def test_a_conversation_says_whether_a_model_or_nobody_summed_it_up() -> None:
    best = {"message_id": 1, "role": "user", "at": 0.0, "snippet": "x", "around": []}
    found = SESSION | {"hits": 1, "best": best, "opening": [], "closing": [], "others": []}

    def said(**more: str) -> str:
        return conversations(mode="discovery", conversations=[found | more]).as_text()

    assert "by a model" in said(summary="It went well.", summary_by="model")
    assert "not today" in said(summary_by="extract", summary_failure="not today")
    assert "model" not in said()


def test_an_answer_says_how_much_more_there_is() -> None:
    best = {"message_id": 1, "role": "user", "at": 0.0, "snippet": "x", "around": []}
    found = SESSION | {"hits": 1, "best": best, "opening": [], "closing": [], "others": []}
    assert "5 more" in conversations(mode="discovery", conversations=[found], more=5).as_text()
    assert "12 messages left out" in conversations(mode="read", session=SESSION, left_out=12).as_text()

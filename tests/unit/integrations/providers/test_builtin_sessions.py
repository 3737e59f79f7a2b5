"""The built-in provider writes conversations down: turns, facts before compression, sessions, tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builtin_steps import answer, recalled, said, settle

from mnemos import Memory
from mnemos.integrations.providers import BuiltinMemoryProvider
from mnemos.integrations.providers.background_worker import Worker
from mnemos.testing import FixedClock
from mnemos.text.tokens import count_tokens

# --- turns ----------------------------------------------------------------------------------------


def test_a_turn_is_stored_with_its_tool_calls(
    memory: Memory, builtin: BuiltinMemoryProvider, clock: FixedClock
) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
    conversation = [
        {"role": "user", "content": "Which port?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "name": "shell", "content": "5433"},
        {"role": "assistant", "content": "5433."},
    ]
    builtin.on_turn_start(1, "Which port?")
    clock.advance(10)
    builtin.sync_turn("Which port?", "5433.", messages=conversation)
    settle(builtin)
    assert said(memory, "s1") == [
        ("user", "Which port?"), ("assistant", None), ("tool", "5433"), ("assistant", "5433.")
    ]  # fmt: skip
    first, *_, last = memory.sessions.get_messages("s1")
    assert last["timestamp"] - first["timestamp"] == 10
    session = memory.sessions.get_session("s1")
    assert session is not None
    assert session["source"] == "cli"


def test_a_turn_with_invalid_tool_calls_keeps_its_text(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    odd = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": "", "tool_calls": [{"a": object()}]},
    ]
    builtin.sync_turn("hello", "hi", messages=odd)
    settle(builtin)
    assert said(memory, "s1") == [("user", "hello"), ("assistant", "hi")]


def test_a_deleted_session_is_created_again_by_the_next_turn(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    builtin.sync_turn("one", "1")
    settle(builtin)
    memory.sessions.delete_session("s1")
    builtin.sync_turn("two", "2")
    settle(builtin)
    assert said(memory, "s1") == [("user", "two"), ("assistant", "2")]


def test_turns_go_to_the_session_they_name(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.sync_turn("one", "1", session_id="group")
    settle(builtin)
    assert said(memory, "group") == [("user", "one"), ("assistant", "1")]
    assert memory.sessions.get_session("s1") is None


def test_a_turn_ticks_the_facts(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    memory.facts.write("D[login]: by e-mail", scope="login", session_id="s1")
    builtin.on_turn_start(1, "The login is merged and deployed, we are done with it.")
    settle(builtin)
    assert [scope.is_open for scope in memory.facts.scopes()] == [False]


@pytest.mark.parametrize("context", ["subagent", "cron", "flush"])
def test_only_a_primary_agent_is_recorded_automatically(memory: Memory, context: str) -> None:
    provider = BuiltinMemoryProvider(memory)
    provider.initialize("s1", agent_context=context)
    statement = [{"role": "user", "content": "We decided to use PostgreSQL for billing."}]
    provider.on_turn_start(1, "hello there")
    provider.sync_turn("hello there", "hi")
    provider.on_delegation("task", "result")
    assert "PostgreSQL" in provider.on_pre_compress(statement)
    provider.on_session_end(statement)
    provider.on_session_switch("s2", parent_session_id="s1")
    settle(provider)
    assert memory.sessions.session_count() == 0
    assert memory.facts.count() == 0
    assert answer(provider, "memory_write", content="V[a]: b")["success"] is True
    assert memory.facts.count() == 1


def test_a_disabled_memory_stores_nothing_and_says_so(clock: FixedClock) -> None:
    with Memory.at(":memory:", clock=clock, disabled=True, embedder="none") as memory:
        provider = BuiltinMemoryProvider(memory)
        provider.initialize("s1")
        provider.on_turn_start(1, "hello there")
        provider.sync_turn("hello there", "hi")
        provider.on_pre_compress([{"role": "user", "content": "We decided to use PostgreSQL for billing."}])
        provider.on_session_end([])
        settle(provider)
        assert memory.sessions.session_count() == 0
        said = answer(provider, "memory_write", content="V[a]: b")
        assert (said["success"], said["code"]) == (False, "disabled")


def test_a_failed_write_is_reported_and_the_next_one_runs(memory: Memory) -> None:
    reported: list[tuple[str, str]] = []
    provider = BuiltinMemoryProvider(
        memory, worker=Worker(), report=lambda hook, exc: reported.append((hook, type(exc).__name__))
    )
    provider.initialize("s1")
    provider.sync_turn("one", "1", session_id="not\na name")
    provider.sync_turn("two", "2")
    settle(provider)
    assert reported == [("sync_turn", "InvalidInput")]
    assert said(memory, "s1") == [("user", "two"), ("assistant", "2")]


# --- compression ----------------------------------------------------------------------------------


def test_statements_are_saved_with_their_message_and_returned_for_the_summary(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    statement = "We decided to use PostgreSQL for the billing service."
    builtin.sync_turn("hello there", "hi")
    builtin.sync_turn(statement, "Noted.")
    lines = builtin.on_pre_compress(
        [{"role": "user", "content": "hello there"}, {"role": "user", "content": statement}]
    )
    (fact,) = memory.facts.list()
    assert fact.type == "D"
    assert "PostgreSQL" in fact.content
    assert fact.session_id == "s1"
    (message,) = [one for one in memory.sessions.get_messages("s1") if one["content"] == statement]
    assert fact.message_id == message["id"]
    assert str(fact) in lines


def test_a_message_that_is_not_stored_is_not_a_source(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.on_pre_compress([{"role": "user", "content": "V[srv.prod]: api.example.com:3005"}])
    (fact,) = memory.facts.list()
    assert (str(fact), fact.message_id) == ("V[srv.prod]: api.example.com:3005", None)


def test_tool_results_and_recalled_text_are_not_saved_as_facts(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    stated = "We decided to use PostgreSQL for the billing service."
    block = f"<recalled-memory>\n{stated}\n</recalled-memory>"
    messages = [
        {"role": "tool", "content": stated},
        {"role": "user", "content": block},
        {"role": "system", "content": stated},
    ]
    assert builtin.on_pre_compress(messages) == ""
    assert memory.facts.count() == 0


def test_no_secret_of_a_conversation_gets_into_facts_targets_or_candidates(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    messages = [
        {"role": "user", "content": f"We decided to use {token} for CI. The deploy token is {token}."}
    ]
    builtin.sync_turn(messages[0]["content"], "ok")
    lines = builtin.on_pre_compress(messages)
    builtin.on_session_end([*messages, {"role": "user", "content": f"The backup token is {token}."}])
    settle(builtin)
    assert "deploy.token" in lines
    session = memory.sessions.get_session("s1")
    kept = [lines, str(session), *map(str, memory.facts.list())]
    assert not [text for text in kept if token[4:].lower() in text.lower()]


def test_an_obsolete_line_without_a_match_withdraws_nothing(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    lines = builtin.on_pre_compress([{"role": "user", "content": "~[nothing]: gone\n\nV[a.port]: 1"}])
    assert lines.splitlines()[1:] == ["- V[a.port]: 1"]


@pytest.mark.parametrize("messages", [None, [], "odd", [None, 5, {"role": "user"}], [{"content": "x"}]])
def test_invalid_messages_state_nothing(builtin: BuiltinMemoryProvider, messages: Any) -> None:
    assert builtin.on_pre_compress(messages) == ""


def test_the_lines_for_a_summary_keep_to_their_budget(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    text = "\n".join(
        f"V[port.{number}]: {number} and a few more words to fill the line" for number in range(150)
    )
    lines = builtin.on_pre_compress([{"role": "user", "content": text}])
    assert count_tokens(lines) <= 800
    assert "V[port.149]" in lines
    assert memory.facts.count() == 150


# --- sessions -------------------------------------------------------------------------------------


def test_a_compressed_session_ends_and_the_next_is_its_child(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    builtin.sync_turn("one", "1")
    builtin.on_pre_compress([])
    builtin.on_session_switch("s2", parent_session_id="s1", reason="compression")
    builtin.sync_turn("two", "2")
    settle(builtin)
    first = memory.sessions.get_session("s1")
    assert first is not None
    assert first["end_reason"] == "compressed"
    assert memory.sessions.get_lineage("s2") == ["s1", "s2"]


def test_a_resumed_session_keeps_its_parent(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    memory.sessions.create_session("before", "cli")
    memory.sessions.end_session("before", "ended")
    builtin.sync_turn("one", "1")
    builtin.on_session_switch("before", parent_session_id="s1")
    builtin.sync_turn("two", "2")
    settle(builtin)
    resumed, left = memory.sessions.get_session("before"), memory.sessions.get_session("s1")
    assert resumed is not None
    assert left is not None
    assert (resumed["parent_session_id"], resumed["ended_at"]) == (None, None)
    assert left["ended_at"] is None


def test_a_new_conversation_has_no_parent(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.sync_turn("one", "1")
    builtin.on_session_switch("s2", parent_session_id="s1", reset=True)
    builtin.sync_turn("two", "2")
    settle(builtin)
    assert memory.sessions.get_lineage("s2") == ["s2"]


def test_a_parent_that_is_not_stored_is_left_out(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.on_session_switch("s2", parent_session_id="unknown")
    builtin.sync_turn("two", "2")
    settle(builtin)
    assert memory.sessions.get_lineage("s2") == ["s2"]


def test_a_session_can_be_compressed_in_place(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.sync_turn("The staging database listens on port 5433.", "Good.")
    builtin.on_pre_compress([])
    builtin.on_session_switch("s1", parent_session_id="s1", reason="compression")
    settle(builtin)
    session = memory.sessions.get_session("s1")
    assert session is not None
    assert session["ended_at"] is None
    assert "5433" in recalled(builtin, "Which port has the staging database?")


def test_a_finished_session_is_closed_with_candidates(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    statement = "We decided to use PostgreSQL for the billing service."
    calls = [
        {"id": str(n), "function": {"name": name, "arguments": "{}"}}
        for n, name in enumerate(("ls", "cat", "sed"))
    ]
    conversation = [
        {"role": "user", "content": statement},
        {"role": "assistant", "content": "Noted.", "tool_calls": calls},
        {"role": "user", "content": "V[known]: already"},
    ]
    memory.facts.write("V[known]: already")
    builtin.sync_turn(statement, "Noted.")
    builtin.on_session_end(conversation)
    settle(builtin)
    session = memory.sessions.get_session("s1")
    assert session is not None
    assert session["end_reason"] == "ended"
    (candidate,) = session["metadata"]["derived"]["candidates"]["facts"]
    assert "PostgreSQL" in candidate["fact"]
    assert candidate["message_id"] == memory.sessions.get_messages("s1")[0]["id"]
    assert session["metadata"]["derived"]["candidates"]["templates"] == [["ls", "cat", "sed"]]
    assert memory.facts.count() == 1


def test_candidates_are_added_to_existing_metadata(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    statement = "We decided to use PostgreSQL for the billing service."
    memory.sessions.create_session("s1", "imported", metadata={"cwd": "/project"})
    builtin.sync_turn(statement, "Noted.")
    builtin.on_session_end([{"role": "user", "content": statement}])
    settle(builtin)
    session = memory.sessions.get_session("s1")
    assert session is not None
    (candidate,) = session["metadata"]["derived"]["candidates"]["facts"]
    assert "PostgreSQL" in candidate["fact"]
    assert session["metadata"]["cwd"] == "/project"


def test_candidates_are_replaced_when_a_continued_session_ends(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    first = {"role": "user", "content": "We decided to use PostgreSQL for the billing service."}
    second = {"role": "user", "content": "We decided to use Redis for the job queue."}
    for so_far in ([first], [first, second]):
        builtin.sync_turn(so_far[-1]["content"], "Noted.")
        builtin.on_session_end(so_far)
    settle(builtin)
    session = memory.sessions.get_session("s1")
    assert session is not None
    postgres, redis = session["metadata"]["derived"]["candidates"]["facts"]
    assert "PostgreSQL" in postgres["fact"]
    assert "Redis" in redis["fact"]


def test_a_session_without_candidates_is_closed(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    statement = "We decided to use PostgreSQL for the billing service."
    memory.sessions.create_session("s1", "imported", metadata=["a", "list"])
    builtin.sync_turn(statement, "Noted.")
    builtin.on_session_end([{"role": "user", "content": statement}])
    settle(builtin)
    session = memory.sessions.get_session("s1")
    assert session is not None
    assert (session["end_reason"], session["metadata"]) == ("ended", ["a", "list"])


def test_a_session_without_a_turn_leaves_nothing_behind(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    builtin.on_session_end([])
    settle(builtin)
    assert memory.sessions.session_count() == 0


def test_a_session_that_continues_after_its_end_is_reopened(
    memory: Memory, builtin: BuiltinMemoryProvider
) -> None:
    builtin.sync_turn("one", "1")
    builtin.on_session_end([])
    builtin.sync_turn("two", "2")
    settle(builtin)
    session = memory.sessions.get_session("s1")
    assert session is not None
    assert (session["ended_at"], session["message_count"]) == (None, 4)


def test_a_delegation_is_stored_as_a_child_session(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.on_delegation("Find the port", "It is 5433", child_session_id="child", anything="else")
    builtin.on_delegation("Find the port", "It is 5433", child_session_id="child")
    builtin.on_delegation("Again", "Still 5433")
    settle(builtin)
    assert said(memory, "child") == [("user", "Find the port"), ("assistant", "It is 5433")]
    children = [one for one in memory.sessions.search_sessions() if one["source"] == "subagent"]
    assert {one["parent_session_id"] for one in children} == {"s1"}
    assert {one["end_reason"] for one in children} == {"ended"}
    assert len(children) == 2


@pytest.mark.parametrize(("task", "result"), [("", ""), (None, None)])
def test_an_empty_delegation_is_not_stored(
    memory: Memory, builtin: BuiltinMemoryProvider, task: Any, result: Any
) -> None:
    builtin.on_delegation(task, result)
    settle(builtin)
    assert memory.sessions.session_count() == 0


# --- tools ----------------------------------------------------------------------------------------


def test_its_tools_are_operations_in_openai_format(builtin: BuiltinMemoryProvider) -> None:
    schemas = {schema["name"]: schema for schema in builtin.get_tool_schemas()}
    memory = {"recall", "sessions_read", "remember", "forget", "memory", "memory_search", "memory_write"}
    assert set(schemas) == memory | {"sqlite_query", "sqlite_schema"}
    for schema in schemas.values():
        assert set(schema) == {"name", "description", "parameters"}


def test_a_host_that_changes_a_schema_changes_it_for_itself_only(builtin: BuiltinMemoryProvider) -> None:
    builtin.get_tool_schemas()[0]["parameters"]["properties"].clear()
    assert builtin.get_tool_schemas()[0]["parameters"]["properties"]


def test_a_tool_answers_with_a_text_or_with_an_error(builtin: BuiltinMemoryProvider) -> None:
    assert answer(builtin, "memory_write", content="V[a]: b")["success"] is True
    assert "V[a]" in answer(builtin, "memory_search", query="a")["text"]
    wrong = answer(builtin, "memory_write", content="nonsense")
    assert (wrong["success"], wrong["code"]) == (False, "invalid_input")
    with pytest.raises(NotImplementedError):
        builtin.handle_tool_call("undo", {})


def test_tools_get_the_session_of_the_conversation(memory: Memory, builtin: BuiltinMemoryProvider) -> None:
    answer(builtin, "memory_write", content="V[a]: b", session_id=None)
    builtin.handle_tool_call("memory_write", {"content": "V[c]: d"}, session_id="other")
    assert {fact.target: fact.session_id for fact in memory.facts.list()} == {"a": "s1", "c": "other"}


def test_tools_exclude_the_session_in_context(past: Memory, builtin: BuiltinMemoryProvider) -> None:
    builtin.sync_turn("The staging database moved to port 6000.", "Good.")
    settle(builtin)
    found = answer(builtin, "recall", query="port of the staging database")["text"]
    assert "5433" in found
    assert "6000" not in found
    builtin.on_pre_compress([])
    assert "6000" in answer(builtin, "recall", query="port of the staging database")["text"]


def test_other_tools_can_be_chosen(memory: Memory) -> None:
    provider = BuiltinMemoryProvider(memory, tools="facts,recall")
    names = {schema["name"] for schema in provider.get_tool_schemas()}
    assert {"memory_history", "memory_purge", "recall"} <= names
    assert "sessions_read" not in names


def test_the_tables_in_the_prompt_can_be_queried(builtin: BuiltinMemoryProvider) -> None:
    assert answer(builtin, "sqlite_query", query="CREATE TABLE plants (name TEXT)")["success"] is True
    builtin.on_session_switch("s2")
    assert "plants" in builtin.system_prompt_block()
    answer(builtin, "sqlite_query", query="INSERT INTO plants VALUES (?)", params=["fern"])
    assert "fern" in answer(builtin, "sqlite_query", query="SELECT name FROM plants")["text"]
    assert "plants" in answer(builtin, "sqlite_schema")["text"]


@pytest.mark.parametrize("tools", [None, "recall,sqlite_query"])
def test_without_tables_in_the_prompt_only_chosen_tools_query_them(
    clock: FixedClock, tools: str | None
) -> None:
    with Memory.at(":memory:", clock=clock, embedder="none", prompt_parts="facts") as memory:
        provider = BuiltinMemoryProvider(memory, tools=tools)
        names = {schema["name"] for schema in provider.get_tool_schemas()}
    assert ("sqlite_query" in names) is (tools is not None)


# --- the memory's own words -----------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["recall", "memory", "remember"])
def test_calls_of_the_memory_s_tools_are_stored_and_not_recalled(
    memory: Memory, builtin: BuiltinMemoryProvider, clock: FixedClock, tool: str
) -> None:
    memory.sessions.create_session("past")
    memory.sessions.append_message("past", "user", "The quetzal feeder hangs in the north wing.")
    arguments = {
        "recall": {"query": "where is the quetzal feeder?"},
        "memory": {"action": "add", "content": "Quetzal feeder: check on Mondays."},
        "remember": {"text": "The quetzal feeder is green"},
    }[tool]
    for number in range(3):
        builtin.on_turn_start(number, "Where is the feeder?")
        assert "quetzal" not in recalled(builtin, "What about toucans?")
        shown = recalled(builtin, "Where does the quetzal feeder hang?")
        assert shown.count("<recalled-memory>") <= 1
        assert '"query"' not in shown
        function = {"name": tool, "arguments": json.dumps(arguments)}
        conversation = [
            {"role": "user", "content": f"{shown}\nWhere is the feeder?"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]},
            {
                "role": "tool",
                "tool_call_id": f"c{number}",
                "content": builtin.handle_tool_call(tool, arguments),
            },
            {"role": "assistant", "content": "In the north wing."},
        ]
        builtin.sync_turn("Where is the feeder?", "In the north wing.", messages=conversation)
        settle(builtin)
        clock.advance(60)
    assert [one.get("origin") for one in memory.sessions.get_messages("s1")] == [
        None, "memory", "memory", None
    ] * 3  # fmt: skip
    found = memory.sessions.search_messages("quetzal", session_ids=["s1"])
    assert found == []

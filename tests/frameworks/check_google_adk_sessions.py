"""The session service inside Google ADK: the promises of its base class, asked of its in-memory one, too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types

import mnemos
from frameworks.counted import watch
from mnemos.integrations.google_adk_sessions import MnemosSessionService

Counted = watch(MnemosSessionService, "create_session", "get_session", "list_sessions", "append_event")
Make = Callable[[], Any]
WHO: dict[str, Any] = {"app_name": "shop", "user_id": "ada"}


@pytest.fixture(params=["mnemos", "in memory"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Return how a service is opened. The loop of each test is its own."""
    return (lambda: Counted(tmp_path)) if request.param == "mnemos" else InMemorySessionService


def run(work: Any) -> None:
    asyncio.run(work())


def delta(**changes: Any) -> EventActions:
    return EventActions(state_delta={key.replace("__", ":"): value for key, value in changes.items()})


def event(text: str = "hello", **about: Any) -> Event:
    return Event(author="user", content=types.Content(role="user", parts=[types.Part(text=text)]), **about)


async def load(service: Any, session_id: str, user: str = "ada", **config: Any) -> Any:
    asked = GetSessionConfig(**config) if config else None
    return await service.get_session(app_name="shop", user_id=user, session_id=session_id, config=asked)


def test_a_session_is_created_loaded_and_deleted(make: Make) -> None:
    async def check() -> None:
        service = make()
        assert await load(service, "s") is None
        made = await service.create_session(**WHO, state={"k": [1, {"a": None}]})
        assert made.id
        assert await load(service, made.id) == made
        await service.delete_session(**WHO, session_id=made.id)
        await service.delete_session(**WHO, session_id="unknown")
        assert await load(service, made.id) is None
        if isinstance(service, MnemosSessionService):
            with pytest.raises(SessionNotFoundError):
                await service.append_event(made, event())

    run(check)


def test_an_id_is_used_once_per_user_and_without_blanks_around(make: Make) -> None:
    async def check() -> None:
        service = make()
        made = await service.create_session(**WHO, session_id=" s/1\n", state={"k": 1})
        assert made.id == "s/1"
        for taken in ("s/1", "  s/1"):
            with pytest.raises(AlreadyExistsError):
                await service.create_session(**WHO, session_id=taken, state={"k": 2})
        await service.create_session(app_name="shop", user_id="bob", session_id="s/1")
        await service.create_session(app_name="shop/ada", user_id="s", session_id="1")
        assert (await load(service, "s/1 ")).state == {"k": 1}
        assert (await load(service, "s/1", "bob")).state == {}
        assert (await service.create_session(**WHO, session_id="  ")).id.strip()

    run(check)


def test_state_is_of_the_session_the_user_the_app_or_the_moment(make: Make) -> None:
    async def check() -> None:
        service = make()
        first = await service.create_session(
            **WHO, session_id="1", state={"own": True, "user:a": 1, "app:a": 1}
        )
        said = event(actions=delta(own=None, user__b={"x": 1}, app__b=[2], temp__t="now"))
        await service.append_event(first, said)
        shared = {"user:a": 1, "user:b": {"x": 1}, "app:a": 1, "app:b": [2]}
        assert first.state == {"own": None, "temp:t": "now", **shared}
        assert "temp:t" not in said.actions.state_delta
        assert (await load(service, "1")).state == {"own": None, **shared}
        assert (await service.create_session(**WHO, session_id="2")).state == shared
        other = await service.create_session(app_name="shop", user_id="bob")
        assert other.state == {"app:a": 1, "app:b": [2]}
        await service.append_event(other, event(actions=delta(app__b="new", user__c=3)))
        assert (await load(service, "1")).state == {"own": None, **shared, "app:b": "new"}
        assert await service.get_user_state(**WHO) == {"a": 1, "b": {"x": 1}}
        assert await service.get_user_state(app_name="shop", user_id="eve") == {}

    run(check)


def test_everything_in_an_event_comes_back(make: Make) -> None:
    async def check() -> None:
        service = make()
        session = await service.create_session(**WHO)
        parts = [
            types.Part(text="Ein Bild 图 🦜"),
            types.Part.from_bytes(data=bytes(range(256)), mime_type="image/png"),
            types.Part(function_call=types.FunctionCall(id="c", name="look", args={"n": 1.5, "a": [None]})),
        ]
        whole = Event(
            author="planner",
            invocation_id="i",
            content=types.Content(role="model", parts=parts),
            actions=EventActions(
                artifact_delta={"file": 0},
                transfer_to_agent="helper",
                escalate=True,
                requested_tool_confirmations={"c": ToolConfirmation(hint="sure?", payload={"x": 1})},
            ),
            long_running_tool_ids={"c"},
            grounding_metadata=types.GroundingMetadata(
                search_entry_point=types.SearchEntryPoint(sdk_blob=b"\0blob")
            ),
            usage_metadata=types.GenerateContentResponseUsageMetadata(prompt_token_count=1),
            custom_metadata={"k": "v"},
            error_code="e",
            timestamp=1_700_000_000.123,
        )
        await service.append_event(session, whole)
        await service.append_event(session, Event(author="user", partial=True))
        assert (await load(service, session.id)).events == session.events == [whole]
        assert await load(service, session.id) == session

    run(check)


def test_the_newest_events_and_those_since_a_time_are_loaded(make: Make) -> None:
    async def check() -> None:
        service = make()
        session = await service.create_session(**WHO, session_id="s")
        begin = session.last_update_time
        for number in range(1, 6):
            await service.append_event(session, event(str(number), timestamp=begin + number))
        assert session.last_update_time == begin + 5
        for asked, expected in (
            ({}, [1, 2, 3, 4, 5]),
            ({"num_recent_events": 0}, []),
            ({"num_recent_events": 2}, [4, 5]),
            ({"after_timestamp": begin + 4}, [4, 5]),
            ({"after_timestamp": begin + 99}, []),
            ({"after_timestamp": begin + 4, "num_recent_events": 3}, [4, 5]),
            ({"after_timestamp": begin + 1, "num_recent_events": 3}, [3, 4, 5]),
        ):
            loaded = await load(service, "s", **asked)
            assert [int(one.content.parts[0].text) for one in loaded.events] == expected, asked
            assert loaded.last_update_time == begin + 5

    run(check)


def test_lists_are_of_one_app_with_the_last_changed_at_the_end(make: Make) -> None:
    async def check() -> None:
        service = make()
        for name in ("a", "b", "c"):
            await service.create_session(**WHO, session_id=name, state={"n": name, "user:u": 1})
        await service.create_session(app_name="shop", user_id="bob", session_id="a", state={"n": "bob"})
        await service.create_session(app_name="other", user_id="ada", session_id="a")
        oldest = await load(service, "a")
        await service.append_event(oldest, event(timestamp=oldest.last_update_time + 100))
        mine = (await service.list_sessions(**WHO)).sessions
        assert [one.id for one in mine] == ["b", "c", "a"]
        assert [one.state for one in mine] == [{"n": name, "user:u": 1} for name in "bca"]
        assert not any(one.events for one in mine)
        everyone = (await service.list_sessions(app_name="shop")).sessions
        assert sorted((one.user_id, one.state["n"]) for one in everyone)[-1] == ("bob", "bob")
        assert len(everyone) == 4
        assert (await service.list_sessions(app_name="nobody")).sessions == []

    run(check)


def test_a_writer_with_an_old_session_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    async def check() -> None:
        first, second = Counted(tmp_path), Counted(tmp_path)
        session = await first.create_session(**WHO, session_id="s")
        for number in range(8):
            copies = [await load(one, "s") for one in (first, second)]
            said = [event(f"{number}-{who}", actions=delta(**{f"k{number}{who}": 1})) for who in (0, 1)]
            done = await asyncio.gather(
                first.append_event(copies[0], said[0]),
                second.append_event(copies[1], said[1]),
                return_exceptions=True,
            )
            assert sorted(isinstance(one, StaleSessionError) for one in done) == [False, True]
        with pytest.raises(ValueError, match="modified in storage"):
            await first.append_event(session, event("late", actions=delta(app__late=1)))
        stored = await load(first, "s")
        assert (len(stored.events), len(stored.state)) == (8, 8)
        # A copy without a marker, as another service makes it, is current if its time is.
        copied = stored.model_copy(deep=True)
        copied._storage_update_marker = None
        copied.last_update_time -= 0.0001
        await first.append_event(copied, event("ninth", timestamp=stored.last_update_time + 1))
        assert len((await load(second, "s")).events) == 9
        await first.close()
        await second.close()

    run(check)


def test_values_that_are_not_json_are_stored_as_text(tmp_path: Path) -> None:
    async def check() -> None:
        service = Counted(tmp_path)
        session = await service.create_session(**WHO, session_id="s")
        await service.append_event(session, event(actions=delta(call=print, ok=2)))
        stored = await load(service, "s")
        assert stored.state["ok"] == 2
        assert "print" in stored.state["call"]
        assert len(stored.events) == 1
        await service.close()

    run(check)


def test_a_runner_goes_on_in_another_process_and_recall_finds_what_was_said(tmp_path: Path) -> None:
    class Stub(BaseLlm):
        model: str = "stub"
        asked: list[int]

        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            self.asked.append(len(llm_request.contents))
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="Understood.")]))

    async def check() -> None:
        model = Stub(asked=[])
        for said in ("The parrot lives in the garden.", "And the cat?"):
            service = Counted(tmp_path)
            runner = Runner(
                app_name="shop", agent=LlmAgent(name="planner", model=model), session_service=service
            )
            if await load(service, "s") is None:
                await service.create_session(**WHO, session_id="s")
            message = types.Content(role="user", parts=[types.Part(text=said)])
            async for _ in runner.run_async(user_id="ada", session_id="s", new_message=message):
                pass
            await service.close()
        assert model.asked == [1, 3]

    run(check)
    with mnemos.open(tmp_path) as memory:
        assert "garden" in memory.recall("Where does the parrot live?").text
        assert [one["source"] for one in memory.sessions.search_sessions()] == ["google-adk-sessions"]


def test_a_disabled_memory_keeps_sessions_in_this_process(tmp_path: Path) -> None:
    async def check() -> None:
        session = await Counted(tmp_path, disabled=True).create_session(**WHO, session_id="s")
        await Counted(tmp_path, disabled=True).append_event(session, event())
        assert len((await load(Counted(tmp_path, disabled=True), "s")).events) == 1
        assert not list(tmp_path.glob("*.db"))

    run(check)

"""Summaries by a model over real HTTP on loopback, and the extract if that fails."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from threading import Barrier, Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faces.model_endpoint import Asked, ModelEndpoint, Reply, completion
from mnemos.memory import Memory
from mnemos.sessions.session_search import BUDGET
from mnemos.sessions.summary import AT_A_TIME, MAX_CHARACTERS, cut_around_matches, summarize
from mnemos.settings import Model
from mnemos.testing import FixedClock
from mnemos.text.query import parse
from mnemos.text.tokens import count_tokens


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelEndpoint]:
    # A proxy of whoever runs the tests has nothing to do with loopback.
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ModelEndpoint() as served:
        yield served


def search(model: Model, *, conversations: int = 1, limit: int = 3) -> dict[str, Any]:
    """Return the answer of session_search, with summaries of conversations about cakes."""
    with Memory.at(":memory:", clock=FixedClock(), llm=model) as memory:
        for number in range(conversations):
            memory.sessions.create_session(f"s{number}", "cli")
            memory.sessions.append_message(f"s{number}", "user", f"cake number{number}, please")
            memory.sessions.append_message(f"s{number}", "assistant", "It is in the oven.")
        return memory.call("session_search", {"query": "cake", "summarize": True, "limit": limit})


def model(endpoint: ModelEndpoint, **more: Any) -> Model:
    return Model(endpoint.base_url, "small", **more)


# --- what comes back ------------------------------------------------------------------------


def test_each_conversation_is_summed_up_by_the_model(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda asked: completion("Summary of " + "".join(re.findall(r"number\d", asked.prompt)))
    answer = search(model(endpoint), conversations=3)
    for conversation in answer["conversations"]:
        number = conversation["session_id"].removeprefix("s")
        assert conversation["summary"] == f"Summary of number{number}"
        assert conversation["summary_by"] == "model"
        assert "summary_failure" not in conversation
        assert conversation["summary"] in answer["text"]
    assert len(endpoint.asked) == 3


def test_the_model_gets_the_question_and_the_conversation(endpoint: ModelEndpoint) -> None:
    search(model(endpoint))
    (asked,) = endpoint.asked
    assert "The question: cake" in asked.prompt
    assert "user: cake number0, please" in asked.prompt
    assert "assistant: It is in the oven." in asked.prompt
    assert asked.body["messages"][0]["role"] == "system"


def extract_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    kept = ("session_id", "hits", "best", "opening", "closing", "others")
    return [{key: c[key] for key in kept} for c in answer["conversations"]]


def refused_port() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{held.getsockname()[1]}/v1"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"", 500),
        Reply(b"<html>Bad gateway</html>", 502),
        Reply(b"<html>Welcome</html>"),
        Reply(b'{"choices": []}'),
        Reply(b"[" * 200_000),
        completion(" "),
        Reply(b"short", headers={"Content-Length": "5000"}),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:20]!r}",
)
def test_a_wrong_answer_leaves_the_extract_and_says_why(endpoint: ModelEndpoint, reply: Reply) -> None:
    endpoint.reply = lambda _: reply
    answer = search(model(endpoint, timeout=0.5))
    (conversation,) = answer["conversations"]
    assert conversation["summary_by"] == "extract"
    assert conversation["summary_failure"]
    assert "summary" not in conversation
    assert conversation["summary_failure"] in answer["text"]
    assert extract_of(answer) == extract_of(search(Model()))


@pytest.mark.parametrize(
    "broken",
    [
        Model(refused_port(), "small"),
        Model("localhost:8080/v1", "small"),
        Model("file:///etc/passwd", "small"),
        Model("http://[::1", "small"),
        Model("http://127.0.0.1:1", "small", "two\nlines"),
        Model("http://127.0.0.1:1", "small", "ключ"),
        Model("http://" + "a" * 80 + ".invalid", "small"),
    ],
    ids=["refused", "no scheme", "a file", "no address", "no header", "no latin", "no host"],
)
def test_a_model_that_cannot_be_reached_leaves_the_extract_and_says_why(broken: Model) -> None:
    (conversation,) = search(broken)["conversations"]
    assert conversation["summary_by"] == "extract"
    assert conversation["summary_failure"]


def test_a_slow_model_is_not_waited_for(endpoint: ModelEndpoint) -> None:
    def wait(_: Asked) -> Reply:
        endpoint.closing.wait()
        return completion("too late")

    endpoint.reply = wait
    answer = search(model(endpoint, timeout=0.1), conversations=2)
    assert [c["summary_by"] for c in answer["conversations"]] == ["extract", "extract"]
    assert all(c["summary_failure"] for c in answer["conversations"])


def test_one_failure_leaves_the_other_summaries_alone(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda asked: Reply(b"", 500) if "number1" in asked.prompt else completion("Fine.")
    by = {c["session_id"]: c["summary_by"] for c in search(model(endpoint), conversations=3)["conversations"]}
    assert by == {"s0": "model", "s1": "extract", "s2": "model"}


@pytest.mark.parametrize("incomplete", [Model(), Model(base_url="http://127.0.0.1:1"), Model(model="small")])
def test_without_a_model_the_answer_says_what_to_configure(incomplete: Model) -> None:
    answer = search(incomplete)
    (conversation,) = answer["conversations"]
    assert conversation["summary_by"] == "extract"
    for word in ("llm", "base_url", "model"):
        assert word in conversation["summary_failure"]


def test_without_results_the_model_is_not_called(endpoint: ModelEndpoint) -> None:
    assert search(model(endpoint), conversations=0)["conversations"] == []
    assert endpoint.asked == []


def test_the_model_is_called_only_for_a_summary(endpoint: ModelEndpoint) -> None:
    with Memory.at(":memory:", clock=FixedClock(), llm=model(endpoint)) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "a cake")
        answer = memory.call("session_search", {"query": "cake"})
        assert "summary_by" not in answer["conversations"][0]
        for asked in ({"summarize": True}, {"session_id": "s", "summarize": True}):
            memory.call("session_search", asked)
    assert endpoint.asked == []


def test_a_key_is_sent_only_when_one_is_configured(endpoint: ModelEndpoint) -> None:
    search(model(endpoint))
    search(model(endpoint, api_key="k-123"))
    assert [asked.headers.get("Authorization") for asked in endpoint.asked] == [None, "Bearer k-123"]


def test_a_summary_that_runs_away_does_not_burst_the_answer(endpoint: ModelEndpoint) -> None:
    endpoint.reply = lambda _: completion("and so on " * 20_000)
    answer = search(model(endpoint), conversations=3)
    assert {c["summary_by"] for c in answer["conversations"]} == {"model"}
    assert count_tokens(answer["text"]) <= 2 * BUDGET


# --- how many at a time ---------------------------------------------------------------------


def test_three_are_asked_at_a_time_and_never_more(endpoint: ModelEndpoint) -> None:
    # Nobody is answered before three are there; a fourth would be counted while they wait.
    together = Barrier(AT_A_TIME)

    def meet(_: Asked) -> Reply:
        together.wait(timeout=20)
        return completion("Fine.")

    endpoint.reply = meet
    answer = search(model(endpoint), conversations=9, limit=9)
    assert [c["summary_by"] for c in answer["conversations"]] == ["model"] * 9
    assert AT_A_TIME == 3
    assert endpoint.busiest == AT_A_TIME


def test_no_transaction_is_open_while_the_model_thinks(endpoint: ModelEndpoint, tmp_path: Any) -> None:
    home = tmp_path / "home"
    written = Event()

    def write_meanwhile(_: Asked) -> Reply:
        with Memory.at(home, busy_seconds=5.0) as other:
            other.sessions.append_message("s", "user", "meanwhile")
        written.set()
        return completion("Fine.")

    endpoint.reply = write_meanwhile
    with Memory.at(home, llm=model(endpoint)) as memory:
        memory.sessions.create_session("s", "cli")
        memory.sessions.append_message("s", "user", "a cake")
        answer = memory.call("session_search", {"query": "cake", "summarize": True})
        assert written.is_set()
        assert answer["conversations"][0]["summary_by"] == "model"
        assert memory.sessions.message_count("s") == 2


def test_no_texts_give_no_summaries(endpoint: ModelEndpoint) -> None:
    assert summarize(model(endpoint), "cake", [], parse("cake")) == []


# --- what is cut ----------------------------------------------------------------------------


def filler(characters: int) -> str:
    return ("word" * 20 + " ") * (characters // 81)


def matches(text: str) -> int:
    return text.count("needle")


def test_a_text_that_fits_is_not_cut() -> None:
    text = "a needle " * 100
    assert cut_around_matches(text, parse("needle")) is text


def test_a_long_text_is_cut_around_the_match_with_what_led_to_it() -> None:
    text = filler(400_000) + "needle " + filler(400_000)
    cut = cut_around_matches(text, parse("needle"))
    assert len(cut) == MAX_CHARACTERS
    assert cut in text
    before, _, after = cut.partition("needle")
    assert len(before) >= 1000
    assert len(after) >= 1000


@pytest.mark.parametrize("place", ["beginning", "end"])
def test_a_match_at_an_end_is_kept(place: str) -> None:
    text = "needle " + filler(400_000) if place == "beginning" else filler(400_000) + "needle"
    cut = cut_around_matches(text, parse("needle"))
    assert len(cut) == MAX_CHARACTERS
    assert matches(cut) == 1


@pytest.mark.parametrize("distance", [10_000, 80_000, 99_000, 150_000])
def test_many_matches_win_over_one_that_came_before(distance: int) -> None:
    text = filler(120_000) + "needle " + filler(distance) + "needle " * 50 + filler(200_000)
    assert matches(cut_around_matches(text, parse("needle"))) >= 50


def test_without_a_match_the_beginning_is_kept() -> None:
    text = "beginning " + filler(400_000)
    assert cut_around_matches(text, parse("needle")).startswith("beginning")


def test_a_text_full_of_matches_is_cut_without_delay() -> None:
    """Comparing every match with every other would take minutes."""
    text = "needle " * 60_000
    assert len(cut_around_matches(text, parse("needle"))) == MAX_CHARACTERS


@given(
    st.lists(st.sampled_from(["needle ", "word ", "予約", "x" * 30 + " "]), max_size=60),
    st.integers(20, 200),
)
def test_a_cut_is_a_stretch_of_the_text_with_a_match_if_there_is_one(
    pieces: list[str], characters: int
) -> None:
    text = "".join(pieces)
    cut = cut_around_matches(text, parse("needle"), characters)
    assert cut in text
    assert len(cut) == min(len(text), characters)
    assert ("needle" in cut) == ("needle" in text)


def test_what_is_sent_to_the_model_is_cut(endpoint: ModelEndpoint) -> None:
    prompts: list[str] = []

    def remember(asked: Asked) -> Reply:
        prompts.append(asked.prompt)
        return completion("Fine.")

    endpoint.reply = remember
    texts: list[str] = [filler(400_000) + "needle " + filler(400_000), "a short needle"]
    made = summarize(model(endpoint), "needle", texts, parse("needle"))
    assert [summary.text for summary in made] == ["Fine.", "Fine."]
    long = max(prompts, key=len)
    assert MAX_CHARACTERS <= len(long) <= MAX_CHARACTERS + 200
    assert long.count("needle") == 2

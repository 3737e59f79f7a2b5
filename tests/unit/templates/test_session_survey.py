"""Suggestions of sessions, and the comparison of conversations with and without a template."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded import record, step, user

from mnemos.errors import InvalidInput
from mnemos.sessions.sessions import Sessions
from mnemos.templates import SessionTemplate, TaskType, ToolCallExample, session_survey
from mnemos.templates.session_survey import (
    MIN_CONVERSATIONS,
    NOT_ENOUGH,
    Experiment,
    count_loops,
    interval_reach,
    least_rate,
    rate_end,
)
from mnemos.templates.template_store import Templates

GOOD, BAD = "ok", "Error: no"


def work(*results: str, tool: str = "terminal", prefix: str = "c") -> list[dict[str, Any]]:
    return [m for n, result in enumerate(results) for m in step(f"{prefix}{n}", tool, result, command=str(n))]


def suggested(templates: Templates, **asked: Any) -> list[str]:
    return [one.session_id for one in templates.suggest(**asked).suggestions]


# --- suggest --------------------------------------------------------------------------------------


def test_more_success_comes_first_and_many_calls_count_more_than_one(
    templates: Templates, sessions: Sessions
) -> None:
    record(sessions, "half", [user("go"), *work(*[GOOD, BAD] * 10, tool="read_file")])
    record(sessions, "most", [user("go"), *work(*[GOOD] * 19, BAD, tool="read_file")])
    record(sessions, "one", [user("go"), *work(GOOD, tool="read_file")])
    record(sessions, "none", [user("go"), *work(BAD)])
    record(sessions, "talk", [user("hello")])
    assert suggested(templates) == ["most", "half", "one"]


def test_loops_of_running_and_fixing_and_a_good_end_count(templates: Templates, sessions: Sessions) -> None:
    record(sessions, "leafing", [user("go"), *work(*[GOOD] * 6, tool="read_file")])
    record(sessions, "running", [user("go"), *work(*[GOOD] * 6)])
    record(sessions, "fixing", [user("go"), *work(GOOD, BAD, GOOD, BAD, GOOD, GOOD, GOOD, GOOD)])
    record(sessions, "done", [user("go"), *work(*[GOOD] * 6)], ended="task completed")
    record(sessions, "crashed", [user("go"), *work(*[GOOD] * 6)], ended="error: out of tokens")
    found = {one.session_id: one for one in templates.suggest().suggestions}
    assert found["running"].score > found["leafing"].score
    assert found["fixing"].score > found["running"].score
    assert found["done"].score > found["running"].score > found["crashed"].score
    assert (found["fixing"].loops, found["fixing"].runs, found["fixing"].succeeded) == (2, 8, 6)
    assert "2 loops of running, seeing and fixing" in found["fixing"].why
    assert all(0 <= one.score <= 1 for one in found.values())


def test_a_conversation_over_several_sessions_is_suggested_once_and_by_its_last_end(
    templates: Templates, sessions: Sessions
) -> None:
    record(sessions, "root", [user("go"), *work(GOOD)], ended="compression", title="The move")
    record(sessions, "tip", [user("on"), *work(GOOD, prefix="d")], parent_session_id="root", ended="done")
    (one,) = templates.suggest().suggestions
    assert (one.session_id, one.title, one.calls, one.end_reason) == ("root", "The move", 2, "done")


def test_sessions_with_a_template_are_not_suggested_again(templates: Templates, sessions: Sessions) -> None:
    record(sessions, "root", [user("go"), *work(GOOD)], ended="compression")
    record(sessions, "tip", [user("on")], parent_session_id="root")
    record(sessions, "other", [user("go"), *work(GOOD, tool="web_search")])
    assert set(suggested(templates)) == {"root", "other"}
    templates.create_template("tip", "x")
    assert suggested(templates) == ["other"]
    assert suggested(templates, task_type="research") == ["other"]
    assert suggested(templates, task_type="code") == []


def test_the_work_is_bounded_and_the_answer_says_so(
    templates: Templates, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(8):
        record(sessions, f"s{number}", [user("go"), *work(GOOD)], started_at=1_000.0 + number)
    assert (templates.suggest(sessions=3).looked_at, templates.suggest(sessions=3).is_complete) == (3, False)
    assert set(suggested(templates, sessions=3)) == {"s5", "s6", "s7"}
    assert templates.suggest(sessions=8).is_complete
    assert len(suggested(templates, limit=2)) == 2
    monkeypatch.setattr(session_survey, "MAX_MESSAGES", 7)
    bounded = templates.suggest()
    assert (len(bounded.suggestions), bounded.is_complete) == (3, False)


def test_more_sessions_than_one_page_are_read(templates: Templates, sessions: Sessions) -> None:
    sessions.import_sessions(
        {"id": f"s{number}", "source": "cli", "started_at": float(number), "messages": []}
        for number in range(250)
    )
    record(sessions, "first", [user("go"), *work(GOOD)], started_at=-1.0)
    found = templates.suggest(sessions=1_000)
    assert [one.session_id for one in found.suggestions] == ["first"]
    assert (found.looked_at, found.is_complete) == (251, True)


@pytest.mark.parametrize(
    ("reason", "value"),
    [("done", 1), ("Task completed", 1), ("merged", 1), ("error", 0), ("timed out", 0), ("incomplete", 0),
     ("unresolved", 0), ("user_exit", 0.5), ("compression", 0.5), ("", 0.5), (None, 0.5)],
)  # fmt: skip
def test_an_end_is_good_bad_or_unknown(reason: str | None, value: float) -> None:
    assert rate_end(reason) == value


def test_a_loop_is_a_run_that_works_after_one_that_did_not() -> None:
    assert count_loops([]) == count_loops([True, True, False, False]) == 0
    assert count_loops([False, True, False, False, True]) == 2


# --- experiment -----------------------------------------------------------------------------------


def experiment_with(templates: Templates, sessions: Sessions, count: int) -> Experiment:
    """Sessions with a template fail once, those without four times; both with some spread."""
    template = SessionTemplate("lift", TaskType.CODE, [ToolCallExample("terminal", {}, GOOD, success=True)])
    templates.save(template)
    for number in range(count):
        began = templates.inject_into_messages(template, [user("go")])
        record(sessions, f"with{number}", [*began, *work(*[GOOD] * 5, *[BAD] * (1 + number % 2))])
        record(sessions, f"without{number}", [user("go"), *work(*[BAD] * (4 + number % 2), *[GOOD] * 2)])
    return templates.experiment()


def test_a_clear_difference_is_shown_with_its_interval_and_its_sizes(
    templates: Templates, sessions: Sessions
) -> None:
    found = experiment_with(templates, sessions, MIN_CONVERSATIONS)
    assert (found.with_template, found.without_template, found.is_enough) == (
        MIN_CONVERSATIONS,
        MIN_CONVERSATIONS,
        True,
    )
    measures = {measure.name: measure for measure in found.measures}
    assert list(measures) == [
        "error rate in the first 30 turns",
        "turns to first success",
        "calls to first success",
        "total errors",
        "tool diversity",
    ]
    rate = measures["error rate in the first 30 turns"]
    assert rate.verdict == "lower with a template"
    assert rate.low is not None
    assert rate.high is not None
    assert rate.difference is not None
    assert rate.low < rate.difference < rate.high < 0
    assert (rate.with_count, rate.without_count) == (MIN_CONVERSATIONS, MIN_CONVERSATIONS)
    first = measures["calls to first success"]
    # The calls of the template are not the session's own.
    assert first.with_mean == 1
    assert first.without_mean == 5.5
    assert measures["total errors"].with_mean == 1.5
    assert (
        measures["tool diversity"].verdict
        == measures["turns to first success"].verdict
        == "no difference shown"
    )


def test_with_too_few_sessions_no_difference_is_reported(templates: Templates, sessions: Sessions) -> None:
    found = experiment_with(templates, sessions, MIN_CONVERSATIONS - 1)
    assert not found.is_enough
    for measure in found.measures:
        assert measure.verdict == NOT_ENOUGH
        assert measure.difference is measure.low is measure.high is None
        assert measure.with_mean is not None
        assert measure.with_count == MIN_CONVERSATIONS - 1


def test_without_any_session_there_is_not_enough_data(templates: Templates) -> None:
    found = templates.experiment()
    assert (found.with_template, found.without_template, found.looked_at) == (0, 0, 0)
    assert {measure.verdict for measure in found.measures} == {NOT_ENOUGH}
    assert {measure.with_mean for measure in found.measures} == {None}


def test_a_session_had_a_template_by_its_metadata_its_prompt_or_its_messages(
    templates: Templates, sessions: Sessions
) -> None:
    told = "Session template loaded: lift (code)\nexamples"
    record(sessions, "metadata", [user("go"), *work(GOOD)], metadata={"template": "lift"})
    record(sessions, "prompt", [user("go"), *work(GOOD)], system_prompt=f"You are an agent.\n{told}")
    record(sessions, "message", [{"role": "system", "content": told}, user("go"), *work(GOOD)])
    record(sessions, "anthropic", [user(f"{told}\n\nBefore"), user("go"), *work(GOOD)])
    record(sessions, "other", [user("go"), *work(GOOD)], metadata={"template": "push"})
    record(sessions, "quoted", [user(f"why does it say {told}?"), *work(GOOD)], metadata={"template": 3})
    record(sessions, "answered", [user("go"), *work(GOOD), *step("z", "read_file", told)])
    assert (templates.experiment().with_template, templates.experiment().without_template) == (5, 2)
    found = templates.experiment("lift")
    assert (found.with_template, found.without_template) == (4, 2)
    assert templates.experiment("nothing").with_template == 0


def test_kind_and_source_narrow_both_sides(templates: Templates, sessions: Sessions) -> None:
    record(sessions, "a", [user("go"), *work(GOOD)])
    record(sessions, "b", [user("go"), *work(GOOD, tool="web_search")], source="cron")
    assert templates.experiment(task_type="code").without_template == 1
    assert templates.experiment(source="cron").without_template == 1
    assert templates.experiment(task_type="code", source="cron").without_template == 0
    with pytest.raises(InvalidInput):
        templates.experiment(task_type="coding")


def test_only_the_first_thirty_turns_count_for_the_error_rate(
    templates: Templates, sessions: Sessions
) -> None:
    turns = [m for n in range(30) for m in [user("on"), *step(f"a{n}", "terminal", GOOD)]]
    late = [m for n in range(30) for m in [user("on"), *step(f"b{n}", "terminal", BAD)]]
    record(sessions, "s", [*turns, *late])
    rate, _, _, errors, _ = templates.experiment().measures
    assert (rate.without_mean, errors.without_mean) == (0, 30)


def test_a_session_without_success_counts_as_one_turn_and_one_call_more_than_it_had(
    templates: Templates, sessions: Sessions
) -> None:
    record(sessions, "s", [user("one"), *work(BAD, BAD), user("two"), *work(BAD, prefix="d")])
    _, turns, calls, *_ = templates.experiment().measures
    assert (turns.without_mean, calls.without_mean) == (3, 4)


# --- intervals ------------------------------------------------------------------------------------


def test_the_interval_of_a_difference_is_that_of_scipy() -> None:
    first = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4]
    second = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.0, 23.9]
    assert interval_reach(first, second) == pytest.approx((4.766445 - 0.766888) / 2, abs=1e-4)


def test_the_interval_holds_for_the_smallest_samples_that_are_compared() -> None:
    one_sided = [float(n) for n in range(MIN_CONVERSATIONS)]
    constant = [0.0] * MIN_CONVERSATIONS
    # Nine degrees of freedom: t is 2.26216.
    assert interval_reach(one_sided, constant) == pytest.approx(2.26216 * (55 / 60) ** 0.5, abs=1e-3)
    assert interval_reach(constant, constant) == 0


@given(*[st.lists(st.floats(-1e6, 1e6), min_size=MIN_CONVERSATIONS, max_size=20)] * 2)
def test_the_interval_does_not_depend_on_the_order_of_the_sides(a: list[float], b: list[float]) -> None:
    assert interval_reach(a, b) == pytest.approx(interval_reach(b, a), rel=1e-6, abs=1e-6)
    assert interval_reach(a, b) >= 0


def test_the_least_rate_is_the_lower_bound_of_wilson() -> None:
    assert least_rate(10, 10) == pytest.approx(0.7225, abs=1e-4)
    assert least_rate(0, 10) == 0
    assert least_rate(5, 10) == pytest.approx(0.2366, abs=1e-4)


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_least_rate_is_below_the_rate(successes: int, failures: int) -> None:
    assert 0 <= least_rate(successes, successes + failures) <= successes / (successes + failures) + 1e-12

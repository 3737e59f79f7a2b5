"""Evaluation of backends: scores, report, and cleaning up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from honcho_server import KEY, HonchoServer, needs_sdk

from mnemos import LocalBackend, evaluate_backends
from mnemos.entries import (
    BackendEvaluation,
    HonchoBackend,
    MemoryBackend,
    MemoryEntry,
    NullBackend,
    backend_choice,
    evaluate_backend,
)
from mnemos.entries.evaluation import (
    count_points,
    delete_leftovers,
    make_report,
    rate_latency,
    rate_score,
    recommend,
    temporary_folder,
)
from mnemos.entries.evaluation_page import render_page
from mnemos.entries.evaluation_workload import PEOPLE, Workload, load_topics, name_users
from mnemos.errors import Unavailable
from mnemos.memory import Memory
from mnemos.settings import Settings

FIELDS = (
    "backend_name is_cloud available store_latency_ms retrieve_latency_ms query_latency_ms store_success "
    "retrieve_success query_returns_results query_result_count data_location requires_api_key score "
    "recommendation notes"
)


class InADict(MemoryBackend):
    """A backend to be broken: ``wrong`` names what it does wrong."""

    kept: dict[tuple[str, str], MemoryEntry]

    def __init__(self, wrong: str = "", *, is_cloud: bool = False) -> None:
        self.wrong = wrong
        self.kept = {}
        self._is_cloud = is_cloud

    @property
    def backend_name(self) -> str:
        return "dict"

    @property
    def is_cloud(self) -> bool:
        return self._is_cloud

    def is_available(self) -> bool:
        if self.wrong == "refuses to answer":
            raise ConnectionError("no route to host")
        return self.wrong != "absent"

    def store(self, user_id: str, key: str, value: str, metadata: Mapping[str, Any] | None = None) -> bool:
        if self.wrong == "fails":
            raise Unavailable("it is down")
        if self.wrong == "interrupted" and len(self.kept) == 3:
            raise KeyboardInterrupt
        if self.wrong == "keeps nothing":
            return True
        value = value.lower() if self.wrong == "changes" else value
        self.kept[user_id, key] = MemoryEntry(key, value, user_id, metadata=dict(metadata or {}))
        return True

    def retrieve(self, user_id: str, key: str) -> MemoryEntry | None:
        return self.kept.get((user_id, key))

    def query(self, user_id: str, query_text: str, limit: int = 10) -> list[MemoryEntry]:
        everybody = self.wrong == "leaks"
        return [one for one in self.kept.values() if everybody or one.user_id == user_id][:limit]

    def list_keys(self, user_id: str) -> list[str]:
        return [key for user, key in self.kept if user == user_id]

    def delete(self, user_id: str, key: str) -> bool:
        return self.kept.pop((user_id, key), None) is not None


def test_an_evaluation_has_these_fields() -> None:
    assert [field.name for field in fields(BackendEvaluation)] == FIELDS.split()


@pytest.mark.parametrize(
    ("milliseconds", "worth"),
    [(0, 20), (9.9, 20), (10, 15), (49, 15), (50, 10), (199, 10), (200, 5), (9e9, 5)],
)
def test_latency_is_worth_less_the_longer_it_is(milliseconds: float, worth: int) -> None:
    assert rate_latency(milliseconds) == worth


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (100, "RECOMMENDED"),
        (80, "RECOMMENDED"),
        (79, "ACCEPTABLE"),
        (60, "ACCEPTABLE"),
        (59, "MARGINAL"),
        (40, "MARGINAL"),
        (39, "NOT RECOMMENDED"),
        (0, "NOT RECOMMENDED"),
    ],
)
def test_a_score_has_its_verdict(score: int, said: str) -> None:
    assert rate_score(score) == said


def test_a_good_backend_gets_every_point_and_is_left_as_it_was() -> None:
    backend = InADict()
    backend.store("eval_user", "mine", "stays")
    evaluation = evaluate_backend(backend)
    assert count_points(evaluation) == {"availability": 20, "functionality": 40, "latency": 20, "privacy": 20}
    assert (evaluation.score, evaluation.recommendation) == (100, "RECOMMENDED")
    assert list(backend.kept) == [("eval_user", "mine")]


def test_the_local_backend_is_recommended_and_left_empty(local: LocalBackend) -> None:
    evaluation = evaluate_backend(local, "somebody")
    assert (evaluation.recommendation, evaluation.data_location) == ("RECOMMENDED", local.location)
    assert count_points(evaluation)["functionality"] == 40
    assert local.list_keys("somebody") == []


def test_a_backend_that_keeps_nothing_earns_no_functionality_points() -> None:
    evaluation = evaluate_backend(NullBackend())
    assert (evaluation.recommendation, count_points(evaluation)["functionality"]) == ("DISABLED", 0)
    assert not evaluation.store_success


@pytest.mark.parametrize(
    ("wrong", "functionality"), [("changes", 15 + 10), ("fails", 0), ("absent", 0), ("", 40)]
)
def test_each_failure_costs_its_points(wrong: str, functionality: int) -> None:
    evaluation = evaluate_backend(InADict(wrong))
    assert count_points(evaluation)["functionality"] == functionality
    assert bool(evaluation.notes) == (wrong in ("fails", "absent"))


def test_a_backend_that_is_down_is_not_acceptable_for_failing_fast() -> None:
    evaluation = evaluate_backend(InADict("fails"))
    assert (evaluation.available, count_points(evaluation)["latency"]) == (False, 0)
    assert (evaluation.score, evaluation.recommendation) == (0, "NOT AVAILABLE")


@pytest.mark.parametrize("wrong", ["absent", "refuses to answer"])
def test_an_unavailable_backend_has_no_points(wrong: str) -> None:
    evaluation = evaluate_backend(InADict(wrong))
    assert (evaluation.score, evaluation.recommendation) == (0, "NOT AVAILABLE")
    assert evaluation.notes


def test_a_backend_that_keeps_nothing_is_only_worth_being_there() -> None:
    evaluation = evaluate_backend(InADict("keeps nothing"))
    assert (evaluation.score, evaluation.recommendation) == (20, "NOT RECOMMENDED")
    assert evaluate_backend(NullBackend()).score == 20


@pytest.mark.parametrize("call", ["store", "retrieve", "query", "delete"])
def test_any_exception_of_a_backend_is_a_note(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionResetError("by peer")

    backend = InADict()
    monkeypatch.setattr(backend, call, fail)
    evaluation = evaluate_backend(backend)
    assert any("ConnectionResetError" in note for note in evaluation.notes)
    assert (evaluation.recommendation == "NOT AVAILABLE") == (call != "delete")


@pytest.mark.parametrize("answer", [None, "text", [object()], 7])
def test_an_answer_that_is_not_a_list_of_entries_is_a_note(
    answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = InADict()
    monkeypatch.setattr(backend, "query", lambda *_: answer)
    evaluation = evaluate_backend(backend)
    assert (evaluation.query_returns_results, len(evaluation.notes)) == (False, 1)


def test_a_cloud_backend_loses_privacy_points_with_a_warning() -> None:
    evaluation = evaluate_backend(InADict(is_cloud=True))
    assert (evaluation.score, evaluation.requires_api_key) == (85, True)
    assert any("leaves this machine" in note for note in evaluation.notes)


def test_an_interrupted_trial_deletes_its_entries() -> None:
    backend = InADict("interrupted")
    with pytest.raises(KeyboardInterrupt):
        evaluate_backend(backend)
    assert backend.kept == {}


def made(name: str, score: int, *, is_cloud: bool, kept: bool = True) -> BackendEvaluation:
    where = "https://far.example" if is_cloud else "here"
    return BackendEvaluation(
        name, is_cloud, available=True, score=score, store_success=kept, data_location=where,
        recommendation=rate_score(score),
    )  # fmt: skip


def test_the_recommendation_compares_the_best_local_with_the_best_cloud_and_warns() -> None:
    said = recommend([made("near", 95, is_cloud=False), made("far", 85, is_cloud=True)])
    assert said.startswith("Use near")
    assert "data leaves this machine" in said
    assert "https://far.example" in said
    said = recommend([made("far", 85, is_cloud=True), made("near", 60, is_cloud=False)])
    assert "85 points against 60" in said
    assert "data leaves this machine" in said
    assert "leave this machine" in recommend([made("far", 85, is_cloud=True)])
    assert "stays on this machine" in recommend([made("near", 95, is_cloud=False)])
    assert "No backend" in recommend([made("none", 60, is_cloud=False, kept=False)])


def test_the_report_ranks_the_best_first_and_the_disabled_last() -> None:
    found = make_report(
        [evaluate_backend(NullBackend()), evaluate_backend(InADict("changes")), evaluate_backend(InADict())]
    )
    assert set(found) >= {"timestamp", "backends_evaluated", "evaluations", "recommendation"}
    assert found["backends_evaluated"] == 3
    assert [one["recommendation"] for one in found["evaluations"]][-1] == "DISABLED"
    assert found["evaluations"][0]["score"] == 100
    json.dumps(found)


def test_every_topic_has_a_value_for_everybody_and_a_question_in_other_words() -> None:
    assert len(load_topics()) >= 40
    assert len({topic.key for topic in load_topics()}) == len(load_topics())
    for topic in load_topics():
        assert len(topic.values) == len(PEOPLE)
        asked = set(re.findall(r"\w+", topic.question.lower()))
        assert not asked & set(topic.key.split("_")), topic.key


def test_a_workload_measures_the_local_backend_and_leaves_nothing(tmp_path: Path) -> None:
    users = name_users("test")
    moved: list[float] = []
    result = Workload(lambda: LocalBackend(tmp_path / "x.db"), users, moved.append).run()
    assert (result.entries, result.users) == (300, 5)
    assert (result.exact, result.isolated, result.persistent, result.cleared) == (True, True, True, True)
    assert result.problems == []
    assert set(result.latencies) == {"store", "update", "retrieve", "query", "list", "delete"}
    assert all(0 <= one.p50 <= one.p95 for one in result.latencies.values())
    assert result.recall_words["5"] > 0.95
    assert result.recall_paraphrased["5"] > 0.5
    assert moved == sorted(moved)
    left = LocalBackend(tmp_path / "x.db")
    assert left.entries.users() == []
    left.close()


@pytest.mark.parametrize(
    ("wrong", "broken"), [("leaks", "isolated"), ("changes", "exact"), ("forgets", "persistent"), ("", "")]
)
def test_a_workload_notices_broken_promises(wrong: str, broken: str) -> None:
    kept = InADict(wrong)
    result = Workload(
        lambda: InADict() if wrong == "forgets" and kept.kept else kept, name_users("x"), lambda _: None
    ).run()
    promises = {name for name in ("exact", "isolated", "persistent") if not getattr(result, name)}
    assert promises >= ({broken} if broken else set())
    assert promises or not broken


def test_a_workload_of_a_failing_backend_says_what_failed() -> None:
    result = Workload(lambda: InADict("fails"), name_users("x"), lambda _: None).run()
    assert result.problems == ["it is down"]


def test_every_backend_is_evaluated_and_no_file_stays(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = evaluate_backends(workload=False)
    assert [one["backend_name"] for one in found["evaluations"]] == ["local (SQLite)", "null (disabled)"]
    assert "HONCHO_API_KEY" in found["skipped"]["honcho"] or "honcho-ai" in found["skipped"]["honcho"]
    assert not home.exists()
    assert list(tmp_path.iterdir()) == []


class NeverThere(InADict):
    def is_available(self) -> bool:
        raise ConnectionError("no route to host")


class DownLater(InADict):
    """Passes the trial and then fails in the workload."""

    def list_keys(self, user_id: str) -> list[str]:
        raise OSError(113, "no route to host")


def test_every_installed_plug_in_is_evaluated_whatever_it_raises(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds = {"good": "InADict", "gone": "NeverThere", "later": "DownLater", "broken": "nothing"}
    monkeypatch.setattr(
        backend_choice,
        "_entry_points",
        lambda: [
            EntryPoint(name, f"{__name__}:{kind}", backend_choice.GROUP) for name, kind in kinds.items()
        ],
    )
    found = evaluate_backends()
    by_verdict: dict[str, int] = {}
    for one in found["evaluations"]:
        by_verdict[one["recommendation"]] = by_verdict.get(one["recommendation"], 0) + 1
    # Those that passed the trial are the local one, the good one, and the one that fails later.
    assert by_verdict == {"RECOMMENDED": 3, "NOT AVAILABLE": 2, "DISABLED": 1}
    assert any("no route to host" in problem for problem in found["workloads"]["dict"]["problems"])


@needs_sdk
def test_null_local_and_honcho_are_ranked_with_reasons(
    server: HonchoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HONCHO_API_KEY", KEY)
    monkeypatch.setenv("HONCHO_BASE_URL", server.base_url)
    found = evaluate_backends(workload=False)
    assert {one["backend_name"] for one in found["evaluations"]} == {
        "local (SQLite)",
        "honcho (self-hosted)",
        "null (disabled)",
    }
    server.purge()
    assert server.held() == "[[], []]"


@needs_sdk
def test_a_honcho_server_that_is_down_is_not_recommended(
    server: HonchoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fault_at["list?page=1&size=100"] = 503
    backend = HonchoBackend(KEY, "app", server.base_url, timeout=0.5)
    evaluation = evaluate_backend(backend)
    backend.close()
    assert count_points(evaluation)["functionality"] == 0
    assert "503" in " ".join(evaluation.notes)


@needs_sdk
def test_the_next_evaluation_deletes_what_a_killed_one_left_on_the_server(
    server: HonchoServer, honcho: HonchoBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with temporary_folder(server.base_url) as running, temporary_folder("https://another.example") as other:
        left, elsewhere = (
            folder.with_name(folder.name.replace(f"-{os.getpid()}-", f"-{gone.pid}-"))
            for folder in (running, other)
        )
        left.mkdir()
        elsewhere.mkdir()
        users = name_users(left.name)
        honcho.store(users[0], "left", "behind")
        honcho.store("alice", "theme", "dark")
        assert delete_leftovers(server.base_url, lambda: honcho) == 1
        assert (left.exists(), elsewhere.exists(), running.exists()) == (False, True, True)
    assert honcho.list_keys(users[0]) == []
    assert honcho.list_keys("alice") == ["theme"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_an_evaluation_ended_by_a_signal_leaves_no_file(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = (
        "import os, signal, mnemos\n"
        "from mnemos.memory import Memory\n"
        # Tests that run in the background have interrupts ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"stop = lambda share: share > 0.6 and os.kill(os.getpid(), {int(number)})\n"
        "Memory.at().evaluate(progress=stop)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "KeyboardInterrupt" in ran.stderr
    assert list(tmp_path.glob("mnemos-evaluation-*")) == []


def test_the_page_loads_nothing_and_escapes_names() -> None:
    evil = made("<script>alert(1)</script>", 85, is_cloud=True)
    evil.notes.append("<img src=x onerror=alert(1)>")
    result = Workload(InADict, name_users("x"), lambda _: None).run()
    text = render_page(
        make_report([evil, evaluate_backend(NullBackend())], {"<b>dict</b>": result}, {"x": "<i>why</i>"})
    )
    assert text.startswith("<!doctype html>")
    for tag in ("<script", "<img", "<link", "<b>", "<i>", "http-equiv"):
        assert tag not in text
    assert not re.search(r"<[^>]*(?:src|href)\s*=|url\(", text)
    assert text.count("<svg") > 3
    assert "leaves this machine" in text


def test_a_page_can_be_made_without_a_workload(home: Path) -> None:
    with Memory(Settings.load(home)) as memory:
        assert "Not evaluated" in render_page(memory.evaluate(workload=False))

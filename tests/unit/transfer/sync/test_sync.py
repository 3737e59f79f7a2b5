"""A sync of two homes: it carries additions, changes and removals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mnemos.memory import Memory
from mnemos.progress import no_progress
from mnemos.templates.template import SessionTemplate, TaskType
from mnemos.testing import FixedClock
from mnemos.transfer.sync.exchange import sync
from unit.transfer.sync.homes import (
    START,
    LocalPeer,
    export,
    meet,
    open_home,
    say,
    settle,
    texts,
    three_homes,
)


@pytest.fixture
def pair() -> Iterator[tuple[Memory, Memory]]:
    here, there = open_home(), open_home(now=1_767_225_600.5)
    yield here, there
    here.close()
    there.close()


def wait(memory: Memory, seconds: float = 60.0) -> None:
    assert isinstance(memory.clock, FixedClock)
    memory.clock.advance(seconds)


class Counting(LocalPeer):
    """A peer that keeps the requests."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.requests: list[dict[str, Any]] = []

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        self.requests.append(request)
        return super().ask(request)


def test_each_side_gets_what_it_lacks(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "a", "from here")
    say(there, "b", "from there")
    here.remember("I live in Berlin.")
    there.notebook.add("use tabs")
    there.entries.store("default", "editor", "vim")
    here.templates.save(SessionTemplate("fix", TaskType.CODE, [], "how to fix"))
    report = meet(here, there)
    assert report.is_same
    assert dict(report.received.added) == {"sessions": 1, "messages": 1, "notes": 1, "entries": 1}
    assert dict(report.sent.added) == {"sessions": 1, "messages": 1, "facts": 1, "templates": 1}
    assert export(here) == export(there)
    assert texts(there, "a") == ["from here"]
    assert there.recall("where do I live?").hits[0].text.endswith("I live in Berlin.")


def test_a_second_sync_asks_for_nothing(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "a", "one")
    here.remember("I live in Berlin.")
    meet(here, there)
    peer = Counting(there)
    report = sync(here, peer, no_progress)
    assert report.is_same
    assert report.received.is_empty
    assert report.sent.is_empty
    assert [request["ask"] for request in peer.requests] == ["hello", "digests"]


def test_only_the_end_of_a_long_session_is_sent(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "long", *(f"message {number}" for number in range(700)))
    meet(here, there)
    wait(here)
    say(here, "long", "the last one")
    peer = Counting(there)
    sync(here, peer, no_progress)
    (items,) = [request["items"] for request in peer.requests if request["ask"] == "merge"]
    assert len(items[0]["messages"]) == 700 - 10 * 64 + 1
    assert texts(there, "long") == texts(here, "long")


def test_json_of_programs_is_the_same_on_both_and_in_its_order(
    pair: tuple[Memory, Memory],
) -> None:
    here, there = pair
    call = {"type": "function", "id": "c", "function": {"name": "shell", "arguments": "{}"}}
    here.sessions.create_session("s", "test", metadata={"z": 1, "a": 2})
    here.sessions.append_messages(
        "s",
        [
            {"role": "assistant", "content": None, "tool_calls": [call], "metadata": {"z": {"y": 1, "b": 2}}},
            {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image", "data": "x"}]},
        ],
    )
    here.entries.put("default", "k", {"z": 1, "a": 2})
    assert meet(here, there).is_same
    assert json.dumps(there.sessions.export_session("s")) == json.dumps(here.sessions.export_session("s"))
    assert json.dumps(there.entries.find("default")[0].value) == '{"z": 1, "a": 2}'
    say(there, "s", "more")
    assert meet(here, there).is_same
    assert [len(home.sessions.get_messages("s")) for home in pair] == [3, 3]


def test_a_call_that_both_wrote_in_another_order_is_one_message(pair: tuple[Memory, Memory]) -> None:
    for home, call in zip(
        pair, ({"id": "c", "type": "function"}, {"type": "function", "id": "c"}), strict=True
    ):
        home.sessions.create_session("s", "test", started_at=START)
        home.sessions.append_message("s", "assistant", None, tool_calls=[call], timestamp=START)
    assert meet(*pair).is_same
    assert [len(home.sessions.get_messages("s")) for home in pair] == [1, 1]


def test_a_session_continued_on_both_sides_is_ordered_by_time_on_both(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "common")
    meet(here, there)
    for number in range(3):
        say(here, "s", f"here {number}", f"also here {number}")
        wait(here, 10)
        say(there, "s", f"there {number}")
        wait(there, 10)
    meet(here, there)
    assert texts(here, "s") == texts(there, "s")
    expected = [(f"here {number}", f"also here {number}", f"there {number}") for number in range(3)]
    assert texts(here, "s") == ["common", *(text for three in expected for text in three)]


def test_facts_keep_their_source_when_messages_move(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(there, "s", "earlier")
    wait(here)
    (message,) = say(here, "s", "I live in Berlin.")
    here.facts.remember("I live in Berlin.", session_id="s", message_id=message)
    meet(here, there)
    for home in pair:
        (fact,) = home.facts.iterate()
        assert home.sessions.get_messages_around(fact.message_id, 0, 0)[0]["content"] == "I live in Berlin."


def test_a_deleted_session_is_deleted_there_and_can_be_undone_there(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "one")
    meet(here, there)
    wait(here)
    here.sessions.delete_session("s")
    meet(there, here)
    assert there.sessions.get_session("s") is None
    wait(there, 120)
    there.undo()
    meet(here, there)
    assert texts(here, "s") == texts(there, "s") == ["one"]


def test_a_session_that_went_on_after_it_was_deleted_elsewhere_stays(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "one")
    meet(here, there)
    here.sessions.delete_session("s")
    wait(there)
    say(there, "s", "two")
    meet(here, there)
    assert texts(here, "s") == texts(there, "s") == ["one", "two"]


def test_what_is_forgotten_is_erased_there(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    ids = say(here, "s", "the pin is 4711", "something else")
    say(here, "gone", "the other pin is 1234")
    here.remember("My locker is number 99.")
    here.notebook.add("the door code is 5678")
    meet(here, there)
    wait(here)
    (fact,) = here.facts.iterate()
    (note,) = here.recall("door code", kinds=["note"]).hits
    here.forget([f"message:{ids[0]}", "session:gone", f"fact:{fact.id}", f"note:{note.ref}"])
    meet(here, there)
    assert texts(there, "s") == ["[forgotten]", "something else"]
    assert there.sessions.get_session("gone") is None
    assert list(there.facts.iterate()) == []
    assert there.notebook.entries() == []
    assert there.notebook.removed() == {}
    for home in pair:
        kept = json.dumps(export(home)) + str(home.log(1_000))
        assert not any(secret in kept for secret in ("4711", "1234", "5678", "locker"))


def test_forgetting_wins_over_a_later_message_in_the_same_session(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "one")
    meet(here, there)
    here.forget("session:s")
    wait(there)
    say(there, "s", "two")
    meet(here, there)
    assert there.sessions.get_session("s") is None
    wait(there)
    say(there, "s", "a new one")
    meet(here, there)
    assert texts(here, "s") == ["a new one"]


def test_removed_notes_entries_templates_and_messages_do_not_come_back(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "one", "two")
    here.notebook.add("note one")
    here.notebook.add("note two")
    here.entries.store("default", "k", "v")
    here.templates.save(SessionTemplate("fix", TaskType.CODE, [], "how to fix"))
    meet(here, there)
    wait(here)
    here.sessions.pop_message("s")
    here.notebook.remove("note one")
    here.entries.delete("default", "k")
    here.templates.delete_template("fix")
    meet(there, here)
    assert texts(there, "s") == texts(here, "s") == ["one"]
    assert there.notebook.entries() == here.notebook.entries() == ["note two"]
    assert there.entries.list_keys("default") == here.entries.list_keys("default") == []
    assert there.templates.read_all() == here.templates.read_all() == []


def test_the_judge_decides_between_facts_of_two_machines(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    here.remember("I live in Berlin.")
    wait(there)
    there.remember("I moved to Munich.")
    meet(here, there)
    for home in pair:
        assert [fact.content for fact in home.facts.iterate()] == ["I moved to Munich."]
    assert export(here) == export(there)


def test_two_values_of_one_target_leave_the_later_one_and_its_history(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    there.facts.write("V[port]: 8080")
    wait(here)
    here.facts.write("V[port]: 9090")
    meet(here, there)
    for home in pair:
        history = {fact.content: (fact.state, fact.superseded_by) for fact in home.facts.history("port")}
        (live,) = home.facts.iterate()
        assert history == {"9090": ("live", None), "8080": ("superseded", live.id)}


def test_notes_that_do_not_fit_are_named_and_stay_where_they_are() -> None:
    here, there = open_home(), open_home(memory_characters=200)
    with here, there:
        for number in range(3):
            here.notebook.add(f"note {number} " + "x" * 80)
        report = meet(here, there)
        assert not report.is_same
        assert len(there.notebook.entries()) == 2
        assert len(here.notebook.entries()) == 3
        assert "was not taken" in report.sent.reasons[0]


def test_a_title_set_while_the_other_machine_went_on_is_kept(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "one")
    meet(here, there)
    here.sessions.set_title("s", "A name")
    wait(there)
    say(there, "s", "two")
    meet(here, there)
    assert export(here) == export(there)
    assert (there.sessions.get_session("s") or {})["title"] == "A name"


def test_a_child_has_one_parent_on_both_machines(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    for name, parent in (("top", None), ("middle", "top"), ("child", "middle")):
        here.sessions.create_session(name, "test", parent_session_id=parent)
    meet(here, there)
    wait(here)
    # The child goes to the top; but the middle came back.
    here.sessions.delete_session("middle")
    wait(there, 120)
    say(there, "middle", "it goes on")
    assert meet(here, there).is_same
    for home in pair:
        assert (home.sessions.get_session("child") or {})["parent_session_id"] == "middle"


def test_a_session_of_another_user_is_left_as_it_is(pair: tuple[Memory, Memory]) -> None:
    for home, user in zip(pair, ("alice", "bob"), strict=True):
        home.sessions.create_session("s", "test", user_id=user)
        say(home, "s", f"from {user}")
    report = meet(*pair)
    assert "another user" in report.received.reasons[0]
    assert [texts(home, "s") for home in pair] == [["from alice"], ["from bob"]]


def test_a_session_with_two_models_is_the_same_on_both_machines(pair: tuple[Memory, Memory]) -> None:
    for home, model in zip(pair, ("small", "large"), strict=True):
        home.sessions.create_session("s", "test", model=model, started_at=1.0)
    assert meet(*pair).is_same
    assert [(home.sessions.get_session("s") or {})["model"] for home in pair] == ["small", "large"]


def test_an_entry_comes_although_a_later_one_has_expired(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    here.entries.store("default", "k", "lasting")
    wait(there, 5)
    there.entries.put("default", "k", "for a moment", expires_at=there.clock() + 1)
    wait(there, 5)
    assert meet(here, there).is_same
    assert there.entries.list_keys("default") == ["k"]


def test_importing_on_the_other_machine_adds_nothing(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "s", "one")
    here.storage.write(lambda tx: tx.imports.note("s", [7, 8]))
    meet(here, there)
    assert there.storage.read(lambda tx: tx.imports.owners([7, 8])) == {7: "s", 8: "s"}


def test_news_goes_round_a_ring_of_three() -> None:
    with three_homes() as (one, two, three):
        say(one, "s", "from one")
        say(two, "s", "from two")
        three.remember("I live in Berlin.")
        for _ in range(2):
            meet(one, two)
            meet(two, three)
            meet(three, one)
        assert export(one) == export(two) == export(three)
        assert settle([one, two, three]) == 1


def test_a_dry_run_changes_nothing(pair: tuple[Memory, Memory]) -> None:
    here, there = pair
    say(here, "a", "one")
    there.remember("I live in Berlin.")
    before = export(here), export(there)
    report = meet(here, there, dry_run=True)
    assert report.different == {"sessions": 1, "facts": 1}
    assert (export(here), export(there)) == before


def test_removals_are_recorded_without_their_text(pair: tuple[Memory, Memory]) -> None:
    here, _ = pair
    say(here, "s", "secret words")
    here.remember("I live in Berlin.")
    here.notebook.add("secret note")
    here.entries.store("default", "salary", "secret value")
    here.sessions.pop_message("s")
    here.forget("fact:f1")
    here.notebook.remove("secret note")
    here.entries.delete("default", "salary")
    stones = here.storage.read(lambda tx: tx.tombstones.of_kind(None))
    assert {stone.kind for stone in stones} == {"message", "fact", "note", "entry"}
    kept = str(stones)
    assert not any(word in kept for word in ("secret", "Berlin", "salary"))


def test_a_repository_is_one_project_on_both_machines(pair: tuple[Memory, Memory], tmp_path: Path) -> None:
    here, there = pair
    for home, folder in ((here, tmp_path / "work" / "web"), (there, tmp_path / "src" / "web-app")):
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.com:team/web.git\n')
        home.sessions.create_session(f"in {folder.name}", "cli", project=str(folder))
    here.sessions.create_session("elsewhere", "cli", project="/not/a/repository")
    meet(here, there)
    for home, folder in ((here, tmp_path / "work" / "web"), (there, tmp_path / "src" / "web-app")):
        assert {row["project"] for row in home.sessions.export_all()} == {str(folder), "/not/a/repository"}
    assert meet(here, there).is_same

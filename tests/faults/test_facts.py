"""Facts under racing, killed and forgetting processes."""

from __future__ import annotations

import random
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from mnemos.facts.fact import Fact

from . import processes
from .processes import Spawn
from .soundness import assert_sound, complaints
from .test_forget_bytes import random_words, traces

PROCESSES = 4
STATES = ("live", "superseded", "retired")


@pytest.fixture(autouse=True)
def roles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "ROLES", Path(__file__).with_name("fact_roles.py"))


def opened(home: Path, **options: Any) -> mnemos.Memory:
    return mnemos.open(home, embedder="none", **options)


def assert_facts_sound(home: Path) -> None:
    """One live fact a key, chains that end at what is live, and recall that knows exactly the live ones."""
    assert_sound(home)
    with opened(home) as memory:
        rows = {fact.id: fact for fact in memory.facts.list(states=STATES)}
    live = [(fact.type, fact.target.casefold(), fact.scope) for fact in rows.values() if fact.state == "live"]
    assert len(live) == len(set(live))
    for fact in rows.values():
        assert (fact.ended_at is None) == (fact.state == "live")
        assert fact.superseded_by is None or int(fact.superseded_by[1:]) > int(fact.id[1:])
        assert fact.superseded_by is None or fact.superseded_by in rows
        assert fact.tier == "cold" or fact.state == "live"
    sql = "SELECT ref, live FROM passages WHERE kind = 'fact'"
    passages = dict(raw(home, sql))
    assert {ref for ref, is_live in passages.items() if is_live} == {
        fact.id for fact in rows.values() if fact.state == "live"
    }
    assert passages.keys() <= rows.keys()


def raw(home: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


# --- races -------------------------------------------------------------------------------------


def test_four_processes_that_write_one_key_leave_one_live_fact_and_a_whole_chain(
    home: Path, spawn: Spawn, nightly: bool
) -> None:
    count = 1_000 if nightly else 150
    names = [f"writer{number}" for number in range(PROCESSES)]
    writers = [spawn("write_one_key", home=str(home), name=name, count=count) for name in names]
    assert [writer.line() for writer in writers] == ["ready"] * PROCESSES
    # The home does not exist yet: all of them make it.
    for writer in writers:
        writer.go()
    reader = spawn("read_facts", home=str(home))
    reader.line()
    assert [writer.finish() for writer in writers] == [["done"]] * PROCESSES
    (seen,) = reader.finish()
    assert seen["wrong"] == []
    assert seen["reads"] > 0

    with opened(home) as memory:
        (live,) = memory.facts.list()
        chain = memory.facts.history("srv.prod")
        assert len(chain) == PROCESSES * count
        assert chain[-1] == live
        for fact, following in pairwise(chain):
            assert (fact.state, fact.superseded_by, fact.ended_at) == (
                "superseded",
                following.id,
                following.at,
            )
        for name in names:
            own = [fact.content for fact in chain if fact.session_id == name]
            assert own == [f"{name}n{number}" for number in range(count)]
        assert [str(fact) for fact in memory.facts.search("srv.prod", limit=20)] == [str(live)]
        assert [scope.label for scope in memory.facts.scopes()] == ["infra"]
    assert_facts_sound(home)


def test_no_acknowledged_fact_is_lost_when_writers_are_killed(
    home: Path, spawn: Spawn, nightly: bool
) -> None:
    chance = random.Random(20_260_104)
    acknowledged: dict[str, list[str]] = {}
    survivor = spawn("write_facts", home=str(home), name="survivor", one_call=3)
    survivor.line()
    for number in range(60 if nightly else 3):
        name = f"killed{number}"
        writer = spawn("write_facts", home=str(home), name=name, one_call=5)
        reports = [writer.line() for _ in range(chance.randint(1, 15))]
        reports += writer.kill()
        acknowledged |= {
            own: [name, str(call), str(place)] for call, ids in reports for place, own in enumerate(ids)
        }
    survivor.finish()
    assert_facts_sound(home)
    with opened(home) as memory:
        rows = {fact.id: fact for fact in memory.facts.list(states=STATES)}
        for own, (name, call, place) in acknowledged.items():
            assert rows[own].content == f"word{name}n{call}p{place}"
        # A call is there whole or not at all.
        calls: dict[tuple[str | None, str], int] = {}
        for fact in rows.values():
            if fact.type == "V":
                key = (fact.session_id, fact.content.rpartition("p")[0])
                calls[key] = calls.get(key, 0) + 1
        assert {count for (name, _), count in calls.items() if name != "survivor"} == {5}
        assert {count for (name, _), count in calls.items() if name == "survivor"} == {3}
        live = [fact for fact in rows.values() if fact.state == "live" and fact.type == "V"]
        for fact in chance.sample(live, 20):
            assert fact.id in {hit.id for hit in memory.facts.search(fact.content, limit=20)}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("template") / "home"
    with opened(home) as memory:
        for version in range(3):
            lines = "\n".join(f"V[old.t{n}]: version{version}n{n}" for n in range(20))
            memory.facts.write(lines, scope="old")
        for n in range(60):
            memory.facts.write(f"V[secret]: hidden{n}", scope="old")
        memory.facts.write("C[old.t1]: law\nD[new]: one")
        memory.facts.write("D[new]: two")
    return home


def summary(home: Path) -> tuple[Any, ...]:
    """Everything that a piece of work may change, without times."""
    with opened(home) as memory:
        facts = [plain(fact) for fact in memory.facts.list(states=STATES)]
        scopes = [(scope.label, scope.is_open) for scope in memory.facts.scopes()]
        undone = [entry.undone_by is not None for entry in memory.log()]
    return facts, scopes, undone


def plain(fact: Fact) -> tuple[Any, ...]:
    return fact.id, str(fact), fact.scope, fact.tier, fact.state, fact.superseded_by


@pytest.mark.parametrize("work", ["write", "replace", "close"])
def test_a_call_happened_or_not_after_a_kill_at_any_write(
    template: Path, tmp_path: Path, spawn: Spawn, nightly: bool, work: str
) -> None:
    before = summary(template)
    after = None
    for home in killed(template, tmp_path, spawn, work, 60 if nightly else 3):
        assert_facts_sound(home)
        found = summary(home)
        if found != before:
            assert after is None or found == after
            after = found
    assert after is not None


@pytest.mark.parametrize("work", ["forget", "purge", "undo"])
def test_what_takes_several_steps_can_be_done_again_after_a_kill(
    template: Path, tmp_path: Path, spawn: Spawn, nightly: bool, work: str
) -> None:
    for home in killed(template, tmp_path, spawn, work, 60 if nightly else 3):
        assert_facts_sound(home)
        with opened(home) as memory:
            there = {fact.target for fact in memory.facts.list(states=STATES)}
            if work == "forget":
                if "secret" in there:
                    memory.call("memory_forget", {"target": "secret"})
                memory.storage.scrub()
                assert not memory.facts.search("hidden59")
            elif work == "purge":
                memory.facts.purge(older_than_days=0)
                assert all(fact.state == "live" for fact in memory.facts.list(states=STATES))
            else:
                assert str(memory.facts.history("new")[-1]) in ("D[new]: one", "D[new]: two")
        if work == "forget":
            assert b"hidden5" not in b"".join(path.read_bytes() for path in home.iterdir())
        assert_facts_sound(home)


def killed(template: Path, tmp_path: Path, spawn: Spawn, work: str, points: int) -> list[Path]:
    """Copies of the home as processes left them that were killed in the middle of the work."""
    counted = shutil.copytree(template, tmp_path / "counted")
    (operations,) = spawn("crash_with_facts", home=str(counted), work=work, at=0).finish()
    chance = random.Random(operations)
    homes = [counted]
    for at in sorted(chance.sample(range(1, operations + 1), min(points, operations))):
        home = shutil.copytree(template, tmp_path / f"at{at}")
        spawn("crash_with_facts", home=str(home), work=work, at=at).wait()
        homes.append(home)
    return homes


# --- bytes -------------------------------------------------------------------------------------


def fill(memory: mnemos.Memory, seed: int) -> None:
    """Facts of other words, so that the pages are shared."""
    words = random_words(seed, 900)
    for n in range(0, 900, 30):
        lines = [f"V[{words[n + k][:6]}.{words[n + k][6:]}]: {words[n + k][::-1]} said" for k in range(30)]
        memory.facts.write("\n".join(lines), scope=f"filler{n % 4}")


@pytest.mark.parametrize("tidied", [False, True])
def test_a_forgotten_target_leaves_no_trace(home: Path, tidied: bool) -> None:
    """In rows, index, history, retired rows, the log of changes, free pages and the log of the file."""
    targets, contents, reasons = (random_words(seed, 12) for seed in (31, 32, 33))
    versions = random_words(34, 60)
    secrets = [*targets, *contents, *reasons, *versions]
    with opened(home) as memory:
        fill(memory, 40)
        for number, (target, content, reason) in enumerate(zip(targets, contents, reasons, strict=True)):
            for version in versions[number * 5 : number * 5 + 5]:
                memory.facts.write(f"V[{target}]: it is {version} for now", scope="auth")
            memory.facts.write(f"V[{target}]: {content}\nC[{target}]: never {content}", scope="auth")
            memory.facts.search(content)
            if number % 2:
                memory.facts.write(f"~[{target}]: because {reason}", scope="auth")
            else:
                memory.facts.write(f"?[{target}]: why {reason}", scope="auth")
                memory.facts.write(f"D[{target}]: answered {reason}", scope="auth")
            memory.facts.tick(number + 1, "auth is merged")
        fill(memory, 41)
        if tidied:
            memory.sessions.optimize()
        memory.storage.scrub()
        assert len(traces(home, secrets)) >= len(secrets)
        for target in targets:
            answer = memory.call("memory_forget", {"target": target})
            assert (answer["forgotten"] >= 8, answer["pending"], answer["copies"]) == (True, False, [])
        assert traces(home, secrets) == []
        assert complaints(memory) == []
        assert memory.facts.search("said", limit=20)
    assert traces(home, secrets) == []
    assert_facts_sound(home)


def test_a_fact_forgotten_by_its_id_leaves_the_rest_of_its_chain(home: Path) -> None:
    first, secret, last = random_words(51, 3)
    with opened(home) as memory:
        fill(memory, 52)
        ids = [memory.facts.write(f"V[srv]: {word}").facts[0].id for word in (first, secret, last)]
        assert memory.forget(f"fact:{ids[1]}")["pending"] is False
        assert traces(home, [secret]) == []
        assert len(traces(home, [first, last])) >= 2
        assert [fact.content for fact in memory.facts.history("srv")] == [first, last]


def test_purged_history_leaves_no_trace_after_a_cleanup(home: Path) -> None:
    words = random_words(61, 40)
    with opened(home) as memory:
        fill(memory, 62)
        for word in words:
            memory.facts.write(f"V[srv]: {word}", scope="auth")
        memory.facts.write("V[srv]: nothing", scope="auth")
        assert memory.facts.purge(scope="auth") == 40
        memory.sessions.optimize()
        assert complaints(memory) == []
    assert traces(home, words) == []


def test_vectors_of_a_forgotten_fact_are_gone(home: Path) -> None:
    with mnemos.open(home) as memory:
        own = memory.facts.write("V[srv]: the quetzal sleeps", scope="auth").facts[0].id
        memory.facts.write("V[other]: something else entirely", scope="auth")
        memory.embedding.catch_up()
        assert vectors(home) == 2
        memory.forget(f"fact:{own}")
        assert vectors(home) == 1
        assert [fact.target for fact in memory.facts.search("which bird sleeps?")] != ["srv"]
        assert all(fact.target != "srv" for fact in memory.facts.search("quetzal", limit=20))


def vectors(home: Path) -> int:
    """Count the facts that say something: forgotten ones are overwritten with zeros."""
    sql = "SELECT dim, codes FROM vectors AS v JOIN embeddings AS e ON e.id = v.embedding WHERE series = 1"
    slots = [codes[at : at + dim] for dim, codes in raw(home, sql) for at in range(0, len(codes), dim)]
    return sum(any(slot) for slot in slots)


def test_forgetting_while_a_reader_holds_on_is_finished_later(home: Path, spawn: Spawn) -> None:
    (secret,) = random_words(71, 1)
    with opened(home) as memory:
        memory.facts.write(f"V[srv]: {secret}")
        connection = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM facts").fetchall()
        assert memory.call("memory_forget", {"target": "srv"})["pending"] is True
        connection.close()
        memory.sessions.optimize()
    assert traces(home, [secret]) == []

"""Questions find live facts, hot or cold, and reading writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest

import mnemos
from mnemos import Memory
from mnemos.errors import InvalidInput, NotFound
from mnemos.facts.facts import Facts
from mnemos.facts.keywords import ABBREVIATIONS, find_counterparts
from mnemos.testing import FixedClock


def found(facts: Facts, query: str, **options: Any) -> list[str]:
    return [fact.target for fact in facts.search(query, **options)]


@pytest.fixture
def known(facts: Facts) -> Facts:
    facts.write("V[mascot]: a parrot called Polly")
    facts.write(
        "V[srv.prod]: api.example.com:3005\n"
        "V[srv.staging]: staging.example.com:3006\n"
        "C[db.id]: UUID mndtry, nvr autoincrement",
        scope="infra",
    )
    facts.write("D[auth]: JWT 7j refresh 6j\n?[cache]: redis or memcached", scope="backend")
    return facts


# --- questions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "target"),
    [
        ("which port does production use?", "srv.prod"),
        ("what is the address of the production server?", "srv.prod"),
        ("are autoincrement ids allowed in the database?", "db.id"),
        ("is an UUID mandatory?", "db.id"),
        ("how long does authentication last", "auth"),
        ("did we decide on redis?", "cache"),
        ("what's the mascot's name", "mascot"),
        ("srv.staging", "srv.staging"),
        ("3006", "srv.staging"),
    ],
)
def test_a_question_finds_the_fact(known: Facts, question: str, target: str) -> None:
    assert found(known, question)[0] == target


@pytest.mark.parametrize("short", sorted(ABBREVIATIONS))
def test_an_abbreviation_and_its_long_form_are_the_same_word(facts: Facts, short: str) -> None:
    long = ABBREVIATIONS[short]
    facts.write(f"D[one]: the {short} zebra\nD[two]: the {long} quagga\nD[three]: something else")
    for word in (short, long, long.upper()):
        assert set(found(facts, word)) == {"one", "two"}, word
    assert "three" not in found(facts, long)


def test_the_other_form_is_not_shown(facts: Facts) -> None:
    facts.write("V[cfg.prod]: yes")
    (fact,) = facts.search("configuration of production")
    assert str(fact) == "V[cfg.prod]: yes"


def test_what_is_written_in_both_forms_has_no_counterpart() -> None:
    assert find_counterparts("the database db") == ""
    assert find_counterparts("nothing of the kind") == ""
    assert set(find_counterparts("db and configuration").split()) >= {"database", "cfg"}


def test_cold_facts_are_found_as_well(known: Facts) -> None:
    known.write("✓[infra]: done")
    (first, *_) = known.search("which port does production use?")
    assert (first.target, first.tier) == ("srv.prod", "cold")


def test_a_scope_is_found_by_its_label(known: Facts) -> None:
    assert set(found(known, "infra")) == {"srv.prod", "srv.staging", "db.id"}


def test_a_search_is_narrowed_to_a_scope(known: Facts) -> None:
    assert set(found(known, "example JWT redis parrot", scope="Backend", limit=20)) == {"auth", "cache"}
    assert found(known, "production port", scope="backend") == []


@pytest.mark.parametrize("scope", ["unknown", "infr", "*", "infra backend", "x" * 100])
def test_an_unknown_scope_is_an_error_and_never_everything(known: Facts, scope: str) -> None:
    for call in (
        lambda: known.search("port", scope=scope),
        lambda: known.reflect("port", scope=scope),
        lambda: list(known.list(scope=scope)),
        lambda: known.history("auth", scope=scope),
        lambda: known.purge(scope=scope),
        lambda: known.forget(target="auth", scope=scope),
    ):
        with pytest.raises(NotFound):
            call()


@pytest.mark.parametrize("tool", ["memory_search", "memory_reflect", "memory_export", "memory_history"])
def test_an_unknown_scope_is_an_error_of_the_tools(known: Facts, memory: Memory, tool: str) -> None:
    asked = {
        "memory_search": {"query": "port"},
        "memory_reflect": {"topic": "port"},
        "memory_export": {},
        "memory_history": {"target": "auth"},
    }[tool]
    assert known.count() == 6
    assert memory.call(tool, asked)["facts"]
    with pytest.raises(NotFound):
        memory.call(tool, asked | {"scope": "unknown"})


@pytest.mark.parametrize("limit", [0, -1, 21, 1000, True, "5", 2.5, None])
def test_a_limit_is_one_to_twenty(known: Facts, limit: Any) -> None:
    with pytest.raises(InvalidInput):
        known.search("port", limit=limit)


@pytest.mark.parametrize("query", ["", " ", "\n", None, 5, b"x", ["port"]])
def test_a_query_is_a_text_that_says_something(known: Facts, query: Any) -> None:
    with pytest.raises(InvalidInput):
        known.search(query)


def test_results_are_as_many_as_were_asked_for(facts: Facts) -> None:
    facts.write("\n".join(f"V[parrot{n}]: a green parrot, number {n}" for n in range(30)))
    for limit in (1, 5, 20):
        assert len(facts.search("green parrot", limit=limit)) == limit


# --- live only ---------------------------------------------------------------------------------


def test_a_search_never_returns_what_was_replaced_or_retired(facts: Facts) -> None:
    facts.write("V[srv]: gateway port 3005\nV[old]: gateway port 3005")
    facts.write("V[srv]: gateway port 4000")
    facts.write("~[old]: gateway port 3005 is gone")
    for query in ("gateway port 3005", "3005", "old gateway"):
        assert {fact.state for fact in facts.search(query, limit=20)} <= {"live"}
        assert set(found(facts, query)) <= {"srv"}


def test_what_was_replaced_does_not_crowd_out_what_holds(facts: Facts) -> None:
    for n in range(25):
        facts.write(f"V[k{n}]: the gateway port is 30{n:02}")
        facts.write(f"V[k{n}]: nothing of interest {n}")
    facts.write("V[z]: the gateway has a long description and, somewhere in it, some port")
    assert found(facts, "the gateway port is 3003", limit=1) == ["z"]
    assert found(facts, "gateway port", limit=20)[0] == "z"


def test_reflecting_shows_what_was_replaced_after_what_holds(facts: Facts) -> None:
    facts.write("V[srv]: gateway port 3005")
    facts.write("V[srv]: gateway port 4000")
    facts.write("D[gateway]: nginx")
    facts.write("~[gateway]: left")
    answer = facts.reflect("gateway port")
    states = [fact.state for fact in answer]
    assert states == sorted(states, key=lambda state: state != "live")
    assert set(states) == {"live", "superseded", "retired"}


def test_a_fact_with_a_very_long_history_is_found_once(facts: Facts) -> None:
    for n in range(60):
        facts.write(f"V[srv]: gateway port {3000 + n}")
    assert [str(fact) for fact in facts.search("gateway port", limit=20)] == ["V[srv]: gateway port 3059"]
    assert len(facts.history("srv")) == 60
    assert 1 < len(facts.reflect("gateway port")) < 10


# --- lists -------------------------------------------------------------------------------------


def test_lists_choose(known: Facts) -> None:
    known.write("✓[infra]: done")
    known.write("D[auth]: OAuth", scope="backend")

    def listed(**options: Any) -> list[str]:
        return sorted(fact.target for fact in known.list(**options))

    assert listed(scope="backend") == ["auth", "cache"]
    assert listed(tier="cold") == ["db.id", "infra", "srv.prod", "srv.staging"]
    assert listed(tier="hot") == listed(tier="active") == ["auth", "cache", "mascot"]
    assert listed(types=["c", "decision"]) == ["auth", "db.id"]
    assert listed(states=("superseded",)) == ["auth"]
    assert known.count() == len(listed()) == 7
    for wrong in ({"tier": "warm"}, {"states": ("dead",)}, {"types": ["X"]}, {"as_of": "someday"}):
        with pytest.raises(InvalidInput):
            known.list(**wrong)  # type: ignore[arg-type]


def test_lists_go_on_over_many_pages(facts: Facts) -> None:
    for start in range(0, 1_200, 200):
        facts.write("\n".join(f"V[t{n}]: {n}" for n in range(start, start + 200)))
    assert [fact.target for fact in facts.list()] == [f"t{n}" for n in range(1_200)]


def test_a_list_ends_while_others_go_on_writing(facts: Facts) -> None:
    facts.write("V[a]: 0\nV[b]: 0")
    seen: list[str] = []
    for fact in facts.list():
        seen.append(fact.target)
        facts.write(f"V[a]: {len(seen)}")
        assert len(seen) < 10, "the list runs after the writer"
    assert sorted(seen) == ["a", "b"]


# --- reading writes nothing --------------------------------------------------------------------


def version(path: Path) -> tuple[Any, ...]:
    """Return a value that changes with every write to the file."""
    connection = apsw.Connection(str(path / "mnemos.db"))
    try:
        counts = [
            connection.execute(f"SELECT count(*), sum({column}) FROM {table}").get
            for table, column in (
                ("facts", "uses"),
                ("facts", "used_at"),
                ("scopes", "touched_at"),
                ("fact_sessions", "seen_at"),
                ("audit", "id"),
            )
        ]
        return (*counts,)
    finally:
        connection.close()


def test_reading_writes_nothing(home: Path, clock: FixedClock) -> None:
    with mnemos.open(home, clock=clock, embedder="none") as memory:
        facts = memory.facts
        facts.write("V[srv.prod]: port 3005\nC[law]: x", scope="infra")
        facts.write("D[law]: y", scope="infra")
        watcher = apsw.Connection(str(home / "mnemos.db"), flags=apsw.SQLITE_OPEN_READONLY)
        before = watcher.pragma("data_version"), version(home)
        clock.advance(50)
        facts.search("which port", scope="infra", session_id="new session")
        facts.reflect("port")
        facts.status()
        facts.history("srv.prod")
        facts.get("f1")
        list(facts.list(tier="hot"))
        facts.scopes()
        facts.conflicts()
        facts.purge(scope="infra", dry_run=True)
        for tool, asked in (
            ("memory_search", {"query": "port"}),
            ("memory_status", {}),
            ("memory_reflect", {"topic": "port"}),
            ("memory_export", {}),
            ("memory_history", {"target": "srv.prod"}),
        ):
            memory.call(tool, asked)
        assert (watcher.pragma("data_version"), version(home)) == before
        watcher.close()


def test_facts_can_be_read_from_a_home_opened_for_reading_only(home: Path, clock: FixedClock) -> None:
    with mnemos.open(home, clock=clock, embedder="none") as memory:
        memory.facts.write("V[srv.prod]: port 3005", scope="infra")
    with mnemos.open(home, clock=clock, embedder="none", read_only=True) as memory:
        assert memory.facts.search("port", scope="infra")[0].target == "srv.prod"
        assert "V[srv.prod]" in memory.facts.status().text
        with pytest.raises(mnemos.MnemosError) as failure:
            memory.facts.write("V[a]: b")
        assert failure.value.code == "read_only"


def test_references_are_counted_with_the_next_write(facts: Facts, clock: FixedClock) -> None:
    own = facts.write("V[srv.prod]: port 3005").facts[0].id
    start = clock()
    clock.advance(10)
    for _ in range(3):
        facts.search("port")
    assert (facts.get(own).uses, facts.get(own).used_at) == (0, start)
    facts.write("V[other]: x")
    assert (facts.get(own).uses, facts.get(own).used_at) == (3, clock())
    facts.search("port")
    facts.tick(1)
    assert facts.get(own).uses == 4
    facts.write("V[other]: y")
    assert facts.get(own).uses == 4


def test_references_are_counted_when_the_memory_is_closed(home: Path, clock: FixedClock) -> None:
    with mnemos.open(home, clock=clock, embedder="none") as memory:
        own = memory.facts.write("V[srv.prod]: port 3005").facts[0].id
        memory.facts.search("port")
    with mnemos.open(home, clock=clock, embedder="none") as memory:
        assert memory.facts.get(own).uses == 1


def test_a_memory_closes_while_another_process_holds_the_lock(home: Path, clock: FixedClock) -> None:
    memory = mnemos.open(home, clock=clock, embedder="none", busy_seconds=0.01)
    memory.facts.write("V[srv.prod]: port 3005")
    memory.facts.search("port")
    other = apsw.Connection(str(home / "mnemos.db"))
    other.execute("BEGIN IMMEDIATE")
    try:
        memory.close()
    finally:
        other.close()
    with mnemos.open(home, clock=clock, embedder="none") as again:
        again.facts.write("V[srv.prod]: port 3006")


def test_a_fact_that_is_searched_for_stays_hot_longer(facts: Facts, clock: FixedClock) -> None:
    for n in range(60):
        clock.advance(1)
        if n:
            assert found(facts, "favourite", limit=1) == ["v0"]
        facts.write(f"V[v{n}]: {'favourite' if n == 0 else 'another'} value number {n}")
    hot = {fact.target for fact in facts.list(tier="hot")}
    assert "v0" in hot
    assert "v1" not in hot

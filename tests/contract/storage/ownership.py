"""Whose a session or passage is, and which project it is about."""

from __future__ import annotations

from contract.storage.facts import add_fact, all_listed, history_of
from contract.storage.openers import (
    Contract,
    Settled,
    append,
    create,
    found,
    message,
    search,
    session,
    session_row,
    tell,
)
from contract.storage.passages import best, put
from contract.storage.vectors import embed_all, near_ids
from mnemos.storage.base import Filters, Order, SessionFilters, Storage
from mnemos.text.query import parse

SIMILAR = ["ada", "Ada", "a-d-a", "x616461", "ädä", "艾达", "'", '"', "*", "#u", "n"]


def fill(storage: Storage, session_id: str = "s", **fields: str) -> None:
    storage.write(lambda tx: tx.sessions.fill(session_row(session_id, **fields)))


def within(storage: Storage, ids: list[int], filters: Filters) -> list[int]:
    return sorted(storage.read(lambda tx: tx.passages.within(ids, filters, kinds=None)).values())


class OwnershipContract(Contract):
    # --- users ------------------------------------------------------------------------------

    def test_a_user_finds_own_and_shared_messages_only(self, storage: Storage, settled: Settled) -> None:
        (ada,) = tell(storage, "a", "parrot", user_id="ada")
        (bob,) = tell(storage, "b", "parrot", user_id="bob")
        (shared,) = tell(storage, "c", "parrot")
        settled(storage)
        assert sorted(found(storage, "parrot", user="ada")) == [ada, shared]
        assert sorted(found(storage, "parrot", user="bob")) == [bob, shared]
        assert found(storage, "parrot", user="nobody else") == [shared]
        assert len(found(storage, "parrot")) == 3
        for order in Order:
            assert sorted(found(storage, "parrot", user="ada", order=order)) == [ada, shared]

    def test_names_that_look_alike_are_different_users(self, storage: Storage, settled: Settled) -> None:
        ids = [tell(storage, f"s{n}", "parrot", user_id=name)[0] for n, name in enumerate(SIMILAR)]
        settled(storage)
        for name, own in zip(SIMILAR, ids, strict=True):
            assert found(storage, "parrot", user=name) == [own], name

    def test_messages_of_other_users_do_not_count_against_the_limit(
        self, storage: Storage, settled: Settled
    ) -> None:
        (own,) = tell(storage, "a", "a parrot", user_id="ada")
        tell(storage, "b", *["parrot"] * 50, user_id="bob")
        settled(storage)
        assert found(storage, "parrot", user="ada", limit=1) == [own]
        assert best(storage, "parrot", user="ada", limit=1) == [own]

    def test_a_partial_answer_has_nothing_of_another_user(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "b", "parrot pigeon", user_id="bob")
        (own,) = tell(storage, "a", "parrot", user_id="ada")
        settled(storage)
        results = search(storage, "parrot pigeon", user="ada")
        assert ([hit.message_id for hit in results.hits], results.partial) == ([own], True)

    def test_a_session_that_gets_its_user_later_is_hidden_from_others(
        self, storage: Storage, settled: Settled
    ) -> None:
        early = tell(storage, "s", "parrot")
        settled(storage)
        fill(storage, user_id="ada")
        late = append(storage, "s", "another parrot")
        settled(storage)
        assert sorted(found(storage, "parrot", user="ada")) == [*early, *late]
        assert found(storage, "parrot", user="bob") == []
        assert best(storage, "parrot", user="bob") == []
        assert within(storage, [*early, *late], Filters(user="bob")) == []

    def test_a_session_that_got_its_user_later_is_removed_without_a_trace(
        self, storage: Storage, settled: Settled
    ) -> None:
        early = tell(storage, "s", "parrot")
        settled(storage)
        fill(storage, user_id="ada", project="/src/web")
        append(storage, "s", "another parrot")
        settled(storage)
        storage.write(lambda tx: tx.sessions.forget_message(early[0], tool_calls=None, at=1.0))
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        storage.finish_deletes()
        assert found(storage, "parrot") == []
        assert all(check.ok for check in storage.examine(repair=False))

    def test_a_user_is_not_replaced(self, storage: Storage) -> None:
        tell(storage, "s", "parrot", user_id="ada", project="/src/web", branch="main")
        fill(storage, user_id="bob", project="/src/api", branch="next")
        row = session(storage)
        assert (row.user_id, row.project, row.branch) == ("ada", "/src/web", "main")

    def test_passages_belong_to_a_user_or_to_everybody(self, storage: Storage) -> None:
        ada = put(storage, "fact", "f1", "parrot", user_id="ada")
        bob = put(storage, "fact", "f2", "parrot", user_id="bob")
        shared = put(storage, "note", "n1", "parrot")
        assert sorted(best(storage, "parrot", user="ada")) == [ada, shared]
        assert sorted(best(storage, "parrot", user="bob", limit=2)) == [bob, shared]
        assert within(storage, [ada, bob, shared], Filters(user="ada")) == [ada, shared]
        embed_all(storage)
        assert sorted(near_ids(storage, "parrot", user="ada")) == [ada, shared]

    def test_vectors_of_another_user_are_not_near(self, storage: Storage, settled: Settled) -> None:
        (ada,) = tell(storage, "a", "parrot", user_id="ada")
        tell(storage, "b", *["parrot"] * 30, user_id="bob")
        (shared,) = tell(storage, "c", "parrot")
        embed_all(storage)
        settled(storage)
        assert sorted(near_ids(storage, "parrot", user="ada", limit=2)) == [ada, shared]

    def test_lists_and_counts_are_of_one_user(self, storage: Storage) -> None:
        create(storage, "a", user_id="ada")
        create(storage, "b", user_id="bob")
        create(storage, "c")
        rows = storage.read(lambda tx: tx.sessions.recent(SessionFilters(user="ada"), limit=9, offset=0))
        assert [row.id for row in rows] == ["a", "c"]
        assert storage.read(lambda tx: tx.sessions.count(SessionFilters(user="ada"))) == 2

    def test_facts_are_read_of_one_user_and_shared_ones(self, storage: Storage) -> None:
        ada, bob, shared = (add_fact(storage, user_id=user, mark="C") for user in ("ada", "bob", None))
        other = add_fact(storage, user_id="bob", mark="D")
        storage.write(lambda tx: tx.facts.contradict(bob, other))
        seen = {"ada": {ada, shared}, "bob": {bob, other, shared}, None: {ada, bob, other, shared}}
        for user, visible in seen.items():
            hot = storage.read(lambda tx: tx.facts.hot(constraints=9, count=9, user=user))  # noqa: B023
            assert {fact.id for fact in (*hot.constraints, *hot.others)} == visible
            assert set(history_of(storage, user=user)) == visible
            assert (
                set(all_listed(storage, user=user))
                == set(all_listed(storage, hot=True, user=user))
                == visible
            )
            linked = storage.read(lambda tx: tx.facts.conflicts(9, user))  # noqa: B023
            assert len(linked) == (0 if user == "ada" else 1)

    # --- projects ---------------------------------------------------------------------------

    def test_a_session_keeps_its_project_and_branch(self, storage: Storage) -> None:
        create(storage, project="/src/日本 web", branch="fix/#1")
        assert (session(storage).project, session(storage).branch) == ("/src/日本 web", "fix/#1")

    def test_search_filters_by_project(self, storage: Storage, settled: Settled) -> None:
        (web,) = tell(storage, "a", "parrot", project="/src/web")
        (api,) = tell(storage, "b", "parrot", project="/src/api")
        tell(storage, "c", "parrot")
        settled(storage)
        put(storage, "fact", "f1", "parrot")
        assert found(storage, "parrot", projects=["/src/web"]) == [web]
        assert sorted(found(storage, "parrot", projects=["/src/web", "/src/api"])) == [web, api]
        assert found(storage, "parrot", projects=["/work"]) == []
        assert found(storage, "parrot", projects=[]) == []
        assert best(storage, "parrot", projects=["/src/web"]) == [web]
        embed_all(storage)
        assert near_ids(storage, "parrot", projects=["/src/api"]) == [api]

    def test_a_session_that_gets_its_project_later_is_found_by_it(
        self, storage: Storage, settled: Settled
    ) -> None:
        early = tell(storage, "s", "parrot", user_id="ada")
        settled(storage)
        fill(storage, project="/src/web")
        late = append(storage, "s", "another parrot")
        settled(storage)
        assert sorted(found(storage, "parrot", projects=["/src/web"])) == [*early, *late]
        assert sorted(found(storage, "parrot", projects=["/src/web"], user="ada")) == [*early, *late]
        assert found(storage, "parrot", projects=["/src/web"], user="bob") == []

    def test_lists_and_pages_are_of_some_projects(self, storage: Storage) -> None:
        create(storage, "a", project="/src/web")
        create(storage, "b", project="/src/api")
        create(storage, "c")
        asked = ["/src/web"]
        rows = storage.read(lambda tx: tx.sessions.recent(SessionFilters(projects=asked), limit=9, offset=0))
        page = storage.read(lambda tx: tx.sessions.page(source=None, after="", limit=9, projects=asked))
        assert [row.id for row in rows] == [row.id for row in page] == ["a"]
        assert storage.read(lambda tx: tx.sessions.count(SessionFilters(projects=asked))) == 1
        assert sorted(storage.read(lambda tx: tx.sessions.projects())) == ["/src/api", "/src/web"]

    def test_hits_and_strips_carry_title_and_project(self, storage: Storage) -> None:
        (own,) = tell(storage, "a", "parrot", title="Birds", project="/src/web")
        (hit,) = storage.read(lambda tx: tx.sessions.hits([own], 10))
        (strip,) = storage.read(lambda tx: tx.passages.strips([own], reach=1, characters=10))
        assert (hit.title, hit.project) == (strip.title, strip.project) == ("Birds", "/src/web")

    # --- names for people -------------------------------------------------------------------

    def test_openings_are_the_first_words_of_users(self, storage: Storage) -> None:
        create(storage, "a")
        append(storage, "a", message("hi", role="assistant"), "first words", message(None), "second")
        forgotten = tell(storage, "b", "secret", "open")
        storage.write(lambda tx: tx.sessions.forget_message(forgotten[0], tool_calls=None, at=1.0))
        create(storage, "c")
        openings = storage.read(lambda tx: tx.sessions.openings(["a", "b", "c", "nowhere"], characters=5))
        texts = {name: [one.content for one in several] for name, several in openings.items()}
        assert texts == {"a": ["first", "secon"], "b": ["open"]}

    def test_neighbours_of_an_id_are_those_beside_it(self, storage: Storage) -> None:
        for name in ("abc1", "abc1:child", "abc2", "xyz", "日本"):
            create(storage, name)
        asked = storage.read(lambda tx: [tx.sessions.neighbours_of_id(n) for n in ("abc1", "xyz", "日本")])
        assert asked == [(None, "abc2"), ("abc2", "日本"), ("xyz", None)]

    def test_a_search_for_words_and_another_user_reads_no_tags(self, storage: Storage) -> None:
        (own,) = tell(storage, "a", "#u parrot", user_id="ada")
        hits = storage.read(
            lambda tx: tx.sessions.search(
                parse("#u parrot"), Filters(user="ada"), order=Order.RELEVANCE, limit=9, offset=0
            )
        ).hits
        assert [hit.message_id for hit in hits] == [own]

"""Proposals by words: rare words decide, and filters are part of the question."""

from __future__ import annotations

from typing import Any

from contract.storage.openers import DAY, NOW, Contract, Settled, append, create, message, settle, tell
from contract.storage.passages import best, clauses_of, put, weigh
from mnemos.storage.base import Filters, Storage

OLD = NOW - 30 * DAY

# Filters that leave the one message of session "rare", and filters that leave none.
RIGHT: list[dict[str, Any]] = [
    {"sources": ["web"]},
    {"exclude_sources": ["cron"]},
    {"roles": ["assistant"]},
    {"session_ids": ["rare"]},
    {"exclude_session_ids": ["noisy"]},
    {"until": OLD + 1},
    {"since": OLD, "until": OLD + 0.5},
    {"sources": ["web", "cron"], "roles": ["assistant", "tool"], "until": NOW},
]
NOTHING: list[dict[str, Any]] = [
    {"sources": []},
    {"roles": []},
    {"session_ids": []},
    {"session_ids": ["nobody"]},
    {"sources": ["web"], "exclude_session_ids": ["rare"]},
    {"since": NOW + 1},
    {"until": OLD},
    {"since": NOW, "until": NOW},
]


class ProposalContract(Contract):
    # --- counting and weighing --------------------------------------------------------------

    def test_the_count_grows_with_messages_and_passages(self, storage: Storage) -> None:
        assert storage.read(lambda tx: tx.passages.count()) == 0
        tell(storage, "s", *["parrot"] * 30)
        for n in range(20):
            put(storage, "fact", f"f{n}", "parrot")
        assert storage.read(lambda tx: tx.passages.count()) == 50

    def test_messages_of_other_users_are_not_counted_for_a_user(self, storage: Storage) -> None:
        create(storage, "ada's", user_id="ada")
        create(storage, "bob's", user_id="bob")
        tell(storage, "ada's", "1", "2")
        tell(storage, "bob's", "3", "4", "5")
        tell(storage, "shared", "6")
        put(storage, "fact", "f1", "parrot")
        counts = [
            storage.read(lambda tx, user=user: tx.passages.count(Filters(user=user)))
            for user in ("ada", "bob", "eve", None)
        ]
        assert counts == [4, 5, 2, 7]

    def test_passages_are_counted_within_the_filters(self, storage: Storage, settled: Settled) -> None:
        old = [message(text, timestamp=NOW - 400 * DAY) for text in "12345"]
        tell(storage, "old", *old, source="telegram")
        tell(storage, "new", message("6", timestamp=NOW), message("7", timestamp=NOW))
        put(storage, "fact", "f1", "parrot")
        settled(storage)
        filters = [
            Filters(session_ids=["old"]),
            Filters(sources=["telegram"]),
            Filters(since=NOW - 30 * DAY, until=NOW + DAY),
            Filters(session_ids=["nobody's"]),
        ]
        counts = [storage.read(lambda tx, chosen=chosen: tx.passages.count(chosen)) for chosen in filters]
        assert counts == [5, 5, 2 + 1, 0]
        assert storage.read(lambda tx: tx.passages.count(kinds=["fact"])) == 1

    def test_rare_words_are_counted(self, storage: Storage, settled: Settled) -> None:
        gone, _, _ = tell(storage, "s", "parrot one", "parrot two", "pigeon three")
        settled(storage)
        assert weigh(storage, "parrot", "pigeon", "quetzal", "three") == [2, 1, 0, 1]
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        assert weigh(storage, "parrot") == [1]
        assert weigh(storage) == []

    def test_words_of_other_passages_are_counted_too(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        put(storage, "fact", "a", "parrot and quetzal")
        put(storage, "fact", "b", "quetzal")
        assert weigh(storage, "parrot", "quetzal", "pigeon") == [2, 2, 0]

    def test_common_words_weigh_more_than_rare_ones(self, storage: Storage, settled: Settled) -> None:
        lines = [
            f"everywhere {'half' if n % 2 else 'other'} {'tenth' if n % 10 == 0 else 'none'}"
            for n in range(3_000)
        ]
        tell(storage, "s", *lines)
        settled(storage)
        everywhere, half, tenth = weigh(storage, "everywhere", "half", "tenth")
        assert everywhere > half > tenth > 100
        assert everywhere <= 3_000 * 1.2
        assert tenth <= 600

    def test_speakers_are_known_by_their_names(self, storage: Storage, settled: Settled) -> None:
        told = [
            f"{name}: I like {thing}" for name in ("Ada Byron", "Grace") for thing in ("tea", "milk", "rum")
        ]
        tell(storage, "s", *told, "Note: something", "a letter to Charles about milk")
        settled(storage)
        asked = ["ada", "byron", "grace", "charles", "note", "milk", "nobody"]
        assert storage.read(lambda tx: tx.passages.speakers(asked)) == {"ada", "byron", "grace"}
        assert storage.read(lambda tx: tx.passages.speakers([])) == set()

    def test_sessions_are_found_by_who_speaks_in_them(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "tea", "Ada Byron: I like tea", "Grace: me too", "Ada Byron: good")
        tell(storage, "rum", "Grace: I like rum", "Grace: very much")
        tell(storage, "letter", "a letter to Ada about milk")
        settled(storage)
        tell(storage, "late", "Ada Byron: one more thing", "Ada Byron: done")
        for names, sessions in ((["ada"], ["late", "tea"]), (["byron", "grace"], ["late", "rum", "tea"])):
            assert storage.read(lambda tx, n=names: tx.passages.sessions_with(n)) == sessions
        assert storage.read(lambda tx: tx.passages.sessions_with(["nobody"])) == []

    # --- what words propose -----------------------------------------------------------------

    def test_what_has_more_of_the_words_comes_first(self, storage: Storage, settled: Settled) -> None:
        one, both, none, shorter = tell(
            storage,
            "s",
            "the parrot sat on the table all day",
            "the parrot and the quetzal sat all day",
            "nothing of the kind",
            "parrot quetzal",
        )
        settled(storage)
        assert best(storage, "parrot quetzal") == [shorter, both, one]
        assert none not in best(storage, "parrot quetzal")

    def test_one_old_message_with_the_rare_word_is_found_among_thousands(
        self, storage: Storage, settled: Settled
    ) -> None:
        (old,) = tell(storage, "s", "where the quetzal lives we said yesterday")
        append(storage, "s", *["we said yesterday where the parrot lives"] * 4_000)
        settled(storage)
        for limit in (1, 50):
            assert best(storage, "where did we say yesterday that the quetzal lives", limit=limit)[0] == old

    def test_words_that_everything_has_still_find_something(self, storage: Storage, settled: Settled) -> None:
        ids = tell(storage, "s", *["parrot and pigeon"] * 3_500)
        settled(storage)
        for query in ("parrot", "parrot pigeon", "parrot pigeon quetzal"):
            hits = best(storage, query, limit=20)
            assert len(set(hits)) == 20, query
            assert set(hits) <= set(ids)

    def test_words_that_nobody_used_find_nothing(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "s", "parrot")
        settled(storage)
        assert best(storage, "zebra quagga") == []
        assert len(best(storage, "zebra parrot quagga")) == 1

    def test_a_question_of_many_words(self, storage: Storage, settled: Settled) -> None:
        words = [f"word{n}" for n in range(40)]
        ids = tell(storage, "s", " ".join(words[:30]), *words)
        fact = put(storage, "fact", "a", " ".join(words[:32]))
        settled(storage)
        query = " ".join(words)
        assert len(clauses_of(query)) == 32
        hits = best(storage, query, limit=50)
        assert {fact, ids[0]} <= set(hits)
        assert set(ids[1:33]) <= set(hits)

    def test_scripts_without_blanks(self, storage: Storage, settled: Settled) -> None:
        kyoto, database, thai, english = tell(
            storage, "s", "来週京都に行きます", "请备份数据库文件", "ฐานข้อมูลเสีย", "next week in Kyoto"
        )
        settled(storage)
        assert best(storage, "京都") == [kyoto]
        assert best(storage, "数据库") == [database]
        assert best(storage, "ข้อมูล") == [thai]
        assert sorted(best(storage, "京都 Kyoto")) == [kyoto, english]

    def test_signs_of_a_query_are_never_syntax(self, storage: Storage, settled: Settled) -> None:
        (own,) = tell(storage, "s", 'NEAR(a b) said: "x" AND y* OR #kfact {tool} ^z C++')
        settled(storage)
        for query in ('NEAR("a" b)', "said:x", "{said}: y", "^z", "C++", "#kfact", "x AND y OR z", '"', "'"):
            assert set(best(storage, query)) <= {own}, query

    def test_no_words_and_no_time_propose_nothing(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "s", "parrot")
        put(storage, "fact", "a", "parrot")
        settled(storage)
        assert best(storage, "") == []
        assert best(storage, "", sources=["cli"]) == []

    def test_filters_leave_no_place_to_others(self, storage: Storage, settled: Settled) -> None:
        (right,) = tell(storage, "rare", message("parrot", role="assistant", timestamp=OLD), source="web")
        tell(storage, "noisy", *["parrot"] * 3_200, source="cron")
        settled(storage)
        for only in RIGHT:
            assert best(storage, "parrot", limit=1, **only) == [right], only
        for nothing in NOTHING:
            assert best(storage, "parrot", **nothing) == [], nothing

    def test_a_time_without_words_proposes_its_newest_messages(
        self, storage: Storage, settled: Settled
    ) -> None:
        times = [NOW - 400 * DAY, NOW - DAY, NOW, NOW + 10, NOW + 20]
        ids = tell(storage, "s", *(message(f"text {n}", timestamp=at) for n, at in enumerate(times)))
        settled(storage)
        assert best(storage, "", since=NOW, until=NOW + 20) == [ids[3], ids[2]]
        assert best(storage, "", since=NOW - 500 * DAY, until=NOW, limit=1) == [ids[1]]
        assert best(storage, "", until=NOW + 5) == [ids[2], ids[1], ids[0]]
        assert best(storage, "", since=NOW + 5) == [ids[4], ids[3]]
        assert best(storage, "", since=NOW + 5, until=NOW + 9_000 * DAY) == [ids[4], ids[3]]
        assert best(storage, "", since=NOW, until=NOW + 30, roles=["tool"]) == []
        assert best(storage, "", since=NOW, until=NOW + 30, session_ids=["s"], limit=2) == ids[:2:-1]

    def test_fresh_and_indexed_messages_are_proposed_together(self, storage: Storage) -> None:
        (old,) = tell(storage, "s", "green parrot")
        settle(storage)
        (new,) = append(storage, "s", "red parrot")
        assert sorted(best(storage, "parrot")) == [old, new]
        assert best(storage, "red parrot") == [new, old]
        assert best(storage, "green parrot") == [old, new]
        settle(storage)
        assert best(storage, "red parrot") == [new, old]

    def test_forgotten_messages_are_not_proposed(self, storage: Storage, settled: Settled) -> None:
        gone, kept = tell(storage, "s", "secret parrot", "another parrot")
        settled(storage)
        storage.write(lambda tx: tx.sessions.forget_message(gone, tool_calls=None, at=NOW))
        assert best(storage, "secret parrot") == [kept]

    def test_messages_of_a_deleted_session_are_not_proposed(self, storage: Storage, settled: Settled) -> None:
        tell(storage, "gone", *["secret parrot"] * 20)
        (kept,) = tell(storage, "s", "another parrot")
        settled(storage)
        storage.write(lambda tx: tx.sessions.begin_delete("gone"))
        assert best(storage, "secret parrot") == [kept]
        assert best(storage, "", since=NOW - 1, until=NOW + 1) == [kept]
        storage.finish_deletes()
        assert best(storage, "secret parrot") == [kept]

    def test_a_message_of_a_million_equal_words_is_one_proposal(
        self, storage: Storage, settled: Settled
    ) -> None:
        huge, other, both = tell(storage, "s", "parrot " * 1_000_000, "a parrot", "parrot and quetzal")
        settled(storage)
        hits = best(storage, "parrot quetzal", limit=10)
        assert sorted(hits) == [huge, other, both]
        assert hits[0] == both
        assert set(best(storage, "parrot", limit=3)[:2]) == {other, both}

    def test_a_long_message_does_not_crowd_others_out(self, storage: Storage, settled: Settled) -> None:
        """Its parts are many; they take one place."""
        huge = "parrot " * 300_000
        other = "on a day like every other day " * 3_000 + "parrot"
        ids = tell(storage, "s", huge, other, huge)
        settled(storage)
        assert sorted(best(storage, "parrot", limit=3)) == ids

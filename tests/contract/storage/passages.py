"""Passages: found as soon as they are put, gone once removed; messages are passages too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from contract.storage.openers import (
    DAY,
    NOW,
    Contract,
    Opener,
    Settled,
    found,
    message,
    settle,
    tell,
)
from mnemos.storage.base import Filters, Order, Storage
from mnemos.storage.passages import Passage
from mnemos.text.query import Clause, parse

REFS = ["a", "A", "a ", "", "\u00e4", "a\u0308", "日本", "'", '"', "*", "%", "x:y", "#kfact", "🎉" * 50]
GROUPS = ["a", "A", "a b", "ab", "", "日本", "auth-refactor", "auth refactor", "x" * 100, '"', "#gn", "%"]
TEXTS = [
    "plain words",
    "quotes \" and ' and -- and ; DROP TABLE passages",
    "来週京都に行きます",
    "shipped 🎉 today",
    "line\nline\ttab\r\n",
    "%$&",
    " ",
    "",
]


def put(storage: Storage, kind: str, ref: str, text: str, *, at: float = NOW, **fields: Any) -> int:
    return storage.write(lambda tx: tx.passages.put(kind, ref, text=text, at=at, **fields))


def remove(storage: Storage, kind: str, ref: str) -> bool:
    return storage.write(lambda tx: tx.passages.remove(kind, ref))


def outdate(storage: Storage, kind: str, ref: str) -> bool:
    return storage.write(lambda tx: tx.passages.outdate(kind, ref))


def find(storage: Storage, kind: str, ref: str) -> Passage | None:
    return storage.read(lambda tx: tx.passages.find(kind, ref))


def known(storage: Storage, *ids: int) -> list[Passage]:
    return storage.read(lambda tx: tx.passages.get(ids))


def clauses_of(query: str) -> tuple[Clause, ...]:
    return parse(query).clauses


def best(
    storage: Storage, query: str, *, kinds: Sequence[str] | None = None, limit: int = 100, **filters: Any
) -> list[int]:
    """The ids that words propose, in their order."""
    clauses, asked = clauses_of(query), Filters(**filters)
    return storage.read(
        lambda tx: [
            seed.id
            for seed in tx.passages.best(clauses, tx.passages.weigh(clauses), asked, kinds=kinds, limit=limit)
        ]
    )


def weigh(storage: Storage, *queries: str) -> list[int]:
    clauses = [clause for query in queries for clause in clauses_of(query)]
    return storage.read(lambda tx: tx.passages.weigh(clauses))


class PassageContract(Contract):
    # --- what is put ------------------------------------------------------------------------

    def test_a_passage_comes_back_as_it_was_put(self, storage: Storage) -> None:
        own = put(
            storage,
            "fact",
            "f1",
            "the port is 5432",
            at=NOW + 0.25,
            session_id="s9",
            speaker="Ada",
            live=False,
            also="postgres",
            group="infra",
        )
        wanted = Passage(
            id=own,
            kind="fact",
            ref="f1",
            session_id="s9",
            speaker="Ada",
            at=NOW + 0.25,
            live=False,
            text="the port is 5432",
            also="postgres",
            group="infra",
        )
        assert find(storage, "fact", "f1") == wanted
        assert known(storage, own) == [wanted]

    def test_what_was_not_said_of_a_passage_is_empty(self, storage: Storage) -> None:
        put(storage, "note", "n1", "buy milk")
        passage = find(storage, "note", "n1")
        assert passage is not None
        assert (passage.session_id, passage.speaker, passage.live) == (None, None, True)
        assert (passage.also, passage.group, passage.readable) == ("", None, "buy milk")

    def test_any_text_and_any_ref_can_be_put(self, storage: Storage) -> None:
        ids = {
            (ref, text): put(storage, f"kind{n}", ref, text) for ref in REFS for n, text in enumerate(TEXTS)
        }
        assert len(set(ids.values())) == len(REFS) * len(TEXTS)
        for (ref, text), own in ids.items():
            passage = find(storage, f"kind{TEXTS.index(text)}", ref)
            assert passage is not None
            assert (passage.id, passage.ref, passage.text) == (own, ref, text)
        assert len(best(storage, "京都")) == len(REFS)
        assert len(best(storage, "shipped 🎉", kinds=["kind3"])) == len(REFS)

    def test_the_version_changes_with_every_passage(self, storage: Storage) -> None:
        def version() -> tuple[int, ...]:
            return storage.read(lambda tx: tx.passages.version())

        seen = [version()]
        put(storage, "note", "a", "parrot")
        seen.append(version())
        put(storage, "note", "a", "pigeon")
        seen.append(version())
        remove(storage, "note", "a")
        seen.append(version())
        assert len(set(seen)) == 4
        assert version() == seen[-1]

    def test_ids_are_kept_to_the_filters(self, storage: Storage) -> None:
        long = "parrot " * 40_000
        first, late, cut = tell(storage, "s", message("parrot"), message("pigeon", timestamp=NOW + DAY), long)
        (other,) = tell(storage, "t", message("parrot", role="assistant"))
        fact = put(storage, "fact", "a", "parrot", group="birds")
        note = put(storage, "note", "a", "parrot", at=NOW + DAY)

        def within(kinds: Sequence[str] | None = None, **filters: Any) -> set[int]:
            ids = [first, late, cut, cut + 1, other, fact, note, note + 5, 0, -1]
            owners = storage.read(lambda tx: tx.passages.within(ids, Filters(**filters), kinds=kinds))
            assert all(owner == (cut if number == cut + 1 else number) for number, owner in owners.items())
            return set(owners.values())

        assert within() == {first, late, cut, other, fact, note}
        assert within(["message"]) == {first, late, cut, other}
        assert within(["note", "table"]) == {note}
        assert within(since=NOW + DAY) == {late, note}
        assert within(until=NOW) == set()
        assert within(roles=("assistant",)) == {other}
        assert within(session_ids=("s",)) == {first, late, cut}
        assert within(exclude_session_ids=("s",)) == {other, fact, note}
        assert within(sources=()) == set()
        assert within(group="birds") == {fact}
        storage.write(lambda tx: tx.sessions.forget_message(first, tool_calls=None, at=NOW))
        storage.write(lambda tx: tx.sessions.begin_delete("t"))
        remove(storage, "note", "a")
        assert within() == {late, cut, fact}

    def test_unknown_passages_are_none(self, storage: Storage) -> None:
        (message_id,) = tell(storage, "s", "parrot")
        own = put(storage, "fact", "a", "parrot")
        assert find(storage, "fact", "b") is None
        assert find(storage, "note", "a") is None
        assert known(storage) == []
        assert [passage.id for passage in known(storage, own, own + 1, message_id, 0, -1, 1 << 52)] == [own]

    def test_the_same_ref_of_two_kinds_is_two_passages(self, storage: Storage) -> None:
        fact, note = put(storage, "fact", "a", "parrot"), put(storage, "note", "a", "pigeon")
        assert best(storage, "parrot") == [fact]
        assert best(storage, "pigeon") == [note]
        assert remove(storage, "fact", "a") is True
        assert best(storage, "pigeon") == [note]

    def test_putting_a_passage_again_replaces_it(self, storage: Storage) -> None:
        put(storage, "fact", "a", "the parrot is green", speaker="Ada")
        new = put(storage, "fact", "a", "the quetzal is blue", at=NOW + 5)
        passage = find(storage, "fact", "a")
        assert passage is not None
        assert (passage.id, passage.speaker, passage.at) == (new, None, NOW + 5)
        assert passage.text == "the quetzal is blue"
        assert best(storage, "parrot") == []
        assert best(storage, "quetzal") == [new]

    def test_a_removed_passage_is_gone(self, storage: Storage) -> None:
        own, kept = put(storage, "fact", "a", "green parrot"), put(storage, "fact", "b", "red parrot")
        assert remove(storage, "fact", "a") is True
        assert remove(storage, "fact", "a") is False
        assert find(storage, "fact", "a") is None
        assert known(storage, own) == []
        assert best(storage, "green") == []
        assert best(storage, "parrot") == [kept]

    def test_ids_of_passages_are_never_given_twice(self, storage: Storage) -> None:
        given = [put(storage, "fact", "a", f"number{n}") for n in range(3)]
        remove(storage, "fact", "a")
        given += [put(storage, "fact", "a", "again"), put(storage, "note", "b", "other")]
        remove(storage, "note", "b")
        given.append(put(storage, "note", "c", "last"))
        messages = tell(storage, "s", "one", "two")
        assert len({*given, *messages}) == len(given) + len(messages)

    def test_a_passage_is_found_in_the_transaction_that_puts_it(self, storage: Storage) -> None:
        clauses = clauses_of("parrot")

        def work(tx: Any) -> tuple[int, list[int]]:
            own = tx.passages.put("fact", "a", text="parrot", at=NOW)
            seeds = tx.passages.best(clauses, tx.passages.weigh(clauses), Filters(), kinds=None, limit=9)
            return own, [seed.id for seed in seeds]

        own, seen = storage.write(work)
        assert seen == [own]

    def test_a_put_that_was_undone_leaves_nothing(self, storage: Storage) -> None:
        kept = put(storage, "fact", "a", "green parrot")

        def work(tx: Any) -> None:
            tx.passages.put("fact", "a", text="red parrot", at=NOW)
            tx.passages.put("fact", "b", text="blue parrot", at=NOW)
            raise KeyError("no")

        with pytest.raises(KeyError):
            storage.write(work)
        assert best(storage, "parrot") == [kept]
        assert best(storage, "red blue") == []
        assert find(storage, "fact", "b") is None

    def test_other_openers_find_a_passage_at_once(self, open_another: Opener) -> None:
        writer, other = open_another(), open_another()
        reader = open_another(read_only=True)
        assert best(other, "parrot") == best(reader, "parrot") == []
        own = put(writer, "fact", "a", "parrot")
        assert best(other, "parrot") == best(reader, "parrot") == [own]
        new = put(other, "fact", "a", "parrot again")
        assert best(writer, "parrot") == best(reader, "parrot") == [new]
        remove(writer, "fact", "a")
        assert best(other, "parrot") == best(reader, "parrot") == []

    def test_a_long_passage_is_found_by_its_last_word(self, storage: Storage) -> None:
        own = put(storage, "note", "long", "on a day like every other day " * 10_000 + "quetzal")
        assert best(storage, "quetzal") == [own]
        remove(storage, "note", "long")
        assert best(storage, "quetzal") == []
        assert best(storage, "day") == []

    # --- words besides the text -------------------------------------------------------------

    def test_a_passage_is_found_by_words_besides_its_text(self, storage: Storage) -> None:
        own = put(storage, "fact", "a", "cfg of prod", also="configuration production")
        other = put(storage, "fact", "b", "cfg of test")
        assert best(storage, "configuration") == best(storage, "production") == [own]
        assert sorted(best(storage, "cfg")) == [own, other]
        passage = find(storage, "fact", "a")
        assert passage is not None
        assert (passage.text, passage.also) == ("cfg of prod", "configuration production")
        assert {"cfg", "configuration"} <= set(passage.readable.split())

    def test_words_besides_the_text_go_with_the_passage(self, storage: Storage) -> None:
        put(storage, "fact", "a", "cfg", also="configuration")
        new = put(storage, "fact", "a", "cfg", also="settings")
        assert best(storage, "configuration") == []
        assert best(storage, "settings") == [new]
        remove(storage, "fact", "a")
        assert best(storage, "settings") == best(storage, "cfg") == []

    # --- groups -----------------------------------------------------------------------------

    def test_a_search_can_be_limited_to_a_group(self, storage: Storage, settled: Settled) -> None:
        (said,) = tell(storage, "s", "parrot")
        ids = {
            group: put(storage, "fact", f"f{n}", "parrot", group=group)
            for n, group in enumerate([None, *GROUPS])
        }
        settled(storage)
        for group in GROUPS:
            assert best(storage, "parrot", group=group) == [ids[group]], group
            assert best(storage, "parrot", group=group, kinds=["note"]) == []
        assert best(storage, "parrot", group="unheard of") == []
        assert sorted(best(storage, "parrot")) == sorted([said, *ids.values()])

    def test_a_group_is_not_in_the_way_of_few_among_many(self, storage: Storage) -> None:
        (own,) = (put(storage, "fact", "own", "pigeon and parrot", group="small"),)
        for n in range(300):
            put(storage, "fact", f"f{n}", "parrot", group="large")
        assert best(storage, "parrot", group="small", limit=1) == [own]
        assert len(best(storage, "parrot", group="large", limit=500)) == 300

    def test_a_search_can_be_limited_to_a_group_and_a_time(self, storage: Storage) -> None:
        ids = [
            put(storage, "fact", f"f{n}", "parrot", at=NOW + n * DAY, group=("a", "b")[n % 2])
            for n in range(6)
        ]
        assert best(storage, "parrot", group="b", since=NOW + 4 * DAY) == [ids[5]]

    def test_a_passage_leaves_its_group_when_it_is_put_again(self, storage: Storage) -> None:
        put(storage, "fact", "a", "parrot", group="one")
        new = put(storage, "fact", "a", "parrot", group="two")
        assert best(storage, "parrot", group="one") == []
        assert best(storage, "parrot", group="two") == [new]

    # --- what is no longer so ---------------------------------------------------------------

    def test_an_outdated_passage_stays_and_is_marked(self, storage: Storage) -> None:
        own = put(storage, "fact", "a", "parrot", speaker="Ada", also="bird", group="zoo")
        before = find(storage, "fact", "a")
        assert before is not None
        assert outdate(storage, "fact", "a") is True
        after = find(storage, "fact", "a")
        assert after == replace(before, live=False)
        assert known(storage, own) == [after]
        assert best(storage, "parrot") == best(storage, "bird", group="zoo") == [own]
        assert outdate(storage, "fact", "b") is outdate(storage, "note", "a") is False

    def test_an_outdated_passage_can_be_removed_or_put_again(self, storage: Storage) -> None:
        put(storage, "fact", "a", "parrot", also="bird")
        put(storage, "fact", "b", "pigeon", also="bird")
        outdate(storage, "fact", "a")
        outdate(storage, "fact", "b")
        assert remove(storage, "fact", "a") is True
        assert best(storage, "parrot") == []
        again = put(storage, "fact", "b", "pigeon")
        passage = find(storage, "fact", "b")
        assert passage is not None
        assert passage.live is True
        assert best(storage, "pigeon") == [again]
        assert best(storage, "bird") == []

    def test_a_space_outdates_only_its_own(self, open_another: Opener) -> None:
        ours, theirs = open_another("team-a/alice"), open_another("team-a/bob")
        put(theirs, "fact", "a", "parrot", group="zoo")
        assert outdate(ours, "fact", "a") is False
        passage = find(theirs, "fact", "a")
        assert passage is not None
        assert passage.live is True
        assert best(ours, "parrot", group="zoo") == []

    # --- passages among messages ------------------------------------------------------------

    def test_messages_and_other_passages_are_found_together(self, storage: Storage, settled: Settled) -> None:
        (said,) = tell(storage, "s", "green parrot")
        fact = put(storage, "fact", "a", "red parrot")
        settled(storage)
        assert sorted(best(storage, "parrot")) == [said, fact]
        assert best(storage, "red parrot")[0] == fact
        assert best(storage, "green parrot")[0] == said

    def test_a_search_can_be_limited_to_kinds(self, storage: Storage, settled: Settled) -> None:
        (said,) = tell(storage, "s", "parrot")
        fact, note, odd = (put(storage, kind, "a", "parrot") for kind in ("fact", "note", "Odd kind"))
        settled(storage)
        for kinds, wanted in (
            (["message"], [said]),
            (["fact"], [fact]),
            (["note", "fact"], [fact, note]),
            (["message", "note"], [said, note]),
            (["Odd kind"], [odd]),
            (["odd kind"], []),
            (["unheard of"], []),
            ([], []),
            (None, [said, fact, note, odd]),
        ):
            assert sorted(best(storage, "parrot", kinds=kinds)) == wanted, kinds

    def test_a_search_for_messages_finds_no_other_passage(self, storage: Storage, settled: Settled) -> None:
        (said,) = tell(storage, "s", "parrot")
        put(storage, "fact", "a", "parrot", session_id="s")
        put(storage, "fact", "b", "quetzal", session_id="s")
        settled(storage)
        for order in Order:
            assert found(storage, "parrot", order=order) == [said]
            assert found(storage, "parrot quetzal", order=order) == [said]
            assert found(storage, "quetzal", order=order) == []

    def test_time_filters_hold_for_other_passages(self, storage: Storage) -> None:
        times = [NOW - 400 * DAY, NOW - DAY, NOW, NOW + 0.5, NOW + DAY]
        ids = [put(storage, "fact", f"f{n}", "parrot", at=at) for n, at in enumerate(times)]
        assert sorted(best(storage, "parrot", since=NOW)) == ids[2:]
        assert sorted(best(storage, "parrot", until=NOW)) == ids[:2]
        assert best(storage, "parrot", since=NOW, until=NOW + 0.5) == [ids[2]]
        assert best(storage, "parrot", since=NOW + 0.25, until=NOW + 0.75) == [ids[3]]

    def test_only_messages_have_a_source_a_role_and_a_session_to_choose_by(
        self, storage: Storage, settled: Settled
    ) -> None:
        (said,) = tell(storage, "s", "parrot")
        fact = put(storage, "fact", "a", "parrot", session_id="s")
        settled(storage)
        only: list[dict[str, Any]] = [{"sources": ["cli"]}, {"roles": ["user"]}, {"session_ids": ["s"]}]
        for one in only:
            assert best(storage, "parrot", **one) == [said], one
        without: list[dict[str, Any]] = [{"exclude_sources": ["cli"]}, {"exclude_session_ids": ["s"]}]
        for one in without:
            assert best(storage, "parrot", **one) == [fact], one

    def test_a_passage_outlives_the_session_it_was_learned_in(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        fact = put(storage, "fact", "a", "parrot", session_id="s")
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        storage.finish_deletes()
        assert best(storage, "parrot") == [fact]

    # --- spaces -----------------------------------------------------------------------------

    def test_spaces_have_passages_of_the_same_name_apart(self, open_another: Opener) -> None:
        ours, theirs = open_another("team-a/alice"), open_another("team-a/bob")
        own, other = put(ours, "fact", "a", "our parrot"), put(theirs, "fact", "a", "their parrot")
        assert own != other
        for storage, mine, text in ((ours, own, "our parrot"), (theirs, other, "their parrot")):
            passage = find(storage, "fact", "a")
            assert passage is not None
            assert (passage.id, passage.text) == (mine, text)
            assert [one.id for one in known(storage, own, other)] == [mine]
            assert best(storage, "parrot") == best(storage, "our their parrot") == [mine]
        assert remove(ours, "fact", "a") is True
        assert remove(ours, "fact", "a") is False
        assert best(theirs, "parrot") == [other]

    def test_a_small_space_finds_its_own_among_many(self, open_another: Opener) -> None:
        storages = {name: open_another(name) for name in ("before", "small", "after")}
        for name in ("before", "after"):
            tell(storages[name], "s", *["parrot and pigeon"] * 4_000)
            put(storages[name], "fact", "a", "parrot and pigeon")
        own = tell(storages["small"], "s", *(f"parrot number{n}" for n in range(200)))
        fact = put(storages["small"], "fact", "a", "parrot fact")
        for storage in storages.values():
            settle(storage)
        small = storages["small"]
        assert sorted(best(small, "parrot", limit=300)) == [*own, fact]
        assert best(small, "number113 parrot pigeon")[0] == own[113]
        assert best(small, "pigeon") == []
        assert 150 <= weigh(small, "parrot")[0] <= 250
        assert weigh(small, "pigeon") == [0]

    def test_nothing_is_found_in_a_space_that_does_not_exist(self, open_another: Opener) -> None:
        tell(open_another(), "s", "parrot")
        put(open_another(), "fact", "a", "parrot")
        reader = open_another("elsewhere", read_only=True)
        assert best(reader, "parrot") == []
        assert find(reader, "fact", "a") is None
        assert weigh(reader, "parrot") == [0]
        assert reader.read(lambda tx: tx.passages.count()) == 0

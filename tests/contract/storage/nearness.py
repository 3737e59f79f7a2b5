"""Nearest vectors: as exact as the stored bytes, within the filters, each passage once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from contract.storage.openers import DAY, NOW, Contract, append, create, message, tell
from contract.storage.passages import GROUPS, outdate, put
from contract.storage.proposals import NOTHING, OLD, RIGHT
from contract.storage.vectors import (
    DIM,
    Vector,
    add,
    cosines,
    embed_all,
    made,
    near_ids,
    nearest,
    quantised,
    some_pending,
    vector_of,
)
from mnemos.storage.base import Storage
from mnemos.storage.passages import NewVectors


def exact(texts: list[str], asked: Vector, dim: int) -> list[float]:
    """The cosines with the vectors of these texts as they are stored."""
    stored = quantised(np.stack([vector_of(text, dim) for text in texts])).astype(np.float32)
    lengths = np.sqrt((stored * stored).sum(axis=1))
    found: list[float] = ((stored @ asked) / lengths).tolist()
    return found


class NearnessContract(Contract):
    @pytest.mark.parametrize("dim", [8, 100, 256, 384])
    def test_a_few_vectors_are_compared_exactly(self, storage: Storage, dim: int) -> None:
        texts = [f"parrot {n}" for n in range(30)]
        ids = tell(storage, "s", *texts)
        embed_all(storage, dim=dim)
        for question in ("question", "parrot 7", "another"):
            asked = vector_of(question, dim)
            wanted = dict(zip(ids, exact(texts, asked, dim), strict=True))
            near = nearest(storage, asked, limit=10)
            assert [one.id for one in near] == sorted(ids, key=lambda one: -wanted[one])[:10]
            assert [one.cosine for one in near] == pytest.approx([wanted[one.id] for one in near], abs=1e-5)
            judged = cosines(storage, asked, ids)
            assert {one: near.cosine for one, near in judged.items()} == pytest.approx(wanted, abs=1e-5)

    def test_the_same_text_is_nearest(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot {n}" for n in range(2_000)))
        embed_all(storage)
        for n in (0, 255, 256, 1_023, 1_999):
            (near,) = nearest(storage, f"parrot {n}", limit=1)
            assert (near.id, near.piece) == (ids[n], 0)
            assert near.cosine > 0.999

    def test_the_best_is_found_among_many_that_are_almost_as_near(self, storage: Storage) -> None:
        asked = vector_of("question")
        almost = asked.copy()
        almost[:6] *= -1

        def embed(text: str, _: int) -> Vector:
            return asked if text == "answer" else almost

        tell(storage, "s", *["ok"] * 1_500)
        (own,) = append(storage, "s", "answer")
        append(storage, "s", *["ok"] * 1_500)
        embed_all(storage, embed=embed)
        for limit in (1, 10, 50):
            near = nearest(storage, asked, limit=limit)
            assert near[0].id == own
            assert len(near) == limit

    def test_vectors_that_say_nothing_are_near_to_nothing(self, storage: Storage) -> None:
        ids = tell(storage, "s", "?!", "parrot")
        todo = some_pending(storage)
        vectors = made(todo)
        codes = bytes(DIM) + vectors.codes[DIM:]
        bits = bytes(DIM // 8) + vectors.bits[DIM // 8 :]
        assert add(storage, todo, NewVectors(vectors.keys, codes, bits))
        near = {one.id: one.cosine for one in nearest(storage, "parrot")}
        assert near[ids[1]] > 0.999
        assert near.get(ids[0], 0.0) == 0.0

    # --- pieces -----------------------------------------------------------------------------

    def test_a_passage_of_several_pieces_is_near_by_its_best_one(self, storage: Storage) -> None:
        ids = tell(storage, "s", "one\ntwo\nthree", "four\nfive", "six")
        fact = put(storage, "fact", "a", "seven\neight")
        embed_all(storage)
        for question, own, piece in (
            ("one", ids[0], 0),
            ("three", ids[0], 2),
            ("five", ids[1], 1),
            ("six", ids[2], 0),
            ("eight", fact, 1),
        ):
            near = nearest(storage, question)
            assert len({one.id for one in near}) == len(near) == 4, question
            assert (near[0].id, near[0].piece) == (own, piece)
            judged = cosines(storage, question, [*ids, fact])
            assert judged == {one.id: one for one in near}

    def test_a_passage_of_many_pieces_does_not_crowd_others_out(self, storage: Storage) -> None:
        def embed(text: str, dim: int) -> Vector:
            return vector_of("question" if text == "line" else text, dim)

        (own,) = tell(storage, "s", "\n".join(["line"] * 120))
        append(storage, "s", *(f"parrot {n}" for n in range(60)))
        embed_all(storage, embed=embed)
        near = nearest(storage, "question", limit=10)
        assert near[0].id == own
        assert len(near) == 10

    def test_the_end_of_a_long_message_is_near(self, storage: Storage) -> None:
        """A message too long for one id is near under its own, and judged alike by both questions."""
        before, long, after = tell(storage, "s", "before", "x " * 75_000 + "\nthe end", "after")
        embed_all(storage)
        (near,) = nearest(storage, "the end", limit=1)
        assert near.id == long
        assert near.cosine > 0.999
        judged = cosines(storage, "the end", [before, long, after])
        assert judged[long] == near
        assert set(judged) == {before, long, after}
        storage.write(lambda tx: tx.sessions.forget_message(long, tool_calls=None, at=NOW))
        assert sorted(near_ids(storage, "the end")) == [before, after]

    def test_a_long_message_that_begins_with_nothing_belongs_to_its_session(self, storage: Storage) -> None:
        for steps in (1, 1 << 20):
            name = f"s{steps}"
            tell(storage, f"before {name}", "parrot")
            (own,) = tell(storage, name, message(" " * 120_000 + "\nquetzal", role="tool"), source="web")
            embed_all(storage, characters=steps)
            (near,) = nearest(storage, "quetzal", session_ids=[name], limit=1)
            assert near.id == own
            assert cosines(storage, "quetzal", [own]) == {own: near}
            assert near_ids(storage, "quetzal", roles=["tool"], sources=["web"], session_ids=[name]) == [own]
            storage.write(lambda tx: tx.sessions.begin_delete(name))  # noqa: B023
            assert own not in near_ids(storage, "quetzal", limit=50)

    def test_unknown_passages_have_no_cosine(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot")
        embed_all(storage)
        append(storage, "s", "pending")
        asked = [*ids, ids[0] + 1, 0, -5, 1 << 31, 1 << 52, *ids]
        assert set(cosines(storage, "parrot", asked)) == set(ids)
        assert cosines(storage, "parrot", []) == {}

    def test_words_besides_the_text_are_near_too(self, storage: Storage) -> None:
        fact = put(storage, "fact", "a", "cfg", also="configuration")
        put(storage, "fact", "b", "something else")
        embed_all(storage)
        (near,) = nearest(storage, "configuration", limit=1)
        assert near.id == fact

    def test_an_outdated_passage_is_as_near_as_before(self, storage: Storage) -> None:
        fact = put(storage, "fact", "a", "parrot", group="zoo")
        embed_all(storage)
        outdate(storage, "fact", "a")
        assert embed_all(storage) == 0
        assert near_ids(storage, "parrot", group="zoo") == [fact]

    # --- filters ----------------------------------------------------------------------------

    def test_nearest_is_not_limited_by_filtered_passages(self, storage: Storage) -> None:
        (right,) = tell(storage, "rare", message("pigeon", role="assistant", timestamp=OLD), source="web")
        tell(storage, "noisy", *["parrot"] * 3_200, source="cron")
        embed_all(storage)
        for only in RIGHT:
            assert near_ids(storage, "parrot", limit=1, **only) == [right], only
        for nothing in NOTHING:
            assert nearest(storage, "parrot", **nothing) == [], nothing

    def test_nearest_filters_by_kind(self, storage: Storage) -> None:
        (said,) = tell(storage, "s", "parrot")
        fact, note, odd, odder = (
            put(storage, kind, "a", "parrot") for kind in ("fact", "note", "Odd", "odd")
        )
        embed_all(storage)
        for kinds, wanted in (
            (["message"], [said]),
            (["fact"], [fact]),
            (["note", "fact"], [fact, note]),
            (["message", "note"], [said, note]),
            (["Odd"], [odd]),
            (["odd", "message"], [said, odder]),
            (["unheard of"], []),
            ([], []),
            (None, [said, fact, note, odd, odder]),
        ):
            assert sorted(near_ids(storage, "parrot", kinds=kinds)) == wanted, kinds

    def test_nearest_filters_by_group(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        ids = {
            group: put(storage, "fact", f"f{n}", "parrot", group=group)
            for n, group in enumerate([None, *GROUPS])
        }
        embed_all(storage)
        for group in GROUPS:
            assert near_ids(storage, "parrot", group=group) == [ids[group]], group
        assert near_ids(storage, "parrot", group="unheard of") == []
        assert near_ids(storage, "parrot", group="a", kinds=["message"]) == []
        assert len(near_ids(storage, "parrot", limit=50)) == len(ids) + 1

    def test_what_is_near_in_a_small_group_is_found_among_many(self, storage: Storage) -> None:
        own = put(storage, "fact", "own", "pigeon", group="small")
        for n in range(600):
            put(storage, "fact", f"f{n}", "parrot", group="large")
        embed_all(storage)
        assert near_ids(storage, "parrot", group="small", limit=1) == [own]
        assert len(near_ids(storage, "parrot", group="large", limit=700)) == 600

    def test_nearest_filters_by_role(self, storage: Storage) -> None:
        roles = ["user", "assistant", "tool", "system", "developer", "function", "User"]
        ids = tell(storage, "s", *(message("parrot", role=role) for role in roles))
        embed_all(storage)
        for role, own in zip(roles, ids, strict=True):
            assert near_ids(storage, "parrot", roles=[role]) == [own], role
        assert sorted(near_ids(storage, "parrot", roles=["user", "developer"])) == [ids[0], ids[4]]
        assert near_ids(storage, "parrot", roles=["unheard of"]) == []

    def test_nearest_filters_by_time(self, storage: Storage) -> None:
        times = [-5e9, -1.0, 0.0, 1.0, NOW - 400 * DAY, NOW - DAY, NOW, NOW + 0.5, NOW + DAY, 9e11]
        ids = tell(storage, "s", *(message("parrot", timestamp=time) for time in times))
        facts = [put(storage, "fact", f"f{n}", "parrot", at=time) for n, time in enumerate(times)]
        embed_all(storage)
        for own, kind in ((ids, "message"), (facts, "fact")):
            options: dict[str, Any] = {"kinds": [kind], "limit": 50}
            for since, until, wanted in (
                (NOW, None, own[6:]),
                (None, NOW, own[:6]),
                (NOW, NOW + 0.5, own[6:7]),
                (NOW + 0.25, NOW + 0.75, own[7:8]),
                (NOW + 0.25, NOW + DAY, own[7:8]),
                (None, 0.0, own[:2]),
                (0.0, 1.0, own[2:3]),
                (8e11, None, own[9:]),
                (NOW, NOW, []),
                (NOW + 1, NOW - 1, []),
            ):
                hits = near_ids(storage, "parrot", since=since, until=until, **options)
                assert sorted(hits) == wanted, (kind, since, until)

    def test_what_is_near_has_a_source_a_role_and_a_session_if_it_is_a_message(
        self, storage: Storage
    ) -> None:
        (said,) = tell(storage, "s", "parrot")
        fact = put(storage, "fact", "a", "parrot", session_id="s")
        embed_all(storage)
        only: list[dict[str, Any]] = [{"sources": ["cli"]}, {"roles": ["user"]}, {"session_ids": ["s"]}]
        for one in only:
            assert near_ids(storage, "parrot", **one) == [said], one
        without: list[dict[str, Any]] = [{"exclude_sources": ["cli"]}, {"exclude_session_ids": ["s"]}]
        for one in without:
            assert near_ids(storage, "parrot", **one) == [fact], one

    def test_a_session_that_changed_hands_is_not_mistaken(self, storage: Storage) -> None:
        """The name of a deleted session is free at once; its vectors are not those of the new one."""
        tell(storage, "s", *["parrot"] * 30)
        embed_all(storage)
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
        (new,) = tell(storage, "s", "parrot again")
        embed_all(storage)
        for _ in range(2):
            assert near_ids(storage, "parrot") == near_ids(storage, "parrot", session_ids=["s"]) == [new]
            storage.finish_deletes()

    # --- threads ----------------------------------------------------------------------------

    def test_threads_ask_while_another_embeds(self, storage: Storage) -> None:
        create(storage, "s")
        texts = [f"parrot {n}" for n in range(1_500)]
        (first,) = append(storage, "s", "first")
        embed_all(storage)
        over = threading.Event()
        failures: list[BaseException] = []

        def ask() -> None:
            try:
                while not over.is_set():
                    assert near_ids(storage, "first", limit=1) == [first]
                    assert set(cosines(storage, "first", [first])) == {first}
            except BaseException as exc:
                failures.append(exc)

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for start in range(0, len(texts), 50):
                append(storage, "s", *texts[start : start + 50])
                embed_all(storage)
                storage.write(lambda tx: tx.sessions.forget_message(first + 2, tool_calls=None, at=NOW))
        finally:
            over.set()
            for thread in threads:
                thread.join()
        assert failures == []
        assert near_ids(storage, "parrot 1499", limit=1) == [first + 1_500]

"""Vectors: made outside transactions, stored once, and erased with their passage."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from contract.storage.openers import NOW, Contract, Opener, append, create, message, settle, tell
from contract.storage.passages import put, remove
from mnemos.storage.base import Filters, Storage, Writes
from mnemos.storage.passages import PIECE_BITS, Coverage, Near, NewVectors, Unembedded

DIM = 64
STEP = 60_000
_PIECE = 1_000

Vector = NDArray[np.float32]


def vector_of(text: str, dim: int = DIM) -> Vector:
    """A vector that belongs to a text: the same for the same text, far from those of others."""
    vector = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(dim).astype(np.float32)
    length: np.float32 = np.sqrt(vector @ vector)
    return vector / length


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """As signed bytes, the largest number of each as 127."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    codes: NDArray[np.int8] = np.rint(vectors * (127.0 / largest)).astype(np.int8)
    return codes


def made(todo: Unembedded, dim: int = DIM, embed: Callable[[str, int], Vector] = vector_of) -> NewVectors:
    """The vectors of what is pending. A text has a piece for each of its lines, for a long one several."""
    keys: list[int] = []
    vectors: list[Vector] = []
    for passage, text in todo.passages:
        cut = [line[at : at + _PIECE] for line in text.split("\n") for at in range(0, len(line) or 1, _PIECE)]
        for number, piece in enumerate(cut):
            keys.append((passage << PIECE_BITS) + number)
            vectors.append(embed(piece, dim))
    if not keys:
        return NewVectors((), b"", b"")
    stacked = np.stack(vectors)
    return NewVectors(keys, quantised(stacked).tobytes(), np.packbits(stacked > 0, axis=1).tobytes())


def pending(storage: Storage, model: str = "model", *, characters: int = STEP) -> Unembedded | None:
    return storage.read(lambda tx: tx.vectors.pending(model, characters=characters))


def some_pending(storage: Storage, model: str = "model", *, characters: int = STEP) -> Unembedded:
    todo = pending(storage, model, characters=characters)
    assert todo is not None, "nothing is pending"
    return todo


def add(
    storage: Storage, todo: Unembedded, vectors: NewVectors, model: str = "model", dim: int = DIM
) -> bool:
    return storage.write(lambda tx: tx.vectors.add(model, dim, todo, vectors))


def embed_all(
    storage: Storage,
    model: str = "model",
    dim: int = DIM,
    *,
    characters: int = STEP,
    embed: Callable[[str, int], Vector] = vector_of,
) -> int:
    """Embed until nothing is pending; in how many steps."""
    steps = 0
    while (todo := pending(storage, model, characters=characters)) is not None:
        add(storage, todo, made(todo, dim, embed), model, dim)
        steps += 1
        assert steps < 10_000, "embedding never ends"
    return steps


def coverage(storage: Storage) -> list[Coverage]:
    return storage.read(lambda tx: tx.vectors.coverage())


def nearest(
    storage: Storage,
    asked: str | Vector,
    *,
    model: str = "model",
    kinds: Sequence[str] | None = None,
    limit: int = 10,
    **filters: Any,
) -> list[Near]:
    vector = vector_of(asked) if isinstance(asked, str) else asked
    return storage.read(
        lambda tx: tx.vectors.nearest(model, vector, Filters(**filters), kinds=kinds, limit=limit)
    )


def near_ids(storage: Storage, asked: str | Vector, **options: Any) -> list[int]:
    return [near.id for near in nearest(storage, asked, **options)]


def cosines(
    storage: Storage, asked: str | Vector, ids: Sequence[int], model: str = "model"
) -> dict[int, Near]:
    vector = vector_of(asked) if isinstance(asked, str) else asked
    return storage.read(lambda tx: tx.vectors.compare(model, vector, ids).best)


def forget(storage: Storage, message_id: int) -> None:
    storage.write(lambda tx: tx.sessions.forget_message(message_id, tool_calls=None, at=NOW))


class VectorContract(Contract):
    # --- what is pending --------------------------------------------------------------------

    def test_nothing_is_near_without_vectors(self, storage: Storage) -> None:
        assert (pending(storage), coverage(storage)) == (None, [])
        ids = tell(storage, "s", "parrot")
        assert coverage(storage) == []
        assert nearest(storage, "parrot") == []
        assert cosines(storage, "parrot", ids) == {}

    def test_passages_without_vectors_are_listed_once_and_in_order(self, storage: Storage) -> None:
        texts = [f"message {n} " + "x" * (n % 90) for n in range(120)]
        ids = tell(storage, "s", *texts)
        told: list[tuple[int, str]] = []
        while (todo := pending(storage, characters=500)) is not None:
            told += todo.passages
            # About that amount of text: without the last of them it is less.
            assert sum(len(text) for _, text in todo.passages[:-1]) < 500
            assert add(storage, todo, made(todo))
        assert told == list(zip(ids, texts, strict=True))

    def test_a_step_of_other_passages_is_about_as_much_text(self, storage: Storage) -> None:
        texts = [f"fact {n} " + "x" * 3_000 for n in range(12)]
        ids = [put(storage, "fact", f"f{n}", text) for n, text in enumerate(texts)]
        told: list[tuple[int, str]] = []
        while (todo := pending(storage, characters=5_000)) is not None:
            told += todo.passages
            assert sum(len(text) for _, text in todo.passages[:-1]) < 5_000
            assert add(storage, todo, made(todo))
        assert told == list(zip(ids, texts, strict=True))

    def test_messages_and_other_passages_are_pending(self, storage: Storage) -> None:
        (said,) = tell(storage, "s", "parrot")
        fact = put(storage, "fact", "a", "pigeon")
        embed_all(storage)
        assert near_ids(storage, "parrot", limit=1) == [said]
        assert near_ids(storage, "pigeon", limit=1) == [fact]

    def test_messages_that_say_nothing_are_done_without_vectors(self, storage: Storage) -> None:
        ids = tell(storage, "s", message(None, role="assistant"), " ", "")
        embed_all(storage)
        (done,) = coverage(storage)
        assert done.share == 1.0
        assert cosines(storage, "x", ids) == {}

    def test_forgotten_messages_are_not_pending(self, storage: Storage) -> None:
        gone, kept = tell(storage, "s", "secret", "parrot")
        forget(storage, gone)
        assert some_pending(storage).passages == ((kept, "parrot"),)

    def test_pending_goes_on_after_what_the_caller_has(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot", "pigeon")
        fact = put(storage, "fact", "a", "quetzal")
        told: list[tuple[int, str]] = []
        after = (0, 0)
        while True:
            todo = storage.read(lambda tx: tx.vectors.pending("model", characters=5, after=after))  # noqa: B023
            assert todo is not None
            if not todo.passages:
                break
            told += todo.passages
            after = (todo.through, after[1]) if todo.series == 0 else (after[0], todo.through)
        assert told == [(ids[0], "parrot"), (ids[1], "pigeon"), (fact, "quetzal")]
        embed_all(storage)
        assert storage.read(lambda tx: tx.vectors.pending("model", characters=5, after=after)) is None

    def test_the_era_of_pending_changes_when_ids_may_be_reused(self, storage: Storage) -> None:
        gone, _ = tell(storage, "s", "parrot", "pigeon")
        before = some_pending(storage)
        append(storage, "s", "quetzal")
        assert some_pending(storage).era == before.era
        forget(storage, gone)
        assert some_pending(storage).era != before.era

    def test_comparing_gives_the_vectors_of_first_pieces(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot\npigeon", "quetzal")
        embed_all(storage)
        late = append(storage, "s", "kestrel")
        compared = storage.read(lambda tx: tx.vectors.compare("model", vector_of("pigeon"), [*ids, *late]))
        assert compared.best.keys() == set(ids)
        assert (compared.best[ids[0]].piece, compared.best[ids[1]].piece) == (1, 0)
        assert compared.firsts.ids.tolist() == ids
        first = compared.firsts.vectors[0]
        assert float(first @ vector_of("parrot")) > 0.99

    # --- coverage ---------------------------------------------------------------------------

    def test_coverage_reports_the_progress_of_a_model(self, storage: Storage) -> None:
        tell(storage, "s", *["x" * 100] * 20)
        put(storage, "fact", "a", "x" * 100)
        todo = some_pending(storage, characters=1_000)
        add(storage, todo, made(todo))
        (halfway,) = coverage(storage)
        assert (halfway.model, halfway.dim, halfway.total) == ("model", DIM, 21)
        assert halfway.done == len(todo.passages)
        embed_all(storage)
        assert coverage(storage) == [Coverage("model", DIM, 21, 21)]

    def test_new_passages_are_not_covered(self, storage: Storage) -> None:
        tell(storage, "s", *["parrot"] * 3)
        embed_all(storage)
        append(storage, "s", "pigeon")
        assert coverage(storage) == [Coverage("model", DIM, 3, 4)]
        put(storage, "fact", "a", "quetzal")
        assert coverage(storage) == [Coverage("model", DIM, 3, 5)]
        embed_all(storage)
        assert coverage(storage) == [Coverage("model", DIM, 5, 5)]

    def test_coverage_is_that_of_the_space(self, open_another: Opener) -> None:
        ours, theirs = open_another("ours"), open_another("theirs")
        tell(ours, "s", "parrot")
        tell(theirs, "s", "parrot", "pigeon")
        embed_all(ours)
        assert coverage(ours) == [Coverage("model", DIM, 1, 1)]
        assert coverage(theirs) == []
        assert len(some_pending(theirs).passages) == 2

    # --- steps that come too late -----------------------------------------------------------

    @pytest.mark.parametrize("what", ["forgotten", "deleted", "removed", "replaced"])
    def test_a_step_prepared_before_something_was_erased_is_not_written(
        self, storage: Storage, what: str
    ) -> None:
        tell(storage, "other", "parrot")
        if what in ("forgotten", "deleted"):
            (gone,) = tell(storage, "s", "secret")
        else:
            embed_all(storage)
            gone = put(storage, "fact", "a", "secret")
        todo = some_pending(storage)
        prepared = made(todo)
        if what == "forgotten":
            forget(storage, gone)
        elif what == "deleted":
            storage.write(lambda tx: tx.sessions.begin_delete("s"))
            storage.finish_deletes()
        elif what == "removed":
            remove(storage, "fact", "a")
        else:
            put(storage, "fact", "a", "pigeon")
        before = coverage(storage)
        assert add(storage, todo, prepared) is False
        assert coverage(storage) == before
        embed_all(storage)
        assert gone not in near_ids(storage, "secret")
        assert cosines(storage, "secret", [gone]) == {}
        assert near_ids(storage, "parrot", limit=1)

    def test_only_one_of_two_equal_embedding_steps_is_stored(self, open_another: Opener) -> None:
        one, two = open_another(), open_another()
        ids = tell(one, "s", "parrot", "pigeon")
        first, second = some_pending(one), some_pending(two)
        assert first.passages == second.passages
        assert add(one, first, made(first)) is True
        assert add(two, second, made(second)) is False
        assert add(one, first, made(first)) is False
        for storage in (one, two):
            assert pending(storage) is None
            assert sorted(near_ids(storage, "parrot")) == ids
            assert coverage(storage) == [Coverage("model", DIM, 2, 2)]

    def test_messages_appended_meanwhile_do_no_harm(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot")
        todo = some_pending(storage)
        ids += append(storage, "s", "pigeon")
        assert add(storage, todo, made(todo)) is True
        assert some_pending(storage).passages == ((ids[1], "pigeon"),)
        embed_all(storage)
        assert near_ids(storage, "pigeon", limit=1) == ids[1:]

    def test_vectors_of_an_undone_change_are_not_remembered(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot", "pigeon", "secret")
        todo = some_pending(storage)
        seen: list[int] = []

        def work(tx: Writes) -> None:
            tx.vectors.add("model", DIM, todo, made(todo))
            near = tx.vectors.nearest("model", vector_of("secret"), Filters(), kinds=None, limit=1)
            seen.extend(one.id for one in near)
            raise KeyError("no")

        with pytest.raises(KeyError):
            storage.write(work)
        assert seen == ids[2:]
        assert nearest(storage, "secret") == []
        assert coverage(storage) == []
        forget(storage, ids[2])
        embed_all(storage)
        assert sorted(near_ids(storage, "secret")) == ids[:2]

    def test_an_erasure_that_was_undone_is_not_remembered(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot", "pigeon", "secret")
        embed_all(storage)

        def work(tx: Writes) -> None:
            tx.sessions.forget_message(ids[0], tool_calls=None, at=NOW)
            tx.vectors.nearest("model", vector_of("parrot"), Filters(), kinds=None, limit=1)
            raise KeyError("no")

        with pytest.raises(KeyError):
            storage.write(work)
        assert near_ids(storage, "parrot", limit=1) == ids[:1]
        forget(storage, ids[2])
        assert sorted(near_ids(storage, "secret")) == ids[:2]

    # --- erasing ----------------------------------------------------------------------------

    @pytest.mark.parametrize("what", ["forgotten", "deleted", "removed", "replaced"])
    def test_vectors_are_erased_with_their_passage(self, storage: Storage, what: str) -> None:
        (kept,) = tell(storage, "other", "parrot")
        (said,) = tell(storage, "s", "secret")
        fact = put(storage, "fact", "a", "secret")
        embed_all(storage)
        assert sorted(near_ids(storage, "secret", limit=2)) == [said, fact]
        gone = said if what in ("forgotten", "deleted") else fact
        _erase(storage, what, said)
        for _ in range(2):
            assert gone not in near_ids(storage, "secret")
            assert near_ids(storage, "parrot", limit=1) == [kept]
            storage.finish_deletes()
        assert cosines(storage, "secret", [gone]) == {}
        embed_all(storage)
        assert gone not in near_ids(storage, "secret")

    @pytest.mark.parametrize("what", ["forgotten", "deleted", "removed", "replaced"])
    @pytest.mark.parametrize("read_only", [False, True])
    def test_vectors_cached_by_another_opener_are_dropped_when_erased(
        self, open_another: Opener, what: str, *, read_only: bool
    ) -> None:
        writer = open_another()
        kept = tell(writer, "other", *(f"parrot {n}" for n in range(5)))
        (said,) = tell(writer, "s", "secret")
        fact = put(writer, "fact", "a", "secret")
        embed_all(writer)
        other = open_another(read_only=read_only)
        assert sorted(near_ids(other, "secret", limit=2)) == [said, fact]
        _erase(writer, what, said)
        gone = said if what in ("forgotten", "deleted") else fact
        assert gone not in near_ids(other, "secret")
        writer.finish_deletes()
        assert gone not in near_ids(other, "secret")
        assert cosines(other, "secret", [gone]) == {}
        assert near_ids(other, "parrot 3", limit=1) == [kept[3]]

    def test_erasing_half_of_everything_leaves_the_other_half(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot {n}" for n in range(600)))
        embed_all(storage)
        for one in ids[::2]:
            forget(storage, one)
        for n in (1, 255, 257, 599):
            assert near_ids(storage, f"parrot {n}", limit=1) == [ids[n]]
        assert set(near_ids(storage, "parrot 256", limit=600)) <= set(ids[1::2])
        assert set(cosines(storage, "parrot 1", ids)) == set(ids[1::2])

    # --- views ------------------------------------------------------------------------------

    def test_a_view_does_not_change_while_others_add(self, open_another: Opener) -> None:
        """Not even when another reader of the same process has seen more."""
        storage = open_another()
        ids = tell(storage, "s", *(f"parrot {n}" for n in range(10)))
        embed_all(storage)

        def work(tx: Any) -> tuple[list[int], set[int]]:
            before = tx.vectors.coverage()
            more = append(storage, "s", *(f"pigeon {n}" for n in range(400)))
            embed_all(storage)
            assert near_ids(storage, "pigeon 5", limit=1) == [more[5]]
            assert tx.vectors.coverage() == before
            near = tx.vectors.nearest("model", vector_of("pigeon 5"), Filters(), kinds=None, limit=10)
            known = tx.vectors.compare("model", vector_of("pigeon 5"), [*ids, *more]).best
            return sorted(one.id for one in near), set(known)

        assert storage.read(work) == (ids, set(ids))

    def test_a_view_does_not_change_while_others_erase(self, open_another: Opener) -> None:
        storage = open_another()
        ids = tell(storage, "s", *(f"parrot {n}" for n in range(10)))
        embed_all(storage)

        def work(tx: Any) -> tuple[int, int]:
            tx.vectors.coverage()
            forget(storage, ids[3])
            after = near_ids(storage, "parrot 3", limit=1)[0]
            near = tx.vectors.nearest("model", vector_of("parrot 3"), Filters(), kinds=None, limit=1)
            return after, near[0].id

        after, within = storage.read(work)
        assert after != ids[3]
        assert within == ids[3]
        assert ids[3] not in near_ids(storage, "parrot 3")

    def test_other_openers_see_new_vectors_at_once(self, open_another: Opener) -> None:
        writer, other = open_another(), open_another()
        reader = open_another(read_only=True)
        create(writer, "s")
        for n in range(4):
            ids = append(writer, "s", *(f"parrot {n} {m}" for m in range(150)))
            embed_all(writer)
            for storage in (writer, other, reader):
                assert near_ids(storage, f"parrot {n} 149", limit=1) == ids[-1:]
                assert coverage(storage)[0].share == 1.0

    def test_spaces_have_their_own_vectors(self, open_another: Opener) -> None:
        before, ours, after = (open_another(name) for name in ("before", "ours", "after"))
        for theirs in (before, after):
            tell(theirs, "s", *["parrot"] * 3_000)
            put(theirs, "fact", "a", "parrot")
            embed_all(theirs)
        ids = tell(ours, "s", *(f"parrot {n}" for n in range(200)))
        fact = put(ours, "fact", "a", "a parrot")
        embed_all(ours)
        assert set(near_ids(ours, "parrot", limit=300)) == {*ids, fact}
        assert near_ids(ours, "parrot 117", limit=1) == [ids[117]]
        their = near_ids(before, "parrot", limit=5)
        assert cosines(ours, "parrot", their) == {}
        reader = open_another("elsewhere", read_only=True)
        assert (nearest(reader, "parrot"), coverage(reader), pending(reader)) == ([], [], None)

    def test_a_restored_backup_brings_its_own_vectors(self, open_another: Opener, tmp_path: Path) -> None:
        if not self.restorable:
            pytest.skip("a backup of this engine cannot be put back")
        storage, other = open_another(), open_another()
        ids = tell(storage, "s", "parrot", "pigeon")
        embed_all(storage)
        settle(storage)
        storage.backup(tmp_path / "backup")
        append(storage, "s", "secret", "another secret")
        embed_all(storage)
        for opener in (storage, other):
            assert len(near_ids(opener, "secret")) == 4
        storage.restore(tmp_path / "backup")
        for opener in (storage, other):
            assert sorted(near_ids(opener, "secret")) == ids
        new = append(storage, "s", "quetzal", "macaw")
        embed_all(storage)
        for opener in (storage, other):
            assert near_ids(opener, "macaw", limit=1) == new[1:]
            assert max(near.cosine for near in nearest(opener, "secret")) < 0.9


def _erase(storage: Storage, what: str, said: int) -> None:
    """Of a message in session ``s`` and a fact ``a``, erase one."""
    if what == "forgotten":
        forget(storage, said)
    elif what == "deleted":
        storage.write(lambda tx: tx.sessions.begin_delete("s"))
    elif what == "removed":
        remove(storage, "fact", "a")
    else:
        put(storage, "fact", "a", "pigeon")

"""Vectors of several models side by side, and dropping those of unused models."""

from __future__ import annotations

from contract.storage.openers import Contract, Opener, append, tell
from contract.storage.passages import put
from contract.storage.vectors import (
    DIM,
    cosines,
    coverage,
    embed_all,
    forget,
    near_ids,
    nearest,
    some_pending,
    vector_of,
)
from mnemos.storage.base import Storage
from mnemos.storage.passages import Coverage


class ModelContract(Contract):
    def test_models_have_their_own_vectors(self, storage: Storage) -> None:
        ids = tell(storage, "s", "parrot", "pigeon")
        embed_all(storage, "old", 16)
        assert len(some_pending(storage, "new").passages) == 2
        embed_all(storage, "new", 100)
        assert coverage(storage) == [Coverage("new", 100, 2, 2), Coverage("old", 16, 2, 2)]
        for model, dim in (("old", 16), ("new", 100)):
            assert near_ids(storage, vector_of("pigeon", dim), model=model, limit=1) == [ids[1]]
        assert nearest(storage, vector_of("pigeon", 16), model="unknown") == []

    def test_a_forgotten_message_goes_from_every_model(self, storage: Storage) -> None:
        gone, kept = tell(storage, "s", "secret", "parrot")
        for model in ("old", "new"):
            embed_all(storage, model)
            assert near_ids(storage, "secret", model=model, limit=1) == [gone]
        forget(storage, gone)
        for model in ("old", "new"):
            assert near_ids(storage, "secret", model=model) == [kept]

    def test_other_models_can_be_dropped_while_one_serves(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot {n}" for n in range(700)))
        put(storage, "fact", "a", "parrot")
        for model in ("old", "older", "new"):
            embed_all(storage, model)
        steps = 0
        while storage.write(lambda tx: tx.vectors.drop_others("new", 1)):
            steps += 1
            assert near_ids(storage, "parrot 500", model="new", limit=1) == [ids[500]]
            # Half a model is none: it is gone for readers from the first step on.
            assert nearest(storage, "parrot 500", model="old") == []
            assert coverage(storage) == [Coverage("new", DIM, 701, 701)]
            assert steps < 100, "dropping never ends"
        assert steps > 2
        assert set(cosines(storage, "parrot", ids, "new")) == set(ids)

    def test_returning_to_a_model_makes_every_vector_again(self, storage: Storage) -> None:
        ids = tell(storage, "s", *(f"parrot {n}" for n in range(700)))
        embed_all(storage, "old")
        embed_all(storage, "new")
        assert storage.write(lambda tx: tx.vectors.drop_others("new", 1)) is True
        embed_all(storage, "old")
        assert set(cosines(storage, "parrot 1", ids, "old")) == set(ids)
        while storage.write(lambda tx: tx.vectors.drop_others("old", 1)):
            pass
        assert set(cosines(storage, "parrot 1", ids, "old")) == set(ids)
        assert coverage(storage) == [Coverage("old", DIM, 700, 700)]

    def test_a_message_forgotten_while_a_model_is_dropped_does_not_come_back(self, storage: Storage) -> None:
        gone, kept = tell(storage, "s", "secret", "parrot")
        append(storage, "s", *["pigeon"] * 600)
        embed_all(storage, "old")
        embed_all(storage, "new")
        storage.write(lambda tx: tx.vectors.drop_others("new", 1))
        forget(storage, gone)
        embed_all(storage, "old")
        for model in ("old", "new"):
            assert set(cosines(storage, "secret", [gone, kept], model)) == {kept}

    def test_a_model_alone_has_no_others_to_drop(self, storage: Storage) -> None:
        tell(storage, "s", "parrot")
        embed_all(storage)
        assert storage.read(lambda tx: tx.vectors.has_others("model")) is False
        assert storage.write(lambda tx: tx.vectors.drop_others("model", 1)) is False
        assert coverage(storage) == [Coverage("model", DIM, 1, 1)]

    def test_others_are_there_until_the_last_of_them_is_dropped(self, storage: Storage) -> None:
        tell(storage, "s", *(f"parrot {n}" for n in range(600)))
        for model in ("old", "new"):
            embed_all(storage, model)
        while storage.read(lambda tx: tx.vectors.has_others("new")):
            assert storage.write(lambda tx: tx.vectors.drop_others("new", 1)) is True
        assert storage.write(lambda tx: tx.vectors.drop_others("new", 1)) is False
        assert storage.read(lambda tx: tx.vectors.has_others("old")) is True

    def test_models_of_other_spaces_are_not_dropped(self, open_another: Opener) -> None:
        ours, theirs = open_another("ours"), open_another("theirs")
        for storage, model in ((ours, "new"), (theirs, "old")):
            tell(storage, "s", "parrot")
            embed_all(storage, model)
        assert ours.read(lambda tx: tx.vectors.has_others("new")) is False
        assert ours.write(lambda tx: tx.vectors.drop_others("new", 1)) is False
        assert coverage(theirs) == [Coverage("old", DIM, 1, 1)]

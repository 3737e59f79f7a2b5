"""Vectors in SQLite: chunks, bytes, and what a process remembers of them."""

from __future__ import annotations

import os
import random
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from contract.storage.nearness import exact
from contract.storage.openers import append, create, message, tell
from contract.storage.passages import put, remove
from contract.storage.vectors import (
    add,
    cosines,
    embed_all,
    forget,
    made,
    near_ids,
    nearest,
    pending,
    quantised,
    some_pending,
    vector_of,
)
from mnemos.errors import Corrupt, DiskFull
from mnemos.sessions.message_text import document_of
from mnemos.storage.passages import PIECE_BITS, NewVectors
from mnemos.storage.sqlite.engine import SqliteStorage
from mnemos.storage.stores.vectors import CHUNK, LABEL

Opens = Callable[..., SqliteStorage]
Vectors = NDArray[np.float32]


@pytest.fixture
def opens(tmp_path: Path) -> Iterator[Opens]:
    opened: list[SqliteStorage] = []

    def open_it(space: str = "default", **options: Any) -> SqliteStorage:
        opened.append(SqliteStorage(tmp_path / "x.db", space=space, documents=document_of, **options))
        return opened[-1]

    yield open_it
    for one in opened:
        one.close()


@pytest.fixture
def storage(opens: Opens) -> SqliteStorage:
    return opens()


def rows(storage: SqliteStorage, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
    return storage.read(lambda tx: tx.connection.execute(sql, bindings).fetchall())  # type: ignore[attr-defined]


def chunks(storage: SqliteStorage) -> list[list[int]]:
    """The keys of each chunk, in order."""
    found = rows(storage, "SELECT labels FROM vectors ORDER BY embedding, series, first")
    return [[key for key, _, _, _ in LABEL.iter_unpack(labels)] for (labels,) in found]


def erased(storage: SqliteStorage) -> int:
    found = rows(storage, "SELECT labels FROM vectors")
    return sum(role == 255 for (labels,) in found for _, _, _, role in LABEL.iter_unpack(labels))


# --- chunks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 1])
@pytest.mark.parametrize("characters", [8, 900, 1 << 20])
def test_chunks_are_filled_one_after_the_other(storage: SqliteStorage, count: int, characters: int) -> None:
    texts = [f"text {n}" for n in range(count)]
    ids = tell(storage, "s", *texts)
    embed_all(storage, characters=characters)
    assert [key >> PIECE_BITS for chunk in chunks(storage) for key in chunk] == ids
    assert [len(chunk) for chunk in chunks(storage)[:-1]] == [CHUNK] * ((count - 1) // CHUNK)
    asked = vector_of("question")
    judged = cosines(storage, asked, ids)
    assert [judged[one].cosine for one in ids] == pytest.approx(exact(texts, asked, len(asked)), abs=1e-5)
    for n in {0, count // 2, count - 1}:
        assert near_ids(storage, texts[n], limit=1) == [ids[n]]


def test_vectors_read_after_every_step_are_those_read_at_once(opens: Opens) -> None:
    """The cache of a process grows with the last chunk, at any size."""
    chance = random.Random(3)
    storage = opens()
    create(storage, "s")
    ids: list[int] = []
    while len(ids) < 700:
        ids += append(storage, "s", *(f"text {n}" for n in range(len(ids), len(ids) + chance.randint(1, 60))))
        embed_all(storage)
        assert near_ids(storage, f"text {len(ids) - 1}", limit=1) == ids[-1:]
    assert nearest(storage, "question", limit=700) == nearest(opens(), "question", limit=700)


def test_a_long_message_has_its_pieces_under_two_ids(storage: SqliteStorage) -> None:
    """Both ids' pieces are stored, found and erased together."""
    before, long, after = tell(storage, "s", "before", "word " * 30_000 + "\nthe end", "after")
    assert after == long + 2
    embed_all(storage)
    (keys,) = chunks(storage)
    assert keys == sorted(set(keys))
    assert {key >> PIECE_BITS for key in keys} == {before, long, long + 1, after}
    assert near_ids(storage, "the end", limit=1) == [long]
    forget(storage, long)
    assert erased(storage) == len(keys) - 2
    assert sorted(near_ids(storage, "the end")) == [before, after]


def test_a_vector_takes_at_most_320_bytes_on_disk(big: Big) -> None:
    size = sum(big.storage.usage().parts.get(part, 0) for part in ("vectors", "vectors_by_key"))
    assert size / len(big.ids) <= 320


# --- what is near, at scale -------------------------------------------------------------------


@dataclass(frozen=True)
class Big:
    storage: SqliteStorage
    vectors: Vectors
    ids: list[int]
    rare: list[int]


@pytest.fixture(scope="module")
def big(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Big]:
    """20,000 vectors in clusters, five of them in a session of their own."""
    path = tmp_path_factory.mktemp("big") / "x.db"
    storage = SqliteStorage(path, space="default", documents=document_of)
    vectors = clustered(20_000)
    create(storage, "s")
    create(storage, "rare", source="web")
    ids: list[int] = []
    rare: list[int] = []
    while len(ids) < len(vectors):
        ids += append(storage, "s", *["x"] * 3_999)
        rare += append(storage, "rare", message("x", role="tool"))
        ids += rare[-1:]
    store(storage, ids, vectors)
    yield Big(storage, vectors, ids, rare)
    storage.close()


def store(storage: SqliteStorage, ids: Sequence[int], vectors: Vectors) -> None:
    """These vectors for these messages of one character."""
    codes, bits = quantised(vectors), np.packbits(vectors > 0, axis=1)
    done = 0
    while (todo := pending(storage, characters=3_000)) is not None:
        some = slice(done, done + len(todo.passages))
        assert [one for one, _ in todo.passages] == list(ids[some])
        keys = [one << PIECE_BITS for one in ids[some]]
        assert add(storage, todo, NewVectors(keys, codes[some].tobytes(), bits[some].tobytes()), dim=256)
        done = some.stop


def clustered(count: int) -> Vectors:
    chance = np.random.default_rng(count)
    centres = np.random.default_rng(0).standard_normal((200, 256))
    return to_length_one(centres[chance.integers(0, 200, count)] + 0.6 * chance.standard_normal((count, 256)))


def uneven(count: int) -> Vectors:
    """As embedders make them: most of what differs is in few directions."""
    chance = np.random.default_rng(count)
    directions = np.random.default_rng(1).standard_normal((40, 256)) * np.linspace(3.0, 0.3, 40)[:, None]
    return to_length_one(
        chance.standard_normal((count, 40)) @ directions + 0.3 * chance.standard_normal((count, 256))
    )


def to_length_one(vectors: NDArray[np.float64]) -> Vectors:
    return (vectors / np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))).astype(np.float32)


def found_share(storage: SqliteStorage, ids: Sequence[int], vectors: Vectors, questions: Vectors) -> float:
    """Of the ten that an exact comparison of the stored bytes finds, the share that is found."""
    codes = quantised(vectors).astype(np.float32)
    codes /= np.sqrt((codes * codes).sum(axis=1, keepdims=True))
    shares = []
    for question in questions:
        best = np.argsort(-(codes @ question))[:10]
        wanted = {ids[n] for n in best.tolist()}
        shares.append(len(wanted & set(near_ids(storage, question, limit=10))) / 10)
    return sum(shares) / len(shares)


def test_the_scan_finds_what_an_exact_comparison_finds(big: Big) -> None:
    assert found_share(big.storage, big.ids, big.vectors, clustered(30)) >= 0.95


def test_the_scan_finds_it_too_where_directions_are_uneven(opens: Opens) -> None:
    storage, vectors = opens(), uneven(20_000)
    ids = tell(storage, "s", *["x"] * len(vectors))
    store(storage, ids, vectors)
    assert found_share(storage, ids, vectors, uneven(30)) >= 0.95


def test_a_filter_that_leaves_five_of_twenty_thousand_finds_those_five(big: Big) -> None:
    assert len(big.rare) == 5
    question = clustered(1)[0]
    only: list[dict[str, Any]] = [
        {"session_ids": ["rare"]},
        {"sources": ["web"]},
        {"roles": ["tool"]},
        {"exclude_session_ids": ["s"]},
        {"exclude_sources": ["cli"]},
    ]
    for one in only:
        assert sorted(near_ids(big.storage, question, limit=50, **one)) == big.rare, one
        assert len(near_ids(big.storage, question, limit=3, **one)) == 3, one


# --- erasing, byte by byte --------------------------------------------------------------------


MANY = 80


def traces(folder: Path, texts: Sequence[str], dim: int) -> set[str]:
    """The texts of whose vectors some stretch of bytes is in a file of the folder."""
    there: set[bytes] = set()
    for path in folder.iterdir():
        if path.is_file():
            data = path.read_bytes()
            there.update(data[at : at + 12] for at in range(len(data)))
    found: set[str] = set()
    for text in texts:
        codes = quantised(vector_of(text, dim)[None]).tobytes()
        bits = np.packbits(vector_of(text, dim) > 0).tobytes()[:12]
        if bits in there or any(codes[at : at + 12] in there for at in range(0, dim - 11, 12)):
            found.add(text)
    return found


@pytest.mark.parametrize("dim", [100, 256])
def test_vectors_of_what_was_forgotten_are_in_no_byte_of_any_file(
    storage: SqliteStorage, tmp_path: Path, dim: int
) -> None:
    create(storage, "s")
    create(storage, "gone")
    ids: dict[str, int] = {}
    for n in range(MANY):
        # A few at a time: the last chunk is written again and again, each time elsewhere.
        ids |= {f"kept {n}": append(storage, "s", f"kept {n}")[0]}
        ids |= {f"secret {n}": append(storage, "s", f"secret {n}")[0]}
        append(storage, "gone", f"deleted {n}")
        put(storage, "fact", f"f{n}", f"removed {n}")
        put(storage, "fact", f"g{n}", f"replaced {n}")
        if n % 5 == 0:
            embed_all(storage, dim=dim)
    embed_all(storage, dim=dim)
    gone = [f"{what} {n}" for what in ("secret", "deleted", "removed", "replaced") for n in range(MANY)]
    kept = [f"kept {n}" for n in range(MANY)]
    storage.scrub()
    assert traces(tmp_path, gone, dim) == set(gone)
    for n in range(MANY):
        forget(storage, ids[f"secret {n}"])
        remove(storage, "fact", f"f{n}")
        put(storage, "fact", f"g{n}", f"instead {n}")
    storage.write(lambda tx: tx.sessions.begin_delete("gone"))
    storage.finish_deletes()
    assert storage.scrub() is True
    assert traces(tmp_path, gone, dim) == set()
    assert traces(tmp_path, kept, dim) == set(kept)
    embed_all(storage, dim=dim)
    assert storage.scrub() is True
    assert traces(tmp_path, gone, dim) == set()


def test_vectors_of_a_dropped_model_are_in_no_byte_of_any_file(
    storage: SqliteStorage, tmp_path: Path
) -> None:
    texts = [f"text {n}" for n in range(600)]
    tell(storage, "s", *texts)
    embed_all(storage, "old", 256)
    embed_all(storage, "new", 256, embed=lambda text, dim: vector_of(f"{text} anew", dim))
    while storage.write(lambda tx: tx.vectors.drop_others("new", 1)):
        pass
    assert storage.scrub() is True
    assert traces(tmp_path, texts, 256) == set()
    anew = [f"{text} anew" for text in texts]
    assert traces(tmp_path, anew, 256) == set(anew)


# --- the whole, against a plain model of it ----------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_what_is_near_is_what_is_there(opens: Opens, seed: int) -> None:
    """Messages and facts come, go and are embedded in any order; two openers agree with a dictionary."""
    chance = random.Random(seed)
    one, two = opens(), opens()
    create(one, "s")
    there: dict[int, str] = {}
    facts: dict[str, int] = {}
    embedded: set[int] = set()
    for n in range(250):
        storage = chance.choice((one, two))
        what = chance.random()
        if what < 0.45:
            texts = [f"text {n} {m}" for m in range(chance.randint(1, 9))]
            there |= dict(zip(append(storage, "s", *texts), texts, strict=True))
        elif what < 0.6:
            ref = f"f{chance.randint(0, 20)}"
            there.pop(facts.get(ref, 0), None)
            facts[ref] = put(storage, "fact", ref, f"fact {n}")
            there[facts[ref]] = f"fact {n}"
        elif what < 0.7 and facts:
            ref = chance.choice(list(facts))
            there.pop(facts.pop(ref))
            assert remove(storage, "fact", ref)
        elif what < 0.85 and there:
            gone = chance.choice(list(there))
            if gone not in facts.values():
                there.pop(gone)
                forget(storage, gone)
        else:
            todo = pending(storage, characters=chance.choice((50, 500, 5_000)))
            if todo is not None:
                assert add(storage, todo, made(todo))
                embedded |= {passage for passage, _ in todo.passages}
        wanted = embedded & set(there)
        if n % 10 == 0:
            for opener in (one, two):
                assert set(near_ids(opener, "question", limit=5_000)) == wanted
                assert set(cosines(opener, "question", list(there))) == wanted
    embed_all(one)
    for passage, text in chance.sample(sorted(there.items()), 40):
        assert near_ids(two, text, limit=1) == [passage]
    keys = [key for chunk in chunks(one) for key in chunk]
    assert len(keys) == len(set(keys))


# --- processes --------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_in_the_middle_of_a_look_can_look_itself(storage: SqliteStorage) -> None:
    ids = tell(storage, "s", "parrot", "pigeon")
    embed_all(storage)
    assert near_ids(storage, "pigeon", limit=1) == ids[1:]
    # As another thread would leave it that is reading vectors at this moment.
    with storage._remembered.shelves._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            try:
                assert near_ids(storage, "pigeon", limit=1) == ids[1:]
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert near_ids(storage, "parrot", limit=1) == ids[:1]


def test_a_step_that_fails_leaves_nothing(storage: SqliteStorage) -> None:
    ids = tell(storage, "s", "parrot", "pigeon")
    todo = some_pending(storage)

    def work(tx: Any) -> None:
        assert tx.vectors.add("model", 64, todo, made(todo))
        raise apsw.FullError("no room")

    with pytest.raises(DiskFull):
        storage.write(work)
    assert rows(storage, "SELECT count(*) FROM vectors") == [(0,)]
    assert rows(storage, "SELECT count(*) FROM embeddings") == [(0,)]
    embed_all(storage)
    assert sorted(near_ids(storage, "parrot")) == ids


# --- damage -----------------------------------------------------------------------------------

DAMAGE = [
    "labels = randomblob(length(labels))",
    "labels = substr(labels, 1, 100)",
    "codes = substr(codes, 1, 100)",
    "bits = x''",
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_vectors_are_reported_and_made_again(storage: SqliteStorage, damage: str) -> None:
    ids = tell(storage, "s", *(f"text {n}" for n in range(100)))
    embed_all(storage)
    storage.write(lambda tx: tx.connection.execute(f"UPDATE vectors SET {damage}"))  # type: ignore[attr-defined]
    assert [check.name for check in storage.examine(repair=False) if not check.ok] == ["vectors"]
    list(storage.examine(repair=True))
    assert [check.name for check in storage.examine(repair=False) if not check.ok] == []
    embed_all(storage)
    assert near_ids(storage, "text 7", limit=1) == [ids[7]]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_vectors_raise_corrupt(storage: SqliteStorage, damage: str) -> None:
    tell(storage, "s", *(f"text {n}" for n in range(100)))
    embed_all(storage)
    storage.write(lambda tx: tx.connection.execute(f"UPDATE vectors SET {damage}"))  # type: ignore[attr-defined]
    with pytest.raises(Corrupt):
        nearest(storage, "text 7")


def test_damaged_vectors_do_not_keep_a_message_from_being_forgotten(storage: SqliteStorage) -> None:
    ids = tell(storage, "s", *(f"text {n}" for n in range(100)))
    embed_all(storage)
    storage.write(lambda tx: tx.connection.execute(f"UPDATE vectors SET {DAMAGE[2]}"))  # type: ignore[attr-defined]
    forget(storage, ids[5])
    row = storage.read(lambda tx: tx.sessions.message(ids[5]))
    assert row is not None
    assert row.forgotten

"""The model that is shipped."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.recall.embedders import embedder, static
from mnemos.recall.embedders.static import MAX_TOKENS, StaticEmbedder

FILES = (static.VOCABULARY, static.VECTORS, static.SCALES, static.WEIGHTS)
TEXTS = ["My knee hurts since the marathon.", "予約は三時です", "git rebase --onto main", "Café, naïve? ¡Sí!"]


def test_a_row_has_length_one(static: StaticEmbedder) -> None:
    rows = static.embed(TEXTS)
    assert (rows.shape, rows.dtype) == ((len(TEXTS), static.dim), np.dtype(np.float32))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "\x00\u200b", "[UNK]", "[CLS][SEP]", "ꙮꙮ", "x" * 101])
def test_a_text_without_a_known_token_is_a_row_of_zeros(static: StaticEmbedder, text: str) -> None:
    rows = static.embed(["known", text, "known"])
    assert not rows[1].any()
    assert rows[0].any()


def test_no_texts_give_no_rows(static: StaticEmbedder) -> None:
    assert static.embed([]).shape == (0, static.dim)


@given(st.lists(st.text() | st.sampled_from(TEXTS), max_size=5))
def test_a_row_depends_on_nothing_but_its_text(texts: list[str]) -> None:
    made = static._load_shipped()
    alone = [made.embed([text])[0] for text in texts]
    assert np.array_equal(made.embed(texts), np.array(alone, np.float32).reshape(len(texts), made.dim))


def test_a_row_is_the_weighted_sum_of_its_tokens(static: StaticEmbedder) -> None:
    ids = static.token_ids(TEXTS[0])
    total = static.weights[ids] @ static.vectors_of(ids)
    assert static.embed(TEXTS[:1])[0] == pytest.approx(total / np.linalg.norm(total), abs=1e-5)


def test_one_that_means_much_the_same_is_nearer_than_one_that_shares_words(static: StaticEmbedder) -> None:
    asked, same, other = static.embed(
        ["What does my doctor say?", "The physician told me to rest.", "What does my printer say?"]
    )
    unrelated = static.embed(["What is the capital of Peru?"])[0]
    assert asked @ same > asked @ unrelated
    assert asked @ other > asked @ unrelated


def test_stop_words_and_marks_hardly_turn_a_vector(static: StaticEmbedder) -> None:
    short, long = static.embed(["marathon", "And then, after all, there was the marathon!"])
    assert short @ long > 0.95


def test_stop_words_alone_still_have_a_vector(static: StaticEmbedder) -> None:
    assert static.embed(["who are you"]).any()


def test_case_and_accents_do_not_matter(static: StaticEmbedder) -> None:
    plain, marked = static.embed(["cafe in munchen", "CAFÉ in München"])
    assert np.array_equal(plain, marked)


def test_a_long_text_counts_as_far_as_the_promised_token(static: StaticEmbedder) -> None:
    start = "marathon " * MAX_TOKENS
    assert np.array_equal(static.embed([start])[0], static.embed([start + "knee " * 50_000])[0])
    assert len(static.token_ids("a" * 10_000_000)) == 1
    assert len(static.token_ids("." * 1_000_000)) == MAX_TOKENS


def test_single_tokens_can_be_compared(static: StaticEmbedder) -> None:
    vectors = static.vectors_of([int(static.token_ids(word)[0]) for word in ("car", "vehicle", "poem")])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    car, vehicle, poem = vectors
    assert car @ vehicle > car @ poem
    assert static.vectors_of([]).shape == (0, static.dim)


def test_the_name_changes_when_the_vectors_do(static: StaticEmbedder) -> None:
    """When this fails, what users have stored no longer compares: change the name and then this."""
    (row,) = static.embed(["The quick brown fox jumps over 13 lazy dogs, unbelievably."])
    assert (static.name, static.kind, static.dim) == ("potion-base-8m-int8.1", "static", 256)
    assert row[:6] == pytest.approx(GOLDEN, abs=2e-5)


GOLDEN = [-0.25305, -0.20064, 0.01719, -0.06175, 0.04423, 0.17208]


def test_threads_share_it(static: StaticEmbedder) -> None:
    texts = [f"{text} {number}" for number in range(50) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(static.embed, [texts] * 8))
    assert all(np.array_equal(rows, static.embed(texts)) for rows in found)


def test_the_shipped_model_is_read_once() -> None:
    assert embedder("static") is embedder(" static ")


def test_there_is_one_static_model() -> None:
    with pytest.raises(InvalidInput, match="potion-base-32M"):
        embedder("static:potion-base-32M")


def test_the_licence_of_the_model_is_shipped_with_it() -> None:
    notice = (static.SHIPPED / "NOTICE").read_text(encoding="utf-8")
    assert "MIT" in notice
    assert "MinishLab" in notice


# --- damage ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(copytree(static.SHIPPED, tmp_path / "model"))


@pytest.mark.parametrize("name", [*FILES, static.CHECKS])
def test_a_missing_file_is_a_model_unavailable_that_names_it(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelUnavailable, match=name):
        StaticEmbedder(folder)


@pytest.mark.parametrize("name", FILES)
def test_one_changed_bit_is_found_and_the_file_named(folder: Path, name: str) -> None:
    data = bytearray((folder / name).read_bytes())
    data[len(data) // 2] ^= 4
    (folder / name).write_bytes(data)
    with pytest.raises(ModelUnavailable, match=name):
        StaticEmbedder(folder)


@pytest.mark.parametrize("kept", [0, 1, 1_000])
@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_short_is_a_model_unavailable(folder: Path, name: str, kept: int) -> None:
    os.truncate(folder / name, kept)
    with pytest.raises(ModelUnavailable):
        StaticEmbedder(folder)


@pytest.mark.parametrize("checks", [b"", b"{", b"[]", b"{}", b"null", b"\xff", json.dumps({"x": 1}).encode()])
def test_checks_that_make_no_sense_are_a_model_unavailable(folder: Path, checks: bytes) -> None:
    (folder / static.CHECKS).write_bytes(checks)
    with pytest.raises(ModelUnavailable):
        StaticEmbedder(folder)


def test_a_folder_that_is_not_there_is_a_model_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable):
        StaticEmbedder(tmp_path / "nowhere")

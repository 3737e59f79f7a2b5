"""A transformer on this machine: a tiny one, run by the real library where it is installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from onnx_model import TABLE, tokenizer, write_folder

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.recall.embedders import embedder, transformer

BERT = ("input_ids", "attention_mask", "token_type_ids")
CLS, SEP, CAT, DOG, CAR, RUNS = TABLE[2:8]

with_runtime = pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="needs onnxruntime: pip install -e '.[onnx]'"
)


def unit(row: np.ndarray) -> object:
    return pytest.approx(row / np.linalg.norm(row), abs=1e-5)


@with_runtime
@pytest.mark.parametrize("inputs", [BERT, BERT[:2], BERT[:1]])
def test_a_row_is_the_mean_of_the_tokens(tmp_path: Path, inputs: tuple[str, ...]) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=inputs)}")
    rows = made.embed(["cat runs", "dog"])
    assert (made.kind, made.dim, rows.dtype) == ("model", 3, np.dtype(np.float32))
    # The shorter text is filled up to the longer one, and what it is filled with does not count.
    assert rows[0] == unit(CLS + CAT + RUNS + SEP)
    assert rows[1] == unit(CLS + DOG + SEP)


@with_runtime
def test_a_row_is_that_of_the_first_token_where_the_model_says_so(tmp_path: Path) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT, first=True)}")
    assert made.embed(["cat runs"])[0] == unit(CLS)


@with_runtime
def test_a_model_that_answers_with_one_row_a_text_is_believed(tmp_path: Path) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT, pooled=True)}")
    assert made.embed(["car"])[0] == unit(CLS + CAR + SEP)


@with_runtime
def test_many_texts_come_back_in_order(tmp_path: Path) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")
    words = ["cat", "dog runs", "", "car.", "  ", "cats"]
    texts = [words[number % 6] + " runs" * (number % 3) for number in range(100)]
    assert made.embed(texts) == pytest.approx(
        np.concatenate([made.embed([text]) for text in texts]), abs=1e-6
    )


@with_runtime
def test_blank_texts_are_rows_of_zeros_and_no_texts_no_rows(tmp_path: Path) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")
    assert not made.embed(["", " \n"]).any()
    assert made.embed([]).shape == (0, 3)


@with_runtime
def test_a_text_is_cut_at_what_the_model_can_read(tmp_path: Path) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")
    assert made.embed(["cat " * 6 + "dog " * 1000])[0] == unit(CLS + 6 * CAT + SEP)


@with_runtime
@pytest.mark.parametrize("length", [3, 5, 100])
def test_lengths_that_the_tokenizer_file_asks_for_are_ignored(tmp_path: Path, length: int) -> None:
    folder = write_folder(tmp_path / "tiny", inputs=BERT)
    fixed = tokenizer()
    fixed.enable_padding(length=length, pad_id=0)
    fixed.enable_truncation(length)
    fixed.save(str(folder / "tokenizer.json"))
    made = embedder(f"onnx:{folder}")
    rows = made.embed(["cat runs car dog", "dog"])
    assert rows[0] == unit(CLS + CAT + RUNS + CAR + DOG + SEP)
    assert rows[1] == unit(CLS + DOG + SEP)


@with_runtime
def test_no_run_has_more_tokens_than_one_text_may_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transformer, "MAX_TOKENS", 8)
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")
    shapes: list[tuple[int, int]] = []

    class Counted:
        def run(self, names: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            shapes.append(inputs["input_ids"].shape)
            return [TABLE[inputs["input_ids"]]]

    monkeypatch.setattr(made._transformer, "_session", Counted())
    made.embed(["cat " * (number % 7) + "dog" for number in range(40)])
    assert max(rows * columns for rows, columns in shapes) == 8
    assert sum(rows for rows, _ in shapes) == 40


@with_runtime
def test_half_a_surrogate_pair_does_not_fail(tmp_path: Path) -> None:
    made = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")
    assert made.embed(["cat \ud83d"]).any()


@with_runtime
def test_a_name_tells_models_apart_and_no_path(tmp_path: Path) -> None:
    mean = embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")
    pooled = embedder(f"onnx:{write_folder(tmp_path / 'b' / 'tiny', inputs=BERT, pooled=True)}")
    assert mean.name.startswith("onnx:tiny:")
    assert mean.name != pooled.name
    assert str(tmp_path) not in mean.name + pooled.name


@with_runtime
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"garbage" * 100, b"{}"])
def test_a_file_that_is_missing_or_damaged_is_unavailable(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    folder = write_folder(tmp_path / "tiny", inputs=BERT)
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(ModelUnavailable, match=name):
        embedder(f"onnx:{folder}")


@with_runtime
def test_a_model_that_wants_something_else_is_unavailable(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "tiny", inputs=(*BERT, "pixels"))
    with pytest.raises(ModelUnavailable, match="pixels"):
        embedder(f"onnx:{folder}")


@with_runtime
@pytest.mark.parametrize("content", ["{", "[]", '{"max_position_embeddings": "many"}'])
def test_settings_that_cannot_be_read_are_unavailable_and_others_passed_over(
    tmp_path: Path, content: str
) -> None:
    folder = write_folder(tmp_path / "tiny", inputs=BERT)
    (folder / "config.json").write_text(content)
    if content == "{":
        with pytest.raises(ModelUnavailable, match=r"config\.json"):
            embedder(f"onnx:{folder}")
    else:
        assert embedder(f"onnx:{folder}").dim == 3


@with_runtime
def test_a_model_on_the_hub_is_fetched_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_folder(tmp_path / "0123abcd", inputs=BERT)
    fetched: list[str] = []

    def fetch(name: str, *, allow_patterns: list[str]) -> str:
        fetched.append(name)
        assert "tokenizer.json" in allow_patterns
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    made = embedder("onnx:somebody/tiny-model")
    assert fetched == ["somebody/tiny-model"]
    assert made.name.startswith("onnx:somebody/tiny-model:")


@with_runtime
def test_a_model_that_cannot_be_fetched_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> str:
        raise ConnectionError("no route")

    monkeypatch.setattr("huggingface_hub.snapshot_download", fail)
    with pytest.raises(ModelUnavailable, match="no route"):
        embedder("onnx:somebody/tiny-model")


@with_runtime
@pytest.mark.parametrize("name", ["/no/such/folder", "no-such-folder", "a/b/c", "../x", "a b/c"])
def test_a_name_that_is_neither_folder_nor_model_is_invalid_input(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="neither"):
        embedder(f"onnx:{name}")


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_without_the_extra_the_error_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    if package != "onnxruntime" and find_spec("onnxruntime") is None:
        pytest.skip("needs onnxruntime: pip install -e '.[onnx]'")
    with pytest.raises(ModelUnavailable, match=r"mnemos\[onnx\]"):
        embedder(f"onnx:{write_folder(tmp_path / 'tiny', inputs=BERT)}")


def test_a_missing_name_is_invalid_input() -> None:
    with pytest.raises(InvalidInput, match="onnx:"):
        embedder("onnx")

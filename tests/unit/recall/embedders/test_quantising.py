"""The script that makes the files of the static model."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mnemos.recall.embedders import static
from mnemos.recall.embedders.static import StaticEmbedder
from mnemos.recall.embedders.wordpiece import SPECIAL

SCRIPT = Path(__file__).parents[4] / "scripts" / "quantise_embeddings.py"
VOCABULARY = [*SPECIAL, ".", "the", "cat", "##s", "中"]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quantise_embeddings", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def matrix() -> np.ndarray:
    return np.random.default_rng(3).normal(size=(len(VOCABULARY), 16)).astype(np.float32)


@pytest.fixture
def model(tmp_path: Path, matrix: np.ndarray) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    about = {"embeddings": {"dtype": "F32", "shape": matrix.shape, "data_offsets": [0, matrix.nbytes]}}
    header = json.dumps(about).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + matrix.tobytes())
    tokenizer = {
        "normalizer": {"lowercase": True, "strip_accents": None},
        "model": {"type": "WordPiece", "vocab": {token: id for id, token in enumerate(VOCABULARY)}},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder


def make(script: ModuleType, monkeypatch: pytest.MonkeyPatch, model: Path, out: Path) -> dict[str, bytes]:
    monkeypatch.setattr("sys.argv", ["quantise", str(model), str(out)])
    script.main()
    return {path.name: path.read_bytes() for path in out.iterdir()}


def test_the_same_model_gives_the_same_bytes(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path
) -> None:
    first = make(script, monkeypatch, model, tmp_path / "a")
    assert first == make(script, monkeypatch, model, tmp_path / "b")
    assert set(first) == {static.VOCABULARY, static.VECTORS, static.SCALES, static.WEIGHTS, static.CHECKS}


def test_what_was_made_embeds_nearly_as_the_model(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, model: Path, matrix: np.ndarray, tmp_path: Path
) -> None:
    make(script, monkeypatch, model, tmp_path / "out")
    made = StaticEmbedder(tmp_path / "out")
    error = np.abs(made.vectors_of(range(len(VOCABULARY))) - matrix)
    assert (error <= np.abs(matrix).max(axis=1, keepdims=True) / 253).all()
    assert made.weights.tolist() == pytest.approx([0, 0, 0, 0, 0, 0.1, 0.1, 1, 1, 1])
    expected = 0.1 * matrix[6] + matrix[7] + matrix[8]
    assert made.embed(["the cats"])[0] @ (expected / np.linalg.norm(expected)) > 0.999


def test_a_row_of_zeros_stays_one(script: ModuleType) -> None:
    vectors, scales = script.quantise(np.zeros((1, 4), np.float32))
    assert (vectors.tolist(), scales.tolist()) == ([[0, 0, 0, 0]], [0])


def test_the_shipped_weights_are_those_of_the_script(script: ModuleType) -> None:
    shipped = static.read_asset(static.SHIPPED)
    assert np.array_equal(script.pooling_weights(shipped.vocabulary), shipped.weights)


@pytest.mark.parametrize(
    ("part", "change"),
    [("model", {"type": "BPE"}), ("normalizer", {"lowercase": False}), ("model", {"vocab": {"a": 7}})],
)
def test_another_kind_of_tokenizer_is_refused(
    script: ModuleType, model: Path, part: str, change: dict[str, object]
) -> None:
    path = model / "tokenizer.json"
    tokenizer = json.loads(path.read_text())
    tokenizer[part] |= change
    path.write_text(json.dumps(tokenizer))
    with pytest.raises(SystemExit):
        script.read_vocabulary(path)

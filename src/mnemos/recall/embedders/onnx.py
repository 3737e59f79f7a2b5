"""A transformer on this machine as an embedder, through the extra ``mnemos[onnx]``.

The model is a folder with ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``, as sentence
embedding models are published. The name of a model on the Hub downloads it once. Prefixes that some models
expect before each text, such as ``query:``, are not added.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.recall.embedders.static import to_length_one
from mnemos.recall.embedders.transformer import Transformer, import_library, read_settings, split_batches
from mnemos.settings import Model

_ON_THE_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_FILES = ["model.onnx", "onnx/model.onnx", "tokenizer.json", "config.json", "1_Pooling/config.json"]


class OnnxEmbedder:
    """Embeds texts with the model in a folder. Missing packages and files raise ModelUnavailable."""

    kind = "model"

    def __init__(self, folder: Path, *, title: str = "") -> None:
        self._transformer = Transformer(folder, extra="onnx")
        # The size distinguishes a quantised model from the full one of the same name.
        self.name = f"onnx:{title or folder.name}:{self._transformer.graph.stat().st_size}"
        self._takes_first = _takes_first(folder)
        self.dim = self._run(self._transformer.encode(["dimension"])).shape[1]

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim), np.float32)
        said = [place for place, text in enumerate(texts) if text.strip()]
        encoded = self._transformer.encode([texts[place] for place in said])
        for batch in split_batches(encoded, range(len(said))):
            rows[[said[place] for place in batch]] = self._run([encoded[place] for place in batch])
        return to_length_one(rows)

    def _run(self, encoded: list[Any]) -> NDArray[np.float32]:
        """Run the model and reduce the result to one row per text, as some models return one per token."""
        found, mask = self._transformer.run(encoded)
        if found.ndim == 2:
            return found
        if found.ndim != 3:
            raise ModelUnavailable(
                f"{self.name} answers with {found.ndim} dimensions. It is not an embedding model."
            )
        if self._takes_first:
            return found[:, 0]
        counted = mask[:, :, None].astype(np.float32)
        mean: NDArray[np.float32] = (found * counted).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
        return mean


def make(model: Model) -> OnnxEmbedder:
    """Make an embedder from a folder, or from a model on the Hub, which is downloaded once."""
    if not model.model:
        raise InvalidInput("onnx needs a model after a colon, such as onnx:BAAI/bge-small-en-v1.5")
    import_library("onnxruntime", "onnx")
    folder = Path(model.model).expanduser()
    if folder.is_dir():
        return OnnxEmbedder(folder.absolute())
    return OnnxEmbedder(_fetch(model.model), title=model.model)


def _fetch(name: str) -> Path:
    if not _ON_THE_HUB.fullmatch(name):
        raise InvalidInput(f"{name!r} is neither a folder nor a name such as BAAI/bge-small-en-v1.5")
    hub = import_library("huggingface_hub", "onnx")
    try:
        snapshot = Path(hub.snapshot_download(name, allow_patterns=_FILES))
    except (OSError, ValueError) as exc:
        raise ModelUnavailable(
            f"The model {name!r} could not be downloaded: {exc}. For a local model, use onnx:FOLDER."
        ) from exc
    return snapshot


def _takes_first(folder: Path) -> bool:
    """True if the first token's vector represents a text, not the mean of all tokens."""
    return bool(read_settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))

"""A transformer on this machine, through the extra ``mnemos[onnx]``: onnxruntime and tokenizers.

These two and not fastembed, which wraps them: it keeps a list of models where a folder or a name on the
Hugging Face Hub will do, forbids current versions of ``huggingface_hub``, and brings a library for images
and six more packages.

The model is a folder with ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json``, as sentence
embedding models are published. One on the Hub is fetched once, by name; with a folder nothing is fetched.
Models that want a word before each text, such as ``query:``, do not get it.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import InvalidInput, ModelUnavailable
from mnemos.recall.embedders.static import to_length_one
from mnemos.settings import Model

# Of one text, and of all texts in one run with their padding: larger runs take memory and save no time.
_MAX_TOKENS = 512
_MAX_CHARACTERS = 20 * _MAX_TOKENS
_ON_THE_HUB = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_FILES = ["model.onnx", "onnx/model.onnx", "tokenizer.json", "config.json", "1_Pooling/config.json"]


class OnnxEmbedder:
    """Runs the model in a folder. Missing packages and files raise ModelUnavailable.

    Threads may share it. A forked process may not: the runtime's own threads do not come along.
    """

    kind = "model"

    def __init__(self, folder: Path, *, title: str = "") -> None:
        graph = _first_of(folder, "model.onnx", "onnx/model.onnx")
        # The size tells a quantised model from the full one of the same name.
        self.name = f"onnx:{title or folder.name}:{graph.stat().st_size}"
        self._tokenizer, self._padding = _tokenizer(_first_of(folder, "tokenizer.json"), _longest(folder))
        self._session = _session(graph)
        self._wanted = {put.name for put in self._session.get_inputs()}
        self._takes_first = _takes_first(folder)
        self.dim = self._run(self._encode(["dimension"])).shape[1]

    def embed(self, texts: list[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dim), np.float32)
        said = [place for place, text in enumerate(texts) if text.strip()]
        encoded = dict(zip(said, self._encode([texts[place] for place in said]), strict=True))
        # The longest first, so that the runtime reserves its memory once.
        said.sort(key=lambda place: -len(encoded[place].ids))
        start = 0
        while start < len(said):
            count = max(1, _MAX_TOKENS // max(1, len(encoded[said[start]].ids)))
            batch = said[start : start + count]
            rows[batch] = self._run([encoded[place] for place in batch])
            start += count
        return to_length_one(rows)

    def _encode(self, texts: list[str]) -> list[Any]:
        return list(self._tokenizer.encode_batch([_readable(text) for text in texts]))

    def _run(self, encoded: list[Any]) -> NDArray[np.float32]:
        shape = len(encoded), max(len(one.ids) for one in encoded)
        inputs = {
            "input_ids": np.full(shape, self._padding, np.int64),
            "attention_mask": np.zeros(shape, np.int64),
            "token_type_ids": np.zeros(shape, np.int64),
        }
        for row, one in enumerate(encoded):
            inputs["input_ids"][row, : len(one.ids)] = one.ids
            inputs["attention_mask"][row, : len(one.ids)] = one.attention_mask
            inputs["token_type_ids"][row, : len(one.ids)] = one.type_ids
        try:
            first, *_ = self._session.run(
                None, {name: value for name, value in inputs.items() if name in self._wanted}
            )
        except _failures() as exc:
            raise ModelUnavailable(f"{self.name} cannot be run: {exc}") from exc
        return self._pool(np.asarray(first, np.float32), inputs["attention_mask"])

    def _pool(self, found: NDArray[np.float32], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Reduce to one row per text: some models answer with one row per token."""
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
    """Make the embedder of a folder, or of a model on the Hub, which is fetched once."""
    if not model.model:
        raise InvalidInput("onnx needs a model after a colon, such as onnx:BAAI/bge-small-en-v1.5")
    _library("onnxruntime")
    folder = Path(model.model).expanduser()
    if folder.is_dir():
        return OnnxEmbedder(folder.absolute())
    return OnnxEmbedder(_fetch(model.model), title=model.model)


def _fetch(name: str) -> Path:
    if not _ON_THE_HUB.fullmatch(name):
        raise InvalidInput(f"{name!r} is neither a folder nor a name such as BAAI/bge-small-en-v1.5")
    hub = _library("huggingface_hub")
    try:
        snapshot = Path(hub.snapshot_download(name, allow_patterns=_FILES))
    except (OSError, ValueError) as exc:
        raise ModelUnavailable(
            f"The model {name!r} could not be downloaded: {exc}. For a local model, use onnx:FOLDER."
        ) from exc
    return snapshot


def _library(name: str) -> Any:
    """Import a package of the extra, which is optional and slow to import."""
    try:
        return import_module(name)
    except ImportError as exc:
        raise ModelUnavailable(
            f"Transformer embedders need {name}. Run pip install 'mnemos[onnx]', or set embedder to static."
        ) from exc


def _first_of(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ModelUnavailable(f"{folder} has no {' and no '.join(names)}. Name a folder with an ONNX model.")


def _session(graph: Path) -> Any:
    runtime = _library("onnxruntime")
    options = runtime.SessionOptions()
    # Either would keep the memory of the largest batch of every shape for as long as the process lives.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    try:
        return runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except _failures() as exc:
        raise ModelUnavailable(f"{graph} cannot be loaded: {exc}") from exc


def _failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of onnxruntime, which have no common parent."""
    state = _library("onnxruntime.capi.onnxruntime_pybind11_state")
    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def _tokenizer(path: Path, longest: int) -> tuple[Any, int]:
    """Return the tokenizer without the lengths that its file asks for, and the id to pad with."""
    library = _library("tokenizers")
    try:
        tokenizer = library.Tokenizer.from_file(str(path))
    except Exception as exc:
        raise ModelUnavailable(f"{path} cannot be read as a tokenizer: {exc}") from exc
    # The lengths in the file are for one kind of hardware, or for training.
    padding = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer, padding


def _longest(folder: Path) -> int:
    positions = _settings(folder / "config.json").get("max_position_embeddings")
    return min(_MAX_TOKENS, positions) if isinstance(positions, int) else _MAX_TOKENS


def _takes_first(folder: Path) -> bool:
    """True if the vector of a text is that of its first token, not the mean."""
    return bool(_settings(folder / "1_Pooling" / "config.json").get("pooling_mode_cls_token"))


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise ModelUnavailable(f"{path} cannot be read: {exc}") from exc
    return settings if isinstance(settings, dict) else {}


def _readable(text: str) -> str:
    # Half a surrogate pair has no UTF-8, and the tokenizer refuses it.
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()

"""A transformer in a folder on this machine, run by onnxruntime and tokenizers.

It doesn't use fastembed, which wraps these two libraries. That only supports a list of models, not any folder
or name on the Hugging Face Hub, forbids current versions of ``huggingface_hub``, and depends on an image
library and six more packages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemos.errors import ModelUnavailable, how_to_install

# The maximum tokens in a text, and in one run with padding. Larger runs take memory and save no time.
MAX_TOKENS = 512
_MAX_CHARACTERS = 20 * MAX_TOKENS


class Transformer:
    """Runs the graph in a folder. Missing packages and files raise ModelUnavailable.

    Threads may share it. A forked process may not, because it lacks the runtime's own threads.
    """

    def __init__(self, folder: Path, *, extra: str, longest: int = MAX_TOKENS, threads: int = 0) -> None:
        """``extra`` is Mnemos's extra that installs the packages. ``threads``: 0 means one per core."""
        import_library("onnxruntime", extra)
        import_library("tokenizers", extra)
        self.graph = _first_of(folder, "model.onnx", "onnx/model.onnx")
        self._tokenizer, self._padding = _tokenizer(
            _first_of(folder, "tokenizer.json"), min(longest, _longest(folder))
        )
        self._session = _session(self.graph, threads)
        self._wanted = {put.name for put in self._session.get_inputs()}

    def encode(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Any]:
        """Tokenize texts, or pairs of texts."""
        return list(self._tokenizer.encode_batch([_readable(text) for text in texts]))

    def run(self, encoded: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return the graph's first output, and the mask of tokens that count."""
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
            raise ModelUnavailable(f"{self.graph} cannot be run: {exc}") from exc
        return np.asarray(first, np.float32), inputs["attention_mask"]


def split_batches(encoded: Sequence[Any], places: Sequence[int]) -> list[list[int]]:
    """Split places into batches of bounded size, longest first, so that memory is reserved once."""
    ordered = sorted(places, key=lambda place: -len(encoded[place].ids))
    batches: list[list[int]] = []
    while ordered:
        count = max(1, MAX_TOKENS // max(1, len(encoded[ordered[0]].ids)))
        batches.append(ordered[:count])
        ordered = ordered[count:]
    return batches


def import_library(name: str, extra: str) -> Any:
    """Import a package of an extra, which is optional and slow to import."""
    try:
        return import_module(name)
    except ImportError as exc:
        raise ModelUnavailable(f"{name} is not installed. {how_to_install(extra)}") from exc


def _first_of(folder: Path, *names: str) -> Path:
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ModelUnavailable(f"{folder} has no {' and no '.join(names)}. Pass a folder with an ONNX model.")


def _session(graph: Path, threads: int) -> Any:
    runtime = import_module("onnxruntime")
    options = runtime.SessionOptions()
    # Either option would keep memory for the largest batch of every shape until the process ends.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.intra_op_num_threads = threads
    try:
        return runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except _failures() as exc:
        raise ModelUnavailable(f"{graph} cannot be loaded: {exc}") from exc


def _failures() -> tuple[type[Exception], ...]:
    """Return onnxruntime's exceptions, which have no common base class."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def _tokenizer(path: Path, longest: int) -> tuple[Any, int]:
    """Load the tokenizer without its file's length limits; also return the padding id."""
    library = import_module("tokenizers")
    try:
        tokenizer = library.Tokenizer.from_file(str(path))
    except Exception as exc:
        raise ModelUnavailable(f"{path} cannot be read as a tokenizer: {exc}") from exc
    # The lengths in the file are meant for certain hardware or for training.
    padding = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    return tokenizer, padding


def _longest(folder: Path) -> int:
    positions = read_settings(folder / "config.json").get("max_position_embeddings")
    return min(MAX_TOKENS, positions) if isinstance(positions, int) else MAX_TOKENS


def read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as exc:
        raise ModelUnavailable(f"{path} cannot be read: {exc}") from exc
    return settings if isinstance(settings, dict) else {}


def _readable(text: str | tuple[str, str]) -> str | tuple[str, str]:
    # Half a surrogate pair can't be encoded as UTF-8, and the tokenizer refuses it.
    if isinstance(text, tuple):
        return _encodable(text[0]), _encodable(text[1])
    return _encodable(text)


def _encodable(text: str) -> str:
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()

"""A transformer on this machine, through onnxruntime and tokenizers: a graph and its tokenizer in a folder.

These two and not fastembed, which wraps them: it keeps a list of models where a folder or a name on the
Hugging Face Hub will do, forbids current versions of ``huggingface_hub``, and brings a library for images
and six more packages.
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

# Of one text, and of all texts in one run with their padding: larger runs take memory and save no time.
MAX_TOKENS = 512
_MAX_CHARACTERS = 20 * MAX_TOKENS


class Transformer:
    """Runs the graph in a folder. Missing packages and files raise ModelUnavailable.

    Threads may share it. A forked process may not: the runtime's own threads do not come along.
    """

    def __init__(self, folder: Path, *, extra: str, longest: int = MAX_TOKENS, threads: int = 0) -> None:
        """``extra``: the one of Mnemos that installs what this needs. ``threads``: 0 for one per core."""
        import_library("onnxruntime", extra)
        import_library("tokenizers", extra)
        self.graph = _first_of(folder, "model.onnx", "onnx/model.onnx")
        self._tokenizer, self._padding = _tokenizer(
            _first_of(folder, "tokenizer.json"), min(longest, _longest(folder))
        )
        self._session = _session(self.graph, threads)
        self._wanted = {put.name for put in self._session.get_inputs()}

    def encode(self, texts: Sequence[str] | Sequence[tuple[str, str]]) -> list[Any]:
        """Return the tokens of texts, or of pairs of texts."""
        return list(self._tokenizer.encode_batch([_readable(text) for text in texts]))

    def run(self, encoded: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return what the graph answers first, and which of the tokens count."""
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
    """Split places into batches of bounded size, the longest first, so that memory is reserved once."""
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
    # Either would keep the memory of the largest batch of every shape for as long as the process lives.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.intra_op_num_threads = threads
    try:
        return runtime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except _failures() as exc:
        raise ModelUnavailable(f"{graph} cannot be loaded: {exc}") from exc


def _failures() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: exceptions without a common parent."""
    state = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def _tokenizer(path: Path, longest: int) -> tuple[Any, int]:
    """Return the tokenizer without the lengths that its file asks for, and the id to pad with."""
    library = import_module("tokenizers")
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
    # Half a surrogate pair has no UTF-8, and the tokenizer refuses it.
    if isinstance(text, tuple):
        return _encodable(text[0]), _encodable(text[1])
    return _encodable(text)


def _encodable(text: str) -> str:
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode()

"""A transformer's folder as it is published, with next to nothing in it: a table of vectors for ten tokens.

The graph is written byte by byte, field numbers from onnx.proto, because the package that writes such
files weighs more than all that the tests need otherwise.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

TOKENS = {
    "[PAD]": (9, 9, 9),
    "[UNK]": (0, 0, 0),
    "[CLS]": (1, 0, 0),
    "[SEP]": (0, 1, 0),
    "cat": (1, 2, 3),
    "dog": (3, 2, 1),
    "car": (-1, 0, 5),
    "runs": (2, 2, 2),
    "##s": (0, 1, 1),
    ".": (1, 1, 0),
}
TABLE = np.array(list(TOKENS.values()), np.float32)
_FLOAT, _INT64 = 1, 7


def write_folder(folder: Path, *, inputs: tuple[str, ...], pooled: bool = False, first: bool = False) -> Path:
    """``pooled``: the graph itself answers with one row a text. ``first``: that of its first token counts."""
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(graph(inputs, pooled=pooled))
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 8}))
    if first:
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder


def tokenizer() -> Tokenizer:
    made = Tokenizer(models.WordPiece({token: id for id, token in enumerate(TOKENS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    return made


def graph(inputs: tuple[str, ...], *, pooled: bool) -> bytes:
    nodes = [node("Gather", ["table", "input_ids"], "tokens" if pooled else "answer")]
    if pooled:
        axes = text(1, "axes") + number(8, 1) + number(20, 7)
        keep = text(1, "keepdims") + number(3, 0) + number(20, 2)
        nodes.append(node("ReduceMean", ["tokens"], "answer", axes, keep))
    table = b"".join(number(1, size) for size in TABLE.shape) + number(2, _FLOAT) + text(8, "table")
    body = (
        b"".join(part(1, one) for one in nodes) + text(2, "tiny") + part(5, table + part(9, TABLE.tobytes()))
    )
    body += b"".join(part(11, value(name, _INT64, ["texts", "tokens"])) for name in inputs)
    body += part(12, value("answer", _FLOAT, ["texts", 3] if pooled else ["texts", "tokens", 3]))
    return number(1, 8) + part(7, body) + part(8, text(1, "") + number(2, 13))


def node(kind: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    return (
        b"".join(text(1, name) for name in inputs)
        + text(2, output)
        + text(4, kind)
        + b"".join(part(5, attribute) for attribute in attributes)
    )


def value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = b"".join(part(1, number(1, size) if isinstance(size, int) else text(2, size)) for size in shape)
    return text(1, name) + part(2, part(1, number(1, kind) + part(2, sizes)))


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: str) -> bytes:
    return part(field, value.encode())


def part(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])

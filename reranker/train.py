"""Train the reranker on a GPU and write it as a quantised ONNX graph.

    python reranker/train.py BASE LISTS.jsonl OUT [--seeds 1 2 3] [--check DEV.json ...]

``BASE`` is the folder of all-MiniLM-L6-v2 (Apache-2.0), ``LISTS`` the output of lists.py. ``--check`` files
hold candidates as recall ranks them, with their scores; the figures of every blend of both are printed.
It needs torch, transformers, onnx and onnxruntime, none of which Mnemos depends on.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from pathlib import Path

import numpy as np
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from torch import nn
from transformers import AutoModel

LISTS = 48
WRONG = 15
LONGEST = 96
RATE = 1e-4
# How often a list of each set is seen in an epoch: what is least like a memory counts less.
SHARES = {"own": 3.0, "friends": 1.0, "meetings": 1.0, "sections": 1.0, "paragraphs": 1.0, "facts": 0.7}
BLENDS = (0.25, 0.5, 0.75, 1.0, 1.5)
TOPS = (20, 25)


class Reranker(nn.Module):
    """A transformer that reads question and line together, and one number from its first token."""

    def __init__(self, base: str) -> None:
        super().__init__()
        body = AutoModel.from_pretrained(base, dtype=torch.float32)
        self.body = body
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(body.config.hidden_size, 1)

    def forward(self, input_ids, attention_mask, token_type_ids):
        found = self.body(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return self.head(self.drop(found.last_hidden_state[:, 0])).squeeze(-1)


class Pairs:
    """Questions and lines as the model takes them."""

    def __init__(self, base: Path, longest: int = LONGEST) -> None:
        self.tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(longest, strategy="only_second")

    def encode(self, question: str, lines: list[str]) -> list[tuple[list[int], list[int]]]:
        cut = " ".join(question.split()[:40])
        return [
            (one.ids, one.type_ids) for one in self.tokenizer.encode_batch([(cut, line) for line in lines])
        ]


def batch(pairs: list[tuple[list[int], list[int]]], device: str) -> dict[str, torch.Tensor]:
    longest = max(len(ids) for ids, _ in pairs)
    ids = np.zeros((len(pairs), longest), np.int64)
    kinds, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, (one, kind) in enumerate(pairs):
        ids[row, : len(one)], kinds[row, : len(one)], mask[row, : len(one)] = one, kind, 1
    tensors = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    return {name: torch.from_numpy(value).to(device, non_blocking=True) for name, value in tensors.items()}


def train(model, lists, pairs, epochs: int, seed: int) -> None:
    chance = random.Random(seed)
    encoded = [
        (row["set"], pairs.encode(row["question"], row["right"]), pairs.encode(row["question"], row["wrong"]))
        for row in lists
    ]
    steps = epochs * sum(SHARES[name] for name, _, _ in encoded) / LISTS
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / 80, max(0.02, 0.5 * (1 + math.cos(math.pi * n / steps))))
    )
    for epoch in range(epochs):
        drawn = [
            one
            for one in encoded
            for _ in range(int(SHARES[one[0]]) + (chance.random() < SHARES[one[0]] % 1))
        ]
        chance.shuffle(drawn)
        model.train()
        total = 0.0
        for start in range(0, len(drawn), LISTS):
            rows, sizes = [], []
            for _, right, wrong in drawn[start : start + LISTS]:
                taken = [chance.choice(right), *chance.sample(wrong, min(WRONG, len(wrong)))]
                rows += taken
                sizes.append(len(taken))
            with torch.autocast("cuda", torch.bfloat16):
                scores = model(**batch(rows, "cuda"))
            parts = scores.float().split(sizes)
            loss = torch.stack([-part.log_softmax(0)[0] for part in parts]).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(sizes)
        print(f"epoch {epoch}: loss {total / len(drawn):.3f}", flush=True)


@torch.no_grad()
def rate(model, lists) -> list[np.ndarray]:
    model.eval()
    flat = [pair for one in lists for pair in one["pairs"]]
    order = sorted(range(len(flat)), key=lambda place: len(flat[place][0]))
    found = np.zeros(len(flat), np.float32)
    for start in range(0, len(order), 2048):
        places = order[start : start + 2048]
        with torch.autocast("cuda", torch.bfloat16):
            found[places] = model(**batch([flat[n] for n in places], "cuda")).float().cpu().numpy()
    ends = np.cumsum([len(one["pairs"]) for one in lists])
    return np.split(found, ends[:-1])


def report(check, model, name: str) -> None:
    """Print recall of lines at 1, 5 and 10 and of all sessions at 5, before and for every blend."""
    for file, lists in check.items():
        print(name, file, flush=True)
        rated = rate(model, lists)
        print("  before", measure(lists, [np.array(one["scores"]) for one in lists]))
        for top in TOPS:
            for blend in BLENDS:
                mixed = [mix(one["scores"], new, blend, top) for one, new in zip(lists, rated, strict=True)]
                print(f"  top {top} blend {blend}", measure(lists, mixed), flush=True)


def mix(scores, rated, blend: float, top: int) -> np.ndarray:
    mixed = np.array(scores, np.float64)
    if len(mixed):
        mixed[:top] += blend * (rated[:top] - rated[:top].max())
        mixed[top:] -= 1_000
    return mixed


def measure(lists, scores) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for one, score in zip(lists, scores, strict=True):
        order = np.argsort(-score, kind="stable")
        wanted = set(one["turns"])
        for cut in (1, 5, 10):
            if wanted:
                share = len(wanted & {one["ids"][n] for n in order[:cut]}) / len(wanted)
                found.setdefault(f"r@{cut}", []).append(share)
                if one["category"] == "multi-hop" and cut == 10:
                    found.setdefault("multi@10", []).append(share)
        if one["wanted_sessions"]:
            seen = list(dict.fromkeys(one["sessions"][n] for n in order))[:5]
            found.setdefault("all@5", []).append(float(set(one["wanted_sessions"]) <= set(seen)))
    return {name: round(100 * float(np.mean(values)), 1) for name, values in found.items()}


def average(states: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Average the weights of models that began alike: steadier than any one of them."""
    return {name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]}


def write(model, out: Path) -> None:
    """Write the graph with weights of eight bits."""
    model = model.float().cpu().eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = tuple(torch.ones(2, 16, dtype=torch.long) for _ in names)
    axes = {name: {0: "batch", 1: "tokens"} for name in names} | {"score": {0: "batch"}}
    full = out / "full.onnx"
    torch.onnx.export(
        model,
        example,
        str(full),
        input_names=names,
        output_names=["score"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(str(full), str(out / "model.onnx"), weight_type=QuantType.QInt8, per_channel=True)
    full.unlink()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("base", type=Path)
    parser.add_argument("lists", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--check", type=Path, nargs="*", default=[])
    args = parser.parse_args()
    with args.lists.open(encoding="utf-8") as file:
        lists = list(map(json.loads, file))
    pairs = Pairs(args.base)
    check = {path.stem: json.loads(path.read_bytes()) for path in args.check}
    for row in (row for rows in check.values() for row in rows):
        row["pairs"] = pairs.encode(row["question"], row["lines"]) if row["lines"] else []
    states = []
    for seed in args.seeds:
        torch.manual_seed(0)
        model = Reranker(str(args.base)).cuda()
        train(model, lists, pairs, args.epochs, seed)
        states.append({name: value.clone() for name, value in model.state_dict().items()})
        report(check, model, f"seed {seed}")
    if len(states) > 1:
        model.load_state_dict(average(states))
        report(check, model, "average")
    args.out.mkdir(parents=True, exist_ok=True)
    write(model, args.out)


if __name__ == "__main__":
    main()

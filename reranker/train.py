"""Train the reranker on a GPU and write it as a quantised ONNX graph.

    python reranker/train.py BASE LISTS.jsonl OUT [--seeds 1 2 3] [--check CHECKS.jsonl]

``BASE`` is the folder of all-MiniLM-L6-v2 (Apache-2.0), ``LISTS`` and ``CHECKS`` are from lists.py. For each
blend of score and rating, the figures of ``CHECKS`` are printed. The rating is trained together with a share
of recall's own score, so that it learns what the score doesn't know.
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
SHARES = {
    "own": 1.0, "own, together": 1.0, "friends": 1.0, "meetings": 1.0, "sections": 0.7, "paragraphs": 0.7,
    "facts": 0.5,
}  # fmt: skip
# The share of recall's score that the rating is added to.
SCORED = 0.3
BLENDS = (0.25, 0.35, 0.5, 0.75, 1.0)
# The number of candidates and of tokens that are read.
READ = ((20, 1_440), (30, 1_700), (40, 10_000))


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


def read_lists(path: Path, pairs: Pairs) -> list[dict]:
    """Read lists, and encode their lines."""
    with path.open(encoding="utf-8") as file:
        lists = list(map(json.loads, file))
    for one in lists:
        wanted = set(one["turns"])
        one["pairs"] = pairs.encode(one["question"], one["lines"]) if one["lines"] else []
        one["right"] = [place for place, id in enumerate(one["ids"]) if id in wanted]
        one["wrong"] = [place for place, id in enumerate(one["ids"]) if id not in wanted]
    return lists


def train(model, lists, epochs: int, seed: int) -> None:
    chance = random.Random(seed)
    lists = [one for one in lists if one["right"] and one["wrong"]]
    steps = epochs * sum(SHARES[one["set"]] for one in lists) / LISTS
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda n: min((n + 1) / 100, max(0.02, 0.5 * (1 + math.cos(math.pi * min(1, n / steps)))))
    )
    for epoch in range(epochs):
        drawn = [
            one
            for one in lists
            for _ in range(int(SHARES[one["set"]]) + (chance.random() < SHARES[one["set"]] % 1))
        ]
        chance.shuffle(drawn)
        model.train()
        total = 0.0
        for start in range(0, len(drawn), LISTS):
            rows, scores, sizes = [], [], []
            for one in drawn[start : start + LISTS]:
                wrong = chance.sample(one["wrong"], min(WRONG, len(one["wrong"])))
                places = [chance.choice(one["right"]), *wrong]
                rows += [one["pairs"][place] for place in places]
                scores += [one["scores"][place] for place in places]
                sizes.append(len(places))
            with torch.autocast("cuda", torch.bfloat16):
                ratings = model(**batch(rows, "cuda"))
            sums = ratings.float() + SCORED * torch.tensor(scores, device="cuda")
            loss = torch.stack([-part.log_softmax(0)[0] for part in sums.split(sizes)]).mean()
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
    for part in dict.fromkeys(one["set"] for one in check):
        lists = [one for one in check if one["set"] == part]
        rated = rate(model, lists)
        print(name, part, "before", measure(lists, [np.array(one["scores"]) for one in lists]), flush=True)
        for most, tokens in READ:
            for blend in BLENDS:
                mixed = [mix(one, new, blend, most, tokens) for one, new in zip(lists, rated, strict=True)]
                print(f"  {most} lines, {tokens} tokens, blend {blend}", measure(lists, mixed), flush=True)


def mix(one, rated, blend: float, most: int, tokens: int) -> np.ndarray:
    mixed = np.array(one["scores"], np.float64)
    if len(mixed):
        spent = np.cumsum([len(ids) for ids, _ in one["pairs"]])
        read = max(1, min(most, int((spent <= tokens).sum())))
        mixed[:read] += blend * (rated[:read] - rated[:read].max())
        mixed[read:] -= 1_000
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
                if one["category"] in ("multi-hop", "multi") and cut == 10:
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
    parser.add_argument("--check", type=Path)
    args = parser.parse_args()
    pairs = Pairs(args.base)
    lists = read_lists(args.lists, pairs)
    check = read_lists(args.check, pairs) if args.check else []
    states = []
    for seed in args.seeds:
        torch.manual_seed(0)
        model = Reranker(str(args.base)).cuda()
        train(model, lists, args.epochs, seed)
        states.append({name: value.clone() for name, value in model.state_dict().items()})
    if len(states) > 1:
        model.load_state_dict(average(states))
    report(check, model, f"{len(states)} seeds")
    args.out.mkdir(parents=True, exist_ok=True)
    write(model, args.out)


if __name__ == "__main__":
    main()

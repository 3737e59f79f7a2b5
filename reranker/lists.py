"""Make the lists that the reranker learns from: a question, lines that answer it, and lines that do not.

    python reranker/lists.py SOURCES OUT.jsonl

``SOURCES`` is a folder with one folder per data set; README.md beside this file lists them. A line of the
output is ``{"set", "question", "right": [text, ...], "wrong": [text, ...]}``: lines as the model reads them.
The wrong ones are those that look most like the question.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mnemos.recall.embedders.static import StaticEmbedder
from mnemos.recall.reranker import render, words_of

Line = tuple[str, str]  # speaker, text
SEED = 20
NEAR = 20
POOLED = 6
LONGEST_SPAN = 20
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9])")
_NOISE = re.compile(r"\{\w+\}|\s+(?=[.,?!])")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the lines it is asked of, and the places of those that answer."""

    source: str
    question: str
    lines: list[Line]
    answers: list[int]


def read_own(path: Path) -> Iterator[Asked]:
    """Read the conversations written for this: turns, and questions with the numbers of those that answer."""
    for conversation in path.read_text(encoding="utf-8").split("\n===\n"):
        said, _, asked = conversation.partition("\n---\n")
        turns = [row for row in said.splitlines() if "\t" in row and not row.startswith("@")]
        lines: list[Line] = [(speaker, text) for speaker, _, text in (row.partition("\t") for row in turns)]
        for row in asked.splitlines():
            numbers, tab, question = row.partition("\t")
            if tab:
                yield Asked("own", question, lines, [int(number) - 1 for number in numbers.split(",")])


def read_friends(folder: Path) -> Iterator[Asked]:
    """Read FriendsQA: questions about scenes, answered by utterances."""
    for path in sorted(folder.glob("friendsqa_*.json")):
        for scene in json.loads(path.read_bytes())["data"]:
            for paragraph in scene["paragraphs"]:
                lines = [
                    (", ".join(name.split()[0] for name in turn["speakers"]), _clean(turn["utterance"]))
                    for turn in paragraph["utterances:"]
                ]
                for qa in paragraph["qas"]:
                    answers = sorted({answer["utterance_id"] for answer in qa["answers"]})
                    yield Asked("friends", qa["question"], lines, answers)


def read_meetings(folder: Path, embedder: StaticEmbedder) -> Iterator[Asked]:
    """Read QMSum: of the span of turns that answers, the two nearest to the written answer."""
    for path in sorted(folder.rglob("*.json")):
        meeting = json.loads(path.read_bytes())
        lines = [(turn["speaker"], _clean(turn["content"])) for turn in meeting["meeting_transcripts"]]
        for query in meeting["specific_query_list"]:
            spans = [(int(first), int(last)) for first, last in query["relevant_text_span"]]
            inside = [n for first, last in spans for n in range(first, min(last + 1, len(lines)))]
            if not inside or len(inside) > LONGEST_SPAN:
                continue
            vectors = embedder.embed([query["answer"], *(lines[n][1] for n in inside)])
            best = np.argsort(-(vectors[1:] @ vectors[0]))[:2]
            wrong = [n for n in range(len(lines)) if n not in inside]
            kept = sorted(wrong + [inside[int(place)] for place in best])
            answers = [kept.index(inside[int(place)]) for place in best]
            yield Asked("meetings", query["query"], [lines[n] for n in kept], sorted(answers))


def read_sections(folder: Path) -> Iterator[Asked]:
    """Read SelQA: questions with the sentences of a section, some of which answer."""
    for path in sorted(folder.glob("selqa-ass-*.json")):
        for item in json.loads(path.read_bytes()):
            lines = [("", text) for text in item["candidates"]]
            yield Asked("sections", item["question"], lines, item["answers"])


def read_paragraphs(folder: Path) -> Iterator[Asked]:
    """Read files in the format of SQuAD, sentence by sentence."""
    for path in sorted(folder.glob("*.json")):
        for article in json.loads(path.read_bytes())["data"]:
            for paragraph in article["paragraphs"]:
                starts, lines = _sentences(paragraph["context"])
                for qa in paragraph["qas"]:
                    at = qa["answers"][0]["answer_start"]
                    place = max(n for n, start in enumerate(starts) if start <= at)
                    yield Asked("paragraphs", qa["question"], [("", text) for text in lines], [place])


def read_strategies(folder: Path, chance: random.Random) -> Iterator[Asked]:
    """Read StrategyQA: questions with the facts needed to answer them, among those of others."""
    items = json.loads((folder / "train.json").read_bytes())
    for start in range(0, len(items) - POOLED, POOLED):
        pool = items[start : start + POOLED]
        # Shuffled: neighbours would give each other away.
        facts = sorted((fact for item in pool for fact in item["facts"]), key=lambda _: chance.random())
        lines = [("", fact) for fact in facts]
        for item in pool:
            if item["facts"]:
                answers = sorted({facts.index(fact) for fact in item["facts"]})
                yield Asked("facts", item["question"], lines, answers)


def _sentences(context: str) -> tuple[list[int], list[str]]:
    starts, texts, at = [], [], 0
    for text in _SENTENCE.split(context):
        at = context.index(text, at)
        starts.append(at)
        texts.append(text)
        at += len(text)
    return starts, texts


def _clean(text: str) -> str:
    return " ".join(_NOISE.sub("", text).split())


def add_wrong(asked: Iterable[Asked], embedder: StaticEmbedder) -> Iterator[dict[str, object]]:
    """Add to each question the wrong lines that look most like it."""
    last: list[Line] = []
    vectors = np.zeros((0, embedder.dim), np.float32)
    for one in asked:
        if one.lines is not last:
            vectors = embedder.embed([f"{speaker} {text}" for speaker, text in one.lines])
            last = one.lines
        cosines = vectors @ embedder.embed([one.question])[0]
        wrong = [int(n) for n in np.argsort(-cosines) if int(n) not in one.answers]
        words = words_of(one.question)
        yield {
            "set": one.source,
            "question": one.question,
            "right": [_render(one.lines, n, words) for n in one.answers],
            "wrong": [_render(one.lines, n, words) for n in wrong[:NEAR]],
        }


def _render(lines: list[Line], place: int, words: frozenset[str]) -> str:
    before = lines[place - 1] if place else None
    after = lines[place + 1] if place + 1 < len(lines) else None
    return render(lines[place], before, after, words)


def read_all(sources: Path, embedder: StaticEmbedder) -> Iterator[Asked]:
    """Read every data set in turn."""
    chance = random.Random(SEED)
    yield from read_own(Path(__file__).parent / "conversations.txt")
    yield from read_friends(sources / "friendsqa")
    yield from read_meetings(sources / "qmsum", embedder)
    yield from read_sections(sources / "selqa")
    yield from read_paragraphs(sources / "xquad")
    yield from read_strategies(sources / "strategyqa", chance)


def main() -> None:
    sources, out = Path(sys.argv[1]), Path(sys.argv[2])
    embedder = StaticEmbedder()
    counts: dict[str, int] = {}
    with out.open("w", encoding="utf-8") as file:
        for row in add_wrong(read_all(sources, embedder), embedder):
            if row["wrong"] and row["right"]:
                counts[str(row["set"])] = counts.get(str(row["set"]), 0) + 1
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(counts, sum(counts.values()))


if __name__ == "__main__":
    main()

"""Make the lists that the reranker learns from: questions, and the lines that recall ranks first for them.

    python -m reranker.lists SOURCES OUT.jsonl
    python -m reranker.lists --check DATA... OUT.jsonl

``SOURCES`` is a folder with one folder per data set; README.md beside this file lists them. With ``--check``,
the lists are for measuring: from files of LoCoMo or LongMemEval, or from our held-out conversations if
``DATA`` is ``own``. A list is a JSON object on a line: ``set``, ``category``, ``question``, ``lines`` as the
model reads them, their ``scores``, ``ids`` and ``sessions``, and the ``turns`` and ``wanted_sessions`` that
answer.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import numpy as np
from benchmarks.recall import own

from mnemos.faces.cli.bench.corpus import Corpus, Question, Session, Turn, arrangements
from mnemos.faces.cli.bench.dataset import read
from mnemos.faces.cli.bench.measurement import open_home
from mnemos.recall.embedders.static import StaticEmbedder
from mnemos.recall.reranker import render, words_of
from mnemos.storage.base import Filters

Line = tuple[str, str]  # speaker, text
Asked = tuple[str, list[int]]  # a question, and the places of the lines that answer it
SEED = 3
# The number of candidates in a list.
LEARNT, CHECKED = 32, 40
# The number of our own conversations in one home, and of texts of other sets.
TOGETHER = 24
TEXTS = {"friends": 25, "meetings": 1, "sections": 25, "paragraphs": 5, "facts": 5}
POOLED = 6
LONGEST_SPAN = 20
START, DAY, MINUTE = 1.7e9, 86_400.0, 60.0
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9])")
_NOISE = re.compile(r"\{\w+\}|\s+(?=[.,?!])")


def read_friends(folder: Path) -> Iterator[tuple[list[Line], list[Asked]]]:
    """Read FriendsQA: questions about scenes, answered by utterances."""
    for path in sorted(folder.glob("friendsqa_*.json")):
        for scene in json.loads(path.read_bytes())["data"]:
            for paragraph in scene["paragraphs"]:
                lines = [
                    (", ".join(name.split()[0] for name in turn["speakers"]), _clean(turn["utterance"]))
                    for turn in paragraph["utterances:"]
                ]
                yield (
                    lines,
                    [
                        (qa["question"], sorted({answer["utterance_id"] for answer in qa["answers"]}))
                        for qa in paragraph["qas"]
                    ],
                )


def read_meetings(folder: Path) -> Iterator[tuple[list[Line], list[Asked]]]:
    """Read QMSum: of the span of turns that answers, the two nearest to the written answer."""
    embedder = StaticEmbedder()
    for path in sorted(folder.rglob("*.json")):
        meeting = json.loads(path.read_bytes())
        lines = [(turn["speaker"], _clean(turn["content"])) for turn in meeting["meeting_transcripts"]]
        asked: list[Asked] = []
        for query in meeting["specific_query_list"]:
            spans = [(int(first), int(last)) for first, last in query["relevant_text_span"]]
            inside = [n for first, last in spans for n in range(first, min(last + 1, len(lines)))]
            if inside and len(inside) <= LONGEST_SPAN:
                vectors = embedder.embed([query["answer"], *(lines[n][1] for n in inside)])
                best = np.argsort(-(vectors[1:] @ vectors[0]))[:2]
                asked.append((query["query"], sorted(inside[int(place)] for place in best)))
        yield lines, asked


def read_sections(folder: Path) -> Iterator[tuple[list[Line], list[Asked]]]:
    """Read SelQA: questions with the sentences of a section, some of which answer."""
    for path in sorted(folder.glob("selqa-ass-*.json")):
        for item in json.loads(path.read_bytes()):
            yield [("", text) for text in item["candidates"]], [(item["question"], item["answers"])]


def read_paragraphs(folder: Path) -> Iterator[tuple[list[Line], list[Asked]]]:
    """Read files in the format of SQuAD, sentence by sentence."""
    for path in sorted(folder.glob("*.json")):
        for article in json.loads(path.read_bytes())["data"]:
            for paragraph in article["paragraphs"]:
                starts, lines = _split(paragraph["context"])
                asked = []
                for qa in paragraph["qas"]:
                    at = qa["answers"][0]["answer_start"]
                    asked.append((qa["question"], [max(n for n, start in enumerate(starts) if start <= at)]))
                yield [("", text) for text in lines], asked


def read_strategies(folder: Path) -> Iterator[tuple[list[Line], list[Asked]]]:
    """Read StrategyQA: questions with the facts needed to answer them, among those of others."""
    chance = random.Random(SEED)
    items = json.loads((folder / "train.json").read_bytes())
    for start in range(0, len(items) - POOLED, POOLED):
        pool = items[start : start + POOLED]
        # Shuffled: neighbours would give each other away.
        facts = sorted((fact for item in pool for fact in item["facts"]), key=lambda _: chance.random())
        asked = [
            (item["question"], sorted({facts.index(fact) for fact in item["facts"]}))
            for item in pool
            if item["facts"]
        ]
        yield [("", fact) for fact in facts], asked


def _split(context: str) -> tuple[list[int], list[str]]:
    starts, texts, at = [], [], 0
    for text in _SENTENCE.split(context):
        at = context.index(text, at)
        starts.append(at)
        texts.append(text)
        at += len(text)
    return starts, texts


def _clean(text: str) -> str:
    return " ".join(_NOISE.sub("", text).split())


def make_homes(name: str, texts: Iterable[tuple[list[Line], list[Asked]]]) -> Iterator[Corpus]:
    """Put several texts of a data set into one home, each as a session."""
    every = list(texts)
    for start in range(0, len(every), TEXTS[name]):
        sessions: list[Session] = []
        questions: list[Question] = []
        for number, (lines, asked) in enumerate(every[start : start + TEXTS[name]]):
            at = START + number * DAY
            session = f"{name}/{start + number}"
            turns = tuple(
                Turn(f"{session}/{place}", "user", speaker or None, text or "-", at + MINUTE * place)
                for place, (speaker, text) in enumerate(lines)
            )
            sessions.append(Session(session, at, turns))
            for n, (text, places) in enumerate(asked):
                wanted = tuple(turns[place].id for place in places)
                questions.append(Question(f"{session}?{n}", text, "", 0.0, wanted, (session,) * len(wanted)))
        now = START + TEXTS[name] * DAY
        yield Corpus(name, tuple(sessions), tuple(replace(one, asked_at=now) for one in questions))


def read_all(sources: Path) -> Iterator[tuple[str, Corpus]]:
    """Read every data set in turn. Our own conversations are asked alone, and in homes with others."""
    conversations = list(own.read(for_reports=False).corpora)
    yield from (("own", corpus) for corpus in conversations)
    random.Random(SEED).shuffle(conversations)
    for start in range(0, len(conversations), TOGETHER):
        yield "own, together", own.join(conversations[start : start + TOGETHER], "together")
    sets = {
        "friends": read_friends(sources / "friendsqa"),
        "meetings": read_meetings(sources / "qmsum"),
        "sections": read_sections(sources / "selqa"),
        "paragraphs": read_paragraphs(sources / "xquad"),
        "facts": read_strategies(sources / "strategyqa"),
    }
    for name, texts in sets.items():
        yield from ((name, corpus) for corpus in make_homes(name, texts))


def read_check(data: str) -> Iterator[tuple[str, Corpus]]:
    """Read one file to measure with, or our held-out conversations, alone and in one home."""
    if data == "own":
        held_out = own.read(for_reports=True).corpora
        yield from (("held out", corpus) for corpus in held_out)
        yield "held out, together", own.join(held_out, "together")
        return
    file = read(Path(data))
    yield from ((file.name, corpus) for corpus in next(iter(arrangements(file).values())))


def write_lists(corpora: Iterable[tuple[str, Corpus]], most: int, out: TextIO) -> dict[str, int]:
    """Ask every question and write its candidates. Return the number of lists by set."""
    counts: dict[str, int] = {}
    for name, corpus in corpora:
        session_of = {turn.id: session.id for session in corpus.sessions for turn in session.turns}
        with open_home(corpus, embedder="static") as home:
            for question in corpus.questions:
                ranked = home.memory.recaller.rank(question.text, Filters(), now=question.asked_at)
                found = ranked.candidates[:most]
                ids = [home.turn_of[candidate.line.id] for candidate in found]
                words = words_of(question.text)
                row = {
                    "set": name,
                    "category": question.category,
                    "question": question.text,
                    "lines": [render(candidate, words) for candidate in found],
                    "scores": [round(score, 4) for score in ranked.scores[:most]],
                    "ids": ids,
                    "sessions": [session_of[id] for id in ids],
                    "turns": question.turns,
                    "wanted_sessions": question.sessions,
                }
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                counts[name] = counts.get(name, 0) + 1
    return counts


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m reranker.lists", description=__doc__)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("out", type=Path)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args(arguments)
    with args.out.open("w", encoding="utf-8") as out:
        if args.check:
            corpora = (pair for data in args.sources for pair in read_check(data))
            print(write_lists(corpora, CHECKED, out))
        else:
            print(write_lists(read_all(Path(args.sources[0])), LEARNT, out))


if __name__ == "__main__":
    main()

"""Train the model of the threat scanner and write its asset.

    python scripts/train_threat_model.py              train on every labelled file and write the asset
    python scripts/train_threat_model.py --validate   leave files out in turn and print the rates

The files in tests/data/threats are voices: each was written by itself. A text of one voice resembles the
others of it, so a rate means something only for a file that was left out. The threshold is chosen so that
of the harmless texts in the files that were written without knowing the scanner, left out in turn, at most
the share ``FALSE_ALARMS`` is stopped.

Besides, harmless texts are learnt from that nobody labelled as such: what people say in the labelled texts
of other rules, the documentation of the repository, and the docstrings of Python's standard library. So the
same Python writes the same bytes. Needs numpy; takes about two minutes.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.threats import Label, read  # noqa: E402 - the path comes first

from mnemos.language.threats import classifier, forms, hidden  # noqa: E402
from mnemos.language.threats.classifier import IDEAS, MARKS, SIZES, WINDOW  # noqa: E402
from mnemos.language.threats.unfold import Reading, unfold  # noqa: E402

FOLDER = ROOT / "tests" / "data" / "threats"
LEXICON = Path(__file__).with_name("threat_ideas.txt")
# Written by people who knew neither the scanner nor the other files.
BLIND = ("heldout", "heldout-4", "opened", "opened-2", "opened-3")
FALSE_ALARMS = 0.0125
COST = 0.5
BACKGROUND = 4_000
SHORTEST_PROSE = 5
GROUPS = 5
WIDTH = sum(SIZES) + MARKS
SIGNS = ".,:;!?\"'`()/0-=<>[]{}|#*%&$@+~"
KINDS = ("qurl", "qmail", "qip")

Floats = NDArray[np.float64]


# --- ideas ----------------------------------------------------------------------------------------


def stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def read_lexicon() -> Callable[[str], str | None]:
    """Return what tells the idea of a folded word."""
    ideas: dict[str, str] = {}
    name = ""
    for line in LEXICON.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line[0].isspace():
            name = line.split(":")[0]
            continue
        for word in line.split():
            if "_" not in word and "*" not in word:
                ideas.setdefault(Reading(word).fold().text, name)
    stems: dict[str, str] = {}
    for word, idea in ideas.items():
        stems.setdefault(stem(word), idea)
    return lambda word: ideas.get(word) or stems.get(stem(word))


def make_table(texts: Sequence[str]) -> bytes:
    """Return the idea of each hashed word of the texts; signs and kinds of addresses count as ideas too."""
    idea_of = read_lexicon()
    numbers = {name: number for number, name in enumerate(IDEAS, start=1)}
    table = bytearray(classifier.IDEA_SLOTS)
    for word in sorted({word for text in texts for word in classifier.tokenize(Reading(text).fold().text)}):
        if idea := idea_of(word):
            table[classifier.hash_word(word) & 0xFFFF] = numbers[idea]
    for number, sign in enumerate((*SIGNS, *KINDS), start=100):
        table[classifier.hash_word(sign) & 0xFFFF] = number
    table[1], table[2] = 160, 161
    return bytes(table)


# --- instances ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rows:
    """A sparse matrix: features and values of one row after the other."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, rows: Sequence[tuple[list[int], list[float]]]) -> Rows:
        lengths = [len(columns) for columns, _ in rows]
        return cls(
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.fromiter((one for columns, _ in rows for one in columns), np.int32),
            np.fromiter((one for _, values in rows for one in values), np.float32),
        )

    def times(self, weights: Floats) -> Floats:
        sums = np.concatenate([[0.0], np.cumsum(weights[self.columns] * self.values)])
        return np.asarray(sums[self.starts[1:]] - sums[self.starts[:-1]])

    def transposed_times(self, factors: Floats) -> Floats:
        spread = np.repeat(factors, np.diff(self.starts)) * self.values
        return np.bincount(self.columns, spread, WIDTH)

    def pick(self, chosen: NDArray[np.bool_]) -> Rows:
        lengths = np.diff(self.starts)
        kept = np.repeat(chosen, lengths)
        return Rows(np.concatenate([[0], np.cumsum(lengths[chosen])]), self.columns[kept], self.values[kept])


@dataclass(frozen=True, slots=True)
class Corpus:
    """All texts, with the rows to learn from and the windows to judge by."""

    files: NDArray[np.str_]
    is_threat: NDArray[np.bool_]
    is_certain: NDArray[np.bool_]
    """Found by a form or by hidden characters, regardless of the words."""
    whole: Rows
    whole_of: NDArray[np.int64]
    is_last: NDArray[np.bool_]
    windows: Rows
    window_of: NDArray[np.int64]
    margins: Floats


def make_row(
    sentences: Sequence[tuple[set[int], ...]], marks: set[int], parts: Sequence[int]
) -> tuple[list[int], list[float]]:
    columns: list[int] = []
    values: list[float] = []
    offset = 0
    for part, size in enumerate(SIZES):
        count = sum(len(sentence[part]) for sentence in sentences)
        if part in parts and count:
            for sentence in sentences:
                columns += [offset + code for code in sorted(sentence[part])]
            values += [count**-0.5] * count
        offset += size
    if MARKS_PART in parts:
        columns += [offset + number for number in sorted(marks)]
        values += [1.0] * len(marks)
    return columns, values


MARKS_PART = len(SIZES)
ALL_PARTS = range(len(SIZES) + 1)


def read_corpus(table: bytes, parts: Sequence[int] = ALL_PARTS, *, with_unfolding: bool = True) -> Corpus:
    def count_known(text: str) -> int:
        words = classifier._WORD.findall(text)
        return sum(0 < table[classifier.hash_word(word) & 0xFFFF] <= len(IDEAS) for word in words)

    files, is_threat, is_certain = [], [], []
    whole, whole_of, is_last, windows, window_of, margins = [], [], [], [], [], []
    for name, label, text in read_texts():
        number = len(files)
        certain = any(True for _ in hidden.find_hidden(text))
        readings = list(unfold(text, count_known)) if with_unfolding else [Reading(text).fold()]
        for reading in readings:
            found = list(forms.find_forms(reading.text))
            certain = certain or any(match.is_certain for match in found)
            spans = list(classifier.split(reading.text))
            tokens = [classifier.tokenize(reading.text[start:end]) for start, end in spans]
            sentences = [classifier.features(some, table) for some in tokens]
            counts = [classifier.count_words(some) for some in tokens]

            def make(
                first: int, last: int, spans=spans, sentences=sentences, found=found
            ) -> tuple[list[int], list[float]]:
                start, end = spans[first][0], spans[last - 1][1]
                marks = {match.number for match in found if match.start < end and start < match.end}
                return make_row(sentences[first:last], marks, parts)

            if not spans:
                continue
            whole.append(make(0, len(spans)))
            whole_of.append(number)
            is_last.append(reading is readings[-1])
            groups = [
                (first, min(first + WINDOW, len(spans)), 0.0)
                for first in range(max(1, len(spans) - WINDOW + 1))
            ]
            if len(spans) > 1:
                groups += [(first, first + 1, classifier.ALONE) for first in range(len(spans))]
            for first, last, margin in groups:
                if sum(counts[first:last]) >= classifier.FEWEST_WORDS:
                    windows.append(make(first, last))
                    margins.append(margin)
            window_of += [number] * (len(windows) - len(window_of))
        files.append(name)
        is_threat.append(label)
        is_certain.append(certain)
    return Corpus(
        np.array(files), np.array(is_threat), np.array(is_certain),
        Rows.of(whole), np.array(whole_of), np.array(is_last),
        Rows.of(windows), np.array(window_of), np.array(margins),
    )  # fmt: skip


def read_texts() -> Iterator[tuple[str, bool, str]]:
    for path in sorted(FOLDER.glob("*.tsv")):
        for example in read(path):
            yield path.stem, example.label is Label.THREAT, example.text
    prose = {
        text: "docs"
        for path in sorted((ROOT / "docs").rglob("*.md"))
        for text in split_prose(path.read_text())
    }
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.glob("*.py")) + sorted(library.glob("[a-s]*/*.py")):
        if not {"site-packages", "test", "idlelib", "lib2to3"} & set(path.parts):
            prose |= {
                text: "library" for docstring in read_docstrings(path) for text in split_prose(docstring)
            }
    for name in ("closing", "extraction"):
        for line in (FOLDER.parent / name / "labelled.tsv").read_text(encoding="utf-8").splitlines():
            if line.strip() and not line.startswith("#"):
                yield name, False, line.split("\t")[-1].replace("\\n", "\n")
    for text in sorted(prose, key=lambda text: crc32(text.encode()))[:BACKGROUND]:
        yield prose[text], False, text


def read_docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def split_prose(text: str) -> Iterator[str]:
    """Yield the paragraphs and items of a text, without its code."""
    for part in re.split(r"\n\s*\n|\n(?=\s*[-*|] )", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        line = " ".join(part.split()).lstrip("#>*|- ")
        if len(line.split()) >= SHORTEST_PROSE:
            yield line


# --- learning -------------------------------------------------------------------------------------


def learn(rows: Rows, is_threat: NDArray[np.bool_], steps: int = 60) -> tuple[Floats, float]:
    """Return weights and bias with the least squared hinge loss, by L-BFGS."""
    signs = np.where(is_threat, 1.0, -1.0)

    def loss(point: Floats) -> tuple[float, Floats]:
        short = np.maximum(0.0, 1.0 - signs * (rows.times(point[:-1]) + point[-1]))
        slope = -2.0 * COST * signs * short
        gradient = np.append(rows.transposed_times(slope), slope.sum()) + point
        return 0.5 * float(point @ point) + COST * float(short @ short), gradient

    point = np.zeros(WIDTH + 1)
    value, gradient = loss(point)
    memory: list[tuple[Floats, Floats]] = []
    for _ in range(steps):
        direction = -gradient
        factors = []
        for step, change in reversed(memory):
            factor = (step @ direction) / (change @ step)
            factors.append(factor)
            direction = direction - factor * change
        if memory:
            step, change = memory[-1]
            direction = direction * ((step @ change) / (change @ change))
        else:
            direction = direction / np.linalg.norm(gradient)
        for (step, change), factor in zip(memory, reversed(factors), strict=True):
            direction = direction + (factor - (change @ direction) / (change @ step)) * step
        length, slope = 1.0, float(gradient @ direction)
        for _ in range(20):
            tried, next_gradient = loss(point + length * direction)
            if tried <= value + 1e-4 * length * slope:
                break
            length /= 2
        memory = [*memory[-9:], (length * direction, next_gradient - gradient)]
        point, gradient = point + length * direction, next_gradient
        if value - tried < 1e-5 * value:
            break
        value = tried
    return point[:-1], float(point[-1])


def quantize(weights: Floats) -> tuple[list[NDArray[np.int8]], list[float], Floats]:
    """Return the tables as bytes, their scales, and the weights of forms."""
    tables, scales, at = [], [], 0
    for size in SIZES:
        part = weights[at : at + size]
        # A few weights are far larger than all others: they are cut.
        scale = max(float(np.quantile(np.abs(part), 0.9999)), 1e-9) / 127
        tables.append(np.clip(np.rint(part / scale), -127, 127).astype(np.int8))
        scales.append(scale)
        at += size
    return tables, scales, weights[at:]


def restore(weights: Floats) -> Floats:
    tables, scales, marks = quantize(weights)
    return np.concatenate([*(table * scale for table, scale in zip(tables, scales, strict=True)), marks])


def judge(corpus: Corpus, weights: Floats, bias: float) -> Floats:
    scores = np.full(len(corpus.files), -9.0)
    np.maximum.at(scores, corpus.window_of, corpus.windows.times(weights) + bias - corpus.margins)
    return scores


def train(corpus: Corpus, chosen: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Learn from whole texts; a threat in disguise counts as what it says."""
    is_threat = corpus.is_threat[corpus.whole_of]
    rows = chosen[corpus.whole_of] & (corpus.is_last | ~is_threat)
    return learn(corpus.whole.pick(rows), is_threat[rows])


def cross_validate(corpus: Corpus, folds: Sequence[Sequence[str]]) -> Floats:
    """Return the score of every text by a model that has not seen its file."""
    scores = np.full(len(corpus.files), np.nan)
    for fold in folds:
        left_out = np.isin(corpus.files, fold)
        weights, bias = train(corpus, ~left_out)
        scores[left_out] = judge(corpus, restore(weights), bias)[left_out]
    return scores


def choose_threshold(corpus: Corpus, scores: Floats) -> float:
    harmless = np.sort(scores[np.isin(corpus.files, BLIND) & ~corpus.is_threat & ~corpus.is_certain])[::-1]
    return float(harmless[int(FALSE_ALARMS * len(harmless))])


def report(corpus: Corpus, scores: Floats, threshold: float, title: str, *, with_forms: bool = True) -> None:
    found = scores > threshold
    if with_forms:
        found = found | corpus.is_certain
    blind = np.isin(corpus.files, BLIND)
    parts = [*((name, corpus.files == name) for name in BLIND), ("those four", blind)]
    print(title)
    for name, part in [*parts, ("all others", ~blind & ~np.isnan(scores))]:
        if part.any():
            misses = 100 * np.mean(~found[part & corpus.is_threat])
            alarms = 100 * np.mean(found[part & ~corpus.is_threat])
            print(f"  {name:12s} misses {misses:5.1f} %  false alarms {alarms:4.1f} %")


def make_folds(corpus: Corpus) -> list[list[str]]:
    others = sorted(set(corpus.files.tolist()) - {*BLIND})
    return [*([name] for name in BLIND), *(others[at::GROUPS] for at in range(GROUPS))]


ABLATION: dict[str, tuple[Sequence[int], bool, bool]] = {
    "words only": ((0,), False, False),
    "letters only": ((1,), False, False),
    "words and letters": ((0, 1), False, False),
    "words, letters and ideas": ((0, 1, 2), False, False),
    "with unfolding": ((0, 1, 2), True, False),
    "with forms": (ALL_PARTS, False, True),
    "with unfolding and forms (as shipped)": (ALL_PARTS, True, True),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--validate", action="store_true", help="print rates of files that were left out")
    parser.add_argument("--ablate", action="store_true", help="print what each part contributes")
    chosen = parser.parse_args()
    table = make_table([text for _, _, text in read_texts()])
    if chosen.ablate:
        for title, (parts, with_unfolding, with_forms) in ABLATION.items():
            corpus = read_corpus(table, parts, with_unfolding=with_unfolding)
            if not with_forms:
                corpus.is_certain[:] = False
            scores = cross_validate(corpus, [[name] for name in BLIND])
            report(corpus, scores, choose_threshold(corpus, scores), title)
        return
    corpus = read_corpus(table)
    scores = cross_validate(corpus, make_folds(corpus) if chosen.validate else [[name] for name in BLIND])
    threshold = choose_threshold(corpus, scores)
    report(corpus, scores, threshold, f"left out in turn, threshold {threshold:.3f}")
    if chosen.validate:
        return
    weights, bias = train(corpus, np.ones(len(corpus.files), bool))
    tables, scales, marks = quantize(weights)
    header = classifier.HEADER.pack(classifier.MAGIC, *scales, bias, threshold, *marks)
    classifier.ASSET.write_bytes(b"".join([header, *(one.tobytes() for one in tables), table]))
    report(
        corpus, judge(corpus, restore(weights), bias), threshold, "learnt from all, judged on the same texts"
    )


if __name__ == "__main__":
    main()

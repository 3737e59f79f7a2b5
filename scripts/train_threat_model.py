"""Learn what weighs how much in an order to a model, from the labelled texts: the same bytes every time.

    python scripts/train_threat_model.py [--check]

Reads the labelled texts in tests/data/threats, except those held out, and harmless statements from the
labelled files of other parts. Logistic regression with a quadratic penalty; features that are rare or weigh
little are left out. Writes src/mnemos/text/threats/assets/weights.json.

The threshold is the lowest at which, in five-fold cross-validation, at most ``EXTRA`` of the harmless texts
are stopped that no rule stops. Files that were written in one go and in one voice are left out whole, so that
a file is judged by a model that knows nothing like it. With --check nothing is written: it prints what
cross-validation says, and how a model that never saw paraphrases-check.tsv does there.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemos.bench.threats import Label, read
from mnemos.text.threats import model as threat_model
from mnemos.text.threats.folding import folded
from mnemos.text.threats.model import Feature, Signs, windows
from mnemos.text.threats.rules import find

ROOT = Path(__file__).parents[1]
THREATS = ROOT / "tests" / "data" / "threats"
MIXED = (
    *("labelled", "opened", "opened-2", "lookalikes-deceit", "lookalikes-tongues", "prose"),
    *("structure-blocks", "structure-blocks-more", "structure-commands", "structure-disguise"),
    *("paraphrases-tune", "paraphrases-more", "paraphrases-wider", "paraphrases-check"),
)
VOICES = (
    ("agents", "office", "release", "steer", "terse", "web"),
    ("behind", "home", "ops", "plain", "repo", "shapes", "slang"),
    ("coding", "indirect", "mail", "service", "voices"),
    ("formal", "kinds", "memory", "notebook", "tongues"),
    ("guard", "long", "pairs", "security", "talk"),
)
"""Files of one voice each, by the fold that they are left out in."""
FOLD_OF = {f"paraphrases-{name}": fold for fold, names in enumerate(VOICES) for name in names}
FILES = (*MIXED, *sorted(FOLD_OF))
PAIRS = "paraphrases-pairs"
"""Its harmless texts differ from attacks in a word; to set the threshold by them would be to give up."""
EDGES = ("open", "last")
BLOCKS = ("word", "near", "idea", *EDGES, threat_model.SAID)
CHECK = "paraphrases-check"
HARMLESS = (("extraction", 3), ("closing", 2))
"""Files of other parts and the column of their texts."""

SCALE = 3.0
PENALTY = 1.0
HARMLESS_WEIGHT = 0.5
RAREST = 2
SCALE_SAID = 8.0
RAREST_SAID = 3
LIGHTEST = 0.4
FOLDS = len(VOICES)
ALIKE = 0.25
ALIKE_LETTERS = 3
EXTRA = 0.0125
"""The share of harmless texts that may be stopped in addition to those that rules stop."""
DOUBTFUL = -2.5
"""Below this a rule is not believed: hardly any threat of the labelled texts scores so low in prose."""

Vector = NDArray[np.float64]
Features = list[Feature]


@dataclass(frozen=True, slots=True)
class Text:
    source: str
    given: str
    threat: bool
    weight: float
    views: tuple[Sequence[Signs], ...]

    @property
    def whole(self) -> Sequence[Signs]:
        return tuple({signs.start: signs for view in self.views for signs in view}.values())


def texts() -> list[Text]:
    found = []
    for name in FILES:
        for example in read(THREATS / f"{name}.tsv"):
            found.append(text_of(name, example.text, threat=example.label is Label.THREAT, weight=1.0))
    for name, column in HARMLESS:
        for line in (ROOT / "tests" / "data" / name / "labelled.tsv").read_text("utf-8").splitlines():
            columns = line.split("\t")
            if not line.startswith("#") and len(columns) > column:
                found.append(text_of(name, columns[column], threat=False, weight=HARMLESS_WEIGHT))
    return found


def text_of(source: str, given: str, *, threat: bool, weight: float) -> Text:
    return Text(source, given, threat, weight, tuple(windows(folded(given).text)))


class Table:
    """Windows as rows of a sparse matrix."""

    def __init__(self, rows: Sequence[Features], index: dict[Feature, int], scale: float) -> None:
        places: list[int] = []
        owners: list[int] = []
        values: list[float] = []
        for number, features in enumerate(rows):
            counts = Counter(_block(feature) for feature in features)
            for feature in features:
                place = index.get(feature)
                if place is not None:
                    places.append(place)
                    owners.append(number)
                    values.append(scale / max(counts[_block(feature)], threat_model.FEWEST) ** 0.5)
        self.size, self.width = len(rows), len(index)
        self._places, self._owners = np.array(places, np.intp), np.array(owners, np.intp)
        self._values = np.array(values)

    def times(self, weights: Vector) -> Vector:
        return np.bincount(self._owners, self._values * weights[self._places], self.size)

    def back(self, residuals: Vector) -> Vector:
        return np.bincount(self._places, self._values * residuals[self._owners], self.width)


def _block(feature: Feature) -> str:
    """What is weighed together: openings and endings are one block."""
    return "edge" if feature[0] in EDGES else feature[0]


def learn(
    rows: list[Features], labels: Vector, shares: Vector, *, rarest: int, scale: float
) -> tuple[dict[Feature, float], float]:
    """Weights of the features, the scale included, and the bias."""
    counts = Counter(feature for features in rows for feature in set(features))
    index = {f: n for n, f in enumerate(sorted(f for f, count in counts.items() if count >= rarest))}
    table = Table(rows, index, scale)

    def loss(point: Vector) -> tuple[float, Vector]:
        scores = table.times(point[:-1]) + point[-1]
        signed = np.where(labels > 0, scores, -scores)
        value = float(np.sum(shares * np.logaddexp(0.0, -signed)) + PENALTY / 2 * point[:-1] @ point[:-1])
        residuals = shares * (0.5 * (1 + np.tanh(scores / 2)) - labels)
        slope = np.append(table.back(residuals) + PENALTY * point[:-1], residuals.sum())
        return value, slope

    point = minimise(loss, np.zeros(len(index) + 1))
    return {f: float(point[n]) * scale for f, n in index.items()}, float(point[-1])


def minimise(loss, point: Vector, *, memory: int = 10, most: int = 400) -> Vector:  # type: ignore[no-untyped-def]
    """Limited-memory BFGS with a backtracking line search."""
    value, slope = loss(point)
    steps: list[tuple[Vector, Vector]] = []
    for _ in range(most):
        direction = slope.copy()
        kept = []
        for step, change in reversed(steps):
            factor = (step @ direction) / (step @ change)
            kept.append(factor)
            direction -= factor * change
        if steps:
            step, change = steps[-1]
            direction *= (step @ change) / (change @ change)
        for (step, change), factor in zip(steps, reversed(kept), strict=True):
            direction += step * (factor - (change @ direction) / (step @ change))
        length, promised = 1.0, slope @ direction
        while True:
            new_value, new_slope = loss(point - length * direction)
            if new_value <= value - 1e-4 * length * promised or length < 1e-8:
                break
            length /= 2
        step, change = -length * direction, new_slope - slope
        point = point + step
        if step @ change > 1e-12:
            steps = [*steps[1 - memory :], (step, change)]
        done = abs(value - new_value) < 1e-7 * max(1.0, abs(value))
        value, slope = new_value, new_slope
        if done:
            break
    return point


def trained(chosen: Sequence[Text]) -> threat_model.Weights:
    windows: list[Sequence[Signs]] = []
    labels: list[float] = []
    shares: list[float] = []
    for text in chosen:
        views = [text.whole] if text.threat or len(text.views) == 1 else [text.whole, *text.views]
        for view in views:
            if view:
                windows.append(view)
                labels.append(float(text.threat))
                shares.append(text.weight / len(views))
    known = (np.array(labels), np.array(shares))
    by_sense = [[f for signs in window for f in signs.features()] for window in windows]
    literally = [[f for signs in window for f in signs.literally()] for window in windows]
    ways = (
        learn(by_sense, *known, rarest=RAREST, scale=SCALE),
        learn(literally, *known, rarest=RAREST_SAID, scale=SCALE_SAID),
    )
    of: dict[str, dict[str, dict[str, float]]] = {block: {} for block in BLOCKS}
    for way, _ in ways:
        for (block, one, other), weight in sorted(way.items()):
            if abs(weight) >= LIGHTEST:
                of[block].setdefault(one, {})[other] = round(weight / 2, 2)
    return threat_model.Weights(round(sum(bias for _, bias in ways) / 2, 2), of)


def score(model: threat_model.Weights, text: Text) -> float:
    return max(
        (model.score(*map(model.weigh, view)) for view in text.views),
        default=-99.0,
    )


def folded_by_likeness(known: list[Text]) -> NDArray[np.intp]:
    """Folds in which files of one voice, and texts that share most of their words, are together, mostly.

    Many harmless texts were written as the counterpart of a threat. Apart, each would be judged by a model
    that has learnt the opposite from nearly the same words.
    """
    words = [
        frozenset(w for signs in text.whole for w in signs.words if len(w) > ALIKE_LETTERS) for text in known
    ]
    holders: dict[str, list[int]] = {}
    folds = np.random.default_rng(0).integers(0, FOLDS, len(known))
    for number, own in enumerate(words):
        shared = Counter(other for word in sorted(own) for other in holders.get(word, ()))
        near = max(shared, key=lambda other: (shared[other] / len(own | words[other]), -other), default=None)
        voice = FOLD_OF.get(known[number].source)
        if voice is not None:
            folds[number] = voice
        elif near is not None and shared[near] >= ALIKE * len(own | words[near]):
            folds[number] = folds[near]
        for word in own:
            holders.setdefault(word, []).append(number)
    return folds


def cross_validated(known: list[Text]) -> Vector:
    scores = np.zeros(len(known))
    folds = folded_by_likeness(known)
    for fold in range(FOLDS):
        model = trained([text for text, its in zip(known, folds, strict=True) if its != fold])
        for number in np.flatnonzero(folds == fold):
            scores[number] = score(model, known[number])
    return scores


def stopped_by_rules(known: list[Text]) -> NDArray[np.bool_]:
    return np.array([any(find(folded(text.given).text)) for text in known])


def main() -> None:
    known = texts()
    labelled = np.array([text.source in FILES for text in known])
    threat = np.array([text.threat for text in known])
    ruled = stopped_by_rules(known)
    scores = cross_validated(known)
    benign = labelled & ~threat
    usual = benign & np.array([text.source != PAIRS for text in known])
    highest = np.sort(scores[usual & ~ruled])[::-1]
    threshold = round(float(highest[int(EXTRA * usual.sum())]), 2)
    for name in FILES:
        own = np.array([text.source == name for text in known])
        report(f"{name}, cross-validated", threat[own], ruled[own], scores[own] > threshold)
    if "--check" in sys.argv[1:]:
        own = np.array([text.source == CHECK for text in known])
        model = trained([text for text in known if text.source != CHECK])
        found = np.array([score(model, text) > threshold for text in known if text.source == CHECK])
        report(f"{CHECK}, not learnt from", threat[own], ruled[own], found)
        return
    size = write(trained(known), threshold)
    sys.stdout.write(f"threshold {threshold}, {size:,} bytes\n")


def report(name: str, threat: NDArray[np.bool_], ruled: NDArray[np.bool_], found: NDArray[np.bool_]) -> None:
    either = ruled | found
    figures = (
        np.mean(~ruled[threat]),
        np.mean(~either[threat]),
        np.mean(ruled[~threat]),
        np.mean(either[~threat]),
    )
    missed, missed_now, stopped, stopped_now = (f"{100 * figure:.1f} %" for figure in figures)
    sys.stdout.write(
        f"{name}: rules on plain text miss {missed} and stop {stopped} of the harmless, with the model"
        f" {missed_now} and {stopped_now}\n"
    )


def write(model: threat_model.Weights, threshold: float) -> int:
    final = msgspec.structs.replace(model, threshold=threshold, doubtful=DOUBTFUL)
    # A line for each first word: what a training changed can be read.
    lines = msgspec.json.encode(final).replace(b"},", b"},\n")
    return threat_model.WEIGHTS.write_bytes(lines + b"\n")


if __name__ == "__main__":
    main()

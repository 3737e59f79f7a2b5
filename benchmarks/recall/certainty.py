"""``python -m benchmarks recall --certainty``: does recall know when it has no answer?

Questions of LoCoMo, alone and with everything in one home: those with an answer; adversarial ones, which ask
the wrong person; and those of another conversation with the names left out, which nothing here answers. Some
twenty questions about nothing that anybody talked about are asked too. Weights that were fitted without the
conversation are shown beside those in use.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.recall.mixed import mix
from benchmarks.report import Result, Table
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format
from mnemos.faces.cli.bench.locomo import ADVERSARIAL
from mnemos.faces.cli.bench.measurement import Home, in_a_home
from mnemos.recall import certainty
from mnemos.storage.base import Filters

NONSENSE = """
Which torque wrench setting did we choose for the helicopter rotor?
What is our Kubernetes ingress class?
When does the Zürich data centre migration finish?
How many barrels of olive oil did the monastery order?
Which beamline was booked at the synchrotron?
What is the voltage of the satellite bus?
Which git branch fixes the parser crash?
What did the notary say about the vineyard deed?
What port does the staging redis listen on?
Who audits the payroll of the opera house?
How tall is the new wind turbine in Esbjerg?
Which vaccine did the llama farm order?
When is the tax return of the choir due?
Which font does the invoice template use?
What is the serial number of the lathe?
Where are the keys of the observatory kept?
Who translates the minutes of the ferry company?
What is the boiling point we measured for the solvent?
How many seats does the planetarium have?
Which tram line stops at the glass factory?
""".strip().splitlines()
SIGNALS = tuple(certainty.HYBRID)
PENALTY = 5.0
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a group, its signals, and the rating that the engine gives it."""

    group: str
    conversation: str
    is_answerable: bool
    signals: tuple[float, ...] | None
    rating: str


def run(files: Sequence[Data], paths: Sequence[Path]) -> Result:
    """Rate the questions of the LoCoMo files among ``files``, which were read from ``paths``."""
    asked: list[Asked] = []
    together = mix(files)
    for place, (data, path) in enumerate(zip(files, paths, strict=True)):
        if data.format is not Format.LOCOMO:
            continue
        adversarial = _read_adversarial(path)
        for number, corpus in enumerate(data.corpora):
            print(f"{data.name}: {corpus.id}", file=sys.stderr, flush=True)
            other = data.corpora[(number + 1) % len(data.corpora)]
            with in_a_home(corpus, embedder="static") as home:
                asked += _ask(home, corpus, "alone", adversarial)
                for question in other.questions:
                    text = _leave_out_names(question.text, other)
                    asked.append(
                        _rate(home, text, question.asked_at, "another conversation", corpus.id, yes=False)
                    )
                for text in NONSENSE:
                    asked.append(
                        _rate(home, text, _asked_at(corpus), "nobody talked about", corpus.id, yes=False)
                    )
        print(f"{data.name}: one home", file=sys.stderr, flush=True)
        with in_a_home(together[place].corpora[0], embedder="static") as home:
            for corpus in data.corpora:
                asked += _ask(home, corpus, "in one home", adversarial)
    return _report(asked)


def _ask(home: Home, corpus: Corpus, where: str, adversarial: dict[str, list[str]]) -> Iterator[Asked]:
    for question in corpus.questions:
        for text, how in ((question.text, ""), (_leave_out_names(question.text, corpus), ", no names")):
            yield _rate(home, text, question.asked_at, f"answerable, {where}{how}", corpus.id, yes=True)
    for text in adversarial.get(corpus.id, ()):
        yield _rate(home, text, _asked_at(corpus), f"adversarial, {where}", corpus.id, yes=False)


def _rate(home: Home, text: str, now: float, group: str, conversation: str, *, yes: bool) -> Asked:
    recaller = home.memory.recaller
    ranked = recaller.rank(text, Filters(), now=now)
    names = bool(ranked.scene.asked.speakers)
    signals = None
    if ranked.candidates:
        found = certainty.measure_signals(ranked.candidates, ranked.scores, names_somebody=names)
        signals = tuple(found[name] for name in SIGNALS)
    rating = certainty.rate(
        ranked.candidates,
        ranked.scores,
        passages=ranked.scene.asked.total,
        names_somebody=names,
        has_vectors=True,
    )
    return Asked(group, conversation, yes, signals, rating)


def _read_adversarial(path: Path) -> dict[str, list[str]]:
    return {
        item["sample_id"]: [one["question"] for one in item["qa"] if one["category"] == ADVERSARIAL]
        for item in msgspec.json.decode(path.read_bytes())
    }


def _leave_out_names(text: str, corpus: Corpus) -> str:
    names = {turn.speaker for session in corpus.sessions for turn in session.turns if turn.speaker}
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})(?:'s)?\b", " ", text)


def _asked_at(corpus: Corpus) -> float:
    return max(turn.at for session in corpus.sessions for turn in session.turns)


def _report(asked: Sequence[Asked]) -> Result:
    held_out = _hold_out(asked)
    rows, figures = [], {}
    for group in sorted({one.group for one in asked}):
        places = [place for place, one in enumerate(asked) if one.group == group]
        shares = {
            name: sum(asked[place].rating == name for place in places) / len(places)
            for name in (certainty.GOOD, certainty.WEAK, certainty.NONE)
        }
        shares["good, held out"] = float(np.mean([held_out[place] for place in places]))
        figures[group] = {"questions": len(places), **shares}
        rows.append([group, str(len(places)), *(f"{100 * share:.1f}" for share in shares.values())])
    headings = ("questions", "count", "good", "weak", "none", "good, held out")
    return Result("recall-certainty", [Table("Certainty of recall, per cent", headings, rows)], figures)


def _hold_out(asked: Sequence[Asked]) -> list[bool]:
    """Return which questions are good by weights that were fitted without their conversation.

    The threshold is set so that as many of the answerable questions in the fit are good as with the
    weights in use.
    """
    rated = np.array([one.signals is not None and one.rating != certainty.NONE for one in asked])
    table = np.array([one.signals or (0.0,) * len(SIGNALS) for one in asked])
    yes = np.array([one.is_answerable for one in asked])
    shipped = np.mean([one.rating == certainty.GOOD for one in asked if one.is_answerable])
    good = np.zeros(len(asked), bool)
    for conversation in {one.conversation for one in asked}:
        outside = np.array([one.conversation == conversation for one in asked])
        inside = ~outside & rated
        evidence = table @ _fit(table[inside], yes[inside])
        evidence[~rated] = -np.inf
        threshold = np.quantile(evidence[~outside & yes], 1 - shipped)
        good[outside] = evidence[outside] >= threshold
    return good.tolist()


def _fit(table: Numbers, yes: NDArray[np.bool_]) -> Numbers:
    """Fit a logistic regression in which both sides count the same, by Newton's method."""
    scale = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    scaled = table / scale
    votes = np.where(yes, 0.5 / yes.sum(), 0.5 / (~yes).sum()) * len(yes)
    ridge = PENALTY * (np.array(SIGNALS) != "bias") + 1e-6
    weights = np.zeros(len(SIGNALS))
    for _ in range(50):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        gradient = scaled.T @ (votes * (chance - yes)) + ridge * weights
        curve = (scaled * (votes * chance * (1 - chance))[:, None]).T @ scaled + np.diag(ridge)
        step = np.linalg.solve(curve, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    return weights / scale

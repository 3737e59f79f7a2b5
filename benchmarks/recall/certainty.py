"""``python -m benchmarks recall --certainty``: does recall know when it has no answer?

Questions of LoCoMo, LongMemEval and our own conversations, alone and with everything in one home: those with
an answer; adversarial ones, which ask the wrong person; LongMemEval's without an answer; those of another
conversation with the names left out, which nothing here answers; and questions about nothing that anybody
talked about. The weights are fitted anew, and shown with those in use. Questions that they were not fitted
on are rated too: each LoCoMo conversation held out in turn, the half of our own conversations that is for
reports, and a second list of questions about nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.recall import own
from benchmarks.recall.mixed import mix
from benchmarks.report import Result, Table
from mnemos.faces.cli.bench.corpus import Corpus, Data, Format, Question
from mnemos.faces.cli.bench.locomo import ADVERSARIAL
from mnemos.faces.cli.bench.longmemeval import ABSTENTION
from mnemos.faces.cli.bench.measurement import TURNS, Home, open_home
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
# Not fitted on.
SPARE = """
What pressure did we set for the espresso boiler in the Oslo office?
Which customs broker handled the shipment of cellos?
How deep is the well behind the mill?
Who signed the lease for the rooftop antenna?
What is the password policy of the ferry booking system?
When was the organ in the chapel last tuned?
Which valve leaks in the cooling tower?
What grade of steel is the bridge made of?
Did the auditors accept the depreciation of the harvester?
Which tenant owns the blue bicycle in the cellar?
How many beehives survived the frost?
What is the retention period of the syslog bucket?
Which regex did we use to split the invoice lines?
Who repairs the gargoyles of the town hall?
What is the flight number to Reykjavik?
Where did the plumber find the gas leak?
Which compiler flag broke the ARM build?
How much nitrogen does the greenhouse need?
What does clause seven of the franchise contract say?
When does the museum's loan of the Vermeer end?
Which dentist did the goalkeeper see?
What is the maximum load of the freight elevator?
Who chairs the committee on railway sleepers?
Which dialect do the fishermen of the island speak?
What was the exchange rate on the Danish bonds?
How is the kernel module for the thermal camera loaded?
Which knot ties the hammock to the mast?
What colour is the fuse of the trailer lights?
Why was the zoning permit for the quarry refused?
Which sonata did the twins play at the gala?
""".strip().splitlines()
PENALTY = 5.0
EVERY = 4
# The share of answerable LoCoMo questions that are to be good: those that name somebody, and others.
GOOD = {True: 0.61, False: 0.65}
SET_BY = {True: "LoCoMo", False: "LoCoMo, no names"}
REPORTED = "held out"
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a group, its signals, and the rating that the engine gives it."""

    group: str
    conversation: str
    is_answerable: bool
    names_somebody: bool
    recall: float
    """The share of the evidence among the first ten, as if nothing were rated ``none``."""
    signals: Mapping[str, float] | None
    rating: str

    @property
    def is_fitted_on(self) -> bool:
        """True if it has something to be rated, and shows what an answer looks like, or what none does."""
        is_clear = self.signals is not None and (self.recall > 0 or not self.is_answerable)
        return REPORTED not in self.group and self.rating != certainty.NONE and is_clear


def run(files: Sequence[Data], paths: Sequence[Path]) -> Result:
    """Rate the questions of ``files``, which were read from ``paths``, and those of our own conversations."""
    asked: list[Asked] = []
    for data, path in zip(files, paths, strict=True):
        if data.format is Format.LOCOMO:
            asked += _ask_alone(data, _read_adversarial(path))
    asked += _ask_in_one_home(files, paths)
    for for_reports, name in ((False, "own"), (True, f"own, {REPORTED}")):
        print(name, file=sys.stderr, flush=True)
        asked += _ask_own(own.read(for_reports=for_reports), name)
    return _report(asked)


def _ask_alone(data: Data, adversarial: Mapping[str, Sequence[str]]) -> Iterator[Asked]:
    for number, corpus in enumerate(data.corpora):
        print(f"{data.name}: {corpus.id}", file=sys.stderr, flush=True)
        other = data.corpora[(number + 1) % len(data.corpora)]
        with open_home(corpus, embedder="static") as home:
            for question in corpus.questions:
                yield _rate(home, question, "LoCoMo", corpus.id)
                unnamed = replace(question, text=_leave_out_names(question.text, corpus))
                yield _rate(home, unnamed, "LoCoMo, no names", corpus.id)
            yield from _rate_all(home, adversarial[corpus.id], corpus, "adversarial", corpus.id)
            foreign = [_leave_out_names(question.text, other) for question in other.questions]
            yield from _rate_all(home, foreign, corpus, "another conversation", corpus.id)
            yield from _rate_all(home, NONSENSE, corpus, "nobody talked about", corpus.id)
            yield from _rate_all(home, SPARE, corpus, f"nobody talked about, {REPORTED}", corpus.id)
            named = "nobody talked about, naming somebody"
            yield from _rate_all(home, _name_somebody(NONSENSE, corpus), corpus, named, corpus.id)
            yield from _rate_all(
                home, _name_somebody(SPARE, corpus), corpus, f"{named}, {REPORTED}", corpus.id
            )


def _ask_in_one_home(files: Sequence[Data], paths: Sequence[Path]) -> Iterator[Asked]:
    print("one home", file=sys.stderr, flush=True)
    together = mix(files)
    home_of_all = together[0].corpora[0]
    with open_home(home_of_all, embedder="static") as home:
        for data, mixed, path in zip(files, together, paths, strict=True):
            fold_of = {question.id: corpus.id for corpus in data.corpora for question in corpus.questions}
            name = "LoCoMo" if data.format is Format.LOCOMO else "LongMemEval"
            for question in mixed.corpora[0].questions:
                yield _rate(home, question, f"{name}, one home", fold_of[question.id])
            if data.format is Format.LOCOMO:
                for fold, texts in _read_adversarial(path).items():
                    corpus = next(one for one in data.corpora if one.id == fold)
                    yield from _rate_all(home, texts, corpus, "adversarial, one home", fold)
            elif data.format is Format.LONGMEMEVAL:
                texts = _read_unanswerable(path)
                yield from _rate_all(home, texts, home_of_all, "LongMemEval without an answer", "")
        yield from _rate_all(home, NONSENSE, home_of_all, "nobody talked about, one home", "")
        yield from _rate_all(home, SPARE, home_of_all, f"nobody talked about, one home, {REPORTED}", "")
        for for_reports, end in ((False, ""), (True, f", {REPORTED}")):
            for corpus in own.read(for_reports=for_reports).corpora:
                texts = [_leave_out_names(one.text, corpus) for one in corpus.questions[::EVERY]]
                yield from _rate_all(home, texts, home_of_all, f"own, in a home without them{end}", corpus.id)


def _ask_own(data: Data, name: str) -> Iterator[Asked]:
    for number, corpus in enumerate(data.corpora):
        other = data.corpora[(number + 1) % len(data.corpora)]
        with open_home(corpus, embedder="static") as home:
            for question in corpus.questions:
                yield _rate(home, question, name, corpus.id)
            foreign = [_leave_out_names(question.text, other) for question in other.questions]
            yield from _rate_all(home, foreign, corpus, f"another conversation, {name}", corpus.id)
            yield from _rate_all(home, NONSENSE[number % 2 :: 2], corpus, f"nobody talked about, {name}", "")
    (together,) = (mixed.corpora[0] for mixed in mix([data]))
    with open_home(together, embedder="static") as home:
        for question in together.questions:
            yield _rate(home, question, f"{name}, one home", question.id.partition("?")[0])
        texts = SPARE if REPORTED in name else NONSENSE
        yield from _rate_all(home, texts, together, f"nobody talked about, {name}, one home", "")


def _rate_all(home: Home, texts: Iterable[str], corpus: Corpus, group: str, fold: str) -> Iterator[Asked]:
    """Rate questions that nothing in the home answers, asked at its end."""
    now = max(turn.at for session in corpus.sessions for turn in session.turns)
    for text in texts:
        yield _rate(home, Question("", text, "", now, (), ()), group, fold)


def _rate(home: Home, question: Question, group: str, fold: str) -> Asked:
    ranked = home.memory.recaller.rank(question.text, Filters(), now=question.asked_at)
    names, total = bool(ranked.scene.asked.speakers), ranked.scene.asked.total
    found = {home.turn_of.get(candidate.line.id) for candidate in ranked.candidates[:TURNS]}
    wanted = question.turns
    return Asked(
        group,
        fold,
        bool(wanted or question.sessions),
        names,
        sum(turn in found for turn in wanted) / len(wanted) if wanted else 0.0,
        certainty.measure_signals(ranked.candidates, ranked.scores, total) if ranked.candidates else None,
        certainty.rate(ranked.candidates, ranked.scores, ranked.scene.asked, has_vectors=True),
    )


def _read_adversarial(path: Path) -> dict[str, list[str]]:
    return {
        item["sample_id"]: [one["question"] for one in item["qa"] if one["category"] == ADVERSARIAL]
        for item in msgspec.json.decode(path.read_bytes())
    }


def _read_unanswerable(path: Path) -> list[str]:
    items: list[dict[str, Any]] = msgspec.json.decode(path.read_bytes())
    return [item["question"] for item in items if item["question_id"].endswith(ABSTENTION)]


def _leave_out_names(text: str, corpus: Corpus) -> str:
    names = {turn.speaker for session in corpus.sessions for turn in session.turns if turn.speaker}
    if not names:
        return text
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})(?:'s)?\b", " ", text)


def _name_somebody(texts: Iterable[str], corpus: Corpus) -> list[str]:
    names = sorted({turn.speaker for session in corpus.sessions for turn in session.turns if turn.speaker})
    return [f"{text[:-1]}, as {names[place % len(names)]} said?" for place, text in enumerate(texts)]


def _report(asked: Sequence[Asked]) -> Result:
    held_out = _hold_out(asked)
    rows, figures = [], {}
    for group in sorted({one.group for one in asked}):
        places = [place for place, one in enumerate(asked) if one.group == group]
        some = [asked[place] for place in places]
        shares = {
            name: sum(one.rating == name for one in some) / len(some)
            for name in (certainty.GOOD, certainty.WEAK, certainty.NONE)
        }
        shares["good, held out"] = float(np.mean([held_out[place] for place in places]))
        shares["recall lost"] = float(np.mean([one.recall * (one.rating == certainty.NONE) for one in some]))
        figures[group] = {"questions": len(some), **shares}
        rows.append([group, str(len(some)), *(f"{100 * share:.1f}" for share in shares.values())])
    headings = ("questions", "count", "good", "weak", "none", "good, held out", "recall lost by none")
    tables = [Table("Certainty of recall, per cent", headings, rows)]
    fitted = [(named, _fit(asked, named)) for named in GOOD]
    tables.append(
        Table(
            "Weights, in use and fitted",
            ("questions", "signal", "in use", "fitted"),
            [
                ["naming somebody" if named else "others", name, f"{weight:.2f}", f"{fit[name]:.2f}"]
                for named, fit in fitted
                for name, weight in certainty.choose_weights(names_somebody=named, has_vectors=True).items()
            ],
        )
    )
    return Result("recall-certainty", tables, figures)


def _hold_out(asked: Sequence[Asked]) -> list[bool]:
    """Return which questions are good by weights that were fitted without their conversation."""
    good = [False] * len(asked)
    for named in GOOD:
        alike = [(place, one) for place, one in enumerate(asked) if one.names_somebody == named]
        for fold in {one.conversation for _, one in alike}:
            fit = _fit([one for one in asked if one.conversation != fold or not fold], named)
            for place, one in alike:
                if one.conversation == fold and one.signals is not None and one.rating != certainty.NONE:
                    good[place] = sum(fit[name] * one.signals[name] for name in fit) >= 0
    return good


def _fit(asked: Sequence[Asked], named: bool) -> dict[str, float]:
    """Fit a logistic regression in which each group counts the same, and both sides do.

    Of our own questions, those that name somebody all have an answer: they are left out. The bias is set so
    that a fixed share of LoCoMo's answerable questions is good.
    """
    names = list(certainty.choose_weights(names_somebody=named, has_vectors=True))
    fitted_on = [
        one
        for one in asked
        if one.is_fitted_on and one.names_somebody == named and not (named and one.group.startswith("own"))
    ]
    table = _tabulate(fitted_on, names)
    yes = np.array([one.is_answerable for one in fitted_on])
    groups = [one.group for one in fitted_on]
    sides = dict(zip(groups, yes.tolist(), strict=True))
    counts = {group: groups.count(group) for group in sides}
    votes = np.array([1 / counts[group] / sum(s == sides[group] for s in sides.values()) for group in groups])
    scale = np.where(table.std(axis=0) > 0, table.std(axis=0), 1.0)
    scaled = table / scale
    votes *= len(yes) / 2
    ridge = PENALTY * (np.array(names) != "bias") + 1e-6
    weights = np.zeros(len(names))
    for _ in range(50):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        gradient = scaled.T @ (votes * (chance - yes)) + ridge * weights
        curve = (scaled * (votes * chance * (1 - chance))[:, None]).T @ scaled + np.diag(ridge)
        step = np.linalg.solve(curve, gradient)
        weights -= step
        if np.abs(step).max() < 1e-8:
            break
    weights /= scale
    asked_of = [one for one in asked if one.group.startswith(SET_BY[named]) and one.names_somebody == named]
    rated = _tabulate([one for one in asked_of if one.signals is not None], names) @ weights
    fit = dict(zip(names, weights.tolist(), strict=True))
    fit["bias"] -= float(np.quantile(rated, 1 - GOOD[named]))
    return fit


def _tabulate(asked: Sequence[Asked], names: Sequence[str]) -> Numbers:
    return np.array([[(one.signals or {})[name] for name in names] for one in asked])

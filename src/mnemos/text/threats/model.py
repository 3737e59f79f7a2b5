"""Orders to a model in words that no rule knows: weighed, not matched.

Each sentence is read in two ways. One knows words by their stems: words, pairs of words near each other, how
it opens and ends, ideas (``concepts``) and pairs of ideas. The other takes words as they are said,
alone and with the next one. All of these have weights, learnt from the labelled texts of the repository by
``scripts/train_threat_model.py``, for each way by itself: they err differently, and their mean errs less
than either, and less than one that knows everything at once. Above a threshold a sentence, or two in a row,
is an order to a model.
Commands are left to the rules: to the eye of this, one resembles the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from mnemos.text.threats.concepts import NOT, concepts_of, words_of

WEIGHTS: Final = Path(__file__).with_name("assets") / "weights.json"
# Words this near each other are a pair, and ideas within this many words.
_NEAR: Final = 5
_WIDE: Final = 8
# So far behind "not" a verb is denied by it.
_DENIED: Final = 4
_MOST_WORDS: Final = 80
# A shorter sentence says something only together with the one before.
_FEWEST_WORDS: Final = 5
_SENTENCE: Final = re.compile(r"[^\s][^\n]*?(?:[.!?;]+(?=[\s\"')\]]|$)|(?=\n)|$)")
_CLAUSE_ENDS: Final = frozenset('.!?;,:"')
_NUMBER: Final = "qnum"
_ROW: Final = 4
_IN_ROWS: Final = frozenset(",;:")
# An address or a number alone is no sentence.
_SAYS_NOTHING: Final = _CLAUSE_ENDS | frozenset("qnum qurl qlocal qmail qip qpath qcode qvar".split())
_LEADING: Final = frozenset("please alway never just also then and do not don't to".split())
_CAN_BE_DENIED: Final = frozenset(
    "ignoring obey run sending giving copying telling knowing deleting disabling writing replacing asking"
    " approving refusing answering must limits hiding".split()
)
_COMMAND: Final = re.compile(
    r"(?:^|[`:$] ?)(?:sudo |env \| |export \w+=)?(?:(?:curl|wget|scp|ssh|rsync|aws|kubectl|docker|git|npm|pip"
    r"|restic|tar|rm|chmod|python3?|gpg|sqlite3|dd|gh|socat|powershell|nc|helm|terraform) +"
    r"(?:[-~./\"'$\w]|https?:)\S*(?: |$)|(?:cat|env|find|echo|history|source|make|apt|brew) +[-~./$\"'|]"
    r"|(?:brew|apt) install)|(?<!\w)--?[a-z][\w-]{1,40}[ =]|\$\(|&&"
    r"|\|\s*(?:sh|bash|jq|grep|sort|curl|nc|base64|head|tail|sudo|python3?)\b|>>|2>&1"
)
# What is weighed counts as if there were at least so much of it: a word or two are no order.
FEWEST: Final = 12
_SAID_WORDS: Final = re.compile(r"[\w']+|[^\w\s]")
SAID: Final = "said"
_CODE: Final = re.compile(r"`[^`\n]*`")

Feature = tuple[str, str, str]
Sums = tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class Signs:
    """A sentence as what is weighed: its words and its ideas, alone ("" behind them) and in pairs.

    How it opens and ends is weighed apart: most orders begin with a verb, or with when to do something.
    """

    start: int
    end: int
    words: list[str]
    ideas: list[tuple[str, str]]
    said: list[str]
    """The words as they stand."""

    def features(self) -> Iterator[Feature]:
        """All there is to weigh; what comes twice weighs twice."""
        for at, word in enumerate(self.words):
            yield "word", word, ""
            for other in self.words[at + 1 : at + 1 + _NEAR]:
                yield "near", word, other
        for one, other in self.ideas:
            yield "idea", one, other
        for block, one, other in self.edges():
            yield block, one, other

    def literally(self) -> Iterator[Feature]:
        """What there is to weigh in the words as they stand, each once: a word, and a word with the next."""
        for word in dict.fromkeys(self.said):
            yield SAID, word, ""
        for word, following in dict.fromkeys(pairwise(self.said)):
            yield SAID, word, following

    def edges(self) -> tuple[Feature, ...]:
        """The first word, the first two, and the last one before the full stop."""
        first, second, *_ = (*self.words, "", "")
        last = self.words[-2] if len(self.words) > 1 else ""
        return ("open", first, ""), ("open", first, second), ("last", last, "")


@dataclass(frozen=True, slots=True)
class Order:
    """A stretch that reads like an order to a model: how surely, and the ideas that weigh most in it."""

    start: int
    end: int
    score: float
    ideas: tuple[str, ...]


class Reading:
    """A folded text, read once: which stretches are orders, and which are surely none."""

    def __init__(self, text: str) -> None:
        self._known = _weights()
        weighed: dict[int, Sums] = {}
        self._weighed: list[tuple[Sequence[Signs], float]] = []
        for window in windows(text):
            for signs in window:
                if signs.start not in weighed:
                    weighed[signs.start] = self._known.weigh(signs)
            self._weighed.append((window, self._known.score(*(weighed[signs.start] for signs in window))))

    def orders(self, *, suspicion: float = 0.0) -> Iterator[Order]:
        """What is above the threshold, none inside another: single sentences first, and the surest first.

        ``suspicion`` lowers the threshold, for a text that has something against it already.
        """
        taken: list[tuple[int, int]] = []
        found = [one for one in self._weighed if one[1] > self._known.threshold - suspicion]
        for window, score in sorted(found, key=lambda one: (len(one[0]), -one[1], one[0][0].start)):
            start, end = window[0].start, window[-1].end
            if not any(start < before[1] and before[0] < end for before in taken):
                taken.append((start, end))
                yield Order(start, end, score, self._known.ideas(window))

    def doubts(self, start: int, end: int) -> bool:
        """Whether all sentences that reach into the stretch look harmless, whatever a rule may say."""
        scores = [
            score for window, score in self._weighed if window[0].start < end and start < window[-1].end
        ]
        return bool(scores) and max(scores) < self._known.doubtful


def windows(text: str) -> Iterator[Sequence[Signs]]:
    """Sentences of a folded text alone and with the one before, as what is weighed in them."""
    before: Signs | None = None
    for sentence in _SENTENCE.finditer(text):
        signs = read(sentence[0], sentence.start())
        if signs is not None:
            says_enough = before is None or len(signs.words) >= _FEWEST_WORDS
            if says_enough and not _SAYS_NOTHING.issuperset(signs.words):
                yield (signs,)
            if before is not None:
                yield before, signs
        before = signs


def read(sentence: str, start: int = 0) -> Signs | None:
    """What there is to weigh in a sentence; None for a command and where there are no words."""
    if _COMMAND.search(_CODE.sub(" ", sentence)):
        return None
    words = words_of(sentence)[:_MOST_WORDS]
    # Quotation marks end clauses; weighed, the many of a line of JSON would make it look like an order.
    words = _without_rows(words)
    plain = [word for word in words if word != '"']
    if all(word in _CLAUSE_ENDS for word in plain):
        return None
    said = _SAID_WORDS.findall(sentence.lower())[:_MOST_WORDS]
    return Signs(start, start + len(sentence), plain, _ideas(words), said)


def _without_rows(words: list[str]) -> list[str]:
    """Many numbers or letters in a row say no more than one: they are a table, a code or a word spelt out."""
    if len([word for word in words if len(word) == 1 or word == _NUMBER or not word.isalpha()]) < _ROW:
        return words
    kept: list[str] = []
    for is_row, run in groupby(words, lambda word: word in _IN_ROWS or _is_figure(word)):
        row = list(run)
        kept += [_NUMBER] if is_row and sum(map(_is_figure, row)) >= _ROW else row
    return kept


def _is_figure(word: str) -> bool:
    if word.isalpha():
        return word == _NUMBER or (len(word) == 1 and word.isascii())
    return word not in _CLAUSE_ENDS and "'" not in word


def _ideas(words: list[str]) -> list[tuple[str, str]]:
    clauses: list[int] = []
    number = 0
    for word in words:
        clauses.append(number)
        number += word in _CLAUSE_ENDS
    found = concepts_of(words)
    nots = [at for at, name in found if name == NOT]
    ideas = [
        (
            at,
            f"!{name}"
            if name in _CAN_BE_DENIED
            and any(0 < at - no <= _DENIED and clauses[at] == clauses[no] for no in nots)
            else name,
        )
        for at, name in found
    ]
    pairs = [(name, "") for _, name in ideas]
    pairs += [("^", name) for at, name in ideas if _opens(words, at)]
    for number, (at, name) in enumerate(ideas):
        for later, other in ideas[number + 1 :]:
            if later - at > _WIDE:
                break
            if later != at and other != name:
                pairs.append((name, other))
    return list(dict.fromkeys(pairs))


def _opens(words: list[str], at: int) -> bool:
    """Whether a clause begins with this word, but for words that lead an order in."""
    while at > 0 and words[at - 1] in _LEADING:
        at -= 1
    return at == 0 or words[at - 1] in _CLAUSE_ENDS


Rows = Mapping[str, Mapping[str, float]]
_NO_ROW: Final[Mapping[str, float]] = {}


class Weights(Struct, frozen=True):
    """What each feature weighs: by its block, its first part and its second, which may be empty.

    ``threshold``: above it a window is an order. ``doubtful``: below it not even a rule is believed.
    """

    bias: float
    of: Mapping[str, Rows]
    threshold: float = math.inf
    doubtful: float = -math.inf

    def weigh(self, signs: Signs) -> Sums:
        """For each block what its features weigh together, and how many there are."""
        words = signs.words
        edges = signs.edges()
        said = list(signs.literally())
        near = 0.0
        rows = self.of["near"]
        for at, word in enumerate(words):
            row = rows.get(word)
            if row is not None:
                for other in words[at + 1 : at + 1 + _NEAR]:
                    near += row.get(other, 0.0)
        return (
            (_summed(self.of["word"], [(word, "") for word in words]), len(words)),
            (near, sum(min(_NEAR, left) for left in range(len(words)))),
            (_summed(self.of["idea"], signs.ideas), len(signs.ideas)),
            (
                sum(self.of[block].get(one, _NO_ROW).get(other, 0.0) for block, one, other in edges),
                len(edges),
            ),
            (_summed(self.of[SAID], [(one, other) for _, one, other in said]), len(said)),
        )

    def score(self, *sentences: Sums) -> float:
        """How much sentences in a row, weighed, look like an order."""
        total = self.bias
        for parts in zip(*sentences, strict=True):
            count = sum(part[1] for part in parts)
            if count:
                total += sum(part[0] for part in parts) / math.sqrt(max(count, FEWEST))
        return total

    def ideas(self, window: Sequence[Signs]) -> tuple[str, ...]:
        """The ideas that speak most for an order, strongest first."""
        weighed: dict[str, float] = {}
        for signs in window:
            for pair in signs.ideas:
                for name in pair:
                    weighed[name] = weighed.get(name, 0.0) + _summed(self.of["idea"], [pair])
        return tuple(
            sorted(
                (name for name, weight in weighed.items() if weight > 0 and name.lstrip("!^")),
                key=lambda name: (-weighed[name], name),
            )
        )


def _summed(rows: Rows, pairs: Iterable[tuple[str, str]]) -> float:
    return sum([rows.get(one, _NO_ROW).get(other, 0.0) for one, other in pairs])


@lru_cache(maxsize=1)
def _weights() -> Weights:
    return msgspec.json.decode(WEIGHTS.read_bytes(), type=Weights)

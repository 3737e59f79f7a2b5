"""What a prompt reminds of: passages of former sessions, when words alone make sure enough that they fit.

A passage that does not fit costs tokens and leads astray, and most prompts need none. So what is found is
weighed against chance: each word that the prompt shares with a message and its neighbours counts by how rare
it is, in units of the rarest that a word can be here. One unit is about what chance finds somewhere in the
whole memory; ``THRESHOLD`` was set by measuring (``python -m benchmarks hooks``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.errors import Unavailable
from mnemos.integrations.claude_code.events import Event
from mnemos.integrations.providers.conversation import is_trivial
from mnemos.memory.home import Home
from mnemos.recall.embedding import Embedding
from mnemos.recall.hits import excerpt
from mnemos.recall.pack import pack
from mnemos.recall.service import Ranked, Recaller
from mnemos.storage.base import Filters, Reads
from mnemos.text.words import stem

if TYPE_CHECKING:
    from mnemos.recall.candidates import Asked
    from mnemos.recall.embedders.base import Embedder
    from mnemos.recall.features import Candidate
    from mnemos.recall.lines import Line
    from mnemos.settings import Settings

THRESHOLD: Final = 1.5
# Of what the words of a prompt weigh, what is found must have this share: of many words, some are anywhere.
_LEAST_SHARE: Final = 0.2
# Neighbours that count as one passage with a message.
_AROUND: Final = 2
_WORDS_OF_A_MESSAGE: Final = 100
# In a small memory every word is in many messages. So it is taken for one that has heard so many more.
_UNHEARD: Final = 200
_HITS: Final = 4
# A passage is shown beside the best when it has about as much to say.
_BESIDE_THE_BEST: Final = 0.7
# Of a long prompt, its beginning and its end say what it asks.
_HALF: Final = 1_000
# Whoever only records leaves messages unindexed; so many more are read one by one.
_MOST_UNINDEXED: Final = 1_000
_MOST_ANCESTORS: Final = 20

# Words of which instructions to a coding agent are made: however rare they are in a small memory, they say
# nothing about its subject.
_OF_WORK: Final = frozenset(
    stem(word)
    for word in """
    add again answer append apply argument build call case change changelog check class clean code column
    comment commit compile convert copy create debug delete diff docstring document draft edit empty error
    example explain export fail failing failure field file fix folder format function generate header
    implement import improve input insert install issue line lint list log loop make merge message method
    migrate missing mode module move name output package page parameter parse paste print project pull push
    read readme refactor release remove rename replace request return review rewrite run script show simplify
    sort split start statement string style summarize support switch table test text type typo undo unit
    unused update use value variable version work write wrong yes
    above different left right short shorter small smaller whole
    """.split()
)
_WORK_COUNTS: Final = 0.3


@dataclass(frozen=True, slots=True)
class Found:
    """What a prompt reminds of, with the weight of the evidence; the best first."""

    ranked: Ranked
    evidence: tuple[float, ...]

    @property
    def best(self) -> float:
        return max(self.evidence, default=0.0)


def recalled(settings: Settings, event: Event) -> str:
    """Passages for a prompt, fenced, within the budget; mostly none, and empty."""
    asked = question_of(event.prompt)
    with Home(settings, read_only=True) as home:
        if not asked or not home.database.is_file() or home.storage.catch_up() > _MOST_UNINDEXED:
            return ""
        seen = _in_sight(home, event.session_id)
        found = look(home, asked, seen)
        return shown(home, found, Filters(exclude_session_ids=seen)) if found.best >= THRESHOLD else ""


def question_of(prompt: str) -> str:
    """What to look for; empty for a prompt that asks nothing of a memory."""
    text = (_without_fences(prompt) if "<" in prompt else prompt).strip()
    # A command of the program.
    if is_trivial(text) or text.startswith("/"):
        return ""
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} {text[-_HALF:]}"


def look(home: Home, asked: str, seen: Sequence[str] = ()) -> Found:
    """Everything that shares words with a prompt, weighed. ``seen``: sessions that are left out."""
    storage = home.storage
    embedding = Embedding(storage, "none", _no_embedder, may_write=False)
    # Notes stand where the session begins, templates are for the beginning too.
    kinds = ("message", "fact", "entry", "table")
    ranked = Recaller(storage, embedding, home.clock).rank(
        asked, Filters(exclude_session_ids=seen), kinds=kinds, lexical=True
    )
    weights = _weights(ranked.scene.asked)
    return Found(ranked, tuple([weights.of(candidate) for candidate in ranked.candidates]))


def shown(home: Home, found: Found, filters: Filters) -> str:
    """The passages for which the most speaks, as text."""
    least = max(THRESHOLD, _BESIDE_THE_BEST * found.best)
    ranked = found.ranked
    weighed = zip(ranked.candidates, ranked.scores, found.evidence, strict=True)
    best = [(one, score) for one, score, evidence in weighed if evidence >= least and _says_so(one)]

    def work(tx: Reads) -> str:
        there = tx.passages.present([candidate.line.id for candidate, _ in best])
        wanted = there - _told_already(tx, [candidate for candidate, _ in best])
        kept = [(candidate, score) for candidate, score in best if candidate.line.id in wanted]
        excerpts = [
            excerpt(tx.sessions.message, ranked.scene, candidate, ranked.gathered, score, filters)
            for candidate, score in kept[:_HITS]
        ]
        return pack(excerpts, home.settings.hook_prompt_tokens).text

    return home.storage.read(work)


# --- inside -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Weights:
    """What the words of a prompt count as evidence here, each by its place; the rarest that can be: 1."""

    words: tuple[float, ...]
    lengths: tuple[float, ...]
    """What each counts less in a longer text, times the logarithm of how much longer."""

    def of(self, candidate: Candidate) -> float:
        """How much more than chance speaks for a passage with what stands next to it."""
        passage = candidate.line.passage
        if passage is not None and not passage.live:
            # What is no longer so would have to be told as that.
            return 0.0
        weighed: dict[int, float] = {}
        for line in _window(candidate):
            # A long text has any word sooner.
            longer = math.log(max(1.0, line.text.count(" ") / _WORDS_OF_A_MESSAGE)) if line.counts else 0.0
            for word in line.counts:
                weight = self.words[word] - longer * self.lengths[word]
                weighed[word] = max(weighed.get(word, 0.0), weight)
        has = sum([self.words[word] for word in weighed])
        return sum(weighed.values()) if has >= _LEAST_SHARE * sum(self.words) else 0.0


def _weights(asked: Asked) -> _Weights:
    total = asked.total + _UNHEARD
    most = math.log(1 + total)
    parts = [word.weight * (_WORK_COUNTS if word.stem in _OF_WORK else 1.0) for word in asked.question.words]
    rarities = [math.log(1 + max(total - count, 0) / (count + 0.5)) for count in asked.counts]
    return _Weights(
        tuple([part * min(rarity / most, 1.0) for part, rarity in zip(parts, rarities, strict=True)]),
        tuple([part / most for part in parts]),
    )


def _says_so(candidate: Candidate) -> bool:
    """Whether it has some of the words itself, or answers a question that has."""
    return bool(candidate.line.counts) or candidate.features["replies"] > 0


def _window(candidate: Candidate) -> Sequence[Line]:
    stretch = candidate.stretch
    if stretch is None:
        return (candidate.line,)
    at = candidate.position
    return stretch.lines[max(0, at - _AROUND) : at + _AROUND + 1]


def _without_fences(prompt: str) -> str:
    # Its expressions take longer to compile than most prompts to be looked for.
    from mnemos.text.fences import strip_fences

    return strip_fences(prompt)


def _in_sight(home: Home, session_id: str) -> list[str]:
    """The session itself, its sub-agents, and what it goes on from: the model has seen them."""

    def work(tx: Reads) -> list[str]:
        seen = [session_id]
        row = tx.sessions.get(session_id)
        while row is not None and row.parent_session_id and len(seen) < _MOST_ANCESTORS:
            seen.append(row.parent_session_id)
            row = tx.sessions.get(row.parent_session_id)
        return [*seen, *(child.id for child in tx.sessions.children(session_id))]

    return home.storage.read(work) if session_id else []


def _told_already(tx: Reads, candidates: Sequence[Candidate]) -> set[int]:
    """Of these, the facts that are hot: the session began with them."""
    facts = [
        c.line.passage for c in candidates if c.line.passage is not None and c.line.passage.kind == "fact"
    ]
    if not facts:
        return set()
    # Only when a fact was found.
    from mnemos.facts.fact import number_of

    rows = tx.facts.get([number_of(passage.ref) for passage in facts])
    return {passage.id for passage in facts if (row := rows.get(number_of(passage.ref))) and row.hot}


def _no_embedder(spec: str) -> Embedder:
    raise Unavailable(f"hooks work without vectors; {spec!r} is not loaded")

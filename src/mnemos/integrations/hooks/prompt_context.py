"""Context for a prompt: passages of earlier sessions that are likely to fit.

A passage that does not fit costs tokens and misleads, and most prompts need none. So candidates are weighed
against chance: each word that the prompt shares with a message and its neighbours counts by its rarity, in
units of the rarest possible word. One unit is about what chance finds somewhere in the whole memory.
``THRESHOLD`` was measured (``python -m benchmarks hooks``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mnemos.errors import Unavailable
from mnemos.integrations.hooks.events import Event
from mnemos.integrations.small_talk import cut_question, is_trivial
from mnemos.memory.home import Home
from mnemos.projects import find_project
from mnemos.recall.embedding import Embedding
from mnemos.recall.hits import make_excerpt
from mnemos.recall.pack import pack
from mnemos.recall.recaller import Ranked, Recaller
from mnemos.storage.base import Filters, Reads
from mnemos.text.words import stem

if TYPE_CHECKING:
    from mnemos.recall.candidates import Asked
    from mnemos.recall.embedders import Embedder
    from mnemos.recall.features import Candidate
    from mnemos.recall.lines import Line
    from mnemos.settings import Settings

THRESHOLD: Final = 1.5
# The share of all words' weight that a passage needs, because some of many words occur anywhere.
_LEAST_SHARE: Final = 0.2
# The number of neighbours that form one passage with a message.
_AROUND: Final = 2
_WORDS_OF_A_MESSAGE: Final = 100
# In a small memory, every word is in a large share of messages, so count this many more.
_UNHEARD: Final = 200
_HITS: Final = 4
# The share of the best passage's evidence with which another one is also shown.
_BESIDE_THE_BEST: Final = 0.7
# A home that is only written has unindexed messages. Up to this many are read one by one.
_MOST_UNINDEXED: Final = 1_000
_MOST_ANCESTORS: Final = 20

# Words of instructions to a coding agent, which say nothing about the subject even if they are rare.
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
    """Candidates for a prompt with their evidence, best first."""

    ranked: Ranked
    evidence: tuple[float, ...]

    @property
    def best(self) -> float:
        return max(self.evidence, default=0.0)


def recall_for_prompt(settings: Settings, event: Event) -> str:
    """Return fenced passages for a prompt, within the budget; usually empty."""
    question = extract_question(event.prompt)
    with Home(settings, read_only=True) as home:
        if not question or not home.exists or home.storage.catch_up() > _MOST_UNINDEXED:
            return ""
        seen = _find_seen_sessions(home, event.session_id)
        project = (find_project(event.cwd) or None) if settings.prefer_project else None
        found = find_passages(home, question, seen, settings.project or project)
        if found.best < THRESHOLD:
            return ""
        return render_passages(home, found, Filters(exclude_session_ids=seen))


def extract_question(prompt: str) -> str:
    """Return the text to search for; empty if a prompt asks nothing of a memory."""
    text = (_strip_fences(prompt) if "<" in prompt else prompt).strip()
    # Commands of Claude Code begin with a slash.
    if is_trivial(text) or text.startswith("/"):
        return ""
    return cut_question(text)


def find_passages(home: Home, question: str, seen: Sequence[str] = (), project: str | None = None) -> Found:
    """Find and weigh passages that share words with a question."""
    storage = home.storage
    embedding = Embedding(storage, "none", _no_embedder, may_write=False)
    # Notes and templates are shown when the session starts.
    kinds = ("message", "fact", "entry", "table")
    ranked = Recaller(storage, embedding, home.clock).rank(
        question, Filters(exclude_session_ids=seen), kinds=kinds, lexical=True, project=project
    )
    weights = _weights(ranked.scene.asked)
    return Found(ranked, tuple([weights.of(candidate) for candidate in ranked.candidates]))


def render_passages(home: Home, found: Found, filters: Filters) -> str:
    """Render the passages with the most evidence."""
    least = max(THRESHOLD, _BESIDE_THE_BEST * found.best)
    ranked = found.ranked
    weighed = zip(ranked.candidates, ranked.scores, found.evidence, strict=True)
    best = [(one, score) for one, score, evidence in weighed if evidence >= least and _is_on_topic(one)]

    def work(tx: Reads) -> str:
        there = tx.passages.present([candidate.line.id for candidate, _ in best])
        wanted = there - _find_hot(tx, [candidate for candidate, _ in best])
        kept = [(candidate, score) for candidate, score in best if candidate.line.id in wanted]
        excerpts = [
            make_excerpt(tx.sessions.message, ranked.scene, candidate, ranked.gathered, score, filters)
            for candidate, score in kept[:_HITS]
        ]
        return pack(excerpts, home.settings.hook_prompt_tokens, project=ranked.scene.project).text

    return home.storage.read(work)


# --- evidence -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Weights:
    """The evidence of each word of a prompt. The rarest possible word counts 1."""

    words: tuple[float, ...]
    lengths: tuple[float, ...]
    """The deduction for each word in a longer text, per logarithm of how much longer."""

    def of(self, candidate: Candidate) -> float:
        """Return the evidence for a passage with its neighbours, above chance."""
        passage = candidate.line.passage
        if passage is not None and not passage.live:
            # Retired passages would have to be shown as such.
            return 0.0
        weighed: dict[int, float] = {}
        for line in _window(candidate):
            # A long text is more likely to contain any word by chance.
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


def _is_on_topic(candidate: Candidate) -> bool:
    """True if a message has some of the words, or replies to one that has.

    A prompt that was typed before is not an answer.
    """
    if candidate.features["repeats"]:
        return False
    return bool(candidate.line.counts) or candidate.features["replies"] > 0


def _window(candidate: Candidate) -> Sequence[Line]:
    stretch = candidate.stretch
    if stretch is None:
        return (candidate.line,)
    at = candidate.position
    return stretch.lines[max(0, at - _AROUND) : at + _AROUND + 1]


def _strip_fences(prompt: str) -> str:
    # Imported here, because compiling its patterns takes longer than most searches.
    from mnemos.text.fences import strip_fences

    return strip_fences(prompt)


def _find_seen_sessions(home: Home, session_id: str) -> list[str]:
    """Return the sessions that the model has seen: this one and its relatives."""

    def work(tx: Reads) -> list[str]:
        seen = [session_id]
        row = tx.sessions.get(session_id)
        while row is not None and row.parent_session_id and len(seen) < _MOST_ANCESTORS:
            seen.append(row.parent_session_id)
            row = tx.sessions.get(row.parent_session_id)
        return [*seen, *(child.id for child in tx.sessions.children(session_id))]

    return home.storage.read(work) if session_id else []


def _find_hot(tx: Reads, candidates: Sequence[Candidate]) -> set[int]:
    """Return the ids of hot facts, which the session started with."""
    facts = [
        c.line.passage for c in candidates if c.line.passage is not None and c.line.passage.kind == "fact"
    ]
    if not facts:
        return set()
    # Imported here, because it is only needed if a fact was found.
    from mnemos.facts.fact import number_of

    rows = tx.facts.get([number_of(passage.ref) for passage in facts])
    return {passage.id for passage in facts if (row := rows.get(number_of(passage.ref))) and row.hot}


def _no_embedder(spec: str) -> Embedder:
    raise Unavailable(f"Hooks work without vectors, so {spec!r} is not loaded.")

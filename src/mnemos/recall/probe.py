"""The probe, which finds how far a passage got on its way into an answer, and why no further."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from mnemos.errors import InvalidInput
from mnemos.recall.answer import KINDS, HitExplanation, Probed, ScorePart
from mnemos.recall.hits import fits
from mnemos.recall.reasons import list_parts
from mnemos.recall.trace import Recorder
from mnemos.sessions.message_text import document_of, is_echo
from mnemos.storage.base import Filters, MessageRow, Reads
from mnemos.storage.entries import KIND as ENTRY
from mnemos.storage.entries import kind_of
from mnemos.storage.passages import MESSAGE, Passage, are_of_messages
from mnemos.text.words import fold

if TYPE_CHECKING:
    from mnemos.recall.account import Outcome

_NUMBER: Final = re.compile(r"\d{1,17}")
_FACT: Final = re.compile(r"f\d{1,17}")
_NOTE: Final = re.compile(r"(?:memory|user):.+")
_FILTERS: Final = {
    "sources": "source",
    "exclude_sources": "source",
    "roles": "role",
    "session_ids": "session",
    "exclude_session_ids": "exclude",
    "since": "since",
    "until": "until",
    "projects": "project",
    "group": "scope",
}
_SHORTFALLS: Final = 3


class Stage(StrEnum):
    """The stage at which a passage was dropped, or the last stage."""

    UNKNOWN = "unknown"
    FORGOTTEN = "forgotten"
    OTHER_USER = "other_user"
    ECHO = "echo"
    NO_TEXT = "no_text"
    FILTERED = "filtered"
    NOT_PROPOSED = "not_proposed"
    TOO_MANY = "too_many"
    NOT_JUDGED = "not_judged"
    UNRELATED = "unrelated"
    REPLACED = "replaced"
    NO_ANSWER = "no_answer"
    BELOW_LIMIT = "below_limit"
    DOUBLED = "doubled"
    NOT_PACKED = "not_packed"
    CUT = "cut"
    PACKED = "packed"


_PACKED: Final = {
    "whole": (Stage.PACKED, "It is hit {rank}, and the packed text shows it."),
    "cut": (Stage.CUT, "It is hit {rank}. The packed text shows part of it, as the budget allows no more."),
    "doubled": (Stage.DOUBLED, "It is hit {rank}. The packed text shows {same_as}, which says the same."),
    "left out": (Stage.NOT_PACKED, "It is hit {rank}, but did not fit into the budget of the packed text."),
}


class _Out(Exception):
    """Raised for a passage that this question can't find."""

    def __init__(self, stage: Stage, sentence: str) -> None:
        super().__init__(sentence)
        self.stage = stage
        self.sentence = sentence


def read_ref(text: str) -> tuple[str, str]:
    """Parse ``42``, ``message:42``, ``f3``, ``memory:…`` or ``kind:ref`` into kind and reference."""
    text = text.strip()
    kind, _, ref = text.partition(":")
    if _NUMBER.fullmatch(text):
        return MESSAGE, text
    if _FACT.fullmatch(text):
        return "fact", text
    if _NOTE.fullmatch(text):
        return "note", text
    if kind not in KINDS or not ref or (kind == MESSAGE and not _NUMBER.fullmatch(ref)):
        raise InvalidInput(
            f"probe is {text[:80]!r}. Use message:ID, f12, note:ID, entry:ID or template:NAME."
        )
    return kind, ref


def find_fate(text: str, outcome: Outcome, trace: Recorder, hits: Sequence[HitExplanation]) -> Probed:
    """Find the stage that a passage reached. An unreadable reference raises InvalidInput."""
    kind, ref = read_ref(text)
    named = f"{kind}:{ref}"
    try:
        found = outcome.storage.read(lambda tx: _locate(tx, kind, ref, outcome))
    except _Out as out:
        return Probed(named, out.stage, out.sentence)
    key = (kind, int(ref) if kind == MESSAGE else ref)
    for rank, (hit, about) in enumerate(zip(outcome.answer.hits, hits, strict=True), start=1):
        if (hit.kind, hit.ref) == key:
            stage, sentence = _PACKED[about.packed]
            said = sentence.format(rank=rank, same_as=about.same_as)
            return Probed(named, stage, said, rank, hit.score, about.parts)
    candidate = trace.candidates.get(found.id)
    if candidate is None or found.id not in trace.judged:
        return Probed(named, *_explain_unjudged(found, outcome, trace))
    parts = list_parts(candidate, outcome.ranked.scene, trace)
    places = [one.line.id for one, _ in outcome.holding]
    if found.id in places:
        rank = places.index(found.id) + 1
        score = round(outcome.holding[rank - 1][1], 4)
        stage, sentence = _explain_rank(rank, parts, outcome, hits)
        if hits and found.id not in outcome.close:
            stage, sentence = Stage.UNRELATED, f"It scores {score:.1f}, far below the best hit."
        return Probed(named, stage, sentence, rank, score, parts)
    if not fits(candidate.line, outcome.filters):
        sentence = "It is next to a line that was found, but the filters leave it out."
        return Probed(named, Stage.FILTERED, sentence)
    sentence = "It is no longer true, and the question is not about the past."
    return Probed(named, Stage.REPLACED, sentence, parts=parts)


def _locate(tx: Reads, kind: str, ref: str, outcome: Outcome) -> MessageRow | Passage:
    """Return the passage if this question can find it, or else raise _Out."""
    filters = outcome.filters
    found = _message(tx, int(ref), filters) if kind == MESSAGE else _passage(tx, kind, ref, outcome)
    if outcome.kinds is not None and kind not in outcome.kinds:
        raise _Out(Stage.FILTERED, f"It is a {kind}, and kinds leaves those out.")
    if isinstance(found, Passage) and found.id < 0:
        # It was edited by hand and isn't stored yet.
        within = not are_of_messages(filters)
    else:
        within = bool(tx.passages.within([found.id], filters, kinds=None))
    if not within:
        by = " and ".join(dict.fromkeys(_find_filters(tx, found.id, filters)))
        raise _Out(Stage.FILTERED, f"The filter {by} leaves it out." if by else "The filters leave it out.")
    return found


def _message(tx: Reads, number: int, filters: Filters) -> MessageRow:
    row = tx.sessions.message(number)
    session = None if row is None else tx.sessions.get(row.session_id)
    if row is None or session is None:
        raise _Out(Stage.UNKNOWN, "There is no such message here.")
    if filters.user is not None and session.user_id not in (None, filters.user):
        raise _Out(Stage.OTHER_USER, "It belongs to another user.")
    if row.forgotten:
        raise _Out(Stage.FORGOTTEN, "Its text was forgotten.")
    if is_echo(row):
        raise _Out(Stage.ECHO, "It only repeats what the memory returned, which is never recalled.")
    document = document_of(row)
    if not (document.said.strip() or document.tool.strip()):
        raise _Out(Stage.NO_TEXT, "It has no text to be found by.")
    return row


def _passage(tx: Reads, kind: str, ref: str, outcome: Outcome) -> Passage:
    unfed = outcome.ranked.scene.asked.unfed
    stored_kind = kind_of(outcome.user) if kind == ENTRY else kind
    for one in unfed.added:
        if (one.kind, one.ref) == (stored_kind, ref):
            return one
    found = tx.passages.find(stored_kind, ref)
    if found is None and kind == ENTRY and _NUMBER.fullmatch(ref):
        owner = tx.entries.owner(int(ref))
        if owner is not None and owner[0] != outcome.user:
            raise _Out(Stage.OTHER_USER, "It belongs to another user.")
    if found is None or found.id in unfed.gone:
        raise _Out(Stage.UNKNOWN, f"There is no such {kind} here.")
    if outcome.filters.user is not None and found.user_id not in (None, outcome.filters.user):
        raise _Out(Stage.OTHER_USER, "It belongs to another user.")
    return found


def _find_filters(tx: Reads, number: int, filters: Filters) -> Iterator[str]:
    """Yield each filter that alone excludes a passage."""
    for field, label in _FILTERS.items():
        value = getattr(filters, field)
        if value in (None, ()):
            continue
        alone = msgspec.structs.replace(Filters(), **{field: value})
        if are_of_messages(alone) if number < 0 else not tx.passages.within([number], alone, kinds=None):
            yield label


def _explain_unjudged(found: MessageRow | Passage, outcome: Outcome, trace: Recorder) -> tuple[Stage, str]:
    if found.id in trace.candidates:
        return Stage.NOT_JUDGED, (
            f"It was read, but {len(trace.judged)} others have more of the words, or are closer in meaning."
        )
    if found.id in trace.words | trace.vectors:
        by = [name for name, some in (("words", trace.words), ("meaning", trace.vectors)) if found.id in some]
        return Stage.TOO_MANY, f"It was proposed by {' and '.join(by)}, but others promised more."
    scene = outcome.ranked.scene
    text = found.readable if isinstance(found, Passage) else document_of(found).said
    forms = scene.matcher.forms(fold(text))
    has = ", ".join(f"'{form}'" for form in forms[:6])
    words = (
        f"It has {has}, and others have rarer or more words." if has else "It has no word of the question."
    )
    if outcome.ranked.means.sense is None:
        return Stage.NOT_PROPOSED, words
    covered = outcome.ranked.means.coverage >= 1
    meaning = " Others are closer in meaning." if covered else " It may not be indexed by meaning yet."
    return Stage.NOT_PROPOSED, words + meaning


def _explain_rank(
    rank: int, parts: Sequence[ScorePart], outcome: Outcome, hits: Sequence[HitExplanation]
) -> tuple[Stage, str]:
    if not hits:
        return Stage.NO_ANSWER, f"It has rank {rank}, but nothing found answers the question."
    own = {part.name: part.points for part in parts}
    last = {part.name: (part.points, part.label) for part in hits[-1].parts}
    missing = {label: points - own.get(name, 0.0) for name, (points, label) in last.items()}
    missing |= {part.label: -part.points for part in parts if part.points < 0 and part.name not in last}
    most = sorted(missing, key=lambda label: -missing[label])[:_SHORTFALLS]
    against = ", ".join(f"{label} (−{missing[label]:.1f})" for label in most if missing[label] > 0.05)
    sentence = f"It has rank {rank} of {len(outcome.holding)}, and {len(hits)} are shown."
    return Stage.BELOW_LIMIT, sentence + (
        f" Against the last of them it lacks: {against}." if against else ""
    )

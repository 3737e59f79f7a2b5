"""Validity of candidates: facts that were or may have been replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import Struct

from mnemos.facts.fact import KIND, ref_of
from mnemos.language.sentences import split_sentences
from mnemos.language.updates import Claim, Verdict, analyse, judge
from mnemos.language.updates.comparison import compare, find_distinctions, have_like_values
from mnemos.recall.answer import CURRENT, OUTDATED, SUPERSEDED, RecallHit
from mnemos.recall.question import Question
from mnemos.storage.base import Reads
from mnemos.storage.facts import FactRow
from mnemos.storage.passages import MESSAGE, Passage
from mnemos.text.words import fold, split_runs, stem

_IS_FACT: Final = re.compile(rf"{KIND}:f\d{{1,17}}").fullmatch
# The number of hits compared with each other, and the maximum length of their text.
_COMPARED: Final = 5
_CHARACTERS_READ: Final = 1_000
_MACHINES: Final = frozenset({"assistant", "tool", "function", "system"})
# The smallest difference that ranks one score ahead of another.
_AHEAD: Final = 1e-6
# A possible update with less than this share of the older fact's score is about something else, unless both
# name the same thing. A higher share would lose more updates than unrelated facts.
_LEAST_SHARE: Final = 0.45
_PAST: Final = re.compile(
    r"\b(?:before|previous(?:ly)?|former(?:ly)?|used to|original(?:ly)?|earlier|in the past|history"
    r"|back then|at first"
    r"|früher\w*|vorher\w*|damals|ursprünglich\w*|ehemals|zuvor"
    r"|avant|auparavant|autrefois|anciennement|précédemment|à l'origine"
    r"|antes|anteriormente|previamente|originalmente|antiguamente)\b",
    re.IGNORECASE,
)


class Standing(Struct, frozen=True):
    """The validity of a candidate: when it ended, and what replaced it or may replace it."""

    state: str = CURRENT
    until: float | None = None
    by: str | None = None


HOLDS: Final = Standing()


@dataclass(frozen=True, slots=True)
class Standings:
    """The standing of facts, by the ids of their passages, and their links."""

    of: Mapping[int, Standing] = field(default_factory=dict)
    heads: Mapping[int, int] = field(default_factory=dict)
    """Maps the passage of a replaced fact to that of its live successor."""
    doubts: Sequence[tuple[int, int]] = ()
    """Pairs of passages: an older fact, and a newer one that may replace it."""


NOTHING_ENDED: Final = Standings()


def asks_for_past(question: Question) -> bool:
    """True if a question is about the past."""
    return _PAST.search(question.text) is not None


def read_standings(
    tx: Reads, passages: Sequence[Passage], as_of: float | None = None, user: str | None = None
) -> tuple[tuple[Passage, ...], Standings]:
    """Look up the facts among these passages; also return passages of their live successors.

    ``user``: facts that other users stated have no effect.
    """
    there = {
        int(passage.ref[1:]): passage for passage in passages if _IS_FACT(f"{passage.kind}:{passage.ref}")
    }
    if not there:
        return (), NOTHING_ENDED
    rows = tx.facts.get(there)
    heads = tx.facts.heads([number for number, row in rows.items() if row.state != "live"])
    doubts = tx.facts.doubts(
        [*heads.values(), *(number for number, row in rows.items() if row.state == "live")]
    )
    added = [
        passage
        for number in dict.fromkeys([*heads.values(), *(newer for _, newer in doubts)])
        if number not in there
        and (passage := tx.passages.find(KIND, ref_of(number))) is not None
        and (user is None or passage.user_id in (None, user))
    ]
    there |= {int(passage.ref[1:]): passage for passage in added}
    rows |= tx.facts.get([int(passage.ref[1:]) for passage in added])
    if user is not None:
        doubts = [(old, new) for old, new in doubts if new in there]
    newest = dict(doubts)
    standings = {
        there[number].id: _judge_standing(row, newest.get(number), as_of) for number, row in rows.items()
    }
    return tuple(added), Standings(
        standings,
        {there[old].id: there[head].id for old, head in heads.items() if head in there},
        [(there[old].id, there[new].id) for old, new in doubts if old in there and new in there],
    )


def _judge_standing(row: FactRow, doubt: int | None, as_of: float | None) -> Standing:
    has_ended = row.ended_at is not None and (as_of is None or row.ended_at <= as_of)
    if has_ended:
        by = None if row.superseded_by is None else ref_of(row.superseded_by)
        return Standing(SUPERSEDED, row.ended_at, by)
    if row.state == "live" and doubt is not None and as_of is None:
        return Standing(OUTDATED, by=ref_of(doubt))
    return HOLDS


def lend_scores(
    question: Question, texts: Mapping[int, str], scores: dict[int, float], standings: Standings
) -> None:
    """Move live facts ahead of the facts that they replaced or may replace.

    For example, the question where somebody lives matches the old address, and through it the new one. A fact
    that may be an update also goes first, unless the question names the difference between the two, or it
    hardly fits the question.
    """
    for old, head in standings.heads.items():
        if old in scores and head in scores and scores[old] > scores[head]:
            before, after = _claims(texts[old], texts[head])
            # An unrelated fact on the same target doesn't answer what its predecessor answered.
            if judge(before, after).verdict is not Verdict.DIFFERENT:
                scores[head] = scores[old]
    asked = {token.key for token in analyse(question.text).tokens}
    for older, newer in standings.doubts:
        if older not in scores or newer not in scores or _names_older(asked, texts[older], texts[newer]):
            continue
        if scores[newer] >= _LEAST_SHARE * scores[older] or _share_name(texts[older], texts[newer]):
            scores[newer] = max(scores[newer], scores[older] + _AHEAD)


def _names_older(asked: set[str], older: str, newer: str) -> bool:
    """True if a question has a word that only the older statement has."""
    before, after = _claims(older, newer)
    features = compare(before, after)
    if features["adds"] or features["several"]:
        # Both may be true.
        own = {token.key for token in before.tokens if not token.is_verb}
        return not asked.isdisjoint(own - {token.key for token in after.tokens})
    return not asked.isdisjoint(find_distinctions(before, after))


def _share_name(older: str, newer: str) -> bool:
    """True if both statements have the same name or id."""
    before, after = ({token.key: token for token in claim.tokens} for claim in _claims(older, newer))
    both = [(before[key], after[key]) for key in before.keys() & after.keys()]
    return any(token.is_name or token.is_identifier for pair in both for token in pair)


def _claims(*texts: str) -> list[Claim]:
    """Return the analysis of facts in recall's form, with the target first."""
    return [analyse(text.partition("]: ")[2] or text) for text in texts]


def mark_earlier_statements(question: Question, hits: Sequence[RecallHit]) -> list[RecallHit]:
    """Mark an earlier message that a later hit contradicts, and rank the later one first.

    Only the best few hits are compared, each by the sentence closest to the question.
    """
    asked = {token.key for token in analyse(question.text).tokens}
    said = {number: _find_statement(asked, hits[number]) for number in range(min(len(hits), _COMPARED))}
    stated = {number: claim for number, claim in said.items() if claim is not None}
    order = list(hits)
    by_time = sorted(stated, key=lambda number: hits[number].at)
    for place, earlier in enumerate(by_time):
        if hits[earlier].kind != MESSAGE:
            continue
        for later in by_time[place + 1 :]:
            old, new = hits[earlier], hits[later]
            # Within one conversation, a later statement is rarely an update.
            is_own = new.kind == KIND or (new.speaker == old.speaker and new.session_id != old.session_id)
            if new.at > old.at and is_own and _updates(stated[earlier], stated[later]):
                by = str(new.ref) if new.kind == KIND else f"{MESSAGE}:{new.ref}"
                marked = replace(old, state=OUTDATED, replaced_by=by)
                order = [marked if hit is old else hit for hit in order]
                if order.index(new) > order.index(marked):
                    order.remove(new)
                    order.insert(order.index(marked), new)
                break
    return order


def _find_statement(asked: set[str], hit: RecallHit) -> Claim | None:
    """Find a person's sentence with most words of the question; None if it has none or asks."""
    if hit.kind not in (MESSAGE, KIND) or hit.speaker in _MACHINES or hit.state != CURRENT:
        return None
    if hit.kind == KIND:
        return _claims(hit.text)[0]
    best, most = "", 0
    for sentence in split_sentences(hit.text[:_CHARACTERS_READ]):
        has = len(asked.intersection(map(stem, split_runs(fold(sentence)))))
        if has > most and not sentence.rstrip().endswith("?"):
            best, most = sentence, has
    return analyse(best) if best else None


def _updates(before: Claim, after: Claim) -> bool:
    """True if a sentence clearly updates another: same subject, and no less specific."""
    is_same = before.target is not None and before.target == after.target
    subjects = [{token.key for token in claim.subject} for claim in (before, after)]
    if not (is_same or (subjects[0] and subjects[0] == subjects[1])) or not have_like_values(before, after):
        return False
    return judge(before, after).verdict is Verdict.REPLACES

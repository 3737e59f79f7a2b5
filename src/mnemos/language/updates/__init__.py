"""The update judge: does a new statement replace an older one?

Two statements are compared by their words: what both say, where they differ (in the subject or in what is
said of it), words of change or addition, and the attribute they are about. The features are weighed by a
logistic model, tuned on labelled pairs by ``scripts/tune_update_judge.py``. A replacement also needs the
absence of every doubt: losing a true fact is worse than keeping an outdated one. How near two statements are
in meaning adds nothing to these features, so no embedding model is needed.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Final

from mnemos.language.updates.claim import Claim, analyse
from mnemos.language.updates.comparison import Features, compare, find_doubts

_WEIGHTS: Final = Path(__file__).with_name("weights.json")

REPLACES_FROM: Final = 0.6
MAY_REPLACE_FROM: Final = 0.06


class Verdict(StrEnum):
    REPLACES = "replaces"
    MAY_REPLACE = "may replace"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    chance: float
    """The probability that the new statement is an update of the old one."""
    doubts: tuple[str, ...] = ()
    """Reasons against a replacement, such as "the subjects differ"."""


def judge(old: Claim | str, new: Claim | str) -> Judgement:
    """Judge if ``new`` replaces ``old``."""
    before = analyse(old) if isinstance(old, str) else old
    after = analyse(new) if isinstance(new, str) else new
    if are_about_others(before, after):
        return Judgement(Verdict.DIFFERENT, 0.0)
    features = compare(before, after)
    chance = weigh(features)
    if chance < MAY_REPLACE_FROM:
        return Judgement(Verdict.DIFFERENT, chance)
    doubts = find_doubts(features)
    if doubts or chance < REPLACES_FROM:
        return Judgement(Verdict.MAY_REPLACE, chance, doubts)
    return Judgement(Verdict.REPLACES, chance)


def are_about_others(old: Claim, new: Claim) -> bool:
    """True if the user is in one and a friend or a thing in the other, or they are about two people."""
    if old.people and new.people:
        return old.people.isdisjoint(new.people)
    return any(
        one.is_users and not one.subject and (other.people or _is_unrelated(other, one))
        for one, other in ((old, new), (new, old))
    )


def _is_unrelated(thing: Claim, own: Claim) -> bool:
    """True if a statement is about a thing, and shares only a verb with one about the user, or nothing."""
    shared = {token.key for token in thing.tokens} & {token.key for token in own.tokens}
    if not shared:
        return thing.is_impersonal and set(thing.attributes).isdisjoint(own.attributes)
    verbs = {token.key for token in (*thing.tokens, *own.tokens) if token.is_verb}
    return thing.is_impersonal and shared <= verbs


def are_comparable(old: Claim, new: Claim) -> bool:
    """True if two statements have anything in common: quick, for most pairs have not."""
    return not (old.beginnings.isdisjoint(new.beginnings) and set(old.attributes).isdisjoint(new.attributes))


def weigh(features: Features) -> float:
    """Return the chance of an update."""
    weights = load_weights()
    total = weights["bias"] + sum(weights[name] * value for name, value in features.items() if value)
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))


@lru_cache(maxsize=1)
def load_weights() -> dict[str, float]:
    weights: dict[str, float] = json.loads(_WEIGHTS.read_text(encoding="utf-8"))
    return weights


__all__ = ["Claim", "Judgement", "Verdict", "analyse", "are_about_others", "are_comparable", "judge"]

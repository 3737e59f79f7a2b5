"""Two statements side by side: the features that tell an update from a look-alike."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemos.language.updates.claim import Claim, Token

Features = dict[str, float]

_SHORTEST_STEM: Final = 4
_GENDERS: Final = frozenset({"", "a", "o", "e", "in", "ne", "ine"})
_LIKE_STEM: Final = 5
_LIKE_SHARE: Final = 0.7
_MUCH: Final = 2

_DOUBTS: Final = {
    "no_tie": "they share no words",
    "subject_differs": "the subjects differ",
    "inner_differs": "they differ in more than the value",
    "ids_differ": "they name different numbers or ids",
    "other_subject": "the subjects differ",
    "other_person": "the subjects differ",
    "hedged": "the new one is not certain",
    "names_swapped": "they name the same in another order",
    "adds": "the new one adds something",
    "several": "there can be several",
    "much_differs": "they differ in more than one word",
    "subject_only": "they share only the subject",
    "has_something": "the new one says what it has",
}


def find_doubts(features: Features) -> tuple[str, ...]:
    """Name the doubts that rule out a replacement."""
    return tuple(dict.fromkeys(said for name, said in _DOUBTS.items() if features[name]))


def compare(old: Claim, new: Claim) -> Features:
    """Compare two statements, the older first."""
    before = [token.key for token in old.tokens]
    after = _match_keys(old.tokens, new.tokens)
    shared = set(before) & set(after)
    smaller, larger = sorted((len(set(before)), len(set(after))))
    subject, predicate = set(before[: old.verb]), set(before[old.verb :])
    subject_after, predicate_after = set(after[: new.verb]), set(after[new.verb :])
    contrasts = _find_contrasts(old, new, before, after)
    in_subject, in_middle, in_value = (
        any(one.place == place for one in contrasts) for place in ("subject", "middle", "value")
    )
    left = [token for token in old.tokens if token.key not in shared]
    came = [token for token, key in zip(new.tokens, after, strict=True) if key not in shared]
    both_attributes = set(old.attributes) & set(new.attributes)
    same_target = old.target is not None and old.target == new.target
    has_change = new.has_change
    shares_predicate = not predicate.isdisjoint(predicate_after)
    is_value = subject == subject_after and (
        max(len(predicate), len(predicate_after)) <= 1
        or all(claim.predicate and claim.predicate[0].is_number for claim in (old, new))
    )
    same_length = len(before) == len(after)
    same_subject = bool(subject) and subject == subject_after
    can_be_several = old.can_be_several and new.can_be_several and not has_change
    return {
        "shared": len(shared) / max(1, smaller),
        "shared_of_all": len(shared) / max(1, larger),
        "nothing_shared": float(not shared),
        "no_tie": float(not shared and not (same_target and has_change)),
        "same_target": float(same_target),
        "same_subject": float(same_subject),
        "attribute_of_subject": float(same_subject and bool(both_attributes)),
        "subject_kept": len(subject & set(after)) / len(subject) if subject else 0.0,
        "no_subject": float(not subject),
        "predicate_shared": len(predicate & predicate_after)
        / max(1, min(len(predicate), len(predicate_after))),
        "subject_differs": float(in_subject),
        "inner_differs": float(in_middle),
        "value_differs": float(in_value),
        "subject_and_value": float((in_subject or in_middle) and in_value),
        "owner_differs": float(
            "owner" in both_attributes and any(one.place == "subject" and one.is_name for one in contrasts)
        ),
        "same_start": float(bool(before and after) and before[0] == after[0]),
        "same_length": float(same_length),
        "same_form": float(same_length and (in_subject or in_middle)),
        "value_changed": float(in_value and has_change),
        "number_changed": float(
            same_subject
            and not in_middle
            and len(left) == len(came) == 1
            and left[0].is_number
            and came[0].is_number
        ),
        "value_hinted": float(in_value and new.has_hint),
        "ids_differ": float(_ids_differ(old, new)),
        "other_subject": float(subject != subject_after and not has_change),
        # "I live in Berlin" is about me, "my mother lives in Munich" is not.
        "other_person": float(bool(subject) != bool(subject_after) and new.verb < len(after)),
        "names_swapped": float(_names_swapped(old, new)),
        "gone": len(left) / max(1, len(before)),
        "come": len(came) / max(1, len(after)),
        "change": float(has_change),
        "hint": float(new.has_hint and not has_change),
        "adds": float(new.has_addition),
        "hedged": float(new.is_hedged),
        "negation": float(old.has_negation != new.has_negation),
        "several": float(can_be_several),
        "adds_to_several": float(can_be_several and new.has_addition),
        "same_attribute": float(bool(both_attributes)),
        "other_attribute": float(bool(old.attributes) and bool(new.attributes) and not both_attributes),
        "attribute_alone": float(bool(both_attributes) and not shared),
        "change_alone": float(has_change and not shared),
        "change_of_subject": float(has_change and bool(shared) and not shares_predicate),
        "subject_only": float(not has_change and bool(shared) and not shares_predicate and not is_value),
        "has_something": float(
            bool(shared)
            and not shares_predicate
            and not both_attributes
            and new.says_has
            and not old.says_has
        ),
        "much_differs": float(not has_change and _differ_much(left, came)),
    }


def _match_keys(old: Sequence[Token], new: Sequence[Token]) -> list[str]:
    """Return the keys of the new tokens; one that is a form of an old one becomes that one."""
    known = {token.key for token in old}
    return [
        token.key
        if token.key in known
        else next((other.key for other in old if _are_forms(token, other)), token.key)
        for token in new
    ]


def _are_forms(one: Token, other: Token) -> bool:
    """True if two words are forms or compounds of one: Chor and Chorprobe, réponse and réponde."""
    if one.is_identifier or other.is_identifier or one.is_number or other.is_number:
        return False
    less, more = sorted((one.key, other.key), key=len)
    same = next((i for i, (a, b) in enumerate(zip(less, more, strict=False)) if a != b), len(less))
    if {less[same:], more[same:]} <= _GENDERS:
        # Cuñado and cuñada, voisin and voisine are two people.
        return False
    if same == len(less) and same >= _SHORTEST_STEM:
        # Jan and Jana are two people.
        return not (one.is_name and other.is_name) or len(more) - len(less) >= _SHORTEST_STEM
    return same >= _LIKE_STEM and same >= _LIKE_SHARE * len(more)


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Words that others take the place of: in the subject, before shared words, or as the value."""

    place: str
    gone: tuple[Token, ...]
    come: tuple[Token, ...]

    @property
    def is_name(self) -> bool:
        return all(token.is_name and not token.is_number for token in (self.gone[0], self.come[0]))


def find_distinctions(old: Claim, new: Claim) -> set[str]:
    """Return the keys of words of ``old`` that tell the two apart, other than the value."""
    before = [token.key for token in old.tokens]
    contrasts = _find_contrasts(old, new, before, _match_keys(old.tokens, new.tokens))
    return {token.key for one in contrasts if one.place != "value" for token in one.gone if not token.is_verb}


def have_like_values(old: Claim, new: Claim) -> bool:
    """True if each has something of its own, of the same kind: numbers against numbers, names for names."""
    keys = [{token.key for token in claim.tokens} for claim in (old, new)]
    own = [[token for token in claim.tokens if token.key not in keys[0] & keys[1]] for claim in (old, new)]
    kinds = [(any(t.is_number for t in some), any(t.is_name for t in some)) for some in own]
    return all(own) and kinds[0] == kinds[1]


def _find_contrasts(old: Claim, new: Claim, before: list[str], after: list[str]) -> list[_Contrast]:
    shared = set(before) & set(after)
    blocks = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    last_equal = max((i for i, block in enumerate(blocks) if block[0] == "equal"), default=-1)
    found: list[_Contrast] = []
    for number, (tag, start, end, start_after, end_after) in enumerate(blocks):
        gone = [token for token in old.tokens[start:end] if token.key not in shared]
        keys = zip(new.tokens[start_after:end_after], after[start_after:end_after], strict=True)
        come = [token for token, key in keys if key not in shared]
        if tag != "replace" or not gone or not come:
            continue
        followed = blocks[number + 1][1] if number < last_equal else len(before)
        is_subject = start < old.verb < len(before) and start_after < new.verb < len(after)
        place = "value"
        if is_subject or (last_equal < 0 and start_after < new.verb):
            place = "subject"
        elif number < last_equal and not _is_quantity(gone, come, old.tokens[followed:]):
            place = "middle"
        found.append(_Contrast(place, tuple(gone), tuple(come)))
    return found


def _is_quantity(gone: Sequence[Token], come: Sequence[Token], rest: Sequence[Token]) -> bool:
    """True if a number changes before its unit, or before the end: two weeks, a 7B model."""
    if not (any(token.is_number for token in gone) and any(token.is_number for token in come)):
        return False
    return len(rest) <= 1 or rest[0].is_unit


def _ids_differ(old: Claim, new: Claim) -> bool:
    ids = [
        {token.key for token in claim.subject if token.is_number or token.is_identifier}
        for claim in (old, new)
    ]
    return all(ids) and ids[0].isdisjoint(ids[1])


def _names_swapped(old: Claim, new: Claim) -> bool:
    """True if both have the same names in another order: from Dublin to Oregon, from Oregon to Dublin."""
    names = [[token.key for token in claim.tokens if token.is_name] for claim in (old, new)]
    shared = set(names[0]) & set(names[1])
    before, after = ([key for key in some if key in shared] for some in names)
    return len(shared) > 1 and before != after


def _differ_much(left: Sequence[Token], came: Sequence[Token]) -> bool:
    """True if more than a value differs: a number and a word, several words, or much that is new."""
    plain = [[t for t in some if not (t.is_number or t.is_unit or t.is_verb)] for some in (left, came)]
    has_numbers = all(any(token.is_number for token in some) for some in (left, came))
    # 60 per minute and 5,000 per day are two limits.
    has_periods = all(any(token.is_period for token in some) for some in (left, came))
    # So are 8 pm in the week and 6 pm on Saturday.
    has_times = has_numbers and any(
        any(token.is_period for token in one) and plain_other
        for one, plain_other in ((left, plain[1]), (came, plain[0]))
    )
    several_ids = all(sum(t.is_number or t.is_identifier for t in some) > 1 for some in (left, came))
    least = 1 if has_numbers else _MUCH
    has_more = all(len(some) >= least for some in plain) or len(plain[1]) > _MUCH
    return has_more or has_periods or has_times or several_ids

"""Which facts contradict each other: not resolved silently, but named."""

from __future__ import annotations

from mnemos.language.notation import Mark
from mnemos.storage.facts import FactRow

# How many others a statement is compared with, the newest first.
COMPARED = 50

_CLAIMS = frozenset({Mark.CONSTRAINT, Mark.DECISION, Mark.VALUE})


def contradict(one: FactRow, other: FactRow) -> bool:
    """Whether two live facts on one target cannot both be taken as they stand.

    A law against a decision, and what two scopes say of the same kind; never what says the same.
    """
    if one.id == other.id or one.key != other.key or same(one.content, other.content):
        return False
    if {one.mark, other.mark} == {Mark.CONSTRAINT, Mark.DECISION}:
        return True
    return one.mark == other.mark and one.mark in _CLAIMS and one.scope_id != other.scope_id


def same(content: str, other: str) -> bool:
    """Whether two contents differ in blanks at most."""
    return content == other or content.split() == other.split()

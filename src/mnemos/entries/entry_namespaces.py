"""Namespaces of entries: checking their labels, and selecting namespaces by patterns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mnemos.entries.backend import check_text, check_user
from mnemos.errors import InvalidInput, TooLarge
from mnemos.inputs import MAX_NAME
from mnemos.storage.entries import USUAL_USER as USUAL_USER
from mnemos.storage.entries import join_labels, split_labels

Namespace = str | Sequence[str]
"""A user, or several labels whose first is the owner."""

_ANY = "*"
_MOST_LABELS = 32


def check_namespace(namespace: Any) -> str:
    """Check a namespace and return it in the storage's form."""
    if isinstance(namespace, str):
        return check_user(namespace)
    labels = _check_labels("namespace", namespace)
    if not labels:
        raise InvalidInput("The namespace is empty. Use at least one label.")
    return join_labels(labels)


def check_prefix(prefix: Any) -> str | None:
    """Check the namespace to search below, and return it in the storage's form; None for everywhere."""
    return None if prefix is None or prefix in ((), []) else check_namespace(prefix)


def select_namespaces(
    names: Iterable[str], prefix: Any, suffix: Any, max_depth: int | None
) -> list[tuple[str, ...]]:
    """Return unique namespaces with this prefix and suffix, cut to ``max_depth`` labels.

    ``*`` stands for any one label.
    """
    start = _check_labels("prefix", (prefix,) if isinstance(prefix, str) else prefix or ())
    end = _check_labels("suffix", (suffix,) if isinstance(suffix, str) else suffix or ())
    found: dict[tuple[str, ...], None] = {}
    for labels in map(split_labels, names):
        begins = len(labels) >= len(start) and _fits(labels, start)
        ends = len(labels) >= len(end) and _fits(labels[len(labels) - len(end) :], end)
        if begins and ends:
            found[labels[:max_depth]] = None
    return sorted(found)


def literal_prefix(prefix: Any) -> str | None:
    """Return the labels of a pattern before its first ``*``, in the storage's form."""
    labels: list[str] = []
    for label in (prefix,) if isinstance(prefix, str) else prefix or ():
        if label == _ANY:
            break
        labels.append(label)
    return check_prefix(tuple(labels))


def _fits(labels: Sequence[str], pattern: Sequence[str]) -> bool:
    return all(wanted in (_ANY, label) for label, wanted in zip(labels, pattern, strict=False))


def _check_labels(name: str, labels: Any) -> tuple[str, ...]:
    if not isinstance(labels, (tuple, list)):
        raise InvalidInput(f"{name} must be a string or a tuple of strings, not {labels!r:.100}")
    if len(labels) > _MOST_LABELS:
        raise TooLarge(f"{name} has {len(labels)} labels. Use at most {_MOST_LABELS}.")
    for label in labels:
        if not isinstance(label, str) or not label:
            raise InvalidInput(f"{name} has the label {label!r:.100}. Use non-empty strings.")
        if len(label) > MAX_NAME:
            raise TooLarge(f"{name} has a label of {len(label)} characters. Use at most {MAX_NAME}.")
        check_text(name, label)
    return tuple(labels)

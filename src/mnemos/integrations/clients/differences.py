"""What would change in a file, in few lines and without the rest of it."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import takewhile
from typing import Final

from mnemos.text.secrets import redact

_MOST: Final = 160
"""So much of a line is shown: some files are one line."""
_AROUND: Final = 24


def shown(before: str | None, after: str | None) -> str:
    """The lines that go (-) and come (+), each spot with its line number; secrets in them are left out."""
    old, new = _lines(before), _lines(after)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    rest = min(len(old), len(new)) - head
    ends = zip(reversed(old), reversed(new), strict=False)
    tail = min(rest, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends)))
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    found: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            found.append(f"@@ line {head + k + 1} @@")
            gone, come = old[i:j], new[k:m]
            if len(gone) == len(come) == 1:
                gone, come = _cut_alike(gone[0], come[0])
            found += [f"- {_short(line)}" for line in gone] + [f"+ {_short(line)}" for line in come]
    return redact("\n".join(found))


def _lines(text: str | None) -> list[str]:
    return (text or "").removeprefix("\ufeff").splitlines()


def _cut_alike(old: str, new: str) -> tuple[list[str], list[str]]:
    """Two long versions of one line, without what they have in common."""
    if max(len(old), len(new)) <= _MOST:
        return [old], [new]
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))
    start = max(0, start - _AROUND)
    lead = "…" if start else ""
    grown = max(0, len(new) - len(old))
    return [lead + old[start : start + 2 * _AROUND]], [lead + new[start : start + grown + 2 * _AROUND]]


def _short(line: str) -> str:
    return line if len(line) <= 2 * _MOST else line[: 2 * _MOST] + "…"

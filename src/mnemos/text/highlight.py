"""Matches of a query in a text, and the part of the text that shows them best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mnemos.text.query import Query, Term
from mnemos.text.words import ASCII_RUN, Run, iterate_runs, runs

OPEN, CLOSE = ">>>", "<<<"

# A better place further on is not worth the search.
_FAR = 2_000


_Words = list[tuple[Run, int, int]]
_NOT = ("'t", "’t")


def find_matches(text: str, query: Query) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each match of a term, in order, not overlapping."""
    return Finder(query).iterate(text)


def snippet(text: str, query: Query, *, width: int = 240) -> str:
    """Return the part of about ``width`` characters with most matches, marked by ``>>>`` and ``<<<``.

    Without a match, it is the beginning of the text.
    """
    return Finder(query).snippet(text, width)


class Finder:
    """A query prepared for a search in many texts."""

    def __init__(self, query: Query) -> None:
        self._terms = query.terms()
        self._anchors = _make_anchors(self._terms)
        self._longest = max((len(term.forms) for term in self._terms), default=0)
        # True for each run met so far that matches.
        self._fitting = {term.forms[0]: True for term in self._terms if len(term.forms) == 1}

    def snippet(self, text: str, width: int = 240) -> str:
        found: list[tuple[int, int]] = []
        for span in self._find_quickly(text):
            if text[span[1] : span[1] + 2] in _NOT:
                # "won't" has nothing to do with "won".
                continue
            if found and span[0] > found[0][0] + _FAR:
                break
            found.append(span)
        if len(text) <= width:
            return _mark(text, 0, len(text), found)
        start, end = _choose_window(text, found, width)
        shown = _mark(text, start, end, [s for s in found if s[0] >= start and s[1] <= end])
        return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"

    def iterate(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield all matches, word by word."""
        words = [
            (Run((form,), place.run.beside), place.start, place.end)
            for place in iterate_runs(text)
            for form in place.run.forms
        ]
        upto = 0
        for position in range(len(words)):
            if words[position][1] < upto:
                continue
            end = self._match_end(words[position : position + self._longest])
            if end is not None:
                upto = end
                yield words[position][1], end

    def _find_quickly(self, text: str) -> list[tuple[int, int]]:
        """Find matches only where a word may begin one; if that is unknown, word by word."""
        if self._anchors is None or not text.isascii():
            return list(self.iterate(text))
        found: list[tuple[int, int]] = []
        lower = text.lower()
        upto = 0
        for place in _find_anchors(lower, self._anchors):
            if place < upto:
                continue
            at = place
            while at > 0 and text[at - 1].isalnum():
                at -= 1
            end = self._single_end(text, at) if self._longest == 1 else self._several_end(text, at)
            if end is None:
                # Skip the rest of the run: a key or a digest of a megabyte has thousands of anchors.
                run = ASCII_RUN.match(text, at)
                upto = run.end() if run else upto
                continue
            upto = end
            found.append((at, end))
            if at > found[0][0] + _FAR:
                break
        return found

    def _single_end(self, text: str, start: int) -> int | None:
        """Return the end of the run at this place if it is one of the words."""
        run = ASCII_RUN.match(text, start)
        if run is None:
            return None
        piece, end = run.group(), run.end()
        fits = self._fitting.get(piece)
        if fits is None:
            fits = self._match_end([(runs(piece)[0], start, end)]) is not None
            self._fitting[piece] = fits
        return end if fits else None

    def _several_end(self, text: str, start: int) -> int | None:
        words = [(p.run, p.start, p.end) for p in islice(iterate_runs(text, start), self._longest)]
        return self._match_end(words) if words else None

    def _match_end(self, words: _Words) -> int | None:
        """Return the end of a term that begins with the first of these words."""
        ends = [end for term in self._terms if (end := _match_end(term, words)) is not None]
        return max(ends, default=None)


def _match_end(term: Term, words: _Words) -> int | None:
    run, _, end = words[0]
    for word in term.beside:
        if word in run.forms or word in run.beside:
            return end
    first = term.forms[0]
    if len(term.forms) == 1:
        if first in run.forms or (not term.exact and first in run.beside):
            return end
        return end if term.prefix and any(form.startswith(first) for form in run.forms) else None
    have = [form for run, _, _ in words for form in run.forms]
    ends = [end for run, _, end in words for _ in run.forms]
    for offset in range(len(words[0][0].forms)):
        tail = have[offset : offset + len(term.forms)]
        if len(tail) == len(term.forms) and _is_same(term, tail):
            return ends[offset + len(tail) - 1]
    return None


def _is_same(term: Term, forms: list[str]) -> bool:
    last = forms[-1].startswith(term.forms[-1]) if term.prefix else forms[-1] == term.forms[-1]
    return last and forms[:-1] == list(term.forms[:-1])


def _find_anchors(text: str, anchors: Sequence[str]) -> Iterator[int]:
    """Yield the places of anchors in order."""
    nearest = [(at, anchor) for anchor in anchors if (at := text.find(anchor)) >= 0]
    while nearest:
        first = at, anchor = min(nearest) if len(nearest) > 1 else nearest[0]
        yield at
        following = text.find(anchor, at + 1)
        if following < 0:
            nearest.remove(first)
        else:
            nearest[nearest.index(first)] = following, anchor


def _make_anchors(terms: list[Term]) -> tuple[str, ...] | None:
    """Return the beginnings of words that may begin a match, in lower case; None if unknown."""
    beginnings: set[str] = set()
    for term in terms:
        for word in (term.forms[0], *term.beside):
            if not word.isascii() or not word.isalnum():
                return None
            # Inflections change the end of a stem: happy, happiness, happi; cry, cries, cri.
            beginnings.add(word[: max(len(word) - 2, 3 if len(word) > 3 else 2)])
            if word.endswith("ie"):
                # lie, lying
                beginnings.add(f"{word[:-2]}ying")
    return tuple(sorted(beginnings)) or None


def _choose_window(text: str, found: list[tuple[int, int]], width: int) -> tuple[int, int]:
    if not found:
        return 0, _word_end(text, width, 0)
    left, right = _find_densest(found, width)
    start = max(0, min((left + right - width) // 2, len(text) - width, left))
    return _word_start(text, start, left), _word_end(text, max(start + width, right), right)


def _find_densest(found: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """Return the range with most matches within the width; at least one match."""
    most = last = 0
    best = found[0]
    for first, (left, _) in enumerate(found):
        while last < len(found) and (last <= first or found[last][1] <= left + width):
            last += 1
        if last - first > most:
            most = last - first
            best = left, found[last - 1][1]
    return best


def _word_start(text: str, position: int, limit: int) -> int:
    blank = text.find(" ", position, min(position + 20, limit)) if position else -1
    return position if blank < 0 else blank + 1


def _word_end(text: str, position: int, limit: int) -> int:
    if position >= len(text):
        return len(text)
    blank = text.rfind(" ", max(limit, position - 20), position)
    return position if blank < 0 else blank


def _mark(text: str, start: int, end: int, found: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = start
    for left, right in found:
        pieces += [text[at:left], OPEN, text[left:right], CLOSE]
        at = right
    return "".join(pieces) + text[at:end]

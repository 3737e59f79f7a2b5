"""Where a query matches in a text, and the piece of the text that shows it best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mnemos.text.query import Query, Term
from mnemos.text.words import ASCII_RUN, Run, placed, runs

OPEN, CLOSE = ">>>", "<<<"

# Looking further than this for a better place costs more than it shows.
_FAR = 2_000


_Words = list[tuple[Run, int, int]]


def spans(text: str, query: Query) -> Iterator[tuple[int, int]]:
    """The stretches of the text that a term of the query matches, in order, not overlapping."""
    finder = Finder(query)
    return finder.every(text)


def snippet(text: str, query: Query, *, width: int = 240) -> str:
    """The stretch of about ``width`` characters with most matches, each between ``>>>`` and ``<<<``.

    Without a match: the beginning of the text.
    """
    return Finder(query).snippet(text, width)


class Finder:
    """A query made ready to be found in many texts."""

    def __init__(self, query: Query) -> None:
        self._terms = query.terms()
        self._anchors = _anchors(self._terms)
        self._longest = max((len(term.forms) for term in self._terms), default=0)
        # Whether a run matches, for the runs met so far and for the words as they were asked for.
        self._fitting = {term.forms[0]: True for term in self._terms if len(term.forms) == 1}

    def snippet(self, text: str, width: int = 240) -> str:
        found: list[tuple[int, int]] = []
        for span in self._quickly(text):
            if found and span[0] > found[0][0] + _FAR:
                break
            found.append(span)
        if len(text) <= width:
            return _marked(text, 0, len(text), found)
        start, end = _best_window(text, found, width)
        shown = _marked(text, start, end, [s for s in found if s[0] >= start and s[1] <= end])
        return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"

    def every(self, text: str) -> Iterator[tuple[int, int]]:
        """Word by word, missing nothing."""
        words = [
            (Run((form,), place.run.beside), place.start, place.end)
            for place in placed(text)
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

    def _quickly(self, text: str) -> list[tuple[int, int]]:
        """Only where a word may begin a match; word by word where there is no telling."""
        if self._anchors is None or not text.isascii():
            return list(self.every(text))
        found: list[tuple[int, int]] = []
        lower = text.lower()
        upto = 0
        for place in _places(lower, self._anchors):
            if place < upto:
                continue
            at = place
            while at > 0 and text[at - 1].isalnum():
                at -= 1
            end = self._single_end(text, at) if self._longest == 1 else self._several_end(text, at)
            if end is None:
                # Nothing in this run begins a match: it is not gone through again from its next anchor,
                # of which a key or a digest of a megabyte has thousands.
                run = ASCII_RUN.match(text, at)
                upto = run.end() if run else upto
                continue
            upto = end
            found.append((at, end))
            if at > found[0][0] + _FAR:
                break
        return found

    def _single_end(self, text: str, start: int) -> int | None:
        """Where the run at this place ends, if it is one of the words."""
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
        words = [(p.run, p.start, p.end) for p in islice(placed(text, start), self._longest)]
        return self._match_end(words) if words else None

    def _match_end(self, words: _Words) -> int | None:
        """Where a term that begins with the first of these words ends."""
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
        if len(tail) == len(term.forms) and _same(term, tail):
            return ends[offset + len(tail) - 1]
    return None


def _same(term: Term, forms: list[str]) -> bool:
    last = forms[-1].startswith(term.forms[-1]) if term.prefix else forms[-1] == term.forms[-1]
    return last and forms[:-1] == list(term.forms[:-1])


def _places(text: str, anchors: Sequence[str]) -> Iterator[int]:
    """Where an anchor stands, in order."""
    nearest = [(at, anchor) for anchor in anchors if (at := text.find(anchor)) >= 0]
    while nearest:
        first = at, anchor = min(nearest) if len(nearest) > 1 else nearest[0]
        yield at
        following = text.find(anchor, at + 1)
        if following < 0:
            nearest.remove(first)
        else:
            nearest[nearest.index(first)] = following, anchor


def _anchors(terms: list[Term]) -> tuple[str, ...] | None:
    """The beginnings of the words a match may begin with, in lower case; None when there is no telling."""
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


def _best_window(text: str, found: list[tuple[int, int]], width: int) -> tuple[int, int]:
    if not found:
        return 0, _word_end(text, width, 0)
    left, right = _densest(found, width)
    start = max(0, min((left + right - width) // 2, len(text) - width, left))
    return _word_start(text, start, left), _word_end(text, max(start + width, right), right)


def _densest(found: list[tuple[int, int]], width: int) -> tuple[int, int]:
    """From where to where most matches fit into the width; at least one, of equals the first."""
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


def _marked(text: str, start: int, end: int, found: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = start
    for left, right in found:
        pieces += [text[at:left], OPEN, text[left:right], CLOSE]
        at = right
    return "".join(pieces) + text[at:end]

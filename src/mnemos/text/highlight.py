"""Where a query matches in a text, and the piece of the text that shows it best."""

from __future__ import annotations

from collections.abc import Iterator

from mnemos.text.query import Query, Term
from mnemos.text.words import Placed, placed

OPEN, CLOSE = ">>>", "<<<"

# Looking further than this for a better place costs more than it shows.
_FAR = 4_000


def spans(text: str, query: Query) -> Iterator[tuple[int, int]]:
    """The stretches of the text that a term of the query matches, in order, not overlapping."""
    terms = query.terms()
    longest = max((len(term.forms) for term in terms), default=0)
    window: list[tuple[str, tuple[str, ...], int, int]] = []
    upto = 0
    for form in _forms(placed(text)):
        window.append(form)
        if len(window) > longest:
            window.pop(0)
        for term in terms:
            start = _match(term, window)
            if start is not None and start >= upto:
                upto = window[-1][3]
                yield start, upto
                break


def snippet(text: str, query: Query, *, width: int = 240) -> str:
    """The stretch of about ``width`` characters with most matches, each between ``>>>`` and ``<<<``.

    Without a match: the beginning of the text.
    """
    found: list[tuple[int, int]] = []
    for span in spans(text, query):
        if found and span[0] > found[0][0] + _FAR:
            break
        found.append(span)
    start, end = _best_window(text, found, width)
    shown = _marked(text, start, end, [s for s in found if s[0] >= start and s[1] <= end])
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}"


def _forms(runs: Iterator[Placed]) -> Iterator[tuple[str, tuple[str, ...], int, int]]:
    for run in runs:
        for form in run.run.forms:
            yield form, run.run.beside, run.start, run.end


def _match(term: Term, window: list[tuple[str, tuple[str, ...], int, int]]) -> int | None:
    """Where the term begins, if it ends with the last word of the window."""
    form, beside, start, _ = window[-1]
    if any(word == form or word in beside for word in term.beside):
        return start
    if len(term.forms) == 1 and not term.exact and term.forms[0] in beside:
        return start
    if len(window) < len(term.forms):
        return None
    last = term.forms[-1]
    if not (form.startswith(last) if term.prefix else form == last):
        return None
    tail = window[-len(term.forms) :]
    if any(have[0] != want for have, want in zip(tail[:-1], term.forms[:-1], strict=True)):
        return None
    return tail[0][2]


def _best_window(text: str, found: list[tuple[int, int]], width: int) -> tuple[int, int]:
    if not found:
        return 0, _word_end(text, width, 0)
    first = max(range(len(found)), key=lambda i: (_fitting(found, i, width), -i))
    left, right = found[first][0], found[first + _fitting(found, first, width) - 1][1]
    start = max(0, min((left + right - width) // 2, len(text) - width, left))
    return _word_start(text, start, left), _word_end(text, max(start + width, right), right)


def _fitting(found: list[tuple[int, int]], first: int, width: int) -> int:
    """How many matches from this one on fit into the width; at least itself."""
    end = found[first][0] + width
    return max(1, sum(1 for _, right in found[first:] if right <= end))


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

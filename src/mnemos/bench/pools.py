"""Which sessions a question is asked of.

A question that comes with its own few sessions is easy: the more others lie around, the harder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from mnemos.bench.model import Corpus, Data, Format, Session

SEED = 1
POOL_SIZE = 48
WHOLE = "all"


def arrangements(data: Data, sizes: Sequence[str] = ()) -> dict[str, Iterator[Corpus]]:
    """The ways in which the data is asked, by name; each is made while it is read.

    LongMemEval is asked of pools: ``sizes`` are numbers of sessions, or ``all`` of the file. Other data
    is asked as it stands, one conversation at a time.
    """
    if data.format is not Format.LONGMEMEVAL:
        return {"conversations": _asked(data.corpora)}
    return {
        f"{size} sessions": together(data) if size == WHOLE else filled(data, int(size))
        for size in sizes or (str(POOL_SIZE), WHOLE)
    }


def filled(data: Data, size: int, seed: int = SEED) -> Iterator[Corpus]:
    """Every corpus with its own sessions, and others drawn at random until there are ``size``."""
    everything = _distinct(data.corpora)
    for corpus in _asked(data.corpora):
        own = {session.id for session in corpus.sessions}
        others = [session for name, session in everything.items() if name not in own]
        count = min(len(others), max(0, size - len(own)))
        # Drawn by the question's name, so that leaving questions out does not change the pools.
        drawn = Random(f"{seed} {corpus.id}").sample(others, count)  # noqa: S311
        yield replace(corpus, sessions=_by_time([*corpus.sessions, *drawn]))


def together(data: Data) -> Iterator[Corpus]:
    """One corpus: every question is asked of all sessions."""
    questions = tuple(question for corpus in data.corpora for question in corpus.questions)
    if questions:
        yield Corpus(data.name, _by_time(list(_distinct(data.corpora).values())), questions)


def _asked(corpora: Sequence[Corpus]) -> Iterator[Corpus]:
    return (corpus for corpus in corpora if corpus.questions)


def _distinct(corpora: Sequence[Corpus]) -> dict[str, Session]:
    """Sessions by id. Where questions share one, that of a question that is asked goes first."""
    ordered = [*_asked(corpora), *(corpus for corpus in corpora if not corpus.questions)]
    found: dict[str, Session] = {}
    for corpus in ordered:
        for session in corpus.sessions:
            found.setdefault(session.id, session)
    return found


def _by_time(sessions: list[Session]) -> tuple[Session, ...]:
    return tuple(sorted(sessions, key=lambda session: (session.started_at, session.id)))

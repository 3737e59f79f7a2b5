"""What is said of SQL that failed, and of SQL that SQLite took for something else than was meant."""

from mnemos.workspace.sandbox.hints.accepted import warnings
from mnemos.workspace.sandbox.hints.known import Known

__all__ = ["Known", "hint", "warnings"]


def hint(sql: str, message: str, offset: int | None, known: Known) -> str | None:
    """What to do about a statement that SQLite refused with this message; None where there is nothing to say.

    ``offset`` is where SQLite's message points, in bytes of UTF-8 as it counts. At most 2,000 characters. A
    statement that is offered has been compiled by SQLite and stands whole at the end, after ``Try:``; after
    ``So far:`` stands one that needs more, of which the hint says what.
    """
    # The rules: most statements do not fail, and a worker starts sooner without them.
    from mnemos.workspace.sandbox.hints.failed import hint_of

    return hint_of(sql, message, offset, known)

"""The check of every text that enters a prompt unasked.

A text that an agent writes is refused if the scan finds a threat in it. A person may allow it, and the
audit log records that: an entry "allow" with the digest of the text and the threat.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256

from mnemos.errors import Refused
from mnemos.language.threats import Threat, scan
from mnemos.storage.base import Reads, Storage, Writes

ALLOW = "allow"
ADVICE = "To store it anyway, repeat the command with --allow."
Find = Callable[[str], Sequence[Threat]]


def admit(
    storage: Storage,
    what: str,
    texts: Iterable[str],
    *,
    allow: bool,
    at: float,
    actor: str,
    find: Find = scan,
) -> None:
    """Raise Refused for a text that looks like a prompt injection, unless a person allows it or did before.

    Allowed texts are recorded. ``what`` names the texts, such as "note".
    """
    marked = check_texts(storage, what, texts, allow=allow, find=find)

    def work(tx: Writes) -> None:
        for text, found in marked.items():
            record_allowed(tx, text, found, at=at, actor=actor)

    if marked:
        storage.write(work)


def check_texts(
    storage: Storage, what: str, texts: Iterable[str], *, allow: bool, find: Find = scan
) -> dict[str, Sequence[Threat]]:
    """Scan texts and raise Refused for one that nobody allowed; what a person allowed once may be said again.

    With ``allow``, nothing is refused: the marked texts are returned, to be recorded as allowed.
    """
    marked = {text: found for text in texts if (found := find(text))}
    if not marked or allow:
        return dict(marked)
    new = storage.read(lambda tx: [text for text in marked if not was_allowed(tx, text)])
    if new:
        error = Refused(
            f"The {what} was not stored: it looks like a prompt injection, because it "
            f"{marked[new[0]][0].reason}. State a fact instead of an instruction to the model."
        )
        error.advice = ADVICE
        raise error
    return {}


def record_allowed(tx: Writes, text: str, found: Sequence[Threat], *, at: float, actor: str) -> None:
    """Note in the log that a person allowed a text that the scan had marked."""
    if found:
        tx.audit.record(at=at, actor=actor, operation=ALLOW, ref=ref_of(text), after=found[0].reason)


def is_allowed(tx: Reads, text: str) -> bool:
    """True if a text is harmless, or was allowed by a person."""
    return not scan(text) or was_allowed(tx, text)


def was_allowed(tx: Reads, text: str) -> bool:
    """True if the log says that a person allowed a text."""
    entry = tx.audit.newest_on(ref_of(text))
    return entry is not None and entry.operation == ALLOW


def ref_of(text: str) -> str:
    """Return the name under which the log knows an allowed text."""
    return f"allowed:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

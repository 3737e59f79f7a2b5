"""Guard at the door of everything that enters a prompt unasked.

What an agent writes is refused if the scan finds a threat in it. A person may allow a text, and the audit log
says so: an entry "allow" with the digest of the text and what was seen in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from mnemos.errors import Refused
from mnemos.language.threats import Threat, scan
from mnemos.storage.base import Reads, Storage, Writes

ALLOW = "allow"


def refuse(what: str, found: Sequence[Threat]) -> None:
    """Raise Refused if something was found; ``what`` names the text, such as "note"."""
    if found:
        raise Refused(
            f"the {what} was not stored: it {found[0].reason}. It would be part of prompts, so state a fact"
            " instead of an order to the model. A person can store it as it is with --allow"
        )


def check_texts(
    storage: Storage, what: str, texts: Iterable[str], *, allow: bool
) -> dict[str, Sequence[Threat]]:
    """Scan texts and raise Refused for one that nobody allowed; what a person allowed once may be said again.

    With ``allow``, nothing is refused: the marked texts are returned, to be recorded as allowed.
    """
    marked = {text: found for text in texts if (found := scan(text))}
    if not marked or allow:
        return dict(marked)
    new = storage.read(lambda tx: [text for text in marked if not is_allowed(tx, text)])
    refuse(what, marked[new[0]] if new else [])
    return {}


def record_allowed(tx: Writes, text: str, found: Sequence[Threat], *, at: float, actor: str) -> None:
    """Note in the log that a person allowed a text that the scan had marked."""
    if found:
        tx.audit.record(at=at, actor=actor, operation=ALLOW, ref=ref_of(text), after=found[0].reason)


def is_allowed(tx: Reads, text: str) -> bool:
    """True if a text is harmless, or was allowed by a person."""
    return not scan(text) or tx.audit.newest_on(ref_of(text)) is not None


def ref_of(text: str) -> str:
    """Return the name under which the log knows an allowed text."""
    return f"allowed:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"

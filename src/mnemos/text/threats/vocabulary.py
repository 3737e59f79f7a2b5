"""The words that disguises are seen by, and those they are taken off for.

``MATTER`` are the words an order to a model can hardly do without, ``SMALL`` those that any sentence has.
``wide()`` adds every word that stands for an idea (``concepts``).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from mnemos.text.threats.concepts import LISTED
from mnemos.text.threats.folding import folded

MATTER: Final = frozenset(
    """
    ignore ignores disregard forget bypass override overrule previous prior earlier preceding instruction
    instructions rules guidelines guardrails safety policy policies system prompt prompts password passwords
    credentials credential reveal output print display send forward upload exfiltrate secret secrets token
    tokens obey comply follow restrictions restriction limits memory memories conversation history user users
    nobody anyone unrestricted developer administrator delete erase remove disable execute command commands
    content contents message private hidden conceal mention without always never assistant approve transfer
    account everything silently permission permissions admin database environment variables configuration
    vergiss ignoriere missachte anweisungen regeln vorherigen bisherigen passwort sende loesche verrate
    oublie ignorez consignes precedentes instrucciones anteriores olvida ignora reglas contrasena envia
    """.split()
)
SMALL: Final = frozenset(
    """
    all and any the your you user not tell from that this with must into file files keys data list leak show
    share email mail dump about their are now api env role mode root post give steal hack every what when who
    which will would should can could have has had was were been being them they there then than over under
    between before after until only also just like make made take use used put out off our ours mine its his
    her him she him how why where while because does did done don say says said ask asks asked know knows read
    write open close run next last first new old own same other others each more most some such very too
    """.split()
)


@lru_cache(maxsize=1)
def wide() -> frozenset[str]:
    """All of these and the words for ideas, in plain letters."""
    listed = "\n".join(line for line in LISTED.read_text(encoding="utf-8").splitlines() if line[:1].isspace())
    return MATTER | SMALL | frozenset(_WORD.findall(folded(listed).text))


_WORD: Final = re.compile(r"(?<![^\s_*])[a-z]{3,20}(?![^\s_*])")

"""Messages that ask nothing of a memory. Hooks use this, so it imports nothing."""

from __future__ import annotations

import re
from typing import Final

_TRIVIAL_WORDS: Final = 5
_TRIVIAL_LENGTH: Final = 60
_QUESTION_HALF: Final = 1_000
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|\d+")

# Consent, thanks and greetings, with the words around them. A message of only these is answered from the
# message right before it.
_EMPTY: Final = frozenset(
    """
    ok okay okey k kk yes yeah yep yup ya y no nope nah n sure fine alright right correct exactly indeed
    agreed good great nice cool awesome perfect excellent wonderful amazing super brilliant lovely neat sweet
    thanks thank thx ty tysm cheers appreciated you so very much a lot lots many again all that's thats that
    is it's its it works worked looks sounds
    please go ahead on continue proceed next do carry keep going more
    hi hello hey hiya morning evening afternoon there bye goodbye goodnight night later see cya
    lgtm done got gotcha understood roger noted wow haha lol hm hmm hmmm mhm uh um oh ah aha well
    ja jo jep nein nee doch danke dankeschön bitte gut super toll prima klasse weiter mach genau stimmt passt
    hallo moin tschüss servus alles klar schön dir ihnen vielen sehr
    oui non merci beaucoup parfait bien très super d'accord daccord bonjour salut continue vas-y vas
    sí si no gracias muchas vale bueno bien perfecto hola adiós sigue claro genial
    sim não nao obrigado obrigada certo perfeito olá ola continua
    grazie sì va bene perfetto ciao certo
    """.split()
)


def is_trivial(message: str) -> bool:
    """True for a message of only consent, thanks, greetings or signs: "ok", "👍"."""
    if len(message) > _TRIVIAL_LENGTH:
        return not message.strip()
    words = _WORD.findall(message.casefold())
    # A number or a code may answer a question, so it is worth a search.
    return len(words) <= _TRIVIAL_WORDS and all(word.replace("’", "'") in _EMPTY for word in words)


def cut_question(message: str) -> str:
    """Cut the middle of a long message: its beginning and end tell what it asks."""
    half = _QUESTION_HALF
    return message if len(message) <= 2 * half else f"{message[:half]} {message[-half:]}"

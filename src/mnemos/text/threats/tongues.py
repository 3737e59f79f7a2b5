"""The standard attacks in fifteen languages, from the words that ``threat_tongues_words`` lists.

Ignore your instructions, show your prompt, obey me from now on, send secrets to an address, tell the user
nothing, never delete this note. Every language has its own books, because its words must follow each other:
"de" and "alle" mean something in many of them.
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.text.threats.folding import folded
from mnemos.text.threats.phrases import Guard, Phrasebook, Rule, classes, phrases
from mnemos.text.threats.tongues_words import TONGUES

# Letters that folding leaves alone, as they are written on a keyboard that lacks them.
_PLAIN: Final = str.maketrans({"ł": "l", "đ": "d", "ø": "o", "æ": "ae", "ß": "ss"})
_ADDRESS: Final = (
    r"re:(?:https?://|[\w.+-]{1,40}+@[\w-]{1,40}+\.|[\w-]{1,40}+\.[\w-]{1,40}+\.[a-z]{2,6}(?!\w))[^\s]{0,80}+"
)

# --- what stands around -----------------------------------------------------------------------------


def _expression(form: str) -> re.Pattern[str]:
    return re.compile(folded(form).text)


_NOT: Final = _expression(
    r"(?:^|[\s,])(?:non|mai|niet|nooit|niets|nao|não|nunca|jamais|nie|nigdy|не|никогда|ніколи|inte|aldrig|ikke|aldri"
    r"|nikdy|nu|niciodata|soha|ne|tidak|jangan|không|đừng|khong|dung|asla)(?: [^\s.!?;,]{1,14}){0,2} $"
)
# "… of the installer", "… for the build": the rules of something else.
_OF: Final = _expression(
    r"\s(?:di|del|della|dello|dell'[a-z]+|per|van|voor|over|do|da|dos|das|de|para|sobre|dla|dotyczące|w|ws|по|для|в|о|"
    r"щодо|про|у|för|om|i|til|for|på|k|pro|ke|pentru|din|despre|untuk|tentang|cho|về|içindeki|hakkındaki)"
    r"\s(?![a-z'а-яіїє]{0,10}(?:sist|syst|сист|opera|операт|develop|utili|usu|gebru|użyt|польз|корист|bruk|användar"
    r"|pengguna))[^\s,.;!?]"
)
_FIELD_OF_WORK: Final = re.compile(
    r"lint|style|cache|reset|oauth|header|bearer|login|/auth|/token|vault|sandbox"
)
# What may follow "tell the user" or "show the prompt" when that is all that is said.
_OVER: Final = _expression(
    r"\s*(?:$|[.!?,;:\n)-]|\s(?:e|en|i|ve|и|та|і|och|og|a|și|és|dan|và|y|mai|mai più|nooit|olduğu gibi"
    r"|tuo|je|seu|teu|свой|din|tău|kamu|anda|của bạn|completo|volledig|całości|полностью"
    r"|целиком|parola con parola)(?!\w))"
)


def _rules_of_the_model(text: str, start: int, end: int) -> bool:
    return not (_NOT.search(text[max(0, start - 40) : start]) or _OF.match(text, end))


def _all_of_it(text: str, start: int, end: int) -> bool:
    return _OVER.match(text, end) is not None and not _NOT.search(text[max(0, start - 40) : start])


def _goes_to_a_stranger(text: str, start: int, end: int) -> bool:
    around = text[start : end + 30]
    return not (_NOT.search(text[max(0, start - 40) : start]) or _FIELD_OF_WORK.search(around))


def _not_denied(text: str, start: int, _end: int) -> bool:
    return not _NOT.search(text[max(0, start - 40) : start])


# "From now on you are in charge of releases" makes nobody a master.
_UNBOUND: Final = _expression(
    r"\b(?:sol[oi]|soltanto|alleen|apenas|só|somente|tylko|wyłącznie|sadece|yalnızca|только|лише|тільки|bara|kun|bare"
    r"|jen|doar|numai|csak|hanya|chỉ|senza|zonder|sem|bez|без|utan|uden|uten|fără|nélküli?|tanpa|không|libero|vrij"
    r"|livre|fri|obb?edi|ubbidi|gehoorza|obede|słucha|itaat|uyacak|подчин|підкор|lyder|adlyd|poslouch|supu|engedelmes"
    r"|patuh|turut|tuân|tutto|ogni|alles|elk|tudo)"
)


def _new_master(text: str, start: int, end: int) -> bool:
    return _not_denied(text, start, end) and _UNBOUND.search(text, start, end + 60) is not None


def _about(words: str) -> Guard:
    """Whether a secret is kept: nothing follows, or what it is about; not how to put something."""
    following = re.compile(rf"\s(?:{'|'.join(re.escape(word) for word in words.split('|'))})(?!\w)")

    def kept(text: str, _start: int, end: int) -> bool:
        return following.match(text, end) is not None or _CLOSES.match(text, end) is not None

    return kept


_CLOSES: Final = re.compile(r"\s*(?:$|[.!?;\n,)])")

# --- the books --------------------------------------------------------------------------------------

_IGNORE: Final = phrases("""
{ignore} {any*} {before} {any*} {rules}
{ignore} {any*} {rules} {any*} {before}
{before} {any*} {rules} {any*} {ignore}
{before} {any*} {rules} ..1 {ignore}
""")
_SHOW: Final = phrases("""
{show} ..2 {prompt}
{prompt} ..1 {show}
""")
_OBEY: Final = phrases("{from} ..1 {obey}")
_SEND: Final = phrases("""
{send} ..5 {secret} ..6 {where}
{send} ..3 {where} ..4 {secret}
{secret} ..6 {where} ..2 {send}
""")
_MUTE: Final = phrases("""
{mute} ..2 {user}
{user} ..2 {mute}
""")
_KEEP: Final = phrases("""
{never} ..1 {delete} ..1 {note}
{note} {never} {delete}
{note} ..1 {delete} {never}
{delete} {note} {never}
""")


def _spellings(members: str) -> str:
    """Members of a class as they stand in a folded text, with and without letters that folding leaves."""
    plain = [folded(member.strip()).text for member in members.split("|")]
    return "|".join(dict.fromkeys(plain + [member.translate(_PLAIN) for member in plain]))


def _books(listed: str) -> tuple[Phrasebook, ...]:
    words = {name: _spellings(members) for name, members in classes(listed).items()}
    about = _about(words.pop("this"))
    words["where"] = _ADDRESS
    return (
        Phrasebook(
            "override",
            words,
            (
                Rule("tells the model to ignore its instructions", _rules_of_the_model, _IGNORE),
                Rule("asks for the instructions of the model", _all_of_it, _SHOW),
                Rule("gives the model a new master", _new_master, _OBEY),
            ),
        ),
        Phrasebook(
            "exfiltration",
            words,
            (Rule("sends secrets to an address", _goes_to_a_stranger, _SEND),),
        ),
        Phrasebook(
            "concealment",
            words,
            (
                Rule("hides something from the user", about, _MUTE),
                Rule("hides something from the user", _not_denied, phrases("{unaware}")),
            ),
        ),
        Phrasebook("persistence", words, (Rule("forbids to delete this note", _not_denied, _KEEP),)),
    )


BOOKS: Final = tuple(book for listed in TONGUES.values() for book in _books(listed))

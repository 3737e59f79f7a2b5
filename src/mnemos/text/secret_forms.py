"""Values given to a telling name: ``password=…``, ``"api_key": "…"``, "the password is …".

Separate from ``secrets``, which decides by literals whether any of it is needed: compiling these expressions
takes longer than the rest of a start. Every expression is linear, because a hostile text may have megabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mnemos.text.secret_values import is_code_after_quote, is_generated, is_key, is_password
from mnemos.text.secrets import Find

# From the end of the name to the beginning of the value, in lower case. A loose sign may not be an
# assignment ("the password: …", "token …", "'password', '…'") and needs a value beyond doubt.
_BLANK: Final = r"[ \t\u00a0\u202f]"
_PHRASE: Final = (
    r"(?P<phrase>[ \t](?:(?:for|of|to|on|für|fürs|vom|von|zum|zur|am|im|du|de|des|pour|del|para|от|для)"
    r"(?:[ \t][\w.@'-]{1,24}){1,5}?|dafür|dazu|dort|provisoire|temporaire|actuel|temporal|actual|wi-?fi"
    r"|\([^()\s]{1,24}\))(?P<colon>[ \t]?:)?)?"
)
_NOW: Final = r"(?:[ \t](?:now|jetzt|nun|maintenant|désormais|ahora))?"
_VERB: Final = (
    r"(?:[ \t]{1,4}(?:is|was|to|(?:will|should|must)[ ]be|ist|war|wird|wäre|lautete?(?:[ ]wie[ ]folgt)?"
    r"|hei(?:ß|ss)t|auf|est|était|sera|en|es|era|será|è)|'s|,?[ \t]c['’]est)"
)
_ASSIGNED: Final = re.compile(
    r"(?P<rest>word|wd|phrase|code|wort|e|d)?[0-9]?(?![a-z0-9_])\*{0,2}"
    r"(?:(?P<close>\\*[\"'`])[\])]?)?"
    rf"(?:(?P<sign>{_BLANK}{{0,8}}(?:=>|:=|={{1,3}}|[:：>](?!:)|->(?=[ ])|[→–—])"
    rf"|{_PHRASE}(?(colon)|{_NOW}{_VERB}{_NOW}{_BLANK}?:?)(?=[ \t])"
    r"|(?:[\s,:{]|\\++n){1,40}+\\*[\"']?value\\*[\"']?[ \t]{0,2}[:=])"
    r"|(?P<loose>(?:[ \t]{1,4}\w{1,12}){1,4}?(?::|[ \t]is)(?=[ \t])|,|[ \t]\|(?=[ \t])|(?=[ \t])))"
    rf"\*{{0,2}}{_BLANK}{{0,8}}(?:(?:str|string|text|bytes|secretstr)[ \t]{{0,2}}=[ \t]{{0,2}})?"
    rf"(?:(?P<curly>[„“”«»‹›‚‘’]){_BLANK}?|[bruf]{{0,2}}(?P<open>\\*[\"'`]))?"
)
_KIND_OF_KEY: Final = re.compile(
    r"(?:(?P<aws>secret[ _-]?access)|(?P<azure>account|shared[ _-]?access)|api|access|secret|private"
    r"|encryption|signing|auth|master|client|subscription|consumer|app|server|license)[ _-]?\Z"
)
_FLAG: Final = re.compile(r"(?:^|[\s\"'`=\[,(])--?[a-z0-9-]*\Z")
# Other meanings: the next page of results, a token of a model, part of an ARN, a compass.
_NO_SECRET: Final = {
    "token": re.compile(r"(?:page|next|output|continuation|sync|cursor|idempotency|eos|bos|pad|unk)[_ -]?\Z"),
    "secret": re.compile(r"[0-9]:\Z"),
    "pass": re.compile(r"(?:com|by|buy|tres|over|under|sur|en|out|im|band)\Z"),
    **dict.fromkeys(("pw", "mdp", "clave"), re.compile(r"[a-z]\Z")),
}
_LONGEST_VALUE: Final = 8_192
_LONGEST_BARE: Final = 512
_BARE_VALUE: Final = re.compile(rf"[^\s\"'`\\<>„“”«»‹›‚‘’]{{1,{_LONGEST_BARE}}}+")
_REST_OF_VALUE: Final = re.compile(r"[^\s\"'`\\<>]*+")
_NEXT_PARAMETER: Final = re.compile(r"&(?=[\w. -]{1,40}=)|;|,(?=[A-Za-z_$][\w$.]{0,60}[:=(])")
_ASCII_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def find_assigned_values(text: str, names: list[str]) -> Iterator[Find]:
    lower = text.lower()
    if len(lower) != len(text):
        lower = text.translate(_ASCII_LOWER)
    for name in names:
        at = -1
        while (at := lower.find(name, at + 1)) >= 0:
            match = _ASSIGNED.match(lower, at + len(name))
            kind = _kind_of(name, lower[max(0, at - 24) : at]) if match else None
            if match and kind and (value := _value_after(text, match)):
                loose = _is_loose(match, name, kind, lower[max(0, at - 24) : at])
                if secret := _judge(text, kind, value, loose=loose):
                    yield secret
                    at = secret[2] - 1
                elif not (value.quoted or loose):
                    at = value.end - 1


def _kind_of(name: str, before: str) -> str | None:
    """Return the kind of a value assigned to ``name``; None if the name means something else here."""
    if name == "key":
        key = _KIND_OF_KEY.search(before)
        return key and ("AWS secret key" if key["aws"] else "Azure key" if key["azure"] else "API key")
    if (no_secret := _NO_SECRET.get(name)) and no_secret.search(before):
        return None
    return name if name in ("secret", "token") else "password"


def _is_loose(match: re.Match[str], name: str, kind: str, before: str) -> bool:
    if match["phrase"]:
        return kind != "password"
    is_noun = kind == "password" and (name != "pass" or match["rest"])
    if match["loose"] == "" and is_noun and (match["curly"] or match["open"]):
        return bool(match["close"])  # "password" "…" is not an assignment, but password "…" is
    return match["loose"] is not None and not (match["loose"] == "" and _FLAG.search(before))


@dataclass(frozen=True, slots=True)
class _Value:
    start: int
    end: int
    quoted: bool


def _value_after(text: str, match: re.Match[str]) -> _Value | None:
    start, sign = match.end(), match["sign"] or match["loose"]
    if match["open"] and not match["close"] and is_code_after_quote(text[start : start + 64]):
        return None
    if match["open"] and (end := _end_of_quoted(text, start, match["open"])) is not None:
        return _Value(start, end, quoted=True)
    if sign == "," or (match["close"] and not match["open"]):
        return None  # "token": 7 is a number of JSON, and must stay one
    end = _end_of_bare(text, start)
    tag = sign.endswith(">") and not sign.endswith("=>")
    if end == start or (tag and not text.startswith("</", end)):
        return None
    return _Value(start, end, quoted=False)


def _judge(text: str, kind: str, value: _Value, *, loose: bool) -> Find | None:
    # The beginning decides, so that a hostile megabyte is not judged.
    beginning = text[value.start : min(value.end, value.start + 256)]
    is_secret = is_password if kind == "password" else is_key
    if not is_secret(beginning, quoted=value.quoted) or (loose and not is_generated(beginning)):
        return None
    end = value.end
    if not value.quoted and end - value.start == _LONGEST_BARE:
        rest = _REST_OF_VALUE.match(text, end)
        end = rest.end() if rest else end
    return (kind, value.start, end)


def _end_of_quoted(text: str, start: int, opening: str) -> int | None:
    """Return the end of the string that ``opening`` begins; None if it is too far.

    In JSON in a string of JSON a quote is ``\\"``, and a quote in a value there is ``\\\\\\"``: each
    level doubles the backslashes and adds one, which tells the end from a quote in the value.
    """
    depth, mark = len(opening) - 1, opening[-1]
    at = start - 1
    while (at := text.find(mark, at + 1, start + _LONGEST_VALUE)) >= 0:
        slashes = at - start - len(text[start:at].rstrip("\\"))
        if slashes < depth:
            return None
        if slashes % (2 * (depth + 1)) == depth:
            return at - depth
    return None


def _end_of_bare(text: str, start: int) -> int:
    bare = _BARE_VALUE.match(text, start)
    if bare is None:
        return start
    if parameter := _NEXT_PARAMETER.search(text, start, bare.end()):
        return parameter.start()
    if bare.end() - start == _LONGEST_BARE:
        return bare.end()
    return start + len(bare[0].rstrip(",.:;)]}"))

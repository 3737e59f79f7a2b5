"""Passages that stand for other characters: percent signs, entities and escapes, base64, hexadecimal, Morse.

``unwrapped`` reads what a browser or a compiler would, in its place, so that the words around it still count.
``passages`` are codes of whole sentences, each decoded on its own. A code that does not turn out to be
written text is taken for what it mostly is: a hash, a key, a picture.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import urllib.parse
from collections.abc import Callable, Iterator
from typing import Final

from mnemos.text.threats.folding import Rewritten

_MOST_PASSAGES: Final = 20
_LONGEST_PASSAGE: Final = 4_000

# --- in its place ----------------------------------------------------------------------------------

_WRAPPED: Final = re.compile(
    r"(?P<percent>%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2})*+)"
    r"|(?P<entity>&(?:\#[xX][0-9A-Fa-f]{2,6}|\#[0-9]{2,7}|[A-Za-z]{2,24}(?=;));?)"
    r"|\\(?:x\{?(?P<byte>[0-9A-Fa-f]{2})\}?|u\{(?P<point>[0-9A-Fa-f]{1,6})\}|u(?P<short>[0-9A-Fa-f]{4})"
    r"|U(?P<long>[0-9A-Fa-f]{8})|(?P<octal>[01][0-7]{2}))"
    r"|(?P<printable>(?:=[0-9A-F]{2}){4,}+)"
)
_PRINTABLE: Final = re.compile("=[2-7][0-9A-F]=[2-7][0-9A-F]")
_NEEDLESS: Final = 4
_ADDRESS: Final = re.compile(
    r"(?<![\w+.-])(?:[a-z][a-z0-9+.-]{1,14}://|www\.|/?\?[\w.-]{1,40}=)[^\s<>\"'`]{1,4000}"
)
_LAST_CHARACTER: Final = 0x10FFFF


def unwrapped(text: str) -> tuple[Rewritten, bool] | None:
    """``text`` with percent signs, entities and escapes read, but for addresses, or None.

    With it comes whether letters were encoded that need not be: nobody does that without a purpose.
    """
    if not ("%" in text or "&" in text or "\\" in text or _PRINTABLE.search(text)):
        return None
    addresses = [found.span() for found in _ADDRESS.finditer(text)]
    edits: list[tuple[int, int, str]] = []
    number = 0
    for found in _WRAPPED.finditer(text):
        while number < len(addresses) and addresses[number][1] <= found.start():
            number += 1
        is_inside = number < len(addresses) and addresses[number][0] <= found.start()
        if not is_inside and (plain := _plain(found)) is not None:
            edits.append((*found.span(), plain))
    needless = sum(one.isascii() and one.isalpha() for _, _, plain in edits for one in plain)
    return (Rewritten(text, edits), needless >= _NEEDLESS) if edits else None


def _plain(found: re.Match[str]) -> str | None:
    try:
        if found["percent"]:
            return urllib.parse.unquote(found["percent"], errors="strict")
        if found["printable"]:
            return bytes.fromhex(found["printable"].replace("=", "")).decode("utf-8")
    except ValueError:
        return None
    if found["entity"]:
        plain = html.unescape(found["entity"])
        return plain if plain != found["entity"] else None
    number = int(found["octal"], 8) if found["octal"] else int(found[found.lastgroup or 0], 16)
    return chr(number) if number <= _LAST_CHARACTER else None


# --- on their own ----------------------------------------------------------------------------------

# Numbers with signs between them, which stand for a character each.
_FIGURES: Final = re.compile(
    r"(?P<binary>(?<![\w.])[01]{7,8}(?:[ ,]{1,2}[01]{7,8}){3,}+(?!\w))"
    r"|(?P<hexadecimal>(?<![0-9A-Za-z])(?:0x|U\+00)?[0-9A-Fa-f]{2}"
    r"(?:(?:, |[ ,:;-])(?:0x|U\+00)?[0-9A-Fa-f]{2}){5,}+(?![0-9A-Za-z]))"
    r"|(?P<grouped>(?<![0-9A-Za-z])[0-9A-Fa-f]{4}(?:[ ,:;-](?:[0-9A-Fa-f]{2}){1,4}){2,}+(?![0-9A-Za-z]))"
    r"|(?P<decimal>(?<![\w.])\d{2,3}(?:(?:, ?|[ ;.-])\d{2,3}){5,}+(?!\w))"
    r"|(?P<places>(?<![\w.])\d{1,2}(?:(?: ?[/|,] ?|[ -])\d{1,2}){5,}+(?!\w))"
)
_FIGURES_SEEN: Final = re.compile(r"(?:[0-9][0-9A-Fa-f]{0,7}[ ,:;./|-]{1,3}(?:0x|U\+00)?){4}")
# Lines as hexdump and xxd print them: where, what, and the same in letters.
_DUMP: Final = re.compile(
    r"(?m:^)(?:[0-9A-Fa-f]{6,8}:?[ ]{1,2}(?:[0-9A-Fa-f]{2,4}[ ]{1,2}){2,16}[^\n]{0,30}(?:\n|(?!.))){1,200}+"
)
_DUMP_LINE: Final = re.compile(r"(?m:^)[0-9A-Fa-f]{6,8}:?[ ]{1,2}((?:[0-9A-Fa-f]{2,4}[ ]{1,2}){2,16})")
# Characters in a row, over the end of a line where it goes on.
_ROW: Final = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+(?:\r?\n[A-Za-z0-9+/_-]{16,}+)*+={0,6}"
    r"|(?<![A-Za-z0-9+/_=-])={1,2}[A-Za-z0-9+/_-]{16,}+|<~[!-uz\s]{8,4000}~>"
)
_LEAST: Final = 16
_BITS: Final = re.compile("[01]+")
_HEX: Final = re.compile("(?:0x)?(?:[0-9A-Fa-f]{2})+")
_BASE32: Final = re.compile("[A-Z2-7]+={0,6}|[a-z2-7]+={0,6}")
_MORSE_RUN: Final = re.compile(r"(?<![^\s/|:\"'(])[.-]{1,5}(?:(?: ?[/|] ?|[ ]{1,4})[.-]{1,5}){5,}+")
_MORSE_SEEN: Final = re.compile("[.·•∙⋅−–—‐-] ?[ /|] ?[.·•∙⋅−–—‐-]")
_BRAILLE_RUN: Final = re.compile("[\u2801-\u28ff][\u2800-\u28ff ]{5,}")
_MORSE: Final = dict(
    zip(
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..-"
        " -.-- --.. .---- ..--- ...-- ....- ..... -.... --... ---.. ----. ----- .-.-.- --..--".split(),
        "abcdefghijklmnopqrstuvwxyz1234567890.,",
        strict=True,
    )
)
_BRAILLE: Final = dict(
    zip(
        (0x2800 + dots for dots in b"\x01\x03\x09\x19\x11\x0b\x1b\x13\x0a\x1a\x05\x07\x0d\x1d\x15\x0f\x1f\x17"
         b"\x0e\x1e\x25\x27\x3a\x2d\x3d\x35\x00"),
        "abcdefghijklmnopqrstuvwxyz ",
        strict=True,
    )
)  # fmt: skip
_SAYS_SOMETHING: Final = re.compile(
    r"[^\W\d_]{2,}[^\w]{1,3}[^\W\d_]{2,}|[^\W_]{12,}|(?:%[0-9A-Fa-f]{2}){4}|&#"
)
_PART: Final = re.compile(r"[^/?&=#]{8,}")
_NAMED_85: Final = re.compile(r"(?i)\b(?:base-?85|ascii-?85|b85|a85)\b")
_TOKEN_85: Final = re.compile(r"\S{20,4000}")
_WORD_85: Final = re.compile(r"[A-Za-z]{1,20}[.,:;]?")


def passages(text: str) -> Iterator[tuple[str, int, int]]:
    """What the codes in ``text`` stand for, where it is written text, and where they stand."""
    for count, (form, start, end) in enumerate(_candidates(text)):
        if count == _MOST_PASSAGES:
            return
        for decoded in _decoded(form, text[start : min(end, start + _LONGEST_PASSAGE)]):
            yield decoded, start, end


def parameters(text: str) -> Iterator[tuple[str, int, int]]:
    """Parts of addresses that hold several words; the address around them says nothing about them."""
    if not (("%" in text or "+" in text) and ("://" in text or "?" in text or "www." in text)):
        return
    for _, address in zip(range(_MOST_PASSAGES), _ADDRESS.finditer(text), strict=False):
        for part in _PART.finditer(text, *address.span()):
            plain = urllib.parse.unquote_plus(part[0])
            if plain != part[0] and _SAYS_SOMETHING.search(plain):
                yield plain, *part.span()


def has_code(text: str) -> bool:
    """Whether something in ``text`` looks like a code, whatever it stands for."""
    return any(
        form not in _LIKE_NAMES or _is_mixed(text[start:end]) for form, start, end in _candidates(text)
    )


_LIKE_NAMES: Final = ("base64", "base32")


def _is_mixed(passage: str) -> bool:
    """Names of things have few capitals and digits among their small letters."""
    return (
        passage.endswith("=")
        or len(re.findall(r"(?<=[a-z])[A-Z0-9]|[A-Z][2-7]", passage)) > len(passage) // 10
    )


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    if _FIGURES_SEEN.search(text):
        for found in _FIGURES.finditer(text):
            yield found.lastgroup or "", *found.span()
        for found in _DUMP.finditer(text):
            yield "dump", *found.span()
    if max(map(len, text.split()), default=0) >= _LEAST:
        for found in _ROW.finditer(text):
            yield _form(found[0]), *found.span()
    if _MORSE_SEEN.search(text):
        for found in _MORSE_RUN.finditer(_dotted(text)):
            yield "morse", *found.span()
    if not text.isascii():
        for found in _BRAILLE_RUN.finditer(text):
            yield "braille", *found.span()
    if "85" in text and _NAMED_85.search(text):
        for found in _TOKEN_85.finditer(text):
            if not _WORD_85.fullmatch(found[0]):
                yield "base85", *found.span()


def _form(row: str) -> str:
    if row.startswith("<~"):
        return "ascii85"
    if row.startswith("="):
        return "turned"
    if _BITS.fullmatch(row):
        return "binary"
    if _HEX.fullmatch(row):
        return "hexadecimal"
    return "base32" if _BASE32.fullmatch(row) else "base64"


def _dotted(text: str) -> str:
    return text if text.isascii() else text.translate(_DOTS)


_DOTS: Final = str.maketrans("·•∙⋅−–—‐", "....----")


def _decoded(form: str, passage: str) -> Iterator[str]:
    for decode in _DECODERS[form]:
        try:
            plain = decode(passage)
        except (ValueError, binascii.Error):
            continue
        if plain is not None and _is_written(plain):
            yield plain


def _is_written(plain: str) -> bool:
    """Whether it is text that somebody wrote: hardly a control character, and letters that form words."""
    odd = sum(not (one.isprintable() or one in "\n\r\t") for one in plain)
    return odd * 20 <= len(plain) and _SAYS_SOMETHING.search(plain) is not None


def _of_base64(passage: str) -> str | None:
    if passage.islower():
        return None  # A name or a path: no text is encoded without capitals.
    whole = "".join(passage.split()).rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(whole[: len(whole) - (len(whole) % 4 == 1)] + "==").decode("utf-8")


def _of_base32(passage: str) -> str:
    whole = passage.rstrip("=")
    whole = whole[: len(whole) // 8 * 8 + _WHOLE_32[len(whole) % 8]]
    return base64.b32decode(whole + "=" * (-len(whole) % 8), casefold=True).decode("utf-8")


# So many characters of the last eight stand for whole bytes.
_WHOLE_32: Final = (0, 0, 2, 2, 4, 5, 5, 7)


def _of_hexadecimal(passage: str) -> str:
    return bytes.fromhex(re.sub(r"0x|U\+00|[\s,:;-]", "", passage)).decode("utf-8")


def _of_binary(passage: str) -> str | None:
    bits = re.findall("[01]+", passage)
    width = 7 if all(len(one) == 7 for one in bits) else 8
    row = "".join(bits)
    if len(row) % width:
        return None
    return bytes(int(row[at : at + width], 2) for at in range(0, len(row), width)).decode("utf-8")


def _of_numbers(base: int) -> Callable[[str], str]:
    return lambda passage: bytes(int(one, base) for one in re.findall(r"\d+", passage)).decode("utf-8")


def _of_places(passage: str) -> str | None:
    """1 for a, 26 for z, 0 for a gap; words part where the sign between the numbers is another one."""
    signs = re.findall(r"\D+", passage)
    usual = max(set(signs), key=signs.count)
    words = [[int(one) for one in re.findall(r"\d+", word)] for word in _split(passage, signs, usual)]
    if any(number > _LETTERS for word in words for number in word):
        return None
    return " ".join("".join(chr(96 + one) if one else " " for one in word) for word in words)


def _split(passage: str, signs: list[str], usual: str) -> list[str]:
    for other in sorted({sign for sign in signs if sign != usual}, key=len, reverse=True):
        passage = passage.replace(other, "\n")
    return passage.split("\n")


_LETTERS: Final = 26


def _of_morse(passage: str) -> str:
    words = re.split(r" ?[/|] ?| {2,}", _dotted(passage))
    return " ".join("".join(_MORSE.get(sign, "") for sign in word.split()) for word in words)


_DECODERS: Final[dict[str, tuple[Callable[[str], str | None], ...]]] = {
    "binary": (_of_binary,),
    "hexadecimal": (_of_hexadecimal, _of_numbers(10)),
    "grouped": (_of_hexadecimal,),
    "dump": (lambda passage: _of_hexadecimal(" ".join(_DUMP_LINE.findall(passage))),),
    "turned": (lambda passage: _of_base64(passage[::-1]),),
    "decimal": (_of_numbers(10), _of_numbers(8), _of_places),
    "places": (_of_places,),
    "base32": (_of_base32, _of_base64),
    "base64": (_of_base64,),
    "ascii85": (lambda passage: base64.a85decode(passage, adobe=True).decode("utf-8"),),
    "base85": (
        lambda passage: base64.b85decode(passage).decode("utf-8"),
        lambda passage: base64.a85decode(passage).decode("utf-8"),
    ),
    "morse": (_of_morse,),
    "braille": (lambda passage: passage.translate(_BRAILLE),),
}

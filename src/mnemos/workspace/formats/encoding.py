"""Which bytes stand for which characters: decided on the whole file, since an é may come after 40 MB.

Nearly every file is UTF-8, so it is read as that; only when that fails are the bytes counted and the file
begun again. Decoded text never holds surrogates: the readers use some as marks of their own.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mnemos.errors import InvalidInput
from mnemos.workspace.formats.source import Source

_SAMPLE = 64 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ESCAPED = re.compile("[\udc80-\udcff]")
# Windows-1252 leaves five bytes undefined; they are read as the control characters of Latin-1.
_WINDOWS = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
_AS_WINDOWS = {0xDC00 + byte: _WINDOWS[byte] for byte in range(0x80, 0x100)}
_OVERRIDES = frozenset(
    "utf-8 utf-8-sig ascii utf-16 utf-16-le utf-16-be utf-32 cp437 cp850 cp852 cp866 cp874 cp932 cp949 cp950 "
    "cp1250 cp1251 cp1252 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 iso8859-1 iso8859-2 iso8859-3 iso8859-4 "
    "iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13 iso8859-14 "
    "iso8859-15 iso8859-16 koi8-r koi8-u mac-roman shift_jis euc_jp euc_kr gb2312 gbk gb18030 big5".split()
)


class NotUtf8(Exception):
    """What was taken for UTF-8 is not: look at all of it and begin again.

    It reaches a caller only when the file is changed by someone else while it is read.
    """


@dataclass(frozen=True, slots=True)
class Encoding:
    """``repairs``: bytes that do not fit are read as Windows-1252 (UTF-8) or replaced, not refused."""

    name: str
    repairs: bool = False
    note: str = ""


def named(encoding: str) -> Encoding:
    """The encoding that the caller asks for; what does not fit it is read as well as it can be."""
    try:
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        name = ""
    if name not in _OVERRIDES:
        raise InvalidInput(f"encoding is {encoding[:60]!r}; use utf-8, utf-16, cp1252, cp1251, shift_jis, …")
    return Encoding(name, repairs=True)


def first_guess(head: bytes) -> Encoding:
    """From the beginning of the file: a byte order mark, the NULs of UTF-16, else UTF-8 until it fails."""
    for bom, name in _BOMS:
        if head.startswith(bom):
            return Encoding(name, repairs=name != "utf-8-sig")
    name = _wide(head[: _SAMPLE // 2 * 2])
    if name:
        return Encoding(name, repairs=True, note=f"Read as {name}, because every other byte is NUL.")
    return Encoding("utf-8")


def decided(source: Source) -> Encoding:
    """For a file that is not UTF-8 throughout, from all of its bytes.

    More good multi-byte characters than bad bytes: UTF-8 with flaws, and those are read as Windows-1252,
    where such bytes usually come from. Otherwise all of it is Windows-1252.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
    good = bad = lines = first_bad_line = 0
    for chunk in source.chunks():
        if not chunk.isascii() or decoder.getstate()[0]:
            text = decoder.decode(chunk)
            flaws = [flaw.start() for flaw in _ESCAPED.finditer(text)]
            if flaws and not bad:
                first_bad_line = lines + text.count("\n", 0, flaws[0]) + 1
            bad += len(flaws)
            good += len(text) - len(text.encode("ascii", "ignore")) - len(flaws)
        lines += chunk.count(b"\n")
    # A character that is cut by the end of the file says nothing about the rest.
    cut = len(decoder.getstate()[0])
    if good > bad or not bad:
        return Encoding(
            "utf-8-sig",
            repairs=True,
            note=f"{bad + cut:,} bytes are not UTF-8 as the rest is, the first on line "
            f"{first_bad_line or lines + 1:,}; they were read as Windows-1252.",
        )
    return Encoding(
        "cp1252",
        repairs=True,
        note="Not UTF-8: read as Windows-1252 (Latin-1). If letters look wrong, save it as UTF-8.",
    )


def texts(chunks: Iterable[bytes], encoding: Encoding) -> Iterator[str]:
    """The file as text, without its byte order mark. NotUtf8 where that was a wrong guess."""
    if encoding.name == "cp1252":
        for chunk in chunks:
            yield codecs.charmap_decode(chunk, "strict", _WINDOWS)[0]
        return
    utf8 = encoding.name in ("utf-8", "utf-8-sig")
    flaws = ("surrogateescape" if utf8 else "replace") if encoding.repairs else "strict"
    decoder = codecs.getincrementaldecoder(encoding.name)(flaws)
    try:
        for chunk in chunks:
            yield _mended(decoder.decode(chunk)) if utf8 and encoding.repairs else decoder.decode(chunk)
        yield _mended(decoder.decode(b"", final=True))
    except UnicodeDecodeError as exc:
        raise NotUtf8("the file is not UTF-8, as it was before; do not change it while it is read") from exc


def _mended(text: str) -> str:
    return text.translate(_AS_WINDOWS) if _ESCAPED.search(text) else text


def _wide(head: bytes) -> str:
    """UTF-16 without a byte order mark: NULs on one side of nearly every pair of bytes."""
    pairs = len(head) // 2
    if not pairs:
        return ""
    high_first, low_first = head[0::2].count(0), head[1::2].count(0)
    if low_first > pairs * 0.3 and high_first < low_first * 0.1:
        return "utf-16-le"
    if high_first > pairs * 0.3 and low_first < high_first * 0.1:
        return "utf-16-be"
    return ""

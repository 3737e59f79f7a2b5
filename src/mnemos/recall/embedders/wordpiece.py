"""WordPiece tokenization, with exactly the ids of the lower-casing BERT tokenizer.

Control characters are removed, accents are stripped, each Chinese character or punctuation mark is a word,
and anything else between blanks is cut into the longest pieces in the vocabulary. A word that can't be cut
like this, or is longer than 100 characters, becomes ``[UNK]``. No ``[CLS]`` or ``[SEP]`` is added, but
``[CLS]`` in the text itself becomes the token, as in the reference.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Sequence

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
MAX_WORD = 100

_SPECIAL = re.compile(f"({'|'.join(map(re.escape, SPECIAL))})")
# str.split treats these as blanks. The reference drops them, so that the words on either side are joined.
_NO_BLANKS = re.compile("[\x0b\x0c\x1c-\x1f\x85]")


def _edges(spans: str) -> list[int]:
    """Return the first character of each range, and the one after its last, in a flat list."""
    edges: list[int] = []
    for span in spans.split():
        first, _, last = span.partition("-")
        edges += [int(first, 16), int(last or first, 16) + 1]
    return edges


_CHINESE = _edges("3400-4dbf 4e00-9fff f900-faff 20000-2a6df 2a700-2b73f 2b740-2b81f 2b920-2ceaf 2f800-2fa1f")
# The reference knows the marks, punctuation and format characters of Unicode 8, and treats later ones as
# letters, even if this Python doesn't. All other characters in these ranges are letters anyway.
_SINCE_UNICODE_8 = _edges(
    """
    5c8-5c9 61d 7fd 890-8e2 9fd-9fe a76 afa-aff b53-b55 c04-c3c c77 c84 d00 d3b-d3c d81 eba ece
    180f-1886 1abf-1af0 1b4e-1b4f 1b7d-1b7f 1df6-1dfb 2e43-2e63 a82c a8c5 a8ff a9bd 10d24-10f89
    11070-11074 110c2-110cd 111cf 1123e-11241 1133b 113bb-1145e 11660-1166c 116b9 1182f-11fff
    12ff1-1612f 16d6d-16f4f 16fe2-16fe4 1cf00-1d128 1d25b-1d25c 1e000-1e6f5 1e944-1e95f
    """
)
_CATEGORY_IN_UNICODE_8 = {0x166D: "Po", 0x1734: "Mn", 0x111C9: "Po", 0x1171E: "Mn"}
_REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})

_MOST_CHARACTERS = 20_000
_MOST_CHUNKS = 32_768
# Longer chunks are addresses, hashes and base64, which seldom repeat.
_LONGEST_CHUNK = 40


class WordPiece:
    """The tokenizer of one vocabulary. A token's id is its place in it. Threads may share it."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._chunks = _Chunks(vocabulary)

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text in order, none for a text without visible characters."""
        return array("i", self.pack(text)).tolist()

    def pack(self, text: str) -> bytes:
        """Return the ids as packed C ints, the fastest form to make and to pass to numpy."""
        if _NO_BLANKS.search(text):
            return self._chunks.analyse(text)
        return b"".join(map(self._chunks.__getitem__, text.split()))


class _Chunks(dict[str, bytes]):
    """A cache of the ids of chunks between blanks, computed on first use."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        super().__init__()
        self._id = {token: id for id, token in enumerate(vocabulary)}
        self._unknown = self._id["[UNK]"]
        self._longest = max(map(len, vocabulary))

    def __missing__(self, chunk: str) -> bytes:
        ids = self.analyse(chunk)
        if len(chunk) <= _LONGEST_CHUNK:
            if len(self) >= _MOST_CHUNKS:
                self.clear()
            self[chunk] = ids
        return ids

    def analyse(self, text: str) -> bytes:
        ids = array("i")
        for part in _SPECIAL.split(text) if "[" in text else (text,):
            if part in SPECIAL:
                ids.append(self._id[part])
            elif part:
                for word in part.translate(_characters).split(" "):
                    if word:
                        self._add_word(word, ids)
        return ids.tobytes()

    def _add_word(self, word: str, ids: array[int]) -> None:
        if len(word) > MAX_WORD:
            ids.append(self._unknown)
            return
        whole = self._id.get(word)
        if whole is None:
            ids.extend(self._pieces(word))
        else:
            ids.append(whole)

    def _pieces(self, word: str) -> list[int]:
        known = self._id.get
        pieces: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                id = known(prefix + word[start:end])
                if id is not None:
                    break
            else:
                return [self._unknown]
            pieces.append(id)
            start, prefix = end, "##"
        return pieces


class _Characters(dict[int, str]):
    """A table for str.translate that adds blanks around single-character words.

    Every step of the reference (clean, space out Chinese, decompose, strip accents, lower, split at
    punctuation) handles one character at a time. The exception is the order of combining marks, but no
    vocabulary has a word that keeps one.
    """

    def __missing__(self, code: int) -> str:
        becomes = _fold(chr(code))
        if len(self) < _MOST_CHARACTERS:
            self[code] = becomes
        return becomes


def _fold(character: str) -> str:
    if character in "\t\n\r":
        return " "
    if character in "\0\ufffd" or _category(character) in _REMOVED:
        return ""
    if character.isspace():
        return " "
    folded = "".join(
        _space_out(base) for base in unicodedata.normalize("NFD", character) if _category(base) != "Mn"
    )
    # On single characters, lower() never makes a final sigma, and neither does the reference.
    lowered = "".join(map(str.lower, folded))
    return f" {lowered} " if _is_within(_CHINESE, ord(character)) else lowered


def _space_out(character: str) -> str:
    is_ascii_mark = character.isascii() and not character.isalnum()
    return f" {character} " if is_ascii_mark or _category(character).startswith("P") else character


def _category(character: str) -> str:
    """Return the Unicode category that the reference sees, as far as it matters here."""
    code = ord(character)
    if _is_within(_SINCE_UNICODE_8, code):
        return "Lo"
    return _CATEGORY_IN_UNICODE_8.get(code) or unicodedata.category(character)


def _is_within(edges: list[int], code: int) -> bool:
    return bisect_right(edges, code) % 2 == 1


_characters = _Characters()

"""Counting, cutting and comparing text."""

from __future__ import annotations

from mnemos.workspace.functions.base import (
    LONGEST,
    Function,
    FunctionFailed,
    Value,
    as_json,
    as_text,
    as_whole,
    expression,
    no_constant,
    shown,
)

# Han, kana and bopomofo are written without blanks: each character counts as a word, as word processors do.
_UNSPACED = (
    "[\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff]"
)
# Tried at the beginning of a run only, or a long run of signs would be read once for each of them.
_WORD = r"(?<!\S)(?:[^\w\s]|_)*+[^\W_]\S*+"

_ACCENTS = {*map(chr, range(0x300, 0x370))}
_WITHOUT_DECOMPOSITION = {
    "ø": "o",
    "đ": "d",
    "ð": "d",
    "ł": "l",
    "æ": "ae",
    "œ": "oe",
    "ı": "i",
    "þ": "th",
    "ħ": "h",
}

# 20,000 by 20,000: about a third of a second and 50 MB at the very worst.
MOST_CELLS = 400_000_000

_ESCAPES = {r"\n": "\n", r"\r": "\r", r"\t": "\t"}

_MISSING = object()
_PATH_STEP = r'\.([^.\[\]"]+)|\."([^"]*)"|\[([0-9]{1,9})\]|\[#-([0-9]{1,9})\]|\["([^"]*)"\]'


def split_sections(text: Value, separator: Value = None) -> Value:
    whole = as_text(text)
    if separator is not None:
        parts = whole.split(written(as_text(separator), whole))
    else:
        parts = _at_headings(whole) or _at_blank_lines(whole)
    return as_json([part for part in map(str.strip, parts) if part])


def written(separator: str, text: str) -> str:
    """The separator meant: SQL has no escapes, so ``\\n`` is two characters, and means the line break
    unless the text has just these two."""
    if not separator:
        raise FunctionFailed("separator is empty; give the text between the parts, such as ','")
    if "\\" not in separator or separator in text:
        return separator
    return expression(r"\\[nrt]").sub(lambda found: _ESCAPES[found[0]], separator)


def _at_headings(text: str) -> list[str]:
    """The text cut before each Markdown heading; empty where there is none."""
    lines = text.split("\n")
    is_heading = expression(r"[ ]{0,3}#{1,6}[ \t]+\S").match
    is_fence = expression(r"[ ]{0,3}(?:```|~~~)").match
    sections: list[list[str]] = [[]]
    fenced = False
    for line in lines:
        if is_fence(line):
            fenced = not fenced
        elif not fenced and is_heading(line):
            sections.append([])
        sections[-1].append(line)
    return ["\n".join(section) for section in sections] if len(sections) > 1 else []


def _at_blank_lines(text: str) -> list[str]:
    sections: list[list[str]] = [[]]
    for line in text.split("\n"):
        if line.strip():
            sections[-1].append(line)
        elif sections[-1]:
            sections.append([])
    return ["\n".join(section) for section in sections]


def json_length(json: Value, path: Value = "$") -> Value:
    # json: only for those who use it.
    from json import loads

    steps = _steps(as_text(path))
    try:
        place = loads(as_text(json), parse_constant=no_constant)
    except (ValueError, RecursionError):
        return None
    for step in steps:
        if isinstance(place, dict):
            place = place.get(step, _MISSING)
        elif isinstance(place, list) and isinstance(step, int) and -len(place) <= step < len(place):
            place = place[step]
        else:
            place = _MISSING
    if place is _MISSING:
        return None
    return len(place) if isinstance(place, dict | list) else 1


def _steps(path: str) -> list[str | int]:
    """The keys and positions of a path such as ``$.items[0]``."""
    if not expression(rf"\$(?:{_PATH_STEP})*+").fullmatch(path):
        raise FunctionFailed(f"path is {shown(path)}; write it as '$', '$.key' or '$.items[0]'")
    steps: list[str | int] = []
    for key, quoted, position, last, bracketed in expression(_PATH_STEP).findall(path):
        if position:
            steps.append(int(position))
        elif last:
            steps.append(-int(last))
        else:
            steps.append(key or quoted or bracketed)
    return steps


def word_count(text: Value) -> Value:
    rest, unspaced = expression(_UNSPACED).subn(" ", as_text(text))
    return unspaced + len(expression(_WORD).findall(rest))


def char_count(text: Value) -> Value:
    return len(as_text(text))


def split_part(text: Value, separator: Value, number: Value) -> Value:
    whole, nth = as_text(text), as_whole(number, "number")
    if nth == 0:
        raise FunctionFailed("number is 0; parts count from 1, or from -1 at the end")
    if as_text(separator) == "":
        return whole if nth in {1, -1} else ""
    between = written(as_text(separator), whole)
    parts = whole.split(between, nth if 0 < nth <= LONGEST else -1)
    place = nth - 1 if nth > 0 else len(parts) + nth
    return parts[place] if 0 <= place < len(parts) else ""


def substr_range(text: Value, start: Value, end: Value = LONGEST) -> Value:
    return as_text(text)[as_whole(start, "start") : as_whole(end, "end")]


def slugify(text: Value) -> Value:
    # unicodedata: only for those who use it.
    from unicodedata import category, normalize

    def plain(character: str) -> str:
        # One character at a time: the normal form of a long run of accents takes the square of its length.
        bare = "".join(c for c in normalize("NFKD", character.casefold()) if c not in _ACCENTS)
        kept = "".join(
            _WITHOUT_DECOMPOSITION.get(c, c) if c.isalnum() or category(c)[0] == "M" else "-" for c in bare
        )
        return normalize("NFC", kept)

    whole = as_text(text)
    table = {ord(character): plain(character) for character in set(whole)}
    # Apostrophes stand inside words: don't is dont, not don-t.
    table.update({ord("'"): "", ord("\u2019"): ""})
    return expression("-+").sub("-", whole.translate(table)).strip("-")


def levenshtein(first: Value, second: Value) -> Value:
    return _distance(as_text(first), as_text(second))


def similarity(first: Value, second: Value) -> Value:
    one, other = as_text(first), as_text(second)
    longer = max(len(one), len(other))
    return 1 - _distance(one, other) / longer if longer else 1.0


def _distance(one: str, other: str) -> int:
    """The edit distance, a whole row of the table at a time as the bits of one number (Myers, Hyyrö)."""
    short, long = sorted(_where_they_differ(one, other), key=len)
    if not short:
        return len(long)
    if len(short) * len(long) > MOST_CELLS:
        raise FunctionFailed(
            f"texts of {len(short):,} and {len(long):,} characters are too long to compare: the product may"
            f" be {MOST_CELLS:,}; compare their beginnings with substr(...)"
        )
    places = {character: _bits(long, character) for character in set(short)}
    every = (1 << len(long)) - 1
    last = 1 << (len(long) - 1)
    more, less, distance = every, 0, len(long)
    for character in short:
        same = places[character]
        diagonal = (((same & more) + more) ^ more) | same | less
        right = less | (every & ~(diagonal | more))
        left = diagonal & more
        if right & last:
            distance += 1
        elif left & last:
            distance -= 1
        right = (right << 1) | 1
        more = ((left << 1) | ~(diagonal | right)) & every
        less = right & diagonal & every
    return distance


def _where_they_differ(one: str, other: str) -> tuple[str, str]:
    """Both without what they begin and end with in common."""
    shorter = min(len(one), len(other))
    start = next((i for i in range(shorter) if one[i] != other[i]), shorter)
    rest = shorter - start
    end = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return one[start : len(one) - end], other[start : len(other) - end]


def _bits(text: str, character: str) -> int:
    """A number whose bits are the places of the character."""
    digits = bytearray(b"0") * len(text)
    place = text.find(character)
    while place >= 0:
        digits[-1 - place] = 49
        place = text.find(character, place + 1)
    return int(digits, 2)


FUNCTIONS = (
    Function(
        "split_sections",
        "split_sections(text [, separator])",
        "JSON array of the sections: at Markdown headings, else at blank lines, or at the separator ('\\n' is"
        " a line break).",
        "split_sections('one--two', '--')",
        """'["one","two"]'""",
        call=split_sections,
        arity=(1, 2),
    ),
    Function(
        "json_length",
        "json_length(json [, path])",
        "Number of elements of an array or members of an object, 1 for a scalar, NULL for what is not JSON.",
        """json_length('{"items": [1, 2, 3]}', '$.items')""",
        "3",
        call=json_length,
        arity=(1, 2),
    ),
    Function(
        "word_count",
        "word_count(text)",
        "Number of words; each Chinese or Japanese character is one.",
        "word_count('It''s a well-known fact.')",
        "4",
        call=word_count,
    ),
    Function(
        "char_count",
        "char_count(text)",
        "Number of characters (code points).",
        "char_count('naïve')",
        "5",
        call=char_count,
    ),
    Function(
        "split_part",
        "split_part(text, separator, number)",
        "The part with that number, from 1, or from -1 at the end; '' past the ends.",
        "split_part('a,b,c', ',', 2)",
        "'b'",
        call=split_part,
        arity=(3,),
    ),
    Function(
        "substr_range",
        "substr_range(text, start [, end])",
        "Characters from start up to but not including end, counted from 0; negative from the end.",
        "substr_range('abcdef', 1, 3)",
        "'bc'",
        call=substr_range,
        arity=(2, 3),
    ),
    Function(
        "slugify",
        "slugify(text)",
        "Lower case words joined by hyphens, accents removed, other scripts kept.",
        "slugify('Crème Brûlée, 2 eggs!')",
        "'creme-brulee-2-eggs'",
        call=slugify,
    ),
    Function(
        "levenshtein",
        "levenshtein(text1, text2)",
        "Number of characters to insert, delete or replace to make one the other.",
        "levenshtein('kitten', 'sitting')",
        "3",
        call=levenshtein,
        arity=(2,),
    ),
    Function(
        "similarity",
        "similarity(text1, text2)",
        "From 0 (nothing in common) to 1 (equal): 1 - levenshtein / length of the longer.",
        "similarity('grey', 'gray')",
        "0.75",
        call=similarity,
        arity=(2,),
    ),
)

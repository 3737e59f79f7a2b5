"""The words and numbers without which a text names no time: most texts have none and are done with here.

The expression runs over a text in lower case that begins with a blank. It starts with the sign before a
word, which the engine finds far faster than the beginning of a word.
"""

from __future__ import annotations

import re
from typing import Final

from mnemos.language.times.words import (
    DAYS,
    DOUBTFUL_MONTHS,
    HOLIDAYS,
    MONTHS,
    NIGHTS,
    PARTS,
    SEASONS,
    SHORT_WEEKDAYS,
    UNITS,
    WEEKDAYS,
    either,
)

# What stands before a word. Not \\W: a table of characters is looked up faster than their kind.
BEFORE_A_WORD: Final = "[^a-z0-9_ß-ÿœ]"

# Words of other languages, and of other meanings.
_DOUBTFUL_DAYS: Final = frozenset(("hier", "morgen", "mañana", "manana"))
SURE_WORDS: Final = frozenset({*DAYS, *NIGHTS, *WEEKDAYS, *MONTHS} - DOUBTFUL_MONTHS - _DOUBTFUL_DAYS)
_DOUBTFUL: Final = (
    *_DOUBTFUL_DAYS,
    *DOUBTFUL_MONTHS,
    *SHORT_WEEKDAYS,
    *UNITS,
    *PARTS,
    *SEASONS,
    *HOLIDAYS,
    *("tarde", "mondays", "tuesdays", "wednesdays", "thursdays", "fridays", "saturdays", "sundays"),
    *("q1", "q2", "q3", "q4"),
)

SIGN: Final = re.compile(
    rf"{BEFORE_A_WORD}(?:({either(sorted({*SURE_WORDS, *_DOUBTFUL}))})\b"
    r"|\d(?:\d{3}\b|\d?(?:(?:st|nd|rd|th)\b|[-/.]\d\d?[-/.]\d\d)|\d{3}[-/.]\d))"
)

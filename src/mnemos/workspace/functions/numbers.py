"""Numbers as people and web pages write them.

The whole text must be a number, with at most a currency, a scale or a percent sign. Anything else is NULL,
because a wrong number is worse than none. Where a mark has two meanings:

- one comma before exactly three digits groups them (``1,234`` is 1234), otherwise it is the decimal mark;
- one point is the decimal mark (``1.234``), several group digits (``1.234.567``);
- with both, the last one is the decimal mark (``1.234,56`` and ``1,234.56``).

The second argument names the decimal mark and settles the question.
"""

from __future__ import annotations

from mnemos.workspace.functions.function import (
    Function,
    FunctionFailed,
    Value,
    as_text,
    declare,
    expression,
    quote_value,
)

FUNCTIONS: list[Function] = []

# Nobody writes longer numbers.
LONGEST_NUMBER = 100

_SCALES = {
    "": 0, "k": 3, "tsd": 3, "thousand": 3,
    "m": 6, "mm": 6, "mn": 6, "mio": 6, "mln": 6, "million": 6, "millions": 6, "millionen": 6, "millones": 6,
    "b": 9, "bn": 9, "mrd": 9, "bln": 9, "billion": 9, "billions": 9, "milliarde": 9, "milliarden": 9,
    "milliard": 9, "milliards": 9,
    "t": 12, "tn": 12, "trillion": 12, "trillions": 12,
    "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7,
    "%": -2, "percent": -2, "per cent": -2, "pct": -2, "prozent": -2, "‰": -3,
}  # fmt: skip

_CODES = (
    "usd|eur|gbp|jpy|cny|rmb|inr|chf|cad|aud|nzd|sek|nok|dkk|pln|czk|huf|ron|bgn|isk|brl|mxn|ars|clp|cop|pen|zar|krw"
    "|rub|uah|try|ils|aed|sar|egp|ngn|kes|sgd|hkd|twd|thb|idr|myr|php|vnd|pkr|btc|eth|usdt"
)
# Only before a sign: US$, R$, A$.
_COUNTRIES = "us|ca|au|nz|hk|sg|mx|nt|r|a|c|s"
_CURRENCY = (
    rf"(?:(?:{_CODES}|{_COUNTRIES})?[$€£¥₹₽₩₺₴₫฿₪₦₱₡₲₵₸₮₭₨₿¢]|{_CODES}|fr\.|rs\.?|kr\.?|zł|kč|ft|lei|лв)"
)
_SCALE = "|".join(sorted(filter(None, _SCALES), key=len, reverse=True))
_DIGITS = r"[0-9](?:[0-9.,' _]*[0-9])?|[.,][0-9]+"
# Blanks come one at a time here.
_FORM = (
    rf"(?P<open>\()? ?(?P<sign>[+-])? ?(?P<before>{_CURRENCY})? ?(?P<late_sign>[+-])? ?"
    rf"(?P<digits>{_DIGITS})(?P<power>e[+-]?[0-9]{{1,3}})?(?:\.-?)? ?"
    rf"(?P<scale>{_SCALE})?\.? ?(?P<after>{_CURRENCY})? ?(?P<close>\))?(?P<sign_behind>-)?"
)
# In small letters these are metres and bytes as well, unless there is money.
_NEED_MONEY = frozenset("mbt")

_MINUS = "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
_QUOTES = "\u2019\u2018\u02bc`\u00b4"
_SIGNS = str.maketrans(
    {
        **dict.fromkeys(_MINUS, "-"),
        **dict.fromkeys(_QUOTES, "'"),
        **dict(zip("٫٬٪％＄．，＋（）", ".'%%$.,+()", strict=True)),
        **dict.fromkeys("\u200e\u200f\u061c\ufeff"),
    }
)


@declare(FUNCTIONS, "parse_number(text [, decimal_mark])", "parse_number('€ 1.234,56')", "1234.56")
def parse_number(text: Value, decimal_mark: Value = None) -> Value:
    """The number in '$1,234.50', '1.234,56 €', '(100)', '1.2M', '12.5%' (0.125) or '1 000'; NULL for other
    text. '1,234' is 1234 and '1.234' has decimals unless the decimal mark is given."""
    if isinstance(text, int | float):
        return text
    mark = None if decimal_mark is None else as_text(decimal_mark)
    if mark not in {None, ".", ","}:
        raise FunctionFailed(f"decimal mark is {quote_value(decimal_mark)}; use '.' or ','")
    whole = as_text(text).strip()
    if len(whole) > LONGEST_NUMBER:
        return None
    found = expression(_FORM).fullmatch(_simplify(whole))
    if found is None:
        return None
    signs = [found["open"] and "-", found["sign"], found["late_sign"], found["sign_behind"]]
    written = [sign for sign in signs if sign]
    digits = _strip_groups(found["digits"], mark)
    scale = found["scale"] or ""
    if digits is None or len(written) > 1 or bool(found["open"]) != bool(found["close"]):
        return None
    if scale in _NEED_MONEY and scale.upper() not in whole and not (found["before"] or found["after"]):
        return None
    return _scale_up("-" if "-" in written else "", digits, found["power"], _SCALES[scale])


def _simplify(text: str) -> str:
    """Return the text in lower case, with single blanks and ASCII digits and signs."""
    # unicodedata: loaded by the first function that needs it.
    from unicodedata import decimal

    if not text.isascii():
        text = "".join(str(decimal(character, character)) for character in text.translate(_SIGNS))
    return " ".join(text.lower().split())


def _strip_groups(digits: str, mark: str | None) -> str | None:
    """Return the digits with a point as decimal mark and no groups. None if the groups make no sense."""
    if mark is None:
        mark = _guess_mark(digits)
    if mark == ",":
        digits = digits.translate({ord(","): ".", ord("."): ","})
    if digits.count(".") > 1:
        return None
    whole, point, fraction = digits.partition(".")
    if point and not expression("[0-9]+").fullmatch(fraction):
        return None
    groups = expression("[,' _]").split(whole)
    separators = set(expression("[,' _]").findall(whole))
    if len(separators) > 1 or (len(groups) > 1 and not _are_groups(groups)):
        return None
    return ("".join(groups) or "0") + point + fraction


def _guess_mark(digits: str) -> str:
    point, comma = digits.rfind("."), digits.rfind(",")
    if comma < 0:
        return "," if digits.count(".") > 1 else "."
    if point >= 0:
        return "," if comma > point else "."
    if digits.count(",") > 1:
        return "."
    before, _, after = digits.partition(",")
    return "." if len(after) == 3 and before.strip("0") and len(before) <= 3 else ","


def _are_groups(groups: list[str]) -> bool:
    """True for groups of thousands, or as in India of thousands and then hundreds."""
    first, *middle, last = groups
    sizes = {len(group) for group in middle}
    return 1 <= len(first) <= 3 and len(last) == 3 and (sizes <= {3} or (sizes == {2} and len(first) <= 2))


def _scale_up(sign: str, digits: str, power: str | None, scale: int) -> Value:
    """Return an integer unless decimals are left. None beyond what floating point can hold."""
    whole, _, fraction = digits.partition(".")
    exponent = scale + int((power or "e0")[1:])
    if len(fraction) <= exponent < LONGEST_NUMBER or (not fraction and not exponent):
        return int(sign + whole + fraction + "0" * (exponent - len(fraction)))
    number = float(f"{sign}{digits}e{exponent}")
    return number if abs(number) != float("inf") else None

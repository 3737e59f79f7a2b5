"""Functions of text and of choice that other databases have under names that models write."""

from __future__ import annotations

from mnemos.workspace.functions.base import (
    Function,
    FunctionFailed,
    Value,
    as_text,
    as_whole,
    expression,
    refuse_longer,
)


def length(text: Value) -> Value:
    return len(as_text(text))


def nvl(value: Value, other: Value) -> Value:
    return other if value is None else value


def nvl2(value: Value, present: Value, absent: Value) -> Value:
    return absent if value is None else present


def left(text: Value, count: Value) -> Value:
    return as_text(text)[: as_whole(count, "count")]


def right(text: Value, count: Value) -> Value:
    whole, size = as_text(text), as_whole(count, "count")
    return whole[max(len(whole) - size, 0) :] if size >= 0 else whole[-size:]


def reverse(text: Value) -> Value:
    return as_text(text)[::-1]


def lpad(text: Value, size: Value, fill: Value = " ") -> Value:
    whole, padding = _padding(text, size, fill)
    return padding + whole


def rpad(text: Value, size: Value, fill: Value = " ") -> Value:
    whole, padding = _padding(text, size, fill)
    return whole + padding


def _padding(text: Value, size: Value, fill: Value) -> tuple[str, str]:
    """The text, cut to the size, and what is missing of it."""
    wanted = max(as_whole(size, "length"), 0)
    refuse_longer(wanted, "the result")
    whole, unit = as_text(text)[:wanted], as_text(fill)
    missing = wanted - len(whole)
    return whole, (unit * (missing // len(unit) + 1))[:missing] if unit else ""


def repeat(text: Value, count: Value) -> Value:
    whole, times = as_text(text), max(as_whole(count, "count"), 0)
    refuse_longer(len(whole) * times, "the result")
    return whole * times


def space(count: Value) -> Value:
    return repeat(" ", count)


def initcap(text: Value) -> Value:
    # Not str.title: it makes "don't" into "Don'T".
    word = expression(r"[^\W_](?:[^\W_]|['’](?=[^\W_]))*+")
    return word.sub(lambda found: found[0][0].upper() + found[0][1:].lower(), as_text(text))


def upper(text: Value) -> Value:
    return as_text(text).upper()


def lower(text: Value) -> Value:
    return as_text(text).lower()


def strpos(text: Value, part: Value) -> Value:
    return as_text(text).find(as_text(part)) + 1


def locate(part: Value, text: Value, start: Value = 1) -> Value:
    first = as_whole(start, "start")
    return as_text(text).find(as_text(part), first - 1) + 1 if first >= 1 else 0


def starts_with(text: Value, part: Value) -> Value:
    return int(as_text(text).startswith(as_text(part)))


def ends_with(text: Value, part: Value) -> Value:
    return int(as_text(text).endswith(as_text(part)))


def contains(text: Value, part: Value) -> Value:
    return int(as_text(part) in as_text(text))


def substring_index(text: Value, separator: Value, count: Value) -> Value:
    whole, between, number = as_text(text), as_text(separator), as_whole(count, "count")
    if not between or not number:
        return ""
    parts = whole.split(between)
    return between.join(parts[:number] if number > 0 else parts[number:])


def greatest(*values: Value) -> Value:
    return max(_some(values), key=order_of)


def least(*values: Value) -> Value:
    return min(_some(values), key=order_of)


def _some(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if not values:
        raise FunctionFailed("there is nothing to compare; give two values or more")
    return values


def order_of(value: Value) -> tuple[int, Value]:
    """Where SQLite sorts the value: numbers, then text, then blobs."""
    return (2, value) if isinstance(value, bytes) else (1, value) if isinstance(value, str) else (0, value)


FUNCTIONS = (
    Function("len", "len(text)", "Number of characters.", "len('naïve')", "5", call=length),
    Function(
        "char_length", "char_length(text)", "Number of characters.", "char_length('naïve')", "5", call=length
    ),
    Function(
        "nvl",
        "nvl(value, other)",
        "The value, or the other where it is NULL.",
        "nvl(NULL, 'none')",
        "'none'",
        call=nvl,
        arity=(2,),
        wants_null=True,
    ),
    Function(
        "nvl2",
        "nvl2(value, present, absent)",
        "The second where the first is not NULL, else the third.",
        "nvl2(NULL, 'yes', 'no')",
        "'no'",
        call=nvl2,
        arity=(3,),
        wants_null=True,
    ),
    Function(
        "left",
        "left(text, count)",
        "The first characters; a negative count leaves out the last.",
        "left('abcdef', 2)",
        "'ab'",
        call=left,
        arity=(2,),
    ),
    Function(
        "right",
        "right(text, count)",
        "The last characters; a negative count leaves out the first.",
        "right('abcdef', 2)",
        "'ef'",
        call=right,
        arity=(2,),
    ),
    Function(
        "reverse", "reverse(text)", "The characters backwards.", "reverse('abc')", "'cba'", call=reverse
    ),
    Function(
        "lpad",
        "lpad(text, length [, fill])",
        "Filled up on the left, or cut, to that length.",
        "lpad(7, 3, '0')",
        "'007'",
        call=lpad,
        arity=(2, 3),
    ),
    Function(
        "rpad",
        "rpad(text, length [, fill])",
        "Filled up on the right, or cut, to that length.",
        "rpad('ab', 4, '.')",
        "'ab..'",
        call=rpad,
        arity=(2, 3),
    ),
    Function(
        "repeat",
        "repeat(text, count)",
        "The text that many times.",
        "repeat('ab', 2)",
        "'abab'",
        call=repeat,
        arity=(2,),
    ),
    Function("space", "space(count)", "That many blanks.", "space(2)", "'  '", call=space),
    Function(
        "initcap",
        "initcap(text)",
        "Each word with a capital.",
        "initcap('ada LOVELACE')",
        "'Ada Lovelace'",
        call=initcap,
    ),
    Function("ucase", "ucase(text)", "Upper case in every script.", "ucase('é')", "'É'", call=upper),
    Function("lcase", "lcase(text)", "Lower case in every script.", "lcase('É')", "'é'", call=lower),
    Function(
        "strpos",
        "strpos(text, part)",
        "Where the part begins, from 1; 0 where it is not.",
        "strpos('banana', 'nan')",
        "3",
        call=strpos,
        arity=(2,),
    ),
    *(
        Function(
            name,
            f"{name}(part, text [, start])",
            "Where the part begins in the text, from 1; 0 where it is not.",
            f"{name}('an', 'banana', 3)",
            "4",
            call=locate,
            arity=(2, 3),
        )
        for name in ("charindex", "locate")
    ),
    Function(
        "starts_with",
        "starts_with(text, part)",
        "1 or 0.",
        "starts_with('abc', 'ab')",
        "1",
        call=starts_with,
        arity=(2,),
    ),
    Function(
        "ends_with",
        "ends_with(text, part)",
        "1 or 0.",
        "ends_with('abc', 'bc')",
        "1",
        call=ends_with,
        arity=(2,),
    ),
    Function(
        "contains", "contains(text, part)", "1 or 0.", "contains('abc', 'b')", "1", call=contains, arity=(2,)
    ),
    Function(
        "substring_index",
        "substring_index(text, separator, count)",
        "Up to that many separators, from the end where negative.",
        "substring_index('www.example.org', '.', -2)",
        "'example.org'",
        call=substring_index,
        arity=(3,),
    ),
    Function(
        "greatest",
        "greatest(value, ...)",
        "The largest; NULL where one is NULL.",
        "greatest(3, 10, 7)",
        "10",
        call=greatest,
        arity=(-1,),
    ),
    Function(
        "least",
        "least(value, ...)",
        "The smallest; NULL where one is NULL.",
        "least(3, 10, 7)",
        "3",
        call=least,
        arity=(-1,),
    ),
    Function(
        "concat",
        "concat(value, ...)",
        "All values as one text; NULL is nothing.",
        "concat('a', NULL, 1)",
        "'a1'",
        builtin=True,
        arity=(-1,),
    ),
    Function(
        "concat_ws",
        "concat_ws(separator, value, ...)",
        "The values that are not NULL with the separator between them.",
        "concat_ws(', ', 'a', NULL, 'b')",
        "'a, b'",
        builtin=True,
        arity=(-1,),
    ),
    Function(
        "if",
        "if(condition, value, other)",
        "The value where the condition holds, else the other; also iif().",
        "if(1 < 2, 'yes', 'no')",
        "'yes'",
        builtin=True,
        arity=(2, 3),
    ),
    Function(
        "string_agg",
        "string_agg(text, separator)",
        "The texts of all rows as one; also group_concat().",
        "string_agg(column1, '-') FROM (VALUES ('a'), ('b'))",
        "'a-b'",
        builtin=True,
        arity=(2,),
    ),
)

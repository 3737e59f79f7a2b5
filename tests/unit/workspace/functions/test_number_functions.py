"""Numbers as people write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mnemos.workspace.functions.function import FunctionFailed, Value

Call = Callable[..., Value]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 5),
        (" 5 ", 5),
        ("-5", -5),
        ("+5", 5),
        ("−5", -5),
        ("–5", -5),
        ("5-", -5),
        ("0", 0),
        (".5", 0.5),
        ("5.", 5),
        ("5.00", 5.0),
        ("1e5", 100_000),
        ("1.5E-3", 0.0015),
        ("1,234", 1234),
        ("1,234.56", 1234.56),
        ("1.234,56", 1234.56),
        ("1.234", 1.234),
        ("1.234.567", 1_234_567),
        ("1,234,567", 1_234_567),
        ("12,34,567.89", 1_234_567.89),
        ("1,5", 1.5),
        ("0,123", 0.123),
        ("1234,567", 1234.567),
        ("1 234 567,8", 1_234_567.8),
        ("1\u00a0234", 1234),
        ("1\u202f234,5", 1234.5),
        ("1'234'567.5", 1_234_567.5),
        ("1’234", 1234),
        ("1_000", 1000),
        ("$5", 5),
        ("$ 1,234.50", 1234.5),
        ("-$5", -5),
        ("$-5", -5),
        ("($1,234.50)", -1234.5),
        ("(100)", -100),
        ("€1.234,56", 1234.56),
        ("1.234,56 €", 1234.56),
        ("£3k", 3000),
        ("¥1,000", 1000),
        ("₹ 5,00,000", 500_000),
        ("US$ 5", 5),
        ("R$ 1.234,00", 1234.0),
        ("USD 5", 5),
        ("5 usd", 5),
        ("CHF 20.–", 20),
        ("Rs. 500", 500),
        ("5 kr", 5),
        ("1.2M", 1_200_000),
        ("1.25K", 1250),
        ("3B", 3_000_000_000),
        ("1.2T", 1_200_000_000_000),
        ("3.5 billion", 3_500_000_000),
        ("2 Mio. €", 2_000_000),
        ("2,5 Mrd. EUR", 2_500_000_000),
        ("10 lakh", 1_000_000),
        ("$5m", 5_000_000),
        ("12.5%", 0.125),
        ("45.3 %", 0.453),
        ("(5%)", -0.05),
        ("7 percent", 0.07),
        ("５００", 500),
        ("٣٤٫٥", 34.5),
        ("१२३", 123),
        ("\u200e5\u200f", 5),
        (7, 7),
        (-1.5, -1.5),
        (b"$5", 5),
        ("9223372036854775807", 9_223_372_036_854_775_807),
        ("9223372036854775808", 9.223372036854775808e18),
        ("1e300", 1e300),
    ],
)
def test_a_number_is_read(call: Call, text: Value, number: float) -> None:
    read = call("parse_number", text)
    assert read == number
    assert type(read) is type(number)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "abc", "5 apples", "3 of 5", "5m", "5 b", "1,2,3", "1,23,4", "1.234.56", "1,234.5.6",
        "12 345 67", "--5", "-(5)", "(5", "5)", "+-5", "$", "%", "% 5", "5%%", "1e", "1e999", "Infinity",
        "NaN", "0x10", "2024-01-31", "10:30", "½", "²", "你好", "👍", "1 2", "1,2'3", ".", ",", "-",
        "9" * 101, "1" * 1_000_000, "5 \x00", "e5", "1.2.3.4",
    ],
)  # fmt: skip
def test_text_that_is_not_a_number_is_null(call: Call, text: str) -> None:
    assert call("parse_number", text) is None


@pytest.mark.parametrize(
    ("text", "mark", "number"),
    [
        ("1.234", ",", 1234),
        ("1,234", ",", 1.234),
        ("1,234", ".", 1234),
        ("1.234", ".", 1.234),
        ("1.5", ",", None),
        ("1.234.567", ".", None),
    ],
)
def test_the_decimal_mark_may_be_given(call: Call, text: str, mark: str, number: float | None) -> None:
    assert call("parse_number", text, mark) == number


def test_a_decimal_mark_that_makes_no_sense_is_refused(call: Call) -> None:
    with pytest.raises(FunctionFailed):
        call("parse_number", "1", ";")

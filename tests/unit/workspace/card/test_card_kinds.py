from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.sandbox.card.value_kinds import LONGEST, find_kind, find_kind_of_text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"a": 1}', "json"),
        ("[1, 2]", "json"),
        ("{not json}", ""),
        ("[see below]", ""),
        ('{"a": "' + "x" * 2 * LONGEST, "json"),
        ("<3 you", ""),
        ("ann@example.org", "email"),
        ("ann at example.org", ""),
        ("https://example.org/a?b=c#d", "url"),
        ("postgres://u:p@db.example/x", "url"),
        ("www.example.org", "url"),
        ("see https://example.org", ""),
        ("2026-11-14", "date"),
        ("2026-02-30", ""),
        ("2026-11-14T10:20:30Z", "datetime"),
        ("2026-11-14 10:20:30.123456+02:00", "datetime"),
        ("007", ""),
        ("€ 1.234,56", "money"),
        ("$1,200", "money"),
        ("12 EUR", "money"),
        ("(£5.00)", "money"),
        ("a,b,c\n1,2,3\n4,5,6", "csv"),
        ("a;b\n1;2", "csv"),
        ("Well, I went\nand then, I came back", ""),
        ("Widget A", ""),
        ("", ""),
        ("   ", ""),
    ],
)
def test_a_text_is_of_the_kind_it_looks_like(text: str, kind: str) -> None:
    assert find_kind_of_text(text) == kind


@pytest.mark.parametrize(
    ("name", "declared", "values", "kind"),
    [
        ("id", "INTEGER", [1767312000, 1794614400], ""),
        ("price", "REAL", [12.5, 3], "money"),
        ("item_price_eur", "", [1], "money"),
        ("surprise", "REAL", [12.5], ""),
        ("n", "", [0, 1], ""),
        ("code", "TEXT", ["030 1234567"], ""),
        ("day", "TEXT", ["2026-01-01", "2026-01-01 10:00:00"], "datetime"),
        ("x", "TEXT", [], ""),
    ],
)
def test_names_and_types_help_where_values_alone_do_not(
    name: str, declared: str, values: list[int | float | str], kind: str
) -> None:
    assert find_kind(name, declared, values) == kind


def test_one_stray_among_many_makes_it_no_kind() -> None:
    addresses: list[int | float | str] = [f"a{number}@example.org" for number in range(19)]
    assert find_kind("mail", "", addresses) == "email"
    assert find_kind("mail", "", [*addresses, "unknown"]) == ""


@given(st.text(max_size=300))
def test_any_text_has_a_kind_or_none(text: str) -> None:
    assert isinstance(find_kind_of_text(text), str)


@pytest.mark.parametrize(
    "sign", ["[", "{", '{"a":', "1", "1,", "0 ", "a@", "a.", "+1 ", "(", "<", "\n,", "1.", "-"]
)
def test_a_long_run_of_one_sign_is_judged_in_no_time(sign: str) -> None:
    # Were the time not in proportion to the length, this would not end.
    for length in (399, LONGEST, 20_000):
        find_kind_of_text((sign * length)[:length])

"""Which type a column of texts gets."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.workspace.formats import Kind
from mnemos.workspace.formats.columns import Scan

from .files import kinds, opened


def kind_of(*cells: str) -> Kind:
    scan = Scan()
    scan.feed(cells)
    return scan.kind


@pytest.mark.parametrize("cell", ["0", "5", "-5", "12", str(2**63 - 1), str(-(2**63)), "999999999999999"])
def test_a_canonical_integer_is_one(cell: str) -> None:
    assert kind_of(cell, "1", "") is Kind.INTEGER


@pytest.mark.parametrize(
    "cell",
    [
        *[
            "007",
            "00",
            "-0",
            "+5",
            " 5",
            "5 ",
            "1_000",
            "1,000",
            "1e3",
            "1e10",
            "0x10",
            "٣",
            "５",
            "--5",
            "-",
            ".",
        ],
        *[
            str(2**63),
            str(-(2**63) - 1),
            "12345678901234567890",
            "1\n2",
            "5\n",
            "1\r2",
            "five",
            "00.5",
            "01.5",
        ],
        *["1.", ".5", "+1.5", "1.5.2", "1,5", "$5", "5%", "NaN", "nan", "inf", "Infinity", "1e+5", "1.5e3"],
        *["1e+999", "1e-999", "-1e+400", "12e+10", "1.2345678901234567890", "123456789012345678.5", "0.0.0"],
        *[
            "+49 30 1234",
            "030/123",
            "2024-01-01",
            "1.2e+10e+10",
            "0.",
            "-0.",
            "true",
            "x'00'",
        ],
    ],
)
def test_what_does_not_come_back_as_written_stays_text(cell: str) -> None:
    assert kind_of(cell) is Kind.TEXT
    assert kind_of("1", cell) is Kind.TEXT


@pytest.mark.parametrize(
    "cell",
    [
        *["0.5", "-0.5", "0.10", "1.0", "-0.0", "0.000", "3.14159", "1e+16", "1E-05", "-1.5e+300", "5e-324"],
        *["1.7976931348623157e+308", "0.12345678901234567", "1234567890123456.7", "0.00012345678901234567"],
        *["0e+00", "9e999", "-9e999", "0.0000000000000000001"],
    ],
)
def test_a_decimal_number_that_a_float_carries_is_real(cell: str) -> None:
    assert kind_of(cell, "0.25") is Kind.REAL
    assert kind_of("", cell, "7") is Kind.REAL


def test_integers_beside_decimals_are_real_only_as_long_as_a_float_is_exact() -> None:
    assert kind_of("999999999999999", "0.5") is Kind.REAL
    assert kind_of("9007199254740993", "0.5") is Kind.TEXT
    scan = Scan()
    scan.feed(["9007199254740993"])
    scan.feed(["0.5"])
    assert scan.kind is Kind.TEXT


def test_a_column_without_values_is_text() -> None:
    assert kind_of("", "") is Kind.TEXT
    assert Scan().kind is Kind.TEXT


@pytest.mark.parametrize("last", ["x", "0.5", "99999999999999999999", ""])
def test_the_last_cell_of_a_long_file_decides_like_the_first(last: str) -> None:
    table = opened("id,n\n" + "a,1\n" * 50_000 + f"b,{last}\n", name="x.csv")
    assert kinds(table)[1] is {"x": Kind.TEXT, "0.5": Kind.REAL, "": Kind.INTEGER}.get(last, Kind.TEXT)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_as_python_prints_it_is_real_or_whole(number: float) -> None:
    assert kind_of(repr(number)) is Kind.REAL


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str)
    | st.from_regex(r"\A-?[0-9.]{1,25}\Z")
)
def test_no_number_is_changed_by_becoming_one(cell: str) -> None:
    kind = kind_of(cell)
    if kind is Kind.INTEGER:
        assert str(int(cell)) == cell
    if kind is Kind.REAL and len(cell.replace("-", "").replace(".", "").strip("0")) <= 15:
        assert Decimal(repr(float(cell))) == Decimal(cell)

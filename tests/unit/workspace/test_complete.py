"""When a person who types SQL has come to its end."""

from __future__ import annotations

import pytest

from mnemos.workspace.sandbox.lexer import is_complete


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;",
        "SELECT 1; -- and a word on it",
        "SELECT ';';",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b; END;",
        "SELECT 1; SELECT 2;",
    ],
)
def test_a_statement_with_its_semicolon_is_complete(text):
    assert is_complete(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT 1",
        "SELECT ';",
        "-- ;",
        "SELECT 1 /* ; ",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM b;",
    ],
)
def test_what_goes_on_is_not(text):
    assert not is_complete(text)

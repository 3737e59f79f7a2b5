"""However little room there is, the card stays within it and tells the most it can."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemos.text.stored_text import reveal
from mnemos.text.tokens import count_tokens, use_tokenizer
from mnemos.workspace.identifiers import quote

from .opened import Opened, opened

NAMES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=20),
    st.sampled_from(
        ["a\nb", "x\r", "\u202e", "```", "</x>", "n" * 3_000, "价格", "naïve", "order", "\u2028", "🙂"]
    ),
)
CELLS = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=100),
    st.binary(max_size=20),
)
SCHEMA = st.lists(
    st.tuples(NAMES, st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: name.lower())),
    min_size=1,
    max_size=5,
    unique_by=lambda table: table[0].lower(),
)


@given(
    schema=SCHEMA,
    cells=st.lists(CELLS, min_size=4, max_size=4),
    most_bytes=st.integers(0, 4_000),
    tokens=st.integers(0, 600),
    most_tables=st.integers(0, 6),
)
def test_nothing_stored_adds_a_line_and_no_budget_is_exceeded(
    schema: list[tuple[str, list[str]]], cells: list[object], most_bytes: int, tokens: int, most_tables: int
) -> None:
    schema = [(name, columns) for name, columns in schema if not name.lower().startswith("sqlite_")]
    with TemporaryDirectory() as folder:
        made = opened(Path(folder) / "x.db")
        try:
            with made.transaction():
                for name, columns in schema:
                    made.run(f"CREATE TABLE {quote(name)} ({', '.join(map(quote, columns))})")
                    marks = ", ".join("?" for _ in columns)
                    made.run(f"INSERT INTO {quote(name)} VALUES ({marks})", cells[: len(columns)])
            _check(made, len(schema), most_bytes, tokens, most_tables)
        finally:
            made.database.close()


def _check(made: Opened, tables: int, most_bytes: int, tokens: int, most_tables: int) -> None:
    whole = made.text(most_bytes=1_000_000)
    lines = whole.split("\n")
    assert all(reveal(line) == line for line in lines)
    # A line for each table and one for its row, below the line of the card.
    assert len(lines) == (1 + 2 * tables if tables else 1)
    assert sum(line.startswith("  e.g. (") for line in lines) == tables
    small = made.card(most_bytes=most_bytes)
    assert len(small["text"].encode()) <= most_bytes
    few = made.card(tokens=tokens, most_tables=most_tables)
    assert count_tokens(few["text"]) <= tokens
    for answer in (small, few):
        assert len(answer["tables"]) + answer["more"] == tables
        assert all(reveal(line) == line for line in answer["text"].split("\n"))


def measurements(made: Opened, tables: int) -> None:
    with made.transaction():
        for number in range(tables):
            name = f"measurements_{number}"
            made.run(
                f"CREATE TABLE {name} (id INTEGER PRIMARY KEY, sensor TEXT NOT NULL, value REAL, "
                "taken_at TEXT, note TEXT DEFAULT '', place TEXT, station TEXT, author TEXT)"
            )
            made.run(f"INSERT INTO {name}(sensor, value, taken_at) VALUES ('a', 1.5, '2026-01-02')")
            made.run(f"INSERT INTO {name}(sensor, value, taken_at) VALUES ('b', 2.5, '2026-02-03')")


@pytest.fixture
def many(made: Opened) -> Opened:
    measurements(made, 25)
    return made


def test_six_hundred_tokens_name_every_one_of_25_tables_with_columns(many: Opened) -> None:
    answer = many.card(tokens=600)
    assert count_tokens(answer["text"]) <= 600
    assert answer["more"] == 0
    lines = answer["text"].split("\n")[1:]
    assert len(lines) == 25
    assert all(": id" in line for line in lines)


def test_what_is_dropped_goes_in_order(made: Opened) -> None:
    """Rows first, then what was seen in them, then rules, then types, then columns, then tables."""
    marks = {
        "rows": "e.g. (",
        "seen": "2026-01-02..2026-02-03",
        "rules": "NOT NULL",
        "types": "sensor TEXT",
        "columns": "taken_at",
        "tables": "measurements_0 (",
    }
    measurements(made, 3)
    found = []
    for tokens in range(600, 20, -5):
        text = made.text(tokens=tokens)
        # The last table is the first to lose anything.
        last = text[text.rfind("measurements_0 (") :] if "measurements_0 (" in text else ""
        there = [mark for mark, sign in marks.items() if sign in last]
        assert there == list(marks)[len(marks) - len(there) :], (tokens, last)
        found.append(len(there))
    assert found == sorted(found, reverse=True)
    assert set(found) == set(range(7))


def test_a_larger_budget_never_tells_of_fewer_tables(many: Opened) -> None:
    told = [len(many.card(tokens=tokens)["tables"]) for tokens in range(0, 800, 50)]
    assert told == sorted(told)
    assert told[0] == 0
    assert told[-1] == 25


def test_tables_without_room_are_counted_and_named(many: Opened) -> None:
    answer = many.card(tokens=200)
    assert answer["more"] == 25 - len(answer["tables"]) > 0
    assert answer["text"].split("\n")[-1].startswith(f"and {answer['more']} more: measurements_")


@pytest.mark.parametrize("room", [{"tokens": 0}, {"most_bytes": 0}, {"tokens": 1}, {"most_bytes": 5}])
def test_without_room_for_a_line_the_card_is_empty(many: Opened, room: dict[str, int]) -> None:
    answer = many.card(**room)
    assert (answer["text"], answer["tables"], answer["more"]) == ("", [], 25)


def test_a_tokenizer_by_which_the_whole_costs_more_than_its_parts_is_kept_to(made: Opened) -> None:
    measurements(made, 5)

    def count(text: str) -> int:
        return len(text) ** 2 // 1_000

    use_tokenizer(count)
    try:
        for tokens in (5, 50, 300, 1_000, 3_000):
            assert count(made.text(tokens=tokens)) <= tokens
    finally:
        use_tokenizer(None)


def test_with_room_for_one_line_the_tables_are_counted(many: Opened) -> None:
    assert many.text(most_bytes=12) == "25 tables"


def test_an_empty_database_keeps_to_the_budget_too(made: Opened) -> None:
    assert made.text(tokens=3) == ""
    assert made.text(tokens=100) != ""

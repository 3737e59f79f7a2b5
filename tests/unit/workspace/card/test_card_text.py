"""The text of the card, as a model reads it."""

from __future__ import annotations

import json

import pytest

from mnemos.workspace.sandbox.card import schema_card
from mnemos.workspace.sandbox.failures import Failure

from .opened import Opened

SHOP = """
CREATE TABLE items (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, meta TEXT, active BOOLEAN DEFAULT 1);
CREATE TABLE prices ( -- what competitors ask
  item TEXT REFERENCES items(id) ON DELETE CASCADE, -- the SKU
  eur REAL, url TEXT, seen TEXT, at INTEGER, status TEXT,
  UNIQUE (item, seen)
);
CREATE INDEX prices_seen ON prices(seen);
CREATE TRIGGER log_price AFTER INSERT ON prices BEGIN SELECT 1; END;
CREATE VIEW cheapest AS SELECT item, min(eur) AS low FROM prices GROUP BY item;
"""


@pytest.fixture
def shop(made: Opened) -> Opened:
    made.run(SHOP)
    made.many("INSERT INTO items VALUES (?, ?, ?, ?)", [
        (f"i{number}", f"Widget {number}", '{"color": "red", "kg": 1}', number % 2) for number in range(4)
    ])  # fmt: skip
    made.many("INSERT INTO prices VALUES (?, ?, ?, ?, ?, ?)", [
        (f"i{number % 4}", number * 1.5, f"https://x.example/{number}", f"2026-01-{number // 4 + 1:02d}",
         1767312000 + 3600 * number, ("new", "sold")[number % 2])
        for number in range(40)
    ])  # fmt: skip
    return made


def test_the_card_of_a_small_shop(shop: Opened) -> None:
    assert shop.text() == (
        "2 tables, 1 view; last used first\n"
        "view cheapest: SELECT item, min(eur) AS low FROM prices GROUP BY item\n"
        "prices (40 rows): item TEXT -> items.id 'i0'|'i1'|'i2'|'i3', eur REAL money 0..58.5, "
        "url TEXT url, seen TEXT date 2026-01-01..2026-01-10, at INTEGER 1767312000..1767452400, "
        "status TEXT 'new'|'sold'\n"
        "  about: what competitors ask; the SKU\n"
        "  unique(item, seen)\n"
        "  e.g. ('i0', 0, 'https://x.example/0', '2026-01-01', 1767312000, 'new') | "
        "('i3', 28.5, 'https://x.example/19', '2026-01-05', 1767380400, 'sold') | "
        "('i3', 58.5, 'https://x.example/39', '2026-01-10', 1767452400, 'sold')\n"
        "items (4 rows): id TEXT PK, name TEXT NOT NULL UNIQUE, meta TEXT json, "
        "active BOOLEAN default 1 0..1\n"
        "  e.g. ('i0', 'Widget 0', '{\"color\": \"red\", \"kg\": 1}', 0) | "
        "('i1', 'Widget 1', '{\"color\": \"red\", \"kg\": 1}', 1) | "
        "('i3', 'Widget 3', '{\"color\": \"red\", \"kg\": 1}', 1)"
    )


def test_one_table_in_full_has_a_line_a_column_ten_rows_and_its_statement(shop: Opened) -> None:
    lines = shop.text(table="PRICES").splitlines()
    assert lines[1] == "prices (40 rows):"
    assert lines[2] == "  item TEXT -> items.id 'i0'|'i1'|'i2'|'i3'"
    assert sum(line.startswith("    (") for line in lines) == 10
    assert "  | CREATE TABLE prices ( -- what competitors ask" in lines
    told = shop.card(table="prices")["tables"][0]
    assert told["sql"].startswith("CREATE TABLE prices")
    assert len(told["sample"]) == 10


def test_the_data_say_what_the_text_says(shop: Opened) -> None:
    item = shop.column("prices", "item")
    assert item["references"] == {"columns": ["item"], "table": "items", "to": ["id"]}
    assert shop.column("prices", "eur") == {
        "name": "eur", "type": "REAL", "primary_key": False, "not_null": False, "default": None,
        "unique": False,
        "stored": "real", "kind": "money", "range": [0.0, 58.5], "range_exact": True,
    }  # fmt: skip
    assert shop.column("prices", "status")["values"] == ["new", "sold"]
    assert shop.column("items", "id")["primary_key"]
    assert shop.column("items", "name")["unique"]
    prices = shop.table("prices")
    assert (prices["rows"], prices["rows_exact"], prices["comment"]) == (
        40,
        True,
        "what competitors ask; the SKU",
    )
    assert prices["unique"] == [["item", "seen"]]
    assert shop.table("cheapest")["kind"] == "view"
    assert json.loads(json.dumps(shop.card())) == shop.card()


def test_an_empty_database_says_so_and_how_to_make_a_table(made: Opened) -> None:
    answer = made.card()
    assert answer["tables"] == []
    assert "CREATE TABLE" in answer["text"]
    assert "\n" not in answer["text"]


def test_tables_used_last_come_first_then_the_newest(made: Opened) -> None:
    for name in ("a", "b", "c", "d"):
        made.run(f"CREATE TABLE {name} (x)")
    made.database.recent.update({"b": 100.0, "A": 200.0, "gone": 300.0})
    assert [table["name"] for table in made.card()["tables"]] == ["a", "b", "d", "c"]


def test_beyond_the_most_tables_the_others_are_counted_and_named(made: Opened) -> None:
    for number in range(30):
        made.run(f"CREATE TABLE t{number} (x)")
    answer = made.card()
    assert len(answer["tables"]) == 25
    assert answer["more"] == 5
    assert answer["text"].splitlines()[0].startswith("30 tables")
    assert answer["text"].splitlines()[-1] == "and 5 more: t4, t3, t2, t1, t0"


def test_an_unknown_table_is_not_found_and_the_nearest_is_named(shop: Opened) -> None:
    with pytest.raises(Failure) as caught:
        shop.card(table="price")
    assert caught.value.code == "not_found"
    assert "Did you mean prices?" in caught.value.message
    assert "items" in caught.value.message


def test_no_table_is_found_in_an_empty_database(made: Opened) -> None:
    with pytest.raises(Failure) as caught:
        made.card(table="x")
    assert caught.value.code == "not_found"


def test_composite_keys_multiple_references_and_expressions_are_reported(made: Opened) -> None:
    made.run("""
        CREATE TABLE p (a INT, b INT, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE c (x INT, y INT, z INT REFERENCES p, FOREIGN KEY (x, y) REFERENCES p(a, b));
        CREATE UNIQUE INDEX once ON c(lower(x), y) WHERE z > 1;
    """)
    text = made.text()
    assert "p (0 rows): a INT PK, b INT PK" in text
    assert "z INT -> p" in text
    assert "FK (x, y) -> p(a, b)" in text
    assert not made.column("c", "y")["unique"]


def test_a_partial_unique_index_makes_no_column_unique(made: Opened) -> None:
    made.run("CREATE TABLE t (a, b); CREATE UNIQUE INDEX i ON t(a) WHERE b; CREATE UNIQUE INDEX j ON t(b)")
    assert not made.column("t", "a")["unique"]
    assert made.column("t", "b")["unique"]


def test_generated_columns_are_marked_and_read_where_they_are_stored(made: Opened) -> None:
    made.run("CREATE TABLE t (a INT, b AS (a * 2), c AS (a + 1) STORED); INSERT INTO t(a) VALUES (3)")
    assert [made.column("t", name).get("generated") for name in "abc"] == [None, "virtual", "stored"]
    assert made.table("t")["sample"] == [[3, 4]]
    assert "b generated, c integer generated" in made.text()


def test_full_text_and_rtree_tables_hide_the_tables_behind_them(made: Opened) -> None:
    made.run("CREATE VIRTUAL TABLE notes USING fts5(title, content); INSERT INTO notes VALUES ('a', 'b')")
    made.run("CREATE VIRTUAL TABLE box USING rtree(id, low, high); INSERT INTO box VALUES (1, 2, 3)")
    answer = made.card()
    assert [table["name"] for table in answer["tables"]] == ["box", "notes"]
    assert "fts5 table notes: title, content" in answer["text"]


def test_a_table_that_is_called_like_one_behind_a_virtual_table_is_reported(made: Opened) -> None:
    made.run("CREATE TABLE notes_content (id INTEGER PRIMARY KEY, title)")
    made.run("CREATE VIRTUAL TABLE notes USING fts5(title, content = 'notes_content', content_rowid = 'id')")
    assert {table["name"] for table in made.card()["tables"]} == {"notes", "notes_content"}


def test_names_are_in_quotes_where_sql_needs_them(made: Opened) -> None:
    made.run('CREATE TABLE "order" ("unit price" REAL, "group" INT, "1st" INT, größe INT, "a""b" INT)')
    assert '"order" (0 rows): "unit price" REAL, "group" INT, "1st" INT, größe INT, "a""b" INT' in made.text()


def test_every_value_of_sqlite_is_shown_and_can_be_json(made: Opened) -> None:
    made.run("CREATE TABLE t (a, b, c, d, e, f, g)")
    made.run(
        "INSERT INTO t VALUES (NULL, 9223372036854775807, 9e999, -9e999, x'00ff', 'it''s' || char(10), ?)",
        ("x" * 5_000,),
    )
    assert "(NULL, 9223372036854775807, Infinity, -Infinity, <blob, 2 bytes>, 'it''s\\n', 'xxx" in made.text()
    (sample,) = made.table("t")["sample"]
    assert sample[:6] == [None, 2**63 - 1, "Infinity", "-Infinity", "<blob, 2 bytes>", "it's\n"]
    assert len(sample[6]) == 200
    json.dumps(made.card(), allow_nan=False)


def test_text_that_is_not_utf8_is_shown_with_a_sign_in_its_place(made: Opened) -> None:
    made.run("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
    made.run("INSERT INTO t(a) VALUES ('good'), (CAST(x'ff61' AS TEXT)), ('fine')")
    assert made.table("t")["sample"] == [[1, "good"], [2, "�a"], [3, "fine"]]
    made.many(
        "INSERT INTO t(a) VALUES (CAST(? AS TEXT))", [(b"\xfe" + bytes([65 + n % 26]),) for n in range(1_000)]
    )
    assert made.table("t")["sampled_rows"] > 100
    assert made.table("t")["sample"][-1][1].startswith("�")


def test_a_table_without_rowids_is_sampled_from_its_beginning(made: Opened) -> None:
    made.run("CREATE TABLE t (k INTEGER PRIMARY KEY, v) WITHOUT ROWID")
    made.many("INSERT INTO t VALUES (?, ?)", [(number, number) for number in range(2_000)])
    assert [row[0] for row in made.table("t")["sample"]] == [0, 99, 199]
    assert made.table("t")["rows"] == 2_000
    assert not made.column("t", "k")["range_exact"]


def test_columns_called_rowid_hide_no_row(made: Opened) -> None:
    made.run("CREATE TABLE t (rowid TEXT, _rowid_ TEXT, OID TEXT)")
    made.many("INSERT INTO t VALUES (?, 'x', 'y')", [(f"n{number}",) for number in range(1_000)])
    told = made.table("t")
    assert (told["rows"], told["rows_exact"]) == (1_000, True)
    assert told["sample"][0][0] == "n0"


def test_rows_are_sampled_from_all_over_a_table(made: Opened) -> None:
    made.run("CREATE TABLE t (n INTEGER)")
    made.many("INSERT INTO t VALUES (?)", [(number,) for number in range(5_000)])
    first, middle, last = (row[0] for row in made.table("t")["sample"])
    assert first == 0
    assert 2_000 < middle < 3_000
    assert last == 4_999


def test_the_defaults_are_those_of_the_specification() -> None:
    assert (schema_card.MOST_TABLES, schema_card.MOST_BYTES) == (25, 30_000)

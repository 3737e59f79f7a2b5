from __future__ import annotations

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shop import opened

from mnemos.workspace.sandbox.hints import warnings

BITING = [
    ("CREATE TABLE t (id SERIAL PRIMARY KEY, n TEXT)", "id INTEGER PRIMARY KEY"),
    ("CREATE TABLE IF NOT EXISTS t (n TEXT, id BIGSERIAL)", "id INTEGER PRIMARY KEY"),
    ("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY)", "id INTEGER PRIMARY KEY"),
    ("create table t (id integer auto_increment primary key)", "id INTEGER PRIMARY KEY"),
    ("CREATE TABLE t (id INT IDENTITY(1,1) PRIMARY KEY)", "id INTEGER PRIMARY KEY"),
    ("ALTER TABLE spans ADD COLUMN id SERIAL", "INTEGER PRIMARY KEY"),
    ("CREATE TABLE t (code STRING)", "TEXT"),
    ("CREATE TABLE t (a TEXT b TEXT)", "a comma is missing"),
    ("ALTER TABLE spans ADD c TEXT AFTER a", "comes last"),
    ("SELECT * FROM prices WHERE eur = NULL", "IS NULL"),
    ("SELECT * FROM prices WHERE eur > 1 AND (prices.day != NULL)", "IS NOT NULL"),
    ("SELECT CASE WHEN eur <> NULL THEN 1 END FROM prices", "IS NOT NULL"),
    ("SELECT * FROM prices p JOIN news n ON n.item = NULL", "IS NULL"),
    ("SELECT item + ' EUR' FROM prices", "||"),
    ("SELECT 'a' + 'b'", "||"),
    ("SELECT CAST(day AS DATE) FROM prices", "date(x)"),
    ("SELECT CAST(day AS timestamp) FROM prices", "datetime(x)"),
    ("SELECT CAST(item AS STRING) FROM prices", "TEXT"),
    ("SELECT CAST(eur AS UNSIGNED) FROM prices", "INTEGER"),
    ("SELECT 1/2", "1.0/2"),
    ("SELECT pow(eur, 1/3) FROM prices", "1.0/3"),
    ("SELECT count(item) / count(*) FROM prices", "1.0 *"),
    ("SELECT count(*) FILTER (WHERE eur > 1) / count(*) FROM prices", "1.0 *"),
    ("SELECT sum(CASE WHEN eur > 1 THEN 1 ELSE 0 END) / count(*) FROM prices", "1.0 *"),
    ("SELECT * FROM prices WHERE day > 2024-01-31", "'2024-01-31'"),
    ("SELECT * FROM prices WHERE item = 'a' OR 'b'", "IN"),
    ("SELECT * FROM prices ORDER BY 'eur'", "single quotes"),
    ("SELECT item FROM prices GROUP BY 'item'", "single quotes"),
    ("SELECT FORMAT(day, 'yyyy-MM') FROM prices", "strftime"),
    ("SELECT * FROM prices WHERE eur = 1 || eur = 2", "OR"),
]

ORDINARY = """
SELECT 1
SELECT * FROM prices
SELECT item, eur FROM prices WHERE eur > 1.5 AND day >= '2024-01-01' ORDER BY eur DESC LIMIT 10
SELECT item, count(*) AS n, sum(eur) / count(*) FROM prices GROUP BY item HAVING n > 1 ORDER BY n DESC
SELECT p.item, n.eur FROM prices AS p LEFT JOIN news AS n ON n.item = p.item WHERE n.eur IS NULL
SELECT * FROM prices WHERE eur IS NOT NULL AND item IS NOT NULL
SELECT item FROM prices WHERE item IN ('a', 'b') OR item = 'c'
SELECT item FROM prices WHERE item LIKE 'a%' OR item LIKE '%b'
SELECT item FROM prices WHERE item = 'a' OR 'b' = item
SELECT * FROM prices WHERE day BETWEEN '2024-01-01' AND '2024-12-31'
SELECT date(day, '+7 days'), strftime('%Y-%m', day) FROM prices
SELECT julianday('now') - julianday(day) FROM prices
SELECT date('now', 'start of month', '-1 day')
SELECT CAST(eur AS INTEGER), CAST(item AS TEXT), CAST('1.5' AS REAL), CAST(item AS BLOB) FROM prices
SELECT coalesce(eur, 0) + 1 FROM prices
SELECT eur + 1, eur - 1, eur * 2, eur / 3 FROM prices
SELECT eur * 1 / 2 FROM prices
SELECT 10 / 5, 100 / 10
SELECT 1.0 / 2, 1 / 2.0
SELECT 1.0 * count(eur) / count(*) FROM prices
SELECT 100.0 * sum(CASE WHEN eur > 1 THEN 1 ELSE 0 END) / count(*) FROM prices
SELECT round(100.0 * count(*) FILTER (WHERE eur > 1) / count(*), 1) FROM prices
SELECT '5' + 1
SELECT eur + '1.5' FROM prices
SELECT item || ' ' || eur FROM prices
SELECT item || ': ' || eur AS label FROM prices WHERE eur = 1.5
SELECT 'a' || 'b' = 'ab'
SELECT printf('%.2f', eur), format('%s: %d', item, 1) FROM prices
SELECT 2024 - 1, 2024 - 1 - 100
SELECT eur - 1 - 2 FROM prices
SELECT * FROM prices WHERE item = '2024-01-01' AND eur > 2024
SELECT CASE WHEN eur IS NULL THEN 'none' WHEN eur = 0 THEN 'zero' ELSE 'some' END FROM prices
SELECT CASE item WHEN 'a' THEN NULL ELSE 1 END FROM prices
SELECT ifnull(eur, 0) = 0 OR eur IS NULL FROM prices
SELECT nullif(eur, 0) FROM prices
SELECT row_number() OVER (PARTITION BY item ORDER BY eur DESC) AS n FROM prices
SELECT * FROM (SELECT item, rank() OVER (ORDER BY eur) AS r FROM prices) WHERE r = 1
SELECT group_concat(item, ', ' ORDER BY item), json_group_array(eur) FROM prices
SELECT value ->> 'a', json_extract(value, '$.b') FROM json_each('[{"a": 1, "b": null}]')
SELECT item FROM prices UNION ALL SELECT item FROM news ORDER BY item
SELECT item FROM prices EXCEPT SELECT item FROM news
SELECT * FROM prices ORDER BY lower(item), eur DESC, 2
SELECT * FROM prices ORDER BY 'a' || item
SELECT item FROM prices GROUP BY 1 ORDER BY count(*) DESC
SELECT EXISTS (SELECT 1 FROM prices WHERE eur > 2)
SELECT -1, +1, 'it''s', x'00ff', 1e3, 0x1f
SELECT 'x = NULL', "item" FROM prices
SELECT item AS "a = NULL" FROM prices
SELECT 1 -- x = NULL, 'a' + 'b', 1/2
SELECT 1 /* WHERE x = NULL OR 'b' */
SELECT * FROM prices WHERE item = ? AND eur > :least
WITH t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 5) SELECT sum(x) FROM t
VALUES (1, NULL), (2, 'a')
INSERT INTO prices (item, eur, day) VALUES ('a', 1, '2024-01-01'), ('b', NULL, NULL)
INSERT INTO prices VALUES ('SERIAL AUTO_INCREMENT', 1, 'CREATE TABLE t (id SERIAL)')
INSERT INTO news VALUES ('apple', 2) ON CONFLICT (item) DO UPDATE SET eur = excluded.eur
INSERT OR REPLACE INTO news SELECT item, max(eur) FROM prices GROUP BY item
UPDATE prices SET eur = NULL WHERE item = 'a'
UPDATE prices SET day = NULL, eur = NULL
UPDATE prices SET eur = (SELECT eur FROM news WHERE news.item = prices.item), day = NULL WHERE item = 'a'
UPDATE prices SET eur = CASE WHEN item = 'a' AND eur > 1 THEN 1 END, day = NULL
DELETE FROM prices WHERE eur IS NULL OR item = ''
CREATE TABLE t1 (id INTEGER PRIMARY KEY, name TEXT NOT NULL, day TEXT DEFAULT CURRENT_DATE)
CREATE TABLE t2 (id INTEGER PRIMARY KEY AUTOINCREMENT, serial TEXT, identity TEXT, string TEXT)
CREATE TABLE t3 (a VARCHAR(255), b NUMERIC(10, 2), c BOOLEAN, d DATETIME, e DOUBLE PRECISION)
CREATE TABLE t9 (f UNSIGNED BIG INT, g LONG VARCHAR, h TIMESTAMP WITH TIME ZONE)
CREATE TABLE t4 (a TIMESTAMP, b CHARACTER VARYING(20), d TEXT CHECK (d IN ('x', 'y')), UNIQUE (a))
CREATE TABLE t5 (a TEXT, b TEXT REFERENCES news(item), PRIMARY KEY (a, b)) WITHOUT ROWID
CREATE TABLE t6 AS SELECT item, CAST(eur AS INTEGER) AS eur FROM prices
CREATE TABLE t7 (a, b, c)
CREATE VIRTUAL TABLE t8 USING fts5(title, body)
CREATE INDEX i1 ON prices (item, eur DESC) WHERE eur IS NOT NULL
CREATE VIEW v1 AS SELECT item FROM prices WHERE eur > 1
CREATE TRIGGER g1 AFTER INSERT ON prices BEGIN UPDATE news SET eur = 1 WHERE item = NEW.item; END
ALTER TABLE prices ADD COLUMN note TEXT
ALTER TABLE prices ADD COLUMN done INTEGER NOT NULL DEFAULT 0
ALTER TABLE prices RENAME COLUMN eur TO price
DROP TABLE IF EXISTS prices
PRAGMA table_info("prices")
EXPLAIN QUERY PLAN SELECT * FROM prices
""".strip().split("\n")


@pytest.mark.parametrize(("sql", "word"), BITING)
def test_what_sqlite_understands_otherwise_is_said(sql: str, word: str) -> None:
    opened().execute(sql).fetchall()
    (said,) = warnings(sql)
    assert word in said


@pytest.mark.parametrize("sql", ORDINARY)
def test_ordinary_sql_gets_no_warning(sql: str) -> None:
    assert warnings(sql) == []


def test_the_ordinary_statements_are_taken_by_sqlite() -> None:
    assert len(ORDINARY) > 60
    for sql in ORDINARY:
        try:
            opened().execute(sql).fetchall()
        except apsw.BindingsError:
            pass


@given(
    st.sampled_from([sql for sql, _ in BITING]),
    st.sampled_from(["'{}'", '"{}"', "[{}]", "/* {} */ 1", "1 -- {}"]),
)
def test_nothing_within_quotes_and_comments_is_looked_at(sql: str, around: str) -> None:
    inside = sql.replace("'", "''") if around == "'{}'" else sql
    if around == "[{}]" and "]" in sql:
        return
    assert warnings(f"SELECT {around.format(inside)}") == []


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=200))
def test_any_text_is_answered_with_a_few_short_sentences(text: str) -> None:
    for sql in (text, f"CREATE TABLE t ({text})", f"SELECT * FROM t WHERE {text}"):
        said = warnings(sql)
        assert len(said) <= 5
        assert all(len(one) < 300 for one in said)


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        "'",
        "a = NULL AND ",
        "1/2 + ",
        "count(a)/",
        "a SERIAL, ",
        "OR 'a' ",
        "2024-01-01 ",
        "CAST(a AS DATE) ",
    ],
)
def test_a_statement_of_four_megabytes_is_looked_at_only_at_its_beginning(piece: str) -> None:
    """Quadratic time would be minutes here."""
    head = "CREATE TABLE t (" if "SERIAL" in piece else "SELECT * FROM t WHERE "
    assert len(warnings(head + piece * (4_000_000 // len(piece)))) <= 5

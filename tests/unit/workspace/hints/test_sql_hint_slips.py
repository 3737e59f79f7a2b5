"""An agent slips into another dialect; the statement that the hint offers runs, and gives what was meant."""

from __future__ import annotations

from typing import Any

import pytest
from shop import hinted, offered, opened, rows

APPLES = [("apple", 1.5), ("apple", 2.0)]

READS: list[tuple[str, list[Any] | None]] = [
    # T-SQL
    ("SELECT TOP 2 item FROM prices ORDER BY eur DESC", [("pear",), ("apple",)]),
    ("SELECT TOP (1) eur FROM prices ORDER BY eur", [(1.5,)]),
    ("SELECT DISTINCT TOP 5 item FROM prices ORDER BY item", [("apple",), ("pear",)]),
    ("WITH t AS (SELECT eur FROM prices) SELECT TOP 1 * FROM t ORDER BY eur", [(1.5,)]),
    ("SELECT * FROM (SELECT TOP 1 eur FROM prices ORDER BY eur) AS t", [(1.5,)]),
    ("SELECT ISNULL(NULL, 7)", [(7,)]),
    ("SELECT count(*) FROM prices WHERE ISNULL(eur)", [(0,)]),
    ("SELECT [item] FROM [dbo].[prices] WHERE [eur] > 2", [("pear",)]),
    ("SELECT item FROM prices WITH (NOLOCK) WHERE eur > 2", [("pear",)]),
    ("SELECT CONVERT(INT, '7')", [(7,)]),
    ("SELECT CONVERT(VARCHAR(10), 7)", [("7",)]),
    ("SELECT TRY_CAST('7' AS INT)", [(7,)]),
    ("SELECT TRY_CONVERT(INT, '7')", [(7,)]),
    ("SELECT CAST(7 AS NVARCHAR(MAX)) + ' EUR'", [("7 EUR",)]),
    ("SELECT DATEADD(day, -7, '2024-03-08')", [("2024-03-01",)]),
    ("SELECT DATEDIFF(day, '2024-03-01', '2024-03-08')", [(7,)]),
    ("SELECT DATEPART(year, '2024-03-08')", [(2024,)]),
    ("SELECT DATENAME(month, '2024-03-08')", [("March",)]),
    ("SELECT eur FROM prices ORDER BY eur OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY", [(2.0,)]),
    ("SELECT item FROM prices CROSS JOIN (SELECT 1 AS x) AS t OPTION (RECOMPILE)", None),
    ("SELECT N'text'", [("text",)]),
    ("SELECT name FROM sys.tables", [("prices",), ("news",), ("spans",)]),
    ("EXEC sp_help 'news'", None),
    ("SELECT NEWID()", None),
    ("SELECT @@VERSION", None),
    ("SELECT STRING_AGG(item, '+') WITHIN GROUP (ORDER BY item DESC) FROM news", [("plum+apple",)]),
    ("SELECT SQUARE(3)", [(9.0,)]),
    # MySQL
    ("SELECT count(*) FROM prices WHERE day > NOW() - INTERVAL 7 DAY", [(0,)]),
    ("SELECT DATE_ADD('2024-01-31', INTERVAL 1 DAY)", [("2024-02-01",)]),
    ("SELECT DATE_SUB('2024-03-08', INTERVAL 2 WEEK)", [("2024-02-23",)]),
    ("SELECT DATE_SUB('2024-03-08 10:00:00', INTERVAL 3 HOUR)", [("2024-03-08 07:00:00",)]),
    ("SELECT TIMESTAMPDIFF(MINUTE, a, b) FROM spans", [(2970,)]),
    ("SELECT TIMESTAMPDIFF(MONTH, '2023-11-01', '2024-02-01')", [(3,)]),
    ("SELECT GROUP_CONCAT(item SEPARATOR '; ') FROM news", [("apple; plum",)]),
    ("SELECT GROUP_CONCAT(DISTINCT item ORDER BY item DESC SEPARATOR '/') FROM prices", [("pear/apple",)]),
    ("SELECT item FROM prices WHERE item RLIKE '^p'", [("pear",)]),
    ("SELECT 7 DIV 2, 7 MOD 2", [(3, 1)]),
    ("SELECT count(*) FROM prices WHERE eur > 1 && item = 'pear'", [(1,)]),
    ("SELECT count(*) FROM prices WHERE eur <=> NULL", [(0,)]),
    ("SELECT count(DISTINCT item, day) FROM prices", [(3,)]),
    ("SELECT 1 FROM DUAL", [(1,)]),
    ("SELECT item FROM prices WHERE item = 'it\\'s'", []),
    ("SELECT FIELD('b', 'a', 'b')", [(2,)]),
    ("SELECT eur FROM prices WHERE BINARY item = 'pear'", [(2.5,)]),
    ("SELECT eur FROM prices WHERE item COLLATE utf8mb4_general_ci = 'PEAR'", [(2.5,)]),
    ("SELECT item FROM prices ORDER BY RAND() LIMIT 1", None),
    ("SELECT LAST_INSERT_ID()", None),
    ("SELECT UTC_TIMESTAMP()", None),
    ("SELECT CURRENT_TIMESTAMP()", None),
    ("SELECT JSON_UNQUOTE(JSON_EXTRACT('{\"a\": \"b\"}', '$.a'))", [("b",)]),
    ("SHOW TABLES", [("prices",), ("news",), ("spans",)]),
    ("SHOW COLUMNS FROM spans", [(0, "a", "TEXT", 0, None, 0), (1, "b", "TEXT", 0, None, 0)]),
    ("SHOW CREATE TABLE spans", [("CREATE TABLE spans (a TEXT, b TEXT)",)]),
    ("DESCRIBE spans", [(0, "a", "TEXT", 0, None, 0), (1, "b", "TEXT", 0, None, 0)]),
    ("EXPLAIN EXTENDED SELECT 1", None),
    ("SELECT * FROM news FOR UPDATE", [("apple", 3.0), ("plum", 1.0)]),
    ("VALUES ROW(1, 2), ROW(3, 4)", [(1, 2), (3, 4)]),
    ("SELECT 2 ^ 3", [(8.0,)]),
    # PostgreSQL
    ("SELECT item FROM prices WHERE item ILIKE 'PE%'", [("pear",)]),
    ("SELECT item FROM prices WHERE item NOT ILIKE 'ap%'", [("pear",)]),
    ("SELECT item FROM prices WHERE item ~ '^p'", [("pear",)]),
    ("SELECT DISTINCT item FROM prices WHERE item ~* '^A'", [("apple",)]),
    ("SELECT DISTINCT item FROM prices WHERE item !~ '^p'", [("apple",)]),
    ("SELECT '7'::int", [(7,)]),
    ("SELECT 7::text || 'x'", [("7x",)]),
    ("SELECT 2.345::numeric(10, 2)", [(2.35,)]),
    ("SELECT '2024-03-05 10:00:00'::timestamp::date", [("2024-03-05",)]),
    ("SELECT count(*)::float / 2 FROM prices", [(1.5,)]),
    ("SELECT (eur * 2)::int FROM prices WHERE item = 'pear'", [(5,)]),
    ("SELECT '{\"a\": 1}'::json->>'a'", [(1,)]),
    ("SELECT EXTRACT(YEAR FROM day) FROM prices WHERE item = 'pear'", [(2024,)]),
    ("SELECT EXTRACT(QUARTER FROM '2024-05-01')", [(2,)]),
    ("SELECT EXTRACT(EPOCH FROM (b - a)) / 3600 FROM spans", [(49,)]),
    ("SELECT '2024-01-31'::date + INTERVAL '1 year 2 days'", [("2025-02-02",)]),
    ("SELECT DATE '2024-01-31' - INTERVAL '1 week'", [("2024-01-24",)]),
    ("SELECT TIMESTAMP '2024-01-31 10:00:00' + INTERVAL '90 minutes'", [("2024-01-31 11:30:00",)]),
    ("SELECT count(*) FROM prices WHERE day > CURRENT_DATE - INTERVAL '1 month'", [(0,)]),
    ("SELECT count(*) FROM prices WHERE day < now() - '3 days'::interval", [(3,)]),
    ("SELECT DATE_TRUNC(month, '2024-03-05')", [("2024-03-01",)]),
    ("SELECT now() AT TIME ZONE 'UTC'", None),
    ("SELECT ARRAY_AGG(item) FROM news", [('["apple","plum"]',)]),
    ("SELECT value FROM UNNEST(ARRAY[1, 2])", [(1,), (2,)]),
    ("SELECT unnest(string_to_array('a,b', ','))", [("a",), ("b",)]),
    ("SELECT eur FROM prices WHERE item = ANY(ARRAY['pear', 'plum'])", [(2.5,)]),
    ("SELECT eur FROM prices WHERE item = ANY('{pear,plum}')", [(2.5,)]),
    ("SELECT DISTINCT item FROM prices WHERE item = ANY(SELECT item FROM news)", [("apple",)]),
    ("SELECT item FROM prices WHERE item <> ALL(SELECT item FROM news)", [("pear",)]),
    ("SELECT item FROM prices WHERE eur > ALL(SELECT eur / 1.5 FROM news)", [("pear",)]),
    (
        "SELECT DISTINCT ON (item) item, eur FROM prices ORDER BY item, eur DESC",
        [("apple", 2.0), ("pear", 2.5)],
    ),
    ("SELECT json_agg(row_to_json(n)) FROM news n WHERE item = 'plum'", [('[{"item":"plum","eur":1.0}]',)]),
    ("SELECT jsonb_build_object('a', 1)", [('{"a":1}',)]),
    ("SELECT SUBSTRING('abcdef' FROM 2 FOR 3)", [("bcd",)]),
    ("SELECT POSITION('c' IN 'abc')", [(3,)]),
    ("SELECT TRIM(LEADING '0' FROM '007')", [("7",)]),
    ("SELECT E'a\\nb'", [("a\nb",)]),
    ("SELECT BOOL_OR(eur > 2) FROM prices", [(1,)]),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY eur) FROM prices", [(2.0,)]),
    ("SELECT sum(value) FROM generate_series(1, 4)", [(10,)]),
    ("SELECT eur FROM prices ORDER BY eur FETCH FIRST 1 ROW ONLY", [(1.5,)]),
    ("SELECT eur FROM prices ORDER BY eur OFFSET 2", [(2.5,)]),
    ("SELECT count(*) FROM prices LIMIT ALL", [(3,)]),
    ("SELECT tablename FROM pg_tables", [("prices",), ("news",), ("spans",)]),
    ("SELECT table_name FROM information_schema.tables", [("prices",), ("news",), ("spans",)]),
    ("SELECT column_name FROM information_schema.columns WHERE table_name = 'spans'", None),
    ("\\d spans", [(0, "a", "TEXT", 0, None, 0), (1, "b", "TEXT", 0, None, 0)]),
    ("\\dt", [("prices",), ("news",), ("spans",)]),
    ("EXPLAIN ANALYZE SELECT 1", None),
    # others
    ("SELECT item, eur FROM prices QUALIFY row_number() OVER (ORDER BY eur) = 1", [("apple", 1.5)]),
    ("SELECT * EXCLUDE (eur) FROM news", [("apple",), ("plum",)]),
    ("SELECT n.* EXCEPT (eur) FROM news AS n", [("apple",), ("plum",)]),
    ("SELECT DECODE(1, 1, 'a', 'b')", [("a",)]),
    ("SELECT COUNTIF(eur > 2) FROM prices", [(1,)]),
    ("SELECT SAFE_DIVIDE(1, 0)", [(None,)]),
    ("SELECT count(*) FROM (SELECT item FROM prices MINUS SELECT item FROM news)", [(1,)]),
    ("SELECT count(*) FROM (SELECT item FROM prices EXCEPT ALL SELECT item FROM news)", [(1,)]),
    ("SELECT eur FROM prices WHERE ROWNUM <= 2", [(1.5,), (2.5,)]),
    ("SELECT LISTAGG(item, ',') FROM news", [("apple,plum",)]),
    ("SELECT JSON_VALUE('{\"a\": 1}', '$.a')", [(1,)]),
    # rarer forms of the same
    ("SELECT date('2024-01-05') WHERE 1 = ANY('[1, 2]')", [("2024-01-05",)]),
    ("SELECT B'101'", [(5,)]),
    ("SELECT E'a\\\\b\\tc'", [("a\\b\tc",)]),
    ("SELECT DATE_ADD('2024-01-31', 1)", [("2024-02-01",)]),
    ("SELECT DATE_ADD(day, INTERVAL eur DAY) FROM prices WHERE eur = 2", [("2024-04-03",)]),
    ("SELECT DATE_SUB(day, INTERVAL (1 + 1) WEEK) FROM prices WHERE eur = 2", [("2024-03-18",)]),
    ("SELECT DATE_ADD(p.day, INTERVAL -1 DAY) FROM prices p WHERE eur = 2", [("2024-03-31",)]),
    ("SELECT EXTRACT(DAY FROM '2024-03-08' - '2024-03-01')", [(7,)]),
    ("SELECT TIMESTAMPDIFF(YEAR, '2020-05-01', '2024-01-01')", [(4,)]),
    ("SELECT TIMESTAMPDIFF(WEEK, '2024-01-01', '2024-01-15')", [(2,)]),
    ("SELECT DATE_PART(year, '2024-03-05')", [(2024,)]),
    ("SELECT DATE_TRUNC('2024-03-05', MONTH)", [("2024-03-01",)]),
    ("SELECT DATETRUNC(month, '2024-03-05')", [("2024-03-01",)]),
    ("SELECT '5'::double precision", [(5.0,)]),
    ("SELECT '5'::varchar (10)", [("5",)]),
    ("SELECT CONVERT('a' USING utf8mb4)", [("a",)]),
    ("SELECT STRING_AGG(DISTINCT item, ';' ORDER BY item) FROM prices", [("apple;pear",)]),
    ("SELECT eur FROM news LOCK IN SHARE MODE", [(3.0,), (1.0,)]),
    ("SELECT eur FROM ONLY news", [(3.0,), (1.0,)]),
    ("SELECT eur FROM prices WHERE eur > 1 AND ROWNUM < 2", [(1.5,)]),
    ("SELECT eur FROM prices WHERE ROWNUM <= 1 AND eur > 2", [(2.5,)]),
    ("SELECT count(*) FROM prices WHERE eur IS IN (1.5)", [(1,)]),
    ("SELECT CASE WHEN eur > 2 THEN 1 ELSE IF eur > 1 THEN 2 END FROM prices LIMIT 1", [(2,)]),
    ("SELECT stddev(eur) FROM prices FETCH FIRST ROW ONLY", [(0.5,)]),
    ("SHOW INDEX FROM prices", None),
    ("SHOW FULL TABLES", [("prices",), ("news",), ("spans",)]),
    ("SHOW VIEWS", [("cheap",)]),
    ("DESCRIBE dbo.spans", [(0, "a", "TEXT", 0, None, 0), (1, "b", "TEXT", 0, None, 0)]),
    ("sp_columns spans", [(0, "a", "TEXT", 0, None, 0), (1, "b", "TEXT", 0, None, 0)]),
    ("SELECT table_name FROM information_schema.views", [("cheap",)]),
    ("SELECT indexname FROM pg_catalog.pg_indexes", None),
    ("EXPLAIN PLAN FOR SELECT 1", None),
    ("OPTIMIZE TABLE prices", None),
    (
        "SELECT DATEADD(month, 1, day)::date, JSON_VALUE('{}', '$.a') FROM prices LIMIT 1",
        [("2024-04-05", None)],
    ),
    ("SELECT item eur, FROM prices LIMIT 1", [("apple",)]),
    ("SELECT TOP 1 item, FROM prices", [("apple",)]),
]

WRITES = [
    (
        "INSERT INTO news (item, eur) VALUES ('apple', 9) ON DUPLICATE KEY UPDATE eur = VALUES(eur)",
        "SELECT eur FROM news WHERE item = 'apple'",
        [(9.0,)],
    ),
    (
        "INSERT INTO news (item, eur) VALUES ('apple', 9) AS new ON DUPLICATE KEY UPDATE eur = new.eur + 1",
        "SELECT eur FROM news WHERE item = 'apple'",
        [(10.0,)],
    ),
    (
        "INSERT INTO news SELECT item, max(eur) FROM prices GROUP BY item "
        "ON DUPLICATE KEY UPDATE eur = VALUES(eur)",
        "SELECT item, eur FROM news ORDER BY item",
        [("apple", 2.0), ("pear", 2.5), ("plum", 1.0)],
    ),
    (
        "INSERT INTO news SELECT 'apple', 5 FROM prices ON CONFLICT (item) DO UPDATE SET eur = excluded.eur",
        "SELECT eur FROM news WHERE item = 'apple'",
        [(5.0,)],
    ),
    ("INSERT IGNORE INTO news VALUES ('apple', 9)", "SELECT eur FROM news WHERE item = 'apple'", [(3.0,)]),
    ("INSERT INTO spans SET a = 'x', b = 'y, z'", "SELECT b FROM spans WHERE a = 'x'", [("y, z",)]),
    ("INSERT spans VALUES ('x', 'y')", "SELECT count(*) FROM spans", [(2,)]),
    ("INSERT INTO TABLE spans VALUES ('x', 'y')", "SELECT count(*) FROM spans", [(2,)]),
    (
        "INSERT INTO news VALUES ('apple', 9) ON CONFLICT ON CONSTRAINT news_pkey DO NOTHING",
        "SELECT eur FROM news WHERE item = 'apple'",
        [(3.0,)],
    ),
    (
        "MERGE INTO news AS n USING prices AS p ON n.item = p.item WHEN MATCHED THEN UPDATE SET eur = p.eur "
        "WHEN NOT MATCHED THEN INSERT (item, eur) VALUES (p.item, p.eur)",
        "SELECT item, eur FROM news ORDER BY item",
        [("apple", 2.0), ("pear", 2.5), ("plum", 1.0)],
    ),
    (
        "UPDATE prices p JOIN news n ON n.item = p.item SET p.eur = n.eur WHERE p.eur < 2",
        "SELECT eur FROM prices ORDER BY eur",
        [(2.0,), (2.5,), (3.0,)],
    ),
    (
        "UPDATE p SET p.eur = n.eur FROM prices p INNER JOIN news n ON n.item = p.item WHERE p.eur < 2",
        "SELECT eur FROM prices ORDER BY eur",
        [(2.0,), (2.5,), (3.0,)],
    ),
    ("UPDATE prices p SET p.eur = 0 WHERE p.item = 'pear'", "SELECT min(eur) FROM prices", [(0.0,)]),
    (
        "UPDATE prices SET eur = 0 ORDER BY eur DESC LIMIT 1",
        "SELECT item FROM prices WHERE eur = 0",
        [("pear",)],
    ),
    ("DELETE FROM prices ORDER BY eur LIMIT 2", "SELECT item FROM prices", [("pear",)]),
    (
        "DELETE p FROM prices p JOIN news n ON p.item = n.item WHERE n.eur > 2",
        "SELECT item FROM prices",
        [("pear",)],
    ),
    (
        "DELETE FROM prices USING news WHERE prices.item = news.item",
        "SELECT item FROM prices",
        [("pear",)],
    ),
    ("DELETE FROM prices p WHERE p.eur > 2", "SELECT count(*) FROM prices", [(2,)]),
    ("DELETE * FROM prices WHERE eur > 2", "SELECT count(*) FROM prices", [(2,)]),
    ("DELETE prices WHERE eur > 2", "SELECT count(*) FROM prices", [(2,)]),
    ("TRUNCATE TABLE prices", "SELECT count(*) FROM prices", [(0,)]),
    ("SELECT item INTO dear FROM prices WHERE eur > 2", "SELECT * FROM dear", [("pear",)]),
    ("SELECT item INTO #dear FROM prices WHERE eur > 2", "SELECT * FROM temp.dear", [("pear",)]),
    ("INSERT LOW_PRIORITY INTO spans VALUES ('x', 'y')", "SELECT count(*) FROM spans", [(2,)]),
    ("UPSERT INTO news VALUES ('apple', 9)", "SELECT eur FROM news WHERE item = 'apple'", [(9.0,)]),
    ("UPDATE TABLE news SET eur = 9", "SELECT DISTINCT eur FROM news", [(9.0,)]),
    ("UPDATE news SET news.eur = 9", "SELECT DISTINCT eur FROM news", [(9.0,)]),
    ("UPDATE n SET eur = 9 FROM news AS n WHERE n.item = 'plum'", "SELECT min(eur) FROM news", [(3.0,)]),
    (
        "UPDATE n SET eur = p.eur FROM news n, prices p WHERE n.item = p.item AND p.eur = 2",
        "SELECT max(eur) FROM news",
        [(2.0,)],
    ),
    ("DELETE p FROM prices p WHERE p.eur > 2", "SELECT count(*) FROM prices", [(2,)]),
    (
        "DELETE FROM prices p USING news n WHERE p.item = n.item",
        "SELECT item FROM prices",
        [("pear",)],
    ),
    (
        "MERGE news USING prices ON (news.item = prices.item) WHEN NOT MATCHED THEN INSERT (item, eur) "
        "VALUES (prices.item, prices.eur) WHEN MATCHED THEN UPDATE SET news.eur = prices.eur",
        "SELECT item, eur FROM news ORDER BY item",
        [("apple", 2.0), ("pear", 2.5), ("plum", 1.0)],
    ),
    ("CREATE TABLE #t (a TEXT)", "SELECT count(*) FROM temp.t", [(0,)]),
]

COLUMNS = "SELECT name, type, pk FROM pragma_table_info('t')"
NUMBERED = [("id", "INTEGER", 1), ("n", "TEXT", 0)]
DEFINITIONS = [
    ("CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, n TEXT) ENGINE=InnoDB", COLUMNS, NUMBERED),
    ("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, n TEXT, PRIMARY KEY (id))", COLUMNS, NUMBERED),
    ("CREATE TABLE t (id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n TEXT)", COLUMNS, NUMBERED),
    ("CREATE TABLE t (id INT GENERATED BY DEFAULT AS IDENTITY, n TEXT)", COLUMNS, NUMBERED),
    ("CREATE TABLE t (id INT IDENTITY(1,1) PRIMARY KEY, n NVARCHAR(MAX))", COLUMNS, NUMBERED),
    (
        "CREATE TABLE t (id INT IDENTITY(1,1), n TEXT, CONSTRAINT PK_t PRIMARY KEY CLUSTERED (id ASC)) "
        "ON [PRIMARY]",
        COLUMNS,
        NUMBERED,
    ),
    (
        "CREATE TABLE t (id SERIAL PRIMARY KEY, n TEXT DEFAULT 'a'::text)",
        COLUMNS,
        NUMBERED,
    ),
    (
        "CREATE TABLE `t` (`id` int unsigned NOT NULL AUTO_INCREMENT, "
        "`n` TEXT COLLATE utf8mb4_bin COMMENT 'a name', "
        "PRIMARY KEY (`id`), UNIQUE KEY `u` (`n`), KEY `t_n` (`n`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4",
        "SELECT count(*) FROM pragma_index_list('t')",
        [(2,)],
    ),
    (
        "CREATE TABLE t (id INT, k ENUM('new', 'it''s done') NOT NULL)",
        "SELECT sql LIKE '%k IN (''new'', ''it''''s done'')%' FROM sqlite_schema WHERE name = 't'",
        [(1,)],
    ),
    (
        "CREATE TABLE t (id INT COMMENT 'the number' NOT NULL, n VARCHAR(20) COMMENT 'the name')",
        "SELECT sql LIKE '%/* the name */%' FROM sqlite_schema WHERE name = 't'",
        [(1,)],
    ),
    (
        "CREATE TABLE t (a TEXT, at TIMESTAMP DEFAULT now())",
        "SELECT dflt_value FROM pragma_table_info('t') WHERE name = 'at'",
        [("CURRENT_TIMESTAMP",)],
    ),
    (
        "CREATE TABLE t (id UUID DEFAULT gen_random_uuid() PRIMARY KEY, n TEXT)",
        "SELECT count(*) FROM pragma_table_info('t')",
        [(2,)],
    ),
    (
        "CREATE TABLE t (a DATETIME DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
        "SELECT count(*) FROM pragma_table_info('t')",
        [(1,)],
    ),
    ("CREATE TABLE t (a INT, INDEX t_a (a))", "SELECT name FROM pragma_index_list('t')", [("t_a",)]),
    ("CREATE TABLE t LIKE prices", "SELECT count(*) FROM pragma_table_info('t')", [(3,)]),
    ("CREATE OR REPLACE VIEW cheap AS SELECT 1 AS one", "SELECT * FROM cheap", [(1,)]),
    ("CREATE MATERIALIZED VIEW t AS SELECT 1 AS one", "SELECT * FROM t", [(1,)]),
    ("CREATE INDEX CONCURRENTLY t ON prices (item)", "SELECT count(*) FROM pragma_index_info('t')", [(1,)]),
    ("CREATE INDEX t ON prices USING btree (item)", "SELECT count(*) FROM pragma_index_info('t')", [(1,)]),
    ("CREATE INDEX t ON prices (item) INCLUDE (eur)", "SELECT count(*) FROM pragma_index_info('t')", [(2,)]),
    ("CREATE INDEX ON prices (item)", "SELECT count(*) FROM pragma_index_list('prices')", [(2,)]),
    ("ALTER TABLE spans ADD c TEXT, ADD d TEXT", "SELECT count(*) FROM pragma_table_info('spans')", [(4,)]),
    ("ALTER TABLE spans ADD (c TEXT, d TEXT)", "SELECT count(*) FROM pragma_table_info('spans')", [(4,)]),
    (
        "ALTER TABLE spans ADD COLUMN IF NOT EXISTS c TEXT",
        "SELECT count(*) FROM pragma_table_info('spans')",
        [(3,)],
    ),
    (
        "ALTER TABLE spans DROP COLUMN IF EXISTS a",
        "SELECT name FROM pragma_table_info('spans')",
        [("b",)],
    ),
    (
        "ALTER TABLE spans ADD COLUMN c VARCHAR(9) AFTER a",
        "SELECT type FROM pragma_table_info('spans') WHERE name = 'c'",
        [("VARCHAR(9)",)],
    ),
    (
        "ALTER TABLE spans ADD CONSTRAINT u UNIQUE (a)",
        "SELECT name FROM pragma_index_list('spans')",
        [("u",)],
    ),
    ("ALTER TABLE spans ADD INDEX i (a)", "SELECT name FROM pragma_index_list('spans')", [("i",)]),
    (
        "ALTER TABLE spans CHANGE a start TEXT",
        "SELECT name FROM pragma_table_info('spans')",
        [("start",), ("b",)],
    ),
    ("ALTER TABLE prices MODIFY COLUMN eur INTEGER", "SELECT max(eur) FROM prices", [(2,)]),
    ("ALTER TABLE prices ALTER COLUMN eur TYPE INTEGER", "SELECT max(eur) FROM prices", [(2,)]),
    ("RENAME TABLE spans TO ranges", "SELECT count(*) FROM ranges", [(1,)]),
    ("DROP TABLE spans CASCADE", "SELECT count(*) FROM sqlite_schema WHERE name = 'spans'", [(0,)]),
    ("DROP TABLE spans, news", "SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [(1,)]),
    ("DROP INDEX prices_day ON prices", "SELECT count(*) FROM pragma_index_list('prices')", [(0,)]),
    (
        "CREATE TABLE t (a INT NOT NULL AUTO_INCREMENT, b INT, PRIMARY KEY (b))",
        "SELECT name, pk FROM pragma_table_info('t')",
        [("a", 0), ("b", 1)],
    ),
    (
        "CREATE TABLE t (a VARCHAR(9) CHARACTER SET utf8mb4 NOT NULL, b INT ZEROFILL, KEY (b)) ENGINE=x",
        "SELECT name FROM pragma_index_list('t')",
        [("t_b",)],
    ),
    (
        "CREATE TABLE t (a INT, b INT AS (a + 1) PERSISTED)",
        "SELECT count(*) FROM pragma_table_xinfo('t')",
        [(2,)],
    ),
    ("CREATE UNLOGGED TABLE t (a TEXT)", "SELECT count(*) FROM t", [(0,)]),
    ("ALTER TABLE IF EXISTS spans RENAME TO ranges", "SELECT count(*) FROM ranges", [(1,)]),
    ("ALTER TABLE spans ADD c VARCHAR(9) FIRST", "SELECT count(*) FROM pragma_table_info('spans')", [(3,)]),
    (
        "ALTER TABLE spans RENAME COLUMN a begun",
        "SELECT name FROM pragma_table_info('spans')",
        [("begun",), ("b",)],
    ),
    ("ALTER TABLE prices DROP INDEX prices_day", "SELECT count(*) FROM pragma_index_list('prices')", [(0,)]),
    ("DROP MATERIALIZED VIEW cheap", "SELECT count(*) FROM sqlite_schema WHERE name = 'cheap'", [(0,)]),
]


@pytest.mark.parametrize(("sql", "expected"), READS, ids=[sql for sql, _ in READS])
def test_the_offered_query_gives_what_was_meant(sql: str, expected: list[Any] | None) -> None:
    statement = offered(hinted(sql))
    assert statement is not None
    given = rows(statement)
    assert expected is None or given == expected


@pytest.mark.parametrize(("sql", "probe", "expected"), WRITES + DEFINITIONS)
def test_the_offered_change_does_what_was_meant(sql: str, probe: str, expected: list[Any]) -> None:
    statement = offered(hinted(sql))
    assert statement is not None
    assert rows(statement, probe) == expected


def test_several_slips_are_mended_in_one_statement() -> None:
    statement = offered(
        hinted(
            "SELECT TOP (10) p.item, ISNULL(p.eur, 0) AS e FROM dbo.prices AS p "
            "WHERE p.day >= DATEADD(month, -3, '2024-06-10') AND p.item ILIKE 'P%' ORDER BY p.eur::int DESC"
        )
    )
    assert statement is not None
    assert rows(statement) == [("pear", 2.5)]


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("CREATE DATABASE shop", "database"),
        ("USE shop", "database"),
        ("GRANT ALL ON prices TO bob", "rights"),
        ("CREATE PROCEDURE p() BEGIN SELECT 1; END", "procedures"),
        ("CREATE FUNCTION f(x int) RETURNS int AS 'SELECT 1' LANGUAGE sql", "procedures"),
        ("DECLARE @x INT = 5", "variables"),
        ("SET @x = 5", "variables"),
        ("SELECT @x := 5", "variables"),
        ("EXEC proc 1", "procedures"),
        ("GO", "semicolon"),
        ("START TRANSACTION", "transaction"),
        ("COPY prices FROM 'x.csv'", "sqlite_import"),
        ("LOAD DATA INFILE 'x.csv' INTO TABLE prices", "sqlite_import"),
        ("SELECT item FROM prices GROUP BY ROLLUP(item)", "UNION ALL"),
        (
            "SELECT * FROM prices PIVOT (SUM(eur) FOR item IN ('a', 'b')) AS p",
            "SUM(eur) FILTER (WHERE item = 'a')",
        ),
        ("SELECT item FROM prices TABLESAMPLE SYSTEM (10)", "random()"),
        ("SELECT * FROM prices CROSS APPLY news", "subquery"),
        ("ALTER TABLE prices ALTER COLUMN eur SET DEFAULT 5", "RENAME TO"),
        ("ALTER TABLE prices ADD FOREIGN KEY (item) REFERENCES news(item)", "RENAME TO"),
        ("SELECT TOP 5 PERCENT item FROM prices", "LIMIT"),
        ("SELECT item INTO @x FROM prices", "variables"),
        ("SELECT * EXCLUDE (eur) FROM prices, news", "name the columns"),
        ("SELECT item FROM prices WHERE ROWNUM > 5", "LIMIT"),
        ("SELECT item FROM prices GROUP BY GROUPING SETS ((item), ())", "UNION ALL"),
        ("SELECT item, eur FROM prices GROUP BY ALL", "GROUP BY 1, 2"),
        ("SELECT item FROM prices WHERE item SIMILAR TO 'a%'", "REGEXP"),
        ("SELECT 1 WHERE (1, 2) OVERLAPS (2, 3)", "start"),
        ("INSERT OVERWRITE TABLE prices SELECT * FROM prices", "DELETE FROM t"),
        ("INSERT INTO news OUTPUT inserted.item VALUES ('a', 1)", "RETURNING"),
        ("UPDATE prices p JOIN news n USING (item) SET p.eur = n.eur", "FROM s WHERE"),
        ("UPDATE p SET eur = 1 FROM prices p JOIN news n ON 1 JOIN spans ON 1", "UPDATE names the table"),
        ("MERGE INTO news n USING prices p ON n.item = p.item WHEN MATCHED THEN DELETE", "ON CONFLICT"),
        ("MERGE INTO news", "ON CONFLICT"),
        ("ALTER TABLE prices RENAME INDEX a TO b", "CREATE INDEX"),
        ("ALTER TABLE prices AUTO_INCREMENT = 5", "largest id"),
        ("ALTER TABLE prices DROP PRIMARY KEY", "RENAME TO"),
        ("CREATE FULLTEXT INDEX i ON prices (item)", "fts5"),
        ("CREATE OR REPLACE FUNCTION f() RETURNS int AS 'x'", "CREATE OR REPLACE"),
        ("SHOW DATABASES", "sqlite_schema"),
        ("SELECT * FROM information_schema.key_column_usage", "sqlite_schema"),
        ("SELECT now() AT TIME ZONE 'Europe/Paris'", "UTC"),
        ("SELECT day + INTERVAL 'a while' FROM prices", "date(x"),
        ("CREATE SEQUENCE s", "INTEGER PRIMARY KEY"),
        ("CREATE TYPE mood AS ENUM ('a')", "CHECK"),
    ],
)
def test_what_sqlite_has_nothing_like_is_explained_and_nothing_is_offered(sql: str, word: str) -> None:
    said = hinted(sql)
    assert word in said
    assert offered(said) is None


def test_a_column_that_is_there_already_needs_nothing() -> None:
    said = hinted("ALTER TABLE prices ADD COLUMN IF NOT EXISTS eur REAL")
    assert "nothing to do" in said
    assert offered(said) is None


def test_a_function_that_exists_here_is_left_alone() -> None:
    statement = offered(hinted("SELECT TOP 1 LEFT(item, 2), NVL(eur, 0), CONCAT(item, eur) FROM prices"))
    assert statement == "SELECT LEFT(item, 2), NVL(eur, 0), CONCAT(item, eur) FROM prices LIMIT 1"


def test_an_aggregate_of_our_own_is_known_as_one() -> None:
    statement = offered(hinted("SELECT TOP 1 item, stddev(eur) OVER () FROM prices WHERE item ILIKE 'a%'"))
    assert statement is not None
    assert rows(statement)[0][0] == "apple"


def test_a_parameter_of_another_driver_is_offered_as_one_of_ours() -> None:
    assert offered(hinted("SELECT * FROM prices WHERE item = %s")) == "SELECT * FROM prices WHERE item = ?"
    statement = offered(hinted("SELECT * FROM prices WHERE item = %(name)s"))
    assert statement == "SELECT * FROM prices WHERE item = :name"


def test_a_statement_that_needs_more_is_not_offered_as_one_that_works() -> None:
    said = hinted("SELECT TOP 5 colour FROM prices")
    assert offered(said) is None
    assert "So far: SELECT colour FROM prices LIMIT 5" in said
    assert "no such column: colour" in said


def test_a_statement_that_works_is_no_slip_of_these_tests() -> None:
    for sql in ("SELECT item FROM prices LIMIT 1, 2", "SELECT GETDATE(), STRING_AGG(item, ',') FROM prices"):
        opened().execute(sql).fetchall()

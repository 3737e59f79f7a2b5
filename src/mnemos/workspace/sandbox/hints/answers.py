"""Messages of SQLite's that one sentence answers, whatever the statement."""

ANSWERS = (
    (
        r"FOREIGN KEY constraint failed",
        "the row refers to one that is not there, or one that is referred to would go: insert the "
        "parent first, delete the children first",
    ),
    (
        r"CHECK constraint failed: .*",
        "the value breaks the CHECK that the table was made with",
    ),
    (
        r"cannot store \w+ value in .*",
        "the table is STRICT: give a value of the column's type, or CAST it",
    ),
    (
        r"SELECTs to the left and right of .* do not have the same number of result columns",
        "name the same number of columns on both sides; NULL AS x fills a gap",
    ),
    (
        r"sub-select returns \d+ columns - expected 1",
        "a subquery in an expression, or after IN, has one column",
    ),
    (
        r"all VALUES must have the same number of terms",
        "every row after VALUES has as many values as the first; NULL stands for none",
    ),
    (
        r"\w+ (?:ORDER|GROUP) BY term out of range.*",
        "the number is that of a column of the SELECT, from 1",
    ),
    (
        r"row value misused",
        "compare (a, b) with another pair only, or name one column",
    ),
    (
        r"malformed JSON.*",
        "the text is no JSON: json_valid(x) finds those that are, and strings in JSON have double quotes",
    ),
    (
        r"AUTOINCREMENT is only allowed on an INTEGER PRIMARY KEY",
        "write id INTEGER PRIMARY KEY; it numbers the rows without AUTOINCREMENT too",
    ),
    (
        r'table ".*" has more than one primary key',
        "one key may have several columns: PRIMARY KEY (a, b) at the end",
    ),
    (
        r"cannot modify .* because it is a view",
        "a view only shows other tables: change those",
    ),
    (
        r"DISTINCT aggregates must have exactly one argument",
        "group_concat(DISTINCT x) takes no separator: it uses a comma",
    ),
    (
        r"integer overflow",
        "the number is too large for a whole one: CAST(x AS REAL) first",
    ),
    (
        r"too many terms in compound SELECT",
        "insert many rows by the argument rows, or fewer after each VALUES",
    ),
    (
        r"(?:Expression tree is too large|parser stack overflow).*",
        "the expression is nested too deeply: IN (...) takes a long list, WITH names the steps",
    ),
    (
        r"too many SQL variables",
        "pass rows, or one JSON list as a parameter: x IN (SELECT value FROM json_each(:list))",
    ),
    (
        r"too many columns on .*",
        "keep what varies in rows: a column for the name and one for the value",
    ),
    (
        r"(?:unterminated string|fts5: syntax error.*)",
        "MATCH takes a query of FTS5: put words in double quotes inside the string, as in '\"two words\"'",
    ),
    (
        r"a NATURAL join may not have an ON or USING clause",
        "write JOIN without NATURAL",
    ),
    (
        r"cannot (?:start a transaction within a transaction|(?:commit|rollback) - no transaction is active)",
        "each call is one transaction already: leave out BEGIN, COMMIT and ROLLBACK",
    ),
    (
        r"default value of column \[.*\] is not constant",
        "a default that is computed stands in parentheses: DEFAULT (x)",
    ),
    (
        r"Cannot add a (?:NOT NULL column with default value NULL|PRIMARY KEY column|UNIQUE column)",
        "add it plain, fill it with UPDATE, then CREATE UNIQUE INDEX if it must be unique",
    ),
    (
        r"duplicate column name: .*",
        'each column of a table has a name of its own; PRAGMA table_info("t") lists them',
    ),
    (
        r"error in index \S+ after drop column.*",
        "an index uses the column: DROP INDEX comes first",
    ),
    (
        r"circular reference: .*",
        "a WITH clause that refers to itself is WITH RECURSIVE name AS (start UNION ALL step)",
    ),
)

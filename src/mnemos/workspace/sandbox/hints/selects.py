"""Clauses of SELECT that other databases have."""

from __future__ import annotations

from collections.abc import Iterable

from mnemos.workspace.sandbox.hints.known import Schema, written
from mnemos.workspace.sandbox.hints.names import aliases
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

_COMPOUND = ("UNION", "EXCEPT", "INTERSECT", "MINUS")


def tops(text: Text, _schema: Schema) -> Iterable[Change]:
    """``SELECT TOP 5 ...``, ``SELECT TOP (5) ...``, ``SELECT DISTINCT TOP 5 ...``."""
    for index in text.places("TOP"):
        if text.word(index - 1) not in ("SELECT", "DISTINCT", "ALL"):
            continue
        last = text.operand_after(index + 1)
        if last is None or text.kind(index + 1) not in (Kind.NUMBER, Kind.PARAMETER, Kind.OPERATOR):
            continue
        why = "SQLite has no TOP; LIMIT stands at the end"
        end = text.end_of_select(index)
        if text.word(last) in ("PERCENT", "WITH") or text.find(last, end, *_COMPOUND) is not None:
            yield Change(why)
            continue
        number = text.source(index + 1, last).strip("()")
        yield Change(why, (Edit(index, last, ""), Edit(end, end, f" LIMIT {number}")))


def fetches(text: Text, _schema: Schema) -> Iterable[Change]:
    """``OFFSET 5 ROWS FETCH NEXT 10 ROWS ONLY``, ``FETCH FIRST 5 ROWS ONLY``, OFFSET alone, ``LIMIT ALL``."""
    why = "SQLite says LIMIT count OFFSET start"
    for index, word in enumerate(text.words):
        if word == "OFFSET" and not _follows_limit(text, index):
            count = text.operand_after(index + 1)
            if count is None:
                continue
            start = text.source(index + 1, count)
            last = count + (text.word(count) in ("ROW", "ROWS"))
            limit, last = _fetch(text, last) or ("-1", last)
            yield Change(why, (Edit(index, last, f"LIMIT {limit} OFFSET {start}"),))
        elif word == "FETCH" and text.word(index - 1) not in ("ROW", "ROWS"):
            if fetch := _fetch(text, index):
                yield Change(why, (Edit(index, fetch[1], f"LIMIT {fetch[0]}"),))
        elif word == "LIMIT" and text.word(index + 1) == "ALL":
            yield Change("LIMIT -1 is no limit", (Edit(index + 1, index + 2, "-1"),))


def _follows_limit(text: Text, index: int) -> bool:
    """Whether LIMIT and an operand stand before; looked for only so far, because every OFFSET asks."""
    depth = text.depths[index]
    return any(
        text.words[one] == "LIMIT" and text.depths[one] == depth for one in range(max(index - 40, 0), index)
    )


def _fetch(text: Text, index: int) -> tuple[str, int] | None:
    if text.word(index) != "FETCH" or text.word(index + 1) not in ("FIRST", "NEXT"):
        return None
    last = text.operand_after(index + 2) if text.word(index + 2) not in ("ROW", "ROWS") else index + 2
    if last is None:
        return None
    count = text.source(index + 2, last) or "1"
    last += text.word(last) in ("ROW", "ROWS")
    return count, last + (text.word(last) == "ONLY")


# What only concerns how another database locks or plans: words that open it, and how it is recognised.
_LOCKS = "SQLite locks the whole database while it writes, and takes no such clause"


def locks(text: Text, _schema: Schema) -> Iterable[Change]:
    for index, word in enumerate(text.words):
        if (
            word == "FOR"
            and text.word(index + 1) in ("UPDATE", "SHARE", "NO", "KEY")
            and text.word(index - 1) != ","
        ):
            last = index + 1
            while text.word(last) in ("UPDATE", "SHARE", "NO", "KEY", "NOWAIT", "SKIP", "LOCKED"):
                last += 1
            yield Change(_LOCKS, (Edit(index, last + 2 * (text.word(last) == "OF"), ""),))
        elif text.has(index, "LOCK", "IN", "SHARE", "MODE"):
            yield Change(_LOCKS, (Edit(index, index + 4, ""),))
        elif text.has(index, "WITH", "(") and "LOCK" in text.word(index + 2):
            yield Change(_LOCKS, (Edit(index, text.closes.get(index + 1, index + 1) + 1, ""),))
        elif word in ("OPTION", "FORCE", "USE", "IGNORE") and index > 2:
            opened = next((one for one in range(index + 1, index + 3) if text.word(one) == "("), None)
            if opened is not None and (word == "OPTION" or text.word(index + 1) in ("INDEX", "KEY")):
                yield Change(_LOCKS, (Edit(index, text.closes.get(opened, opened) + 1, ""),))


def into(text: Text, _schema: Schema) -> Iterable[Change]:
    """``SELECT ... INTO t FROM ...`` makes a table in T-SQL."""
    if text.word(0) not in ("SELECT", "WITH"):
        return
    index = text.find(0, len(text), "INTO")
    if index is None or text.find(0, index, "INSERT", "REPLACE") is not None:
        return
    last = text.operand_after(index + 1)
    if last is None or text.kind(index + 1) is Kind.STRING:
        return
    name = text.source(index + 1, last)
    why = "SELECT ... INTO does not exist in SQLite; CREATE TABLE name AS SELECT ... makes a table"
    temporary = "TEMP " if name.startswith("#") else ""
    if name.startswith("@"):
        yield Change("SQLite has no variables; use a subquery in its place")
    else:
        made = f"CREATE {temporary}TABLE {name.lstrip('#')} AS "
        yield Change(why, (Edit(0, 0, made), Edit(index, last, "")))


def duals(text: Text, schema: Schema) -> Iterable[Change]:
    if "dual" in schema.tables:
        return
    for index in text.places("FROM", "DUAL"):
        yield Change("SELECT without FROM needs no DUAL in SQLite", (Edit(index, index + 2, ""),))


def compounds(text: Text, _schema: Schema) -> Iterable[Change]:
    for index, word in enumerate(text.words):
        if word in ("EXCEPT", "INTERSECT") and text.word(index + 1) == "ALL":
            why = f"SQLite has {word} without ALL only, which removes duplicates"
            yield Change(why, (Edit(index + 1, index + 2, ""),))
        elif word == "ROW" and text.word(index + 1) == "(" and text.word(index - 1) in ("VALUES", ","):
            yield Change("rows after VALUES are just in parentheses", (Edit(index, index + 1, ""),))
        elif word == "ONLY" and text.word(index - 1) == "FROM":
            yield Change("SQLite has no FROM ONLY", (Edit(index, index + 1, ""),))


def excluded(text: Text, schema: Schema) -> Iterable[Change]:
    """``SELECT * EXCLUDE (a)`` and ``SELECT * EXCEPT (a)``, where the table is known."""
    for index, word in enumerate(text.words):
        if (
            word not in ("EXCLUDE", "EXCEPT")
            or text.word(index - 1) != "*"
            or text.word(index + 1) == "SELECT"
        ):
            continue
        why = "SQLite's * has no exceptions; name the columns"
        last = text.operand_after(index + 1)
        source = text.find(index, len(text), "FROM")
        if last is None or source is None:
            yield Change(why)
            continue
        scope = list(aliases(text, schema))
        first, prefix = index - 1, ""
        if text.word(index - 2) == ".":
            first, prefix = index - 3, f"{text.tokens[index - 3].text}."
            scope = [(alias, real) for alias, real in scope if alias.upper() == text.word(index - 3)]
        without = {part.strip('" ').lower() for part in text.source(index + 1, last).strip("()").split(",")}
        columns = schema.columns[scope[0][1]] if len(scope) == 1 else ()
        rest = [f"{prefix}{written(column)}" for column in columns if column.lower() not in without]
        yield Change(why, (Edit(first, last, ", ".join(rest)),) if rest else ())


def row_numbers(text: Text, _schema: Schema) -> Iterable[Change]:
    """``WHERE ROWNUM <= 5``."""
    for index in text.places("ROWNUM"):
        why = "SQLite has no ROWNUM; LIMIT stands at the end"
        end = text.end_of_select(index)
        sign, number = text.word(index + 1), text.word(index + 2)
        if text.kind(index + 2) is not Kind.NUMBER or not number.isdigit() or sign not in ("<", "<="):
            yield Change(why)
            continue
        limit = Edit(end, end, f" LIMIT {int(number) - (sign == '<')}")
        if text.word(index - 1) == "AND":
            yield Change(why, (Edit(index - 1, index + 3, ""), limit))
        elif text.word(index - 1) == "WHERE" and text.word(index + 3) == "AND":
            yield Change(why, (Edit(index, index + 4, ""), limit))
        elif text.word(index - 1) == "WHERE":
            yield Change(why, (Edit(index - 1, index + 3, ""), limit))


def samples(text: Text, _schema: Schema) -> Iterable[Change]:
    """Clauses that SQLite has nothing like, with the way round."""
    for index, word in enumerate(text.words):
        if word == "TABLESAMPLE":
            yield Change("SQLite has no TABLESAMPLE; ORDER BY random() LIMIT 100 gives a sample")
        elif word in ("ROLLUP", "CUBE") and index:
            yield Change(
                "SQLite has no ROLLUP or CUBE; add the totals with UNION ALL SELECT 'total', sum(x) FROM t"
            )
        elif text.has(index, "GROUPING", "SETS"):
            yield Change("SQLite has no GROUPING SETS; join several GROUP BY with UNION ALL")
        elif word == "LATERAL" or text.has(index, "CROSS", "APPLY") or text.has(index, "OUTER", "APPLY"):
            yield Change(
                "SQLite has no LATERAL or APPLY; a subquery in the SELECT list may refer to the row, and "
                "row_number() OVER (PARTITION BY ...) ranks within groups"
            )
        elif text.has(index, "GROUP", "BY", "ALL"):
            yield Change("SQLite has no GROUP BY ALL; name the columns, or their numbers: GROUP BY 1, 2")
        elif text.has(index, "SIMILAR", "TO"):
            yield Change("SQLite has no SIMILAR TO; REGEXP takes a regular expression here")
        elif word == "OVERLAPS":
            yield Change("SQLite has no OVERLAPS; write a.start < b.stop AND b.start < a.stop")


def pivots(text: Text, _schema: Schema) -> Iterable[Change]:
    """``PIVOT (SUM(x) FOR y IN ('a', 'b'))``: the columns that do it."""
    for index in text.places("PIVOT", "("):
        closed = text.closes.get(index + 1, len(text))
        each, within = text.find(index + 2, closed, "FOR"), text.find(index + 2, closed, "IN")
        why = "SQLite has no PIVOT; write a column for each value: sum(x) FILTER (WHERE y = 'a') AS a"
        if each is not None and within is not None and text.word(within + 1) == "(":
            total, column = text.source(index + 2, each), text.source(each + 1, within)
            values = [text.source(*value) for value in text.arguments(within + 1)][:5]
            made = (f"{total} FILTER (WHERE {column} = {value})" for value in values)
            why = "SQLite has no PIVOT; write a column for each value: " + ", ".join(made)
        yield Change(why)


RULES = (
    (frozenset({"TOP"}), tops),
    (frozenset({"OFFSET", "FETCH", "LIMIT"}), fetches),
    (frozenset({"FOR", "LOCK", "WITH", "OPTION", "FORCE", "USE", "IGNORE"}), locks),
    (frozenset({"INTO"}), into),
    (frozenset({"DUAL"}), duals),
    (frozenset({"EXCEPT", "INTERSECT", "ROW", "ONLY"}), compounds),
    (frozenset({"EXCLUDE", "EXCEPT"}), excluded),
    (
        frozenset(
            {"TABLESAMPLE", "ROLLUP", "CUBE", "GROUPING", "LATERAL", "APPLY", "GROUP", "SIMILAR", "OVERLAPS"}
        ),
        samples,
    ),
    (frozenset({"PIVOT"}), pivots),
    (frozenset({"ROWNUM"}), row_numbers),
)

"""INSERT, UPDATE, DELETE and MERGE as other databases write them. Names stay as they are."""

from __future__ import annotations

from collections.abc import Iterable

from apsw import keywords

from mnemos.workspace.sandbox.hints.known import Schema
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

UPSERT = (
    "SQLite has no ON DUPLICATE KEY; ON CONFLICT DO UPDATE SET x = excluded.x does it, where excluded is the "
    "new row"
)


def inserts(text: Text, _schema: Schema) -> Iterable[Change]:
    """``INSERT IGNORE``, ``INSERT t``, ``INSERT INTO TABLE t``, ``INSERT INTO t SET a = 1``."""
    if text.word(0) not in ("INSERT", "REPLACE", "UPSERT"):
        return
    if text.word(0) == "UPSERT":
        yield Change(
            "SQLite has no UPSERT; INSERT OR REPLACE replaces the row", (Edit(0, 1, "INSERT OR REPLACE"),)
        )
    skips = text.word(1) in ("IGNORE", "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "OVERWRITE")
    place = 1 + skips
    if text.word(1) == "IGNORE":
        yield Change("SQLite says INSERT OR IGNORE", (Edit(1, 2, "OR IGNORE"),))
    elif text.word(1) == "OVERWRITE":
        yield Change(
            "SQLite has no INSERT OVERWRITE; empty the table first: DELETE FROM t, then INSERT INTO t ..."
        )
        return
    elif skips:
        yield Change(f"SQLite has no {text.word(1)}", (Edit(1, 2, ""),))
    if text.word(place) == "OR":
        place += 2
    if text.word(place) != "INTO" and text.kind(place) in (Kind.WORD, Kind.NAME):
        yield Change("INSERT needs INTO in SQLite", (Edit(place, place, "INTO "),))
    elif text.word(place + 1) == "TABLE":
        yield Change("the name follows INTO, without TABLE", (Edit(place + 1, place + 2, ""),))
    yield from _assigned(text, place + 1)


def _assigned(text: Text, name: int) -> Iterable[Change]:
    """``INSERT INTO t SET a = 1, b = 2``."""
    after = text.operand_after(name)
    if after is None or text.word(after) != "SET":
        return
    last = text.find(after, len(text), "ON") or len(text)
    pairs = [_assignment(text, *part) for part in text.parts(after + 1, last)]
    if all(pairs):
        columns, values = zip(*(pair for pair in pairs if pair), strict=True)
        made = f"({', '.join(columns)}) VALUES ({', '.join(values)})"
        yield Change("SQLite's INSERT names columns, then VALUES", (Edit(after, last, made),))


def _assignment(text: Text, first: int, last: int) -> tuple[str, str] | None:
    sign = text.find(first, last, "=")
    return (text.source(first, sign), text.source(sign + 1, last)) if sign else None


def duplicates(text: Text, _schema: Schema) -> Iterable[Change]:
    """``ON DUPLICATE KEY UPDATE a = VALUES(a)``, also with ``AS new`` and ``new.a``."""
    index = next(text.places("ON", "DUPLICATE", "KEY", "UPDATE"), None)
    if index is None or text.word(0) not in ("INSERT", "REPLACE"):
        return
    alias = text.words[index - 1] if text.word(index - 2) == "AS" else ""
    edits = [Edit(index - 2, index, "")] if alias else []
    where = _where_true(text, index)
    edits.append(Edit(index, index + 4, f"{where}ON CONFLICT DO UPDATE SET"))
    for place in range(index + 4, len(text)):
        if text.has(place, "VALUES", "(") and text.word(place + 3) == ")":
            edits.append(Edit(place, place + 4, f"excluded.{text.tokens[place + 2].text}"))
        elif alias and text.words[place] == alias and text.word(place + 1) == ".":
            edits.append(Edit(place, place + 1, "excluded"))
    yield Change(UPSERT, tuple(edits))


def _where_true(text: Text, last: int) -> str:
    """SQLite takes ON after a SELECT for a join, unless a WHERE stands between."""
    select = text.find(0, last, "SELECT")
    return "WHERE true " if select is not None and text.find(select, last, "WHERE") is None else ""


def conflicts(text: Text, _schema: Schema) -> Iterable[Change]:
    if text.word(0) in ("INSERT", "WITH"):
        index = next(text.places("ON", "CONFLICT"), None)
        if index is not None and _where_true(text, index):
            why = "after a SELECT, ON CONFLICT needs a WHERE before it: WHERE true"
            yield Change(why, (Edit(index, index, "WHERE true "),))
    for index in text.places("CONFLICT", "ON", "CONSTRAINT"):
        why = "ON CONFLICT names columns in SQLite, or nothing: ON CONFLICT DO UPDATE SET ..."
        yield Change(why, (Edit(index + 1, index + 4, ""),))
    for index in text.places("OUTPUT"):
        if text.word(index + 1) in ("INSERTED", "DELETED"):
            yield Change("SQLite says RETURNING at the end instead of OUTPUT")


def updates(text: Text, _schema: Schema) -> Iterable[Change]:
    """``UPDATE t a SET a.x``, ``UPDATE t a JOIN s b ON ... SET ...``, ``UPDATE a SET ... FROM t a``."""
    if text.word(0) != "UPDATE":
        return
    if text.word(1) == "TABLE":
        yield Change("the name follows UPDATE, without TABLE", (Edit(1, 2, ""),))
        return
    setting = text.find(0, len(text), "SET")
    after = text.operand_after(1)
    if setting is None or after is None:
        return
    where = text.find(setting, len(text), "WHERE")
    end = where if where is not None else len(text)
    source = text.find(setting, end, "FROM")
    stop = end if source is None else source
    if (join := text.find(after, setting, *_JOINS)) is not None:
        yield from _joined(text, join, setting, end)
    elif after < setting:
        why = "a table is renamed with AS in UPDATE, and SET names columns without the table"
        alias = () if text.word(after) == "AS" else (Edit(after, after, "AS "),)
        plain = _unqualified(text, setting + 1, stop, text.words[setting - 1])
        if alias or plain:
            yield Change(why, (*alias, *plain))
    elif source is not None and (named := _behind(text, source, end, text.word(1))):
        yield from _renamed(text, named, (setting, source, end))
    elif plain := _unqualified(text, setting + 1, stop, text.words[after - 1]):
        yield Change("SET names columns without the table in SQLite", tuple(plain))


_JOINS = ("JOIN", "INNER", "LEFT", ",")


def _unqualified(text: Text, first: int, last: int, alias: str) -> list[Edit]:
    """What takes ``a.`` away from the columns that SET assigns."""
    return [
        Edit(begun, begun + 2, "")
        for begun, _ in text.parts(first, last)
        if text.word(begun) == alias and text.word(begun + 1) == "." and text.word(begun + 3) == "="
    ]


def _sets(text: Text, first: int, last: int, alias: str) -> str:
    taken = {edit.first for edit in _unqualified(text, first, last, alias)}
    return ", ".join(text.source(begun + 2 * (begun in taken), end) for begun, end in text.parts(first, last))


def _joined(text: Text, join: int, setting: int, end: int) -> Iterable[Change]:
    """``UPDATE t a JOIN s b ON c SET x WHERE w`` becomes ``UPDATE t AS a SET x FROM s b WHERE c AND w``."""
    why = "SQLite has no JOIN in UPDATE; say UPDATE t SET x = s.x FROM s WHERE s.key = t.key"
    begin = join + 1 + (text.word(join) in ("INNER", "LEFT"))
    on = text.find(begin, setting, "ON")
    if text.find(begin, setting, "JOIN", ",", "USING") is not None or (on is None and text.word(join) != ","):
        yield Change(why)
        return
    alias = text.words[join - 1]
    target = text.source(1, join) if join != 3 else f"{text.tokens[1].text} AS {text.tokens[2].text}"
    conditions = [text.source(on + 1, setting)] if on is not None else []
    conditions += [text.source(end + 1, len(text))] if end < len(text) else []
    where = " AND ".join(f"({condition})" if len(conditions) > 1 else condition for condition in conditions)
    joined = text.source(begin, setting if on is None else on)
    made = f"UPDATE {target} SET {_sets(text, setting + 1, end, alias)} FROM {joined}"
    yield Change(why, (Edit(0, len(text), f"{made} WHERE {where}" if where else made),))


def _behind(text: Text, source: int, end: int, alias: str) -> int | None:
    """Where FROM says which table an alias stands for, if the table updated is only an alias."""
    for first, last in text.parts(source + 1, end):
        if last - first >= 2 and text.kind(first) in (Kind.WORD, Kind.NAME) and text.word(first) != alias:
            follows = first + 1 + (text.word(first + 1) == "AS")
            if text.word(follows) == alias:
                return first
    return None


def _renamed(text: Text, named: int, places: tuple[int, int, int]) -> Iterable[Change]:
    """T-SQL's ``UPDATE a SET ... FROM t a [JOIN s b ON c] WHERE w``."""
    setting, source, end = places
    why = "UPDATE names the table itself in SQLite: UPDATE t AS a SET ... FROM other WHERE ..."
    table, alias = text.tokens[named].text, text.tokens[1].text
    head = f"UPDATE {table} AS {alias} SET {_sets(text, setting + 1, source, text.word(1))}"
    where = text.source(end + 1, len(text))
    join = text.find(source, end, "JOIN")
    if join is None:
        others = [text.source(*part) for part in text.parts(source + 1, end) if part[0] != named]
        made = f"{head} FROM {', '.join(others)}" if others else head
        yield Change(why, (Edit(0, len(text), f"{made} WHERE {where}" if where else made),))
        return
    on = text.find(join, end, "ON")
    if on is None or text.find(join + 1, end, "JOIN") is not None:
        yield Change(why)
        return
    made = f"{head} FROM {text.source(join + 1, on)} WHERE {text.source(on + 1, end)}"
    yield Change(why, (Edit(0, len(text), f"{made} AND ({where})" if where else made),))


def deletes(text: Text, _schema: Schema) -> Iterable[Change]:
    """``DELETE * FROM t``, ``DELETE t``, ``DELETE a FROM t a``, ``DELETE FROM t USING s``."""
    if text.word(0) != "DELETE":
        return
    if text.word(1) == "*":
        yield Change("DELETE takes rows, not columns: no *", (Edit(1, 2, ""),))
    elif text.word(1) != "FROM" and text.find(1, len(text), "FROM") is None:
        yield Change("DELETE needs FROM in SQLite", (Edit(1, 1, "FROM "),))
    elif text.word(1) != "FROM" and text.word(2) == "FROM":
        yield from _delete_alias(text)
    elif (using := text.find(1, len(text), "USING")) is not None:
        yield from _delete_using(text, using)
    elif text.kind(3) is Kind.WORD and text.word(3) not in keywords and text.word(4) in ("", "WHERE"):
        yield Change("a table is renamed with AS in DELETE", (Edit(3, 3, "AS "),))


def _delete_alias(text: Text) -> Iterable[Change]:
    alias, where = text.tokens[1].text, text.find(3, len(text), "WHERE")
    join = text.find(3, where or len(text), *_JOINS)
    if join is None:
        edits = [Edit(1, 2, "")]
        if text.word(4) == text.word(1):
            edits.append(Edit(4, 4, "AS "))
        yield Change("SQLite says DELETE FROM t AS a WHERE ...", tuple(edits))
        return
    made = (
        f"DELETE FROM {text.tokens[3].text} WHERE rowid IN (SELECT {alias}.rowid {text.source(2, len(text))})"
    )
    yield Change("SQLite has no JOIN in DELETE; choose the rows by a subquery", (Edit(0, len(text), made),))


def _delete_using(text: Text, using: int) -> Iterable[Change]:
    where = text.find(using, len(text), "WHERE")
    target = text.source(2, using)
    if using == 4:
        target = f"{text.tokens[2].text} AS {text.tokens[3].text}"
    condition = f" WHERE {text.source(where + 1, len(text))}" if where is not None else ""
    others = text.source(using + 1, where or len(text))
    made = f"DELETE FROM {target} WHERE EXISTS (SELECT 1 FROM {others}{condition})"
    yield Change("SQLite has no USING in DELETE; WHERE EXISTS does it", (Edit(0, len(text), made),))


def limited(text: Text, _schema: Schema) -> Iterable[Change]:
    """``DELETE ... ORDER BY x LIMIT 1`` and ``UPDATE ... LIMIT 1``."""
    if text.word(0) not in ("DELETE", "UPDATE"):
        return
    name = 2 if text.word(0) == "DELETE" else 1
    order = text.find(name, len(text), "ORDER", "LIMIT")
    if order is None or text.find(order, len(text), "LIMIT") is None:
        return
    where = text.find(name, order, "WHERE")
    table = text.tokens[name].text
    rows = f"SELECT rowid FROM {table} {text.source(where if where is not None else order, len(text))}"
    why = f"SQLite's {text.word(0)} has no LIMIT; choose the rows by a subquery"
    first = where if where is not None else order
    yield Change(why, (Edit(first, len(text), f"WHERE rowid IN ({rows})"),))


MERGING = (
    "SQLite has no MERGE; INSERT INTO t (...) SELECT ... FROM s WHERE true ON CONFLICT(key) DO UPDATE SET "
    "x = excluded.x does it, where the key is PRIMARY KEY or UNIQUE"
)


def merges(text: Text, _schema: Schema) -> Iterable[Change]:
    """The commonest MERGE: one key, UPDATE of columns by the source's, INSERT of the rest."""
    if text.word(0) == "MERGE":
        made = _merged(text)
        yield Change(MERGING, (Edit(0, len(text), made),) if made else ())


def _merged(text: Text) -> str | None:
    using, on = text.find(0, len(text), "USING"), text.find(0, len(text), "ON")
    cases = [index for index in text.places("WHEN") if text.depths[index] == 0]
    if using is None or on is None or len(cases) != 2 or not using < on < cases[0]:
        return None
    target, alias = _called(text, 1 + (text.word(1) == "INTO"), using)
    source, short = _called(text, using + 1, on)
    key = _key(text, on + 1, cases[0], {alias.upper(), target.upper()})
    matched, missing = cases if text.word(cases[0] + 1) == "MATCHED" else cases[::-1]
    update = text.find(matched, len(text), "SET")
    insert = text.find(missing, len(text), "INSERT")
    if key is None or update is None or insert is None:
        return None
    values = text.closes.get(insert + 1, -2) + 2
    columns = [text.source(*part) for part in text.arguments(insert + 1)]
    inserted = [text.source(*part) for part in text.arguments(values)]
    ends = text.closes.get(values, -2) + 1 in (len(text), *cases)
    if len(columns) != len(inserted) or not columns or not ends:
        return None
    new = {value: f"excluded.{column}" for column, value in zip(columns, inserted, strict=True)}
    stop = next((index for index in cases if index > update), len(text))
    pairs = [_assignment(text, *part) for part in text.parts(update + 1, stop)]
    if not all(pair and pair[1] in new for pair in pairs):
        return None
    changed = ", ".join(f"{pair[0].split('.')[-1].strip()} = {new[pair[1]]}" for pair in pairs if pair)
    called = f"{source} AS {short}" if short else source
    return (
        f"INSERT INTO {target} ({', '.join(columns)}) SELECT {', '.join(inserted)} FROM {called} WHERE true "
        f"ON CONFLICT({key}) DO UPDATE SET {changed}"
    )


def _called(text: Text, first: int, last: int) -> tuple[str, str]:
    """A table, or a subquery, and the alias after it, if there is one."""
    after = text.operand_after(first)
    if after is None or after >= last:
        return text.source(first, last), ""
    return text.source(first, after), text.tokens[last - 1].text


def _key(text: Text, first: int, last: int, target: set[str]) -> str | None:
    """The column of the target that ``ON a.key = b.key`` compares."""
    if text.word(first) == "(" and text.closes.get(first) == last - 1:
        first, last = first + 1, last - 1
    if last - first != 7 or text.word(first + 3) != "=":
        return None
    for table in (first, first + 4):
        if text.word(table) in target:
            return text.tokens[table + 2].text
    return None


RULES = (
    (frozenset({"INSERT", "REPLACE", "UPSERT"}), inserts),
    (frozenset({"DUPLICATE"}), duplicates),
    (frozenset({"CONFLICT", "OUTPUT"}), conflicts),
    (frozenset({"UPDATE"}), updates),
    (frozenset({"DELETE"}), deletes),
    (frozenset({"LIMIT"}), limited),
    (frozenset({"MERGE"}), merges),
)

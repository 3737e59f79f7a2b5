"""Functions of other databases: the one that does it here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mnemos.workspace.sandbox.hints.known import Schema, written
from mnemos.workspace.sandbox.hints.names import aliases
from mnemos.workspace.sandbox.hints.reading import Change, Edit, Text
from mnemos.workspace.sandbox.lexer import Kind

# The same arguments in the same order.
_RENAMED = {
    "GREATEST": "max",
    "LEAST": "min",
    "ARRAY_AGG": "json_group_array",
    "JSON_AGG": "json_group_array",
    "JSONB_AGG": "json_group_array",
    "JSON_ARRAYAGG": "json_group_array",
    "COLLECT_LIST": "json_group_array",
    "JSON_OBJECTAGG": "json_group_object",
    "JSON_OBJECT_AGG": "json_group_object",
    "JSONB_OBJECT_AGG": "json_group_object",
    "JSON_BUILD_OBJECT": "json_object",
    "JSONB_BUILD_OBJECT": "json_object",
    "JSON_BUILD_ARRAY": "json_array",
    "JSONB_BUILD_ARRAY": "json_array",
    "JSON_VALUE": "json_extract",
    "JSON_QUERY": "json_extract",
    "JSON_EXTRACT_SCALAR": "json_extract",
    "GET_JSON_OBJECT": "json_extract",
    "JSONB_ARRAY_LENGTH": "json_array_length",
    "ARRAY_LENGTH": "json_array_length",
    "CARDINALITY": "json_array_length",
    "JSON_LENGTH": "json_array_length",
    "JSON_ARRAY_ELEMENTS": "json_each",
    "JSONB_ARRAY_ELEMENTS": "json_each",
    "JSON_ARRAY_ELEMENTS_TEXT": "json_each",
    "JSONB_ARRAY_ELEMENTS_TEXT": "json_each",
    "OPENJSON": "json_each",
    "UNNEST": "json_each",
    "EXPLODE": "json_each",
    "LISTAGG": "group_concat",
    "WM_CONCAT": "group_concat",
    "BOOL_OR": "max",
    "BOOL_AND": "min",
    "LOGICAL_OR": "max",
    "LOGICAL_AND": "min",
    "EVERY": "min",
    "ANY_VALUE": "max",
    "ARBITRARY": "max",
    "UCASE": "upper",
    "LCASE": "lower",
    "LEN": "length",
    "CHAR_LENGTH": "length",
    "CHARACTER_LENGTH": "length",
    "DATALENGTH": "octet_length",
    "MID": "substr",
    "CHR": "char",
    "NCHAR": "char",
    "ASCII": "unicode",
    "ORD": "unicode",
    "IFF": "iif",
    "NVL": "ifnull",
    "STDEV": "stddev",
    "STDEVP": "stddev_pop",
    "STD": "stddev_pop",
    "VAR": "variance",
    "VARP": "var_pop",
    "REGEXP_MATCH": "regexp_extract",
    "REGEXP_MATCHES": "regexp_find_all",
    "REGEXP_EXTRACT_ALL": "regexp_find_all",
    "REPLICATE": "repeat",
    "TO_NUMBER": "parse_number",
    "TO_TIMESTAMP": "parse_date",
    "PARSE_TIMESTAMP": "parse_date",
    "PG_TYPEOF": "typeof",
    "SCOPE_IDENTITY": "last_insert_rowid",
    "LAST_INSERT_ID": "last_insert_rowid",
    "LASTVAL": "last_insert_rowid",
    "ROW_COUNT": "changes",
    "VERSION": "sqlite_version",
    "TRUNCATE": "trunc",
}

Maker = Callable[[Sequence[str]], str | None]


def _decoded(arguments: Sequence[str]) -> str | None:
    if len(arguments) < 3:
        return None
    value, *rest = arguments
    cases = " ".join(f"WHEN {one} THEN {two}" for one, two in zip(rest[::2], rest[1::2], strict=False))
    other = f" ELSE {rest[-1]}" if len(rest) % 2 else ""
    return f"CASE {value} {cases}{other} END"


def _place(arguments: Sequence[str]) -> str | None:
    value, *rest = arguments
    cases = " ".join(f"WHEN {one} THEN {number}" for number, one in enumerate(rest, 1))
    return f"CASE {value} {cases} ELSE 0 END" if rest else None


def _by_count(*forms: str) -> Maker:
    """The form that has as many places as there are arguments."""

    def make(arguments: Sequence[str]) -> str | None:
        for form in forms:
            if all((f"{{{number}}}" in form) == (number < len(arguments)) for number in range(4)):
                return form.format(*arguments)
        return None

    return make


_RANDOM_ID = "lower(hex(randomblob(16)))"
_MADE: dict[str, Maker] = {
    "ISNULL": _by_count("ifnull({0}, {1})", "({0} IS NULL)"),
    "NOTNULL": _by_count("({0} IS NOT NULL)"),
    "NVL2": _by_count("iif({0} IS NOT NULL, {1}, {2})"),
    "DECODE": _decoded,
    "FIELD": _place,
    "CHARINDEX": _by_count("instr({1}, {0})"),
    "LOCATE": _by_count("instr({1}, {0})"),
    "STRPOS": _by_count("instr({0}, {1})"),
    "FIND_IN_SET": _by_count("instr(',' || {1} || ',', ',' || {0} || ',')"),
    "CONTAINS": _by_count("(instr({0}, {1}) > 0)"),
    "STARTS_WITH": _by_count("(substr({0}, 1, length({1})) = {1})"),
    "LEFT": _by_count("substr({0}, 1, {1})"),
    "RIGHT": _by_count("substr({0}, -({1}))"),
    "REPEAT": _by_count("replace(printf('%*s', {1}, ''), ' ', {0})"),
    "SPACE": _by_count("printf('%*s', {0}, '')"),
    "JSON_UNQUOTE": _by_count("{0}"),
    "TO_JSON": _by_count("json_quote({0})"),
    "JSON_CONTAINS": _by_count("({1} IN (SELECT value FROM json_each({0})))"),
    "ARRAY_CONTAINS": _by_count("({1} IN (SELECT value FROM json_each({0})))"),
    "STRING_TO_ARRAY": _by_count("""('["' || replace({0}, {1}, '","') || '"]')"""),
    "STRING_SPLIT": _by_count("""json_each('["' || replace({0}, {1}, '","') || '"]')"""),
    "ARRAY_TO_STRING": _by_count("(SELECT group_concat(value, {1}) FROM json_each({0}))"),
    "COUNTIF": _by_count("count(*) FILTER (WHERE {0})"),
    "COUNT_IF": _by_count("count(*) FILTER (WHERE {0})"),
    "SUMIF": _by_count("sum({0}) FILTER (WHERE {1})"),
    "SUM_IF": _by_count("sum({0}) FILTER (WHERE {1})"),
    "SAFE_DIVIDE": _by_count("({0} * 1.0 / nullif({1}, 0))"),
    "DIV0": _by_count("ifnull({0} * 1.0 / nullif({1}, 0), 0)"),
    "APPROX_COUNT_DISTINCT": _by_count("count(DISTINCT {0})"),
    "REGEXP_LIKE": _by_count("({0} REGEXP {1})"),
    "RAND": _by_count("(random() / 18446744073709551616.0 + 0.5)"),
    "NEWID": _by_count(_RANDOM_ID),
    "UUID": _by_count(_RANDOM_ID),
    "GEN_RANDOM_UUID": _by_count(_RANDOM_ID),
    "UUID_GENERATE_V4": _by_count(_RANDOM_ID),
    "CURRENT_DATE": _by_count("CURRENT_DATE"),
    "CURRENT_TIME": _by_count("CURRENT_TIME"),
    "CURRENT_TIMESTAMP": _by_count("CURRENT_TIMESTAMP"),
    "NOW": _by_count("datetime('now')"),
    "GETDATE": _by_count("datetime('now')"),
    "SYSDATE": _by_count("datetime('now')"),
    "SYSDATETIME": _by_count("datetime('now')"),
    "GETUTCDATE": _by_count("datetime('now')"),
    "UTC_TIMESTAMP": _by_count("datetime('now')"),
    "LOCALTIMESTAMP": _by_count("datetime('now', 'localtime')"),
    "CURDATE": _by_count("date('now')"),
    "UTC_DATE": _by_count("date('now')"),
    "TODAY": _by_count("date('now')"),
    "CURTIME": _by_count("time('now')"),
    "UNIX_TIMESTAMP": _by_count("unixepoch({0})", "unixepoch()"),
    "FROM_UNIXTIME": _by_count("datetime({0}, 'unixepoch')"),
    "TO_UNIXTIME": _by_count("unixepoch({0})"),
    "LAST_DAY": _by_count("date({0}, 'start of month', '+1 month', '-1 day')"),
    "EOMONTH": _by_count("date({0}, 'start of month', '+1 month', '-1 day')"),
    "AGE": _by_count("(julianday('now') - julianday({0}))", "(julianday({0}) - julianday({1}))"),
    "DATEFROMPARTS": _by_count("printf('%04d-%02d-%02d', {0}, {1}, {2})"),
    "MAKE_DATE": _by_count("printf('%04d-%02d-%02d', {0}, {1}, {2})"),
    "SQUARE": _by_count("pow({0}, 2)"),
    "CBRT": _by_count("pow({0}, 1.0 / 3)"),
    "COT": _by_count("(1 / tan({0}))"),
    "TO_HEX": _by_count("printf('%x', {0})"),
    "ISNUMERIC": _by_count("(parse_number({0}) IS NOT NULL)"),
}
# No arguments are meant here, and a keyword before the parenthesis is a syntax error.
_BARE = frozenset({"CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"})


def functions(text: Text, schema: Schema) -> Iterable[Change]:
    for index, word in enumerate(text.words):
        if (
            text.word(index + 1) != "("
            or text.kind(index) is not Kind.WORD
            or text.word(index - 1) in _NAMING
        ):
            continue
        if word not in _BARE and schema.has_function(word):
            continue
        if word in _RENAMED and schema.has_function(_RENAMED[word]):
            new = _RENAMED[word]
            yield Change(f"there is no {word} here; {new}(...) does it", (Edit(index, index + 1, new),))
        elif word in _MADE and (change := _made(text, index, schema)):
            yield change


# Before the name of something that is made, of a table to insert into.
_NAMING = frozenset({"TABLE", "INTO", "VIEW", "EXISTS", "INDEX", "UPDATE", "."})


def _made(text: Text, index: int, schema: Schema) -> Change | None:
    closed, word = text.closes.get(index + 1), text.word(index)
    arguments = [text.source(*argument) for argument in text.arguments(index + 1)]
    if closed is None or not all(arguments):
        return None
    made = "random()" if word == "RAND" and text.has(index - 2, "ORDER", "BY") else _MADE[word](arguments)
    if made is None or (word == "ISNUMERIC" and not schema.has_function("parse_number")):
        return None
    said = "leave it out" if [made] == arguments else f"{_form(word, len(arguments))} does it"
    return Change(f"there is no {word}(...) here; {said}", (Edit(index, closed + 1, made),))


def _form(word: str, count: int) -> str:
    """What is made of a call with so many arguments, with letters for them."""
    return _MADE[word](list("xyzuvw")[:count]) or "CASE x WHEN y THEN z END"


def concatenations(text: Text, _schema: Schema) -> Iterable[Change]:
    """``GROUP_CONCAT(DISTINCT x ORDER BY y SEPARATOR s)`` and a separator beside DISTINCT."""
    for index, word in enumerate(text.words):
        if word not in ("GROUP_CONCAT", "STRING_AGG") or text.word(index + 1) != "(":
            continue
        closed = text.closes.get(index + 1)
        if closed is None:
            continue
        change = _concatenated(text, index, closed)
        if change:
            yield change


def _concatenated(text: Text, index: int, closed: int) -> Change | None:
    first = index + 2
    is_distinct = text.word(first) == "DISTINCT"
    first += is_distinct
    separated = text.find(first, closed, "SEPARATOR")
    comma = text.find(first, closed, ",")
    if separated is None and not (is_distinct and comma is not None):
        return None
    ordered = text.find(first, closed, "ORDER")
    if separated is not None:
        separator, order = text.source(separated + 1, closed), text.source(ordered or separated, separated)
        value = text.source(first, ordered or separated)
    else:
        separator, order = (
            text.source((comma or 0) + 1, ordered or closed),
            text.source(ordered or closed, closed),
        )
        value = text.source(first, comma or closed)
    order = f" {order}" if order else ""
    if not is_distinct:
        made = f"group_concat({value}, {separator}{order})"
        why = "SQLite has no SEPARATOR; it is the second argument of group_concat"
    else:
        made = f"group_concat(DISTINCT {value}{order})"
        made = made if separator == "','" else f"replace({made}, ',', {separator})"
        why = "group_concat(DISTINCT x) takes no separator in SQLite and uses a comma"
    return Change(why, (Edit(index, closed + 1, made),))


def within_groups(text: Text, schema: Schema) -> Iterable[Change]:
    """``STRING_AGG(x, s) WITHIN GROUP (ORDER BY y)``, ``PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY y)``."""
    for index in text.places(")", "WITHIN", "GROUP", "("):
        opened, closed = text.opens.get(index), text.closes.get(index + 3)
        if opened is None or closed is None or not text.has(index + 4, "ORDER", "BY"):
            continue
        name, order = text.word(opened - 1), text.source(index + 6, closed)
        if name in ("PERCENTILE_CONT", "PERCENTILE_DISC", "MODE") and schema.has_function(name):
            fraction = text.source(opened + 1, index)
            made = f"{name}({order}{', ' + fraction if fraction else ''})"
            why = f"there is no WITHIN GROUP here; {name.lower()} takes the value first"
            yield Change(why, (Edit(opened - 1, closed + 1, made),))
        else:
            why = "SQLite has no WITHIN GROUP; ORDER BY goes inside: group_concat(x, ',' ORDER BY y)"
            yield Change(why, (Edit(index, closed + 1, f" ORDER BY {order})"),))


def worded(text: Text, _schema: Schema) -> Iterable[Change]:
    """Words between arguments: ``POSITION(a IN b)``, ``SUBSTRING(x FROM 1 FOR 2)``, ``TRIM(BOTH ...)``."""
    for index, word in enumerate(text.words):
        closed = text.closes.get(index + 1)
        if closed is None or word not in _WORDED:
            continue
        made = _WORDED[word](text, index + 2, closed)
        if made:
            why = f"SQLite separates the arguments of {made.split('(')[0]} by commas"
            yield Change(why, (Edit(index, closed + 1, made),))


def _position(text: Text, first: int, last: int) -> str | None:
    within = text.find(first, last, "IN")
    if within is None:
        return None
    return f"instr({text.source(within + 1, last)}, {text.source(first, within)})"


def _substring(text: Text, first: int, last: int) -> str | None:
    start, count = text.find(first, last, "FROM"), text.find(first, last, "FOR")
    if start is None:
        return None
    value, begins = text.source(first, start), text.source(start + 1, count or last)
    length = f", {text.source(count + 1, last)}" if count else ""
    return f"substr({value}, {begins}{length})"


def _trimmed(text: Text, first: int, last: int) -> str | None:
    side, start = text.word(first), text.find(first, last, "FROM")
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(side, "trim")
    first += side in ("LEADING", "TRAILING", "BOTH")
    if start is None:
        return None
    signs = text.source(first, start)
    return f"{name}({text.source(start + 1, last)}{', ' + signs if signs else ''})"


_WORDED = {"POSITION": _position, "SUBSTRING": _substring, "SUBSTR": _substring, "TRIM": _trimmed}


def counts(text: Text, _schema: Schema) -> Iterable[Change]:
    """``COUNT(DISTINCT a, b)``."""
    for index in text.places("COUNT", "(", "DISTINCT"):
        closed = text.closes.get(index + 1)
        if closed is not None and text.find(index + 3, closed, ",") is not None:
            why = "count(DISTINCT ...) takes one value; json_array(a, b) makes one of several"
            new = f"json_array({text.source(index + 3, closed)})"
            yield Change(why, (Edit(index + 3, closed, new),))


def rows(text: Text, schema: Schema) -> Iterable[Change]:
    """``row_to_json(t)``, where the columns of t are known."""
    called = {alias.upper(): real for alias, real in aliases(text, schema)}
    for index, word in enumerate(text.words):
        if word not in ("ROW_TO_JSON", "TO_JSON", "TO_JSONB") or text.word(index + 1) != "(":
            continue
        real = called.get(text.word(index + 2))
        if real is None or text.word(index + 3) != ")":
            continue
        alias = text.tokens[index + 2].text
        pairs = ", ".join(
            f"'{name.replace(chr(39), chr(39) * 2)}', {alias}.{written(name)}"
            for name in schema.columns[real]
        )
        why = "SQLite makes an object of named values: json_object('a', t.a)"
        yield Change(why, (Edit(index, index + 4, f"json_object({pairs})"),))


def unnested(text: Text, _schema: Schema) -> Iterable[Change]:
    """``SELECT json_each(x)``, as what remains of ``SELECT unnest(x)``."""
    closed = text.closes.get(2)
    if text.has(0, "SELECT", "JSON_EACH", "(") and closed == len(text) - 1:
        why = "json_each gives rows with a column `value`, and stands in FROM"
        yield Change(why, (Edit(0, 1, "SELECT value FROM"),))


RULES = (
    (frozenset({"ROW_TO_JSON", "TO_JSON", "TO_JSONB"}), rows),
    (frozenset(_RENAMED) | frozenset(_MADE), functions),
    (frozenset({"GROUP_CONCAT", "STRING_AGG"}), concatenations),
    (frozenset({"WITHIN"}), within_groups),
    (frozenset(_WORDED), worded),
    (frozenset({"DISTINCT"}), counts),
    (frozenset({"JSON_EACH"}), unnested),
)
